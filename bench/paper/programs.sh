# SPDX-License-Identifier: MIT
# The programs of the paper's tables, and the runs of them that are counted under callgrind: the runs that bench/run.sh times, with
# less to do. To be sourced, after builds.sh.

# The eight runs; recursion, small procedures, tight loops, one program of C++ and one of Fortran; two more. (arpack and lapack are
# Fortran, too, and larger.)
all_programs="fib small loops dgemm bzip2 zlib ncompress lua5.4 grep sqlite3 leveldb zstd xz"
quick_programs="fib"

# object PROGRAM BUILD: what of a build is run.
object()
{
	case $1 in
	bzip2) echo "$2/bzip2-static" ;;
	zlib) echo "$2/minigzip" ;;
	ncompress) echo "$2/compress" ;;
	lua5.4) echo "$2/lua" ;;
	grep) echo "$2/src/grep" ;;
	sqlite3) echo "$2/sqlite3-static" ;;
	leveldb) echo "$2/out/bloom_test" ;;
	arpack) echo "$2/out/EXAMPLES/COMPLEX/zndrv4" ;;
	zstd) echo "$2/programs/zstd" ;;
	xz) echo "$2/src/xz/xz" ;;
	*) echo "$2/$1" ;;
	esac
}

# filled PROGRAM: puts into the current folder what it reads, once.
filled()
{
	case $1 in
	bzip2) corpus bzip2 1 input ;;
	zlib) corpus zlib 4 input ;;
	ncompress) corpus ncompress 4 input ;;
	zstd) corpus libzstd 1 input ;;
	xz) corpus xz-utils 1 input ;;
	lua5.4) cp "$real"/lua/*.lua . ;;
	sqlite3) sed '/broken from nothing/d' "$real/workload.sql" >workload.sql ;;
	grep)
		corpus grep 4 input
		# Its own mappings, which no two processes have the same.
		echo "1000-7fffffffffff rw-p 00000000 00:00 0 everything" >maps
		;;
	esac
}

# runs PROGRAM: a name and a command of each; ./program is the program.
runs()
{
	case $1 in
	bzip2) echo "bzip2 ./program -9 -c input" ;;
	zlib) echo "minigzip ./program <input" ;;
	ncompress) echo "ncompress ./program -c <input" ;;
	grep) echo "grep ./program -c -v -E '[aeiou][^aeiou ]+[aeiou].*[0-9]' input" ;;
	sqlite3) echo "sqlite3 ./program -batch :memory: <workload.sql" ;;
	lua5.4)
		echo "lua-recursion ./program recursion.lua 6"
		echo "lua-tables ./program tables.lua 1"
		echo "lua-strings ./program strings.lua 1"
		;;
	leveldb) echo "leveldb ./program --gtest_print_time=0 --gtest_random_seed=42" ;;
	arpack) echo "arpack ./program" ;;
	zstd) echo "zstd ./program -q -f --single-thread -12 -c input" ;;
	xz) echo "xz ./program -T1 -6 -c input" ;;
	fib) echo "fib ./program 27" ;;
	small) echo "small ./program 300" ;;
	loops) echo "loops ./program all 100" ;;
	dgemm) echo "dgemm ./program dgemm 200" ;;
	esac
}

# variants PROGRAM: how it is built to be counted; those with weights follow from `edges`. quick: the fewest that the tables need.
variants()
{
	if [ "$quick" = 1 ]; then
		echo "gcc every-block edges"
		return
	fi
	for variant in gcc every-block every-edge edges blocks blocks-vcnt gcov gcov-atomic clang llvm-instr llvm-gen; do
		! suits "$1" "$variant" || echo "$variant"
	done
}
