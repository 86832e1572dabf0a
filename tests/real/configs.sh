# SPDX-License-Identifier: MIT
# The ways in which programs are built. To be sourced, after lib.sh.

: "${CHORD:=$(cd "$real/../.." && pwd)/build/chord}"

all_programs="bzip2 zlib ncompress lua5.4 grep sqlite3 leveldb arpack zstd xz openssl"
all_configs="gcc-O0 gcc-O1 gcc-O2 gcc-O3 gcc-Os gcc-O2-flto clang-O2"

# Of functions in one piece, which are called and do not jump to each other, without repeated instructions.
whole="-fno-ipa-sra -fno-ipa-cp -fno-partial-inlining -fno-reorder-blocks-and-partition -fno-optimize-sibling-calls
	-mstringop-strategy=libcall"

# flags_of CONFIG. Debug information in some: it changes the text that is woven,
# not the code.
flags_of()
{
	case $1 in
	*-O0) echo "-O0" ;;
	*-O1) echo "-O1 -g" ;;
	*-O2) echo "-O2" ;;
	*-O3) echo "-O3" ;;
	*-Os) echo "-Os -g" ;;
	*-O2-flto) echo "-O2 -flto" ;;
	gcc-O[0-3s]-whole) echo "${1#gcc}" $whole | sed 's/-whole//' ;;
	*) die "no configuration $1" ;;
	esac
}

# Link time optimisation wants the compiler's flags once more.
ldflags_of()
{
	case $1 in
	*-flto) flags_of "$1" ;;
	esac
}

compilers_of()
{
	case $1 in
	gcc-*) echo gcc g++ ;;
	clang-*) echo clang clang++ ;;
	*) die "no compiler for $1" ;;
	esac
}

# build_plain PROGRAM CONFIG DIR. Where runs are compared, clang has to use the same
# assembler as Chord does: its own chooses other encodings.
build_plain()
{
	set -- "$1" "$2" "$3" $(compilers_of "$2")
	option=
	case ${CHORD_FIXED:-0}/$2 in
	1/clang-*) option=" -fno-integrated-as" ;;
	esac
	"$real/recipe.sh" "$1" build "$3" "$4$option" "$5$option" gfortran "$(flags_of "$2")" "$(ldflags_of "$2")"
}

# build_measured PROGRAM CONFIG DIR MEASURE: nothing but the compilers' names
# differs. "edges" is what one gets without asking, "registers" the same with registers that count in loops.
build_measured()
{
	case $4 in
	edges) option= ;;
	registers) option=-fchord-loops=registers ;;
	path-registers) option="-fchord=paths -fchord-loops=registers" ;;
	*) option=-fchord=$4 ;;
	esac
	hook=$("$CHORD" hook) || return 1
	set -- "$1" "$2" "$3" $(compilers_of "$2")
	CHORD_CC=$4 CHORD_CXX=$5 "$real/recipe.sh" "$1" build "$3" \
		"$CHORD cc${option:+ $option}" "$CHORD c++${option:+ $option}" \
		"$(measured_fortran "$hook" "$option")" "$(flags_of "$2")" "$(ldflags_of "$2")"
}

# Any compiler's -B takes the hook; the driver in front of gfortran takes options.
measured_fortran()
{
	if [ -z "$2" ]; then
		echo "gfortran -B$1"
	else
		echo "env CHORD_CC=gfortran $CHORD cc $2"
	fi
}

# applies PROGRAM CONFIG: is there such a build?
applies()
{
	case $1/$2 in
	arpack/clang-* | lapack/clang-*) return 1 ;; # Fortran: gcc's only
	openssl/gcc-O2 | openssl/clang-O2) ;;
	openssl/*) return 1 ;;      # only the assembly is built anew
	esac
}

# plain_key PROGRAM CONFIG: a plain build is kept for as long as this is the same.
plain_key()
{
	set -- "$1" "$2" $(compilers_of "$2")
	{
		sed '/^workload()/,/^}/d; /^bench()/,/^}/d' "$real/recipes/$1.sh"
		"$3" --version
		flags_of "$2"
		cat "$CHORD_CACHE/src/$1/debian/changelog" 2>/dev/null || :
	} | cksum
}

# fresh_plain PROGRAM CONFIG DIR KEY. (Called in conditions: no "set -e" in there.)
fresh_plain()
{
	rm -rf "$3.key" "$3".suite*
	build_plain "$1" "$2" "$3" && echo "$4" >"$3.key"
}

# plain_build PROGRAM CONFIG: a plain build in plain_dir PROGRAM CONFIG, made when
# there is none.
plain_build()
{
	mkdir -p "$CHORD_CACHE/plain/$1"
	plain=$(plain_dir "$1" "$2")
	key=$(plain_key "$1" "$2")
	(
		flock 8
		[ "$(cat "$plain.key" 2>/dev/null)" = "$key" ] || fresh_plain "$1" "$2" "$plain" "$key"
	) 8>"$plain.lock"
}

# With CHORD_SMALL, builds are of no more than a workload needs; with CHORD_FIXED, what
# makes two runs differ is taken out.
plain_dir()
{
	suffix=
	[ "${CHORD_FIXED:-0}" = 0 ] || suffix=.fixed
	echo "$CHORD_CACHE/plain/$1/$2$suffix"
}
