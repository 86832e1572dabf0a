#!/bin/sh
# SPDX-License-Identifier: MIT
# What counting costs in tight loops: what each form of an addition takes on this processor, then loops built plain, with
# Chord and with others, run in turns.
#
#	loop.sh [--quick] [--runs N] [--loops "A B"] [--columns "X Y"] [--level -O2] [--work DIR]
#
# As in run.sh the numbers are ratios of user CPU time: median of the pairs, least and most; then the geometric mean. `clang:`
# before a column of Chord's is clang's code.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
. "$bench/processor.sh"
CHORD=${CHORD:-$bench/../build/chord}
work=${TMPDIR:-/tmp}/chord-loop.$$
runs=9
level=-O2
loops="sum strlen copy fnv mix axpy saxpy bubble find collatz nest chain aes dgemm dot"
columns="edges events paths clang:edges gcov llvm-instr llvm-gen"

die()
{
	echo "loop.sh: $*" >&2
	exit 1
}

# build COLUMN: loops and dgemm, in a folder of the column's. Fortran is gcc's only.
build()
{
	dir=$work/$1
	mkdir -p "$dir"
	fortran=
	case $1 in
	gcc) set -- gcc; fortran=gfortran ;;
	clang) set -- clang ;;
	gcov) set -- gcc --coverage; fortran="gfortran --coverage" ;;
	llvm-instr) set -- clang -fprofile-instr-generate ;;
	llvm-gen) set -- clang -fprofile-generate ;;
	clang:*) set -- env CHORD_CC=clang "$CHORD" cc "-fchord=${1#clang:}" ;;
	*) set -- "$CHORD" cc "-fchord=$1"; fortran="env CHORD_CC=gfortran $*" ;;
	esac
	(cd "$dir" && "$@" $level -o loops "$bench/loop/loops.c") || die "loops.c cannot be built: $*"
	[ -z "$fortran" ] || ! command -v gfortran >/dev/null ||
		(cd "$dir" && $fortran $level -o dgemm "$bench/loop/dgemm.f90") || die "dgemm.f90 cannot be built: $fortran"
}

base_of()
{
	case $1 in
	llvm-* | clang:*) echo clang ;;
	*) echo gcc ;;
	esac
}

# command_of COLUMN LOOP: nothing if there is none.
command_of()
{
	case $2 in
	dgemm | dot) program="dgemm $2" ;;
	*) program="loops $2" ;;
	esac
	[ ! -x "$work/$1/${program%% *}" ] || echo "cd $work/$1 && ./$program >$work/output"
}

available()
{
	case $(base_of "$1") in
	clang) command -v clang >/dev/null ;;
	esac
}

# cell COLUMN LOOP: "median least most plain", or nothing.
cell()
{
	measured=$(command_of "$1" "$2")
	[ -z "$measured" ] || CHORD_FILE="$work/%n.chord" LLVM_PROFILE_FILE="$work/llvm.profraw" \
		"$work/pair" "$runs" "$(command_of "$(base_of "$1")" "$2")" "$measured"
}

row()
{
	printf '%-10s' "$1"
	for column in $columns; do
		cell=$(cell "$column" "$1")
		echo "$column $cell" >>"$work/cells"
		echo "$cell" | awk '{ printf " %18s", NF ? sprintf("%.2f (%.2f-%.2f)", $1, $2, $3) : "-" }'
	done
	echo
}

means()
{
	printf '%-10s' geomean
	for column in $columns; do
		awk -v c="$column" '$1 == c && NF > 1 { sum += log($2); n++ } END { printf " %18s", n ? sprintf("%.3f", exp(sum / n)) : "-" }' \
			"$work/cells"
	done
	echo
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) runs=3 loops="sum strlen axpy bubble" columns="edges gcov" ;;
	--runs) runs=$2; shift ;;
	--loops) loops=$2; shift ;;
	--columns) columns=$2; shift ;;
	--level) level=$2; shift ;;
	--work) work=$2; shift ;;
	*) die "what is $1?" ;;
	esac
	shift
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
grep -q '^flags.* aes' /proc/cpuinfo || loops=$(echo " $loops " | sed 's/ aes / /')
processor
gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
gcc -O2 -D_GNU_SOURCE -o "$work/forms" "$bench/loop/forms.c"
"$work/forms"
usable=
for column in $columns; do
	if available "$column"; then usable="$usable $column"; else echo "$column: not available here"; fi
done
columns=$usable
for variant in $(for column in $columns; do base_of "$column"; echo "$column"; done | sort -u); do
	build "$variant"
done
echo
printf '%-10s' "$level"
for column in $columns; do printf ' %18s' "$column"; done
echo
for loop in $loops; do
	row "$loop"
done
means
