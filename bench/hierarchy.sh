#!/bin/sh
# SPDX-License-Identifier: MIT
# What each measure of the hierarchy costs (Ball & Larus 1994, Fig. 21): additions executed, and instructions by callgrind, per
# hundred instructions of the plain program.
#
#	hierarchy.sh [--programs "A B"] [--measures "X Y"] [--work DIR]
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
oracle=$bench/../tests/oracle
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$oracle/lib.sh"

programs="lua5.4 bzip2 sqlite3"
measures="edges blocks blocks-vcnt every-block"
work=$CHORD_CACHE/work/hierarchy
while [ $# -gt 0 ]; do
	case $1 in
	--programs) programs=$2 ;;
	--measures) measures=$2 ;;
	--work) work=$2 ;;
	*) die "$1: no such option" ;;
	esac
	shift 2
done
mkdir -p "$work"
gcc -O2 -std=gnu11 -D_GNU_SOURCE -I"$bench/../src" -I"$bench/.." -I"$bench/../build/made" -o "$work/additions" "$bench/additions.c" \
	"$bench/../build/libchord.a" -lelf -ldw -lz -lm
profile=$work/profile

# A command under callgrind: the instructions that it executed.
collect()
{
	rm -f "$profile"
	run_here "valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=$work/callgrind.log" "$2"
	sed -n 's/.*Collected : //p' "$work/callgrind.log" >>"$1"
	if [ -e "$profile" ]; then "$work/additions" "$profile" >>"$1.additions"; fi
}

# total FILE: the sum of its lines.
total()
{
	awk '{ n += $1 } END { printf "%.0f", n }' "$1"
}

# of STEM BUILD PROGRAM: runs the workload.
of()
{
	rm -f "$1".[0-9]* "$1".all "$1".additions
	each "$3" "$2" collect "$1"
	cat "$1".[0-9] "$1".[0-9][0-9] >"$1.all" 2>/dev/null || :
	cat "$1".[0-9].additions "$1".[0-9][0-9].additions >"$1.additions" 2>/dev/null || :
}

printf '%-10s %-12s %16s %10s %16s %10s\n' program measure additions per-100 instructions per-100
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	plain=$work/$program.plain
	build_plain "$program" gcc-O2 "$plain" >"$plain.log" 2>&1 || die "$program: build"
	of "$plain.run" "$plain" "$program"
	base=$(total "$plain.run.all")
	for measure in $measures; do
		dir=$work/$program.$measure
		build_measured "$program" gcc-O2 "$dir" "$measure" >"$dir.log" 2>&1 || die "$program: build with $measure"
		of "$dir.run" "$dir" "$program"
		awk -v program="$program" -v measure="$measure" -v base="$base" -v n="$(total "$dir.run.additions")" \
			-v all="$(total "$dir.run.all")" 'BEGIN {
			printf "%-10s %-12s %16.0f %10.2f %16.0f %10.2f\n", program, measure, n, 100 * n / base, all, 100 * (all / base - 1) }'
	done
done
