# SPDX-License-Identifier: MIT
# How the programs of the benchmarks are built: plain, by Chord and by others. To be sourced, with "bench" set to the folder of this
# file, "real" to tests/real and "CHORD" to the command. Some variants need "chosen" and "weights", set to files.

# compiler_of VARIANT: CC of a build.
compiler_of()
{
	case $1 in
	gcc) echo "gcc" ;;
	clang) echo "clang" ;;
	edges) echo "$CHORD cc" ;;
	registers) echo "$CHORD cc -fchord-loops=registers" ;;
	path-registers) echo "$CHORD cc -fchord=paths -fchord-loops=registers" ;;
	events*) echo "$CHORD cc -fchord=events -fchord-events=$(echo "$1" | sed "s|events=*||; s|+|,|g; s|^$|instructions|")" ;;
	timers) echo "$CHORD cc -fchord-timers=instructions -include $bench/timer.h" ;;
	selected) echo "$CHORD cc -fchord-paths=$chosen" ;;
	weighted:*) echo "$(compiler_of "${1#weighted:}") -fchord-weights=$weights" ;;
	fixed) echo "gcc -ffixed-r15" ;;
	every-block | every-edge | blocks | blocks-vcnt | calls | clock | paths | trace) echo "$CHORD cc -fchord=$1" ;;
	trace-witness | trace-bits | trace-branches) echo "$CHORD cc -fchord=trace -fchord-trace=${1#trace-}" ;;
	gcov) echo "gcc --coverage -fprofile-update=single" ;;
	gcov-atomic) echo "gcc --coverage -fprofile-update=atomic" ;;
	llvm-instr) echo "clang -fprofile-instr-generate" ;;
	llvm-gen) echo "clang -fprofile-generate" ;;
	*) die "no column $1" ;;
	esac
}

# cxx_of VARIANT: likewise, CXX alone.
cxx_of()
{
	compiler_of "$1" | sed "s|^gcc|g++|; s|^clang|clang++|; s|^$CHORD cc|$CHORD c++|"
}

# fortran_of VARIANT: likewise, FC.
fortran_of()
{
	case $(compiler_of "$1") in
	"$CHORD cc"*) echo "env CHORD_CC=gfortran $(compiler_of "$1")" ;;
	gcc*) compiler_of "$1" | sed 's/^gcc/gfortran/' ;;
	esac
}

# suits PROGRAM VARIANT: can it be built so? There is no Fortran of clang's.
suits()
{
	case $1/$2 in
	lapack/clang | lapack/llvm-* | lapack/timers | arpack/clang | arpack/llvm-* | arpack/timers) return 1 ;;
	dgemm/clang | dgemm/llvm-*) return 1 ;;
	esac
}

# built_in PROGRAM VARIANT: the folder of a build. make takes no colons in names.
built_in()
{
	echo "$CHORD_CACHE/bench/$1/$(echo "$2" | tr : -)"
}

# built PROGRAM VARIANT: kept for as long as nothing of it changes; Chord's never is.
built()
{
	dir=$(built_in "$1" "$2")
	cc=$(compiler_of "$2")
	[ "${cc#"$CHORD"}" != "$cc" ] || ! up_to_date "$1" "$dir" "$cc" || return 0
	mkdir -p "$CHORD_CACHE/bench/$1"
	rm -rf "$dir" "$dir.key"
	recipe "$1" build "$dir" "$cc" "$(cxx_of "$2")" "$(fortran_of "$2")" -O2 "" >"$dir.log" 2>&1 || die "$1: cannot be built for $2 (see $dir.log)"
	bench_key "$1" "$cc" >"$dir.key"
}

bench_key()
{
	{ cat "$real/recipes/$1.sh" "$bench/fib.c" "$bench/small.c" "$bench/loop/loops.c" 2>/dev/null; ${2%% *} --version; echo "$2"; } | cksum
}

up_to_date()
{
	[ "$(cat "$2.key" 2>/dev/null)" = "$(bench_key "$1" "$3")" ]
}

# base_of COLUMN: the variant it is compared to.
base_of()
{
	case $1 in
	llvm-*) echo clang ;;
	*) echo gcc ;;
	esac
}

# is_ours PROGRAM: it is one file in this folder, not a package.
is_ours()
{
	case $1 in
	fib | small | loops | dgemm) ;;
	*) return 1 ;;
	esac
}

# recipe PROGRAM FUNCTION [ARGUMENT...]: as tests/real/recipe.sh.
recipe()
{
	if is_ours "$1"; then
		function=$1_$2
		shift 2
		"$function" "$@"
	else
		"$real/recipe.sh" "$@"
	fi
}

fib_build()
{
	mkdir -p "$1"
	$2 -O2 -o "$1/fib" "$bench/fib.c"
}

fib_bench()
{
	cp "$1/fib" .
	echo "fib ./fib 44"
}

small_build()
{
	mkdir -p "$1"
	$2 -O2 -I"$bench/../include" -o "$1/small" "$bench/small.c"
}

small_bench()
{
	cp "$1/small" .
	echo "small ./small 20000"
}

loops_build()
{
	mkdir -p "$1"
	$2 -O2 -o "$1/loops" "$bench/loop/loops.c"
}

loops_bench()
{
	cp "$1/loops" .
	echo "loops ./loops all 6000"
}

# A matrix product in Fortran.
dgemm_build()
{
	mkdir -p "$1"
	$4 -O2 -c -o "$1/dgemm.o" "$bench/loop/dgemm.f90"
	$2 -O2 -DFORTRAN -o "$1/dgemm" "$bench/loop/loops.c" "$1/dgemm.o"
}

dgemm_bench()
{
	cp "$1/dgemm" .
	echo "dgemm ./dgemm dgemm 30000"
}
