#!/bin/sh
# SPDX-License-Identifier: MIT
# What it costs when activations do not return: 1,000,000 exceptions, 1,000,000 calls of longjmp, 10,000 short threads (exits-*).
# First the script checks that the counts of every measure are exactly what the source says. Then it prints a table of CPU time,
# user and system, beside the plain program's: the median of alternating runs, the least and the most, and the cost of each
# exception, jump or thread. Status 1 if a count is wrong.
#
#	exits.sh [--runs N] [--levels "-O0 -O2"] [--compilers "gcc clang"] [--measures "edges calls"] [--work DIR]
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$bench/processor.sh"
runs=7
levels=-O2
compilers="gcc clang"
measures=$("$CHORD" cc --measures | cut -f1 | grep -v paths)
work=
status=0

# build SOURCE OUTPUT COMMAND...
build()
{
	source=$1 output=$2
	shift 2
	"$@" -w "$level" -o "$output" "$source" $(sed -n 's|^/\* options: \(.*\) \*/$|\1|p' "$source")
}

# The compiler of a source, and Chord in front of it.
plain_of()
{
	case $1:$2 in
	*.cc:gcc) echo g++ ;;
	*.cc:clang) echo clang++ ;;
	*) echo "$2" ;;
	esac
}

chord_of()
{
	case $1 in
	*.cc) echo c++ ;;
	*) echo cc ;;
	esac
}

# Events are counted beside edges, and have to agree with what these say. The clock by itself counts no activations.
options_of()
{
	case $1 in
	clock) echo "-fchord=edges,clock" ;;
	events) echo "-fchord=edges,events -fchord-events=instructions,blocks,calls" ;;
	*) echo "-fchord=$1" ;;
	esac
}

# wrong WHAT WHY
wrong()
{
	echo "FAIL $1: $2"
	status=1
}

# exact WHAT SOURCE PROGRAM: what a run counts is what the source says.
exact()
{
	rm -f "$3".chord*
	CHORD_FILE=$3.chord "$3" || wrong "$1" "status $?"
	"$CHORD" report --json "$3" "$3".chord >"$3.json" || wrong "$1" "no report"
	jq -e '.unknown == [] and .refused == [] and .left_out == []' "$3.json" >/dev/null || wrong "$1" "$(jq -c '.unknown + .refused' "$3.json")"
	jq -e '.totals as $t | .events // {} | to_entries | all(.value == $t[.key] or $t[.key] == null)' "$3.json" >/dev/null ||
		wrong "$1" "events are not what the edges say"
	sed -n 's|^/\* expect: \(.*\) \*/$|\1|p' "$2" | tr ',' '\n' | while read -r name number; do
		echo "$name $number $(jq --arg n "$name" '[.functions[] | select(.name == $n or (.name | test("^_Z[0-9]+" + $n))) | .calls] | add' "$3.json")"
	done >"$3.counts"
	[ -s "$3.counts" ] || wrong "$1" "the source says nothing"
	while read -r name expected got; do
		[ "$expected" = "$got" ] || wrong "$1" "activations of $name: $got, and are $expected"
	done <"$3.counts"
}

# one SOURCE COMPILER: a row of the table.
one()
{
	name=$(basename "${1%.*}")
	row="$name $2 $level"
	# shellcheck disable=SC2046
	build "$1" "$work/plain" $(plain_of "$1" "$2")
	for measure in $measures; do
		build "$1" "$work/$measure" env "CHORD_CC=$(plain_of "$1" "$2")" "CHORD_CXX=$(plain_of "$1" "$2")" "$CHORD" \
			"$(chord_of "$1")" $(options_of "$measure")
		exact "$row $measure" "$1" "$work/$measure"
		cell=$(CHORD_FILE="$work/timed.chord" "$work/pair" -s "$runs" "$work/plain" "$work/$measure")
		echo "$cell" | awk -v row="$row" -v measure="$measure" -v n="$(sed -n 's|^/\* \([0-9,]*\) .*|\1|p' "$1" | tr -d ,)" '{
			printf "%-26s %-12s %8.3f s %8.2f (%.2f-%.2f) %8.2f us each\n", row, measure, $4, $1, $2, $3, ($1 - 1) * $4 / n * 1e6
		}'
	done
}

while [ $# -gt 0 ]; do
	case $1 in
	--runs) runs=$2 ;;
	--levels) levels=$2 ;;
	--compilers) compilers=$2 ;;
	--measures) measures=$2 ;;
	--work) work=$2 ;;
	*) echo "exits.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift 2
done
if [ -z "$work" ]; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/chord-exits.XXXXXX")
	trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
processor
printf '%-26s %-12s %10s %8s %25s\n' program measure plain ratio "more"
for level in $levels; do
	for source in "$bench"/exits-*.c*; do
		for compiler in $compilers; do
			one "$source" "$compiler"
		done
	done
done
exit $status
