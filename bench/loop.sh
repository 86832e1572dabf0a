#!/bin/sh
# SPDX-License-Identifier: MIT
# What counting costs in tight loops. First comes the cost of each form of an addition on this processor. Then the loops run in
# turns, built plain, with Chord and with others.
#
#	loop.sh [--quick] [--runs N] [--loops "A B"] [--columns "X Y"] [--levels "-O2 -O3"] [--work DIR]
#
# The two programs of a pair run in turns. A run prints the median of many short stretches. A number here is the ratio of the least
# of the measured program's runs to the least of the plain one's. The brackets have the least and the most ratio of a pair. The last
# row is the geometric mean. `registers` is edges with -fchord-loops=registers. `clang:` before a column of Chord's means code of
# clang.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
. "$bench/processor.sh"
CHORD=${CHORD:-$bench/../build/chord}
work=${TMPDIR:-/tmp}/chord-loop.$$
runs=5
levels="-O2 -O3"
loops="sum strlen copy fnv mix axpy saxpy bubble find collatz nest chain aes aes9 dgemm dot"
columns="edges events paths gcov clang:edges clang:events clang:paths llvm-instr llvm-gen"

die()
{
	echo "loop.sh: $*" >&2
	exit 1
}

# build COLUMN: in a folder of the column's. Fortran's loops are gcc's only.
build()
{
	dir=$work/$1
	rm -rf "$dir"
	mkdir -p "$dir"
	fortran=
	case $1 in
	gcc) set -- gcc; fortran=gfortran ;;
	clang) set -- clang ;;
	gcov) set -- gcc --coverage; fortran="gfortran --coverage" ;;
	llvm-instr) set -- clang -fprofile-instr-generate ;;
	llvm-gen) set -- clang -fprofile-generate ;;
	clang:registers) set -- env CHORD_CC=clang "$CHORD" cc -fchord=edges -fchord-loops=registers ;;
	clang:path-registers) set -- env CHORD_CC=clang "$CHORD" cc -fchord=paths -fchord-loops=registers ;;
	clang:*) set -- env CHORD_CC=clang "$CHORD" cc "-fchord=${1#clang:}" ;;
	registers) set -- "$CHORD" cc -fchord=edges -fchord-loops=registers; fortran="env CHORD_CC=gfortran $*" ;;
	path-registers) set -- "$CHORD" cc -fchord=paths -fchord-loops=registers; fortran="env CHORD_CC=gfortran $*" ;;
	*) set -- "$CHORD" cc "-fchord=$1"; fortran="env CHORD_CC=gfortran $*" ;;
	esac
	if [ -n "$fortran" ] && command -v gfortran >/dev/null; then
		(cd "$dir" && $fortran $level -c "$bench/loop/dgemm.f90") || die "dgemm.f90 cannot be built: $fortran"
		(cd "$dir" && "$@" $level -DFORTRAN -o loops "$bench/loop/loops.c" dgemm.o) || die "loops.c cannot be built: $*"
		return
	fi
	(cd "$dir" && "$@" $level -o loops "$bench/loop/loops.c") || die "loops.c cannot be built: $*"
}

base_of()
{
	case $1 in
	llvm-* | clang:*) echo clang ;;
	*) echo gcc ;;
	esac
}

# has COLUMN LOOP: is that loop in it?
has()
{
	case $2 in
	dgemm | dot) [ -e "$work/$1/dgemm.o" ] ;;
	esac
}

available()
{
	case $(base_of "$1") in
	clang) command -v clang >/dev/null ;;
	esac
}

# once COLUMN LOOP: nanoseconds a call.
once()
{
	(cd "$work/$1" && CHORD_FILE="$work/%n.chord" LLVM_PROFILE_FILE="$work/llvm.profraw" ./loops "$2") | cut -d ' ' -f 1
}

# cell COLUMN LOOP: "ratio least most", or nothing.
cell()
{
	has "$1" "$2" || return 0
	for i in $(seq "$runs"); do
		echo "$(once "$(base_of "$1")" "$2") $(once "$1" "$2")"
	done | awk '
		{ ratio = $2 / $1 }
		NR == 1 { plain = $1; measured = $2; least = most = ratio }
		$1 < plain { plain = $1 }
		$2 < measured { measured = $2 }
		ratio < least { least = ratio }
		ratio > most { most = ratio }
		END { print measured / plain, least, most }'
}

row()
{
	printf '%-10s' "$1"
	for column in $columns; do
		cell=$(cell "$column" "$1")
		echo "$level $column $cell" >>"$work/cells"
		echo "$cell" | awk '{ printf " %18s", NF ? sprintf("%.2f (%.2f-%.2f)", $1, $2, $3) : "-" }'
	done
	echo
}

means()
{
	printf '%-10s' geomean
	for column in $columns; do
		awk -v l="$level" -v c="$column" '$1 == l && $2 == c && NF > 2 { sum += log($3); n++ } END { printf " %18s", n ? sprintf("%.3f", exp(sum / n)) : "-" }' \
			"$work/cells"
	done
	echo
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) runs=2 levels=-O2 loops="sum strlen axpy bubble" columns="edges gcov" ;;
	--runs) runs=$2; shift ;;
	--loops) loops=$2; shift ;;
	--columns) columns=$2; shift ;;
	--levels) levels=$2; shift ;;
	--work) work=$2; shift ;;
	*) die "what is $1?" ;;
	esac
	shift
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
grep -q '^flags.* aes' /proc/cpuinfo || loops=$(echo " $loops " | sed 's/ aes / /; s/ aes9 / /')
processor
gcc -O2 -D_GNU_SOURCE -o "$work/forms" "$bench/loop/forms.c"
"$work/forms"
usable=
for column in $columns; do
	if available "$column"; then usable="$usable $column"; else echo "$column: not available here"; fi
done
columns=$usable
for level in $levels; do
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
done
