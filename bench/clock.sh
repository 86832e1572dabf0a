#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of "A Software Instruction Counter" (Mellor-Crummey & LeBlanc 1989) for -fchord=clock.
#
#	clock.sh [--runs N] [--rounds N] [--programs "A B"]
#
# Table 1: what is woven in. Table 2: the ratio of user CPU time to the plain program's, by run.sh: with one register less (`fixed`:
# gcc -ffixed-r15, which counts nothing), with the clock, and with instructions counted. Table 3: the cost of the clock in a program
# of small procedures, in instructions and in time: the cost that its additions let one expect (one instruction each), and the
# measured cost.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
export CHORD
programs="fib small ncompress grep" runs=5 rounds=2000
while [ $# -gt 0 ]; do
	case $1 in
	--runs) runs=$2; shift ;;
	--rounds) rounds=$2; shift ;;
	--programs) programs=$2; shift ;;
	*) echo "clock.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-clock.XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "Table 1: code sequences"
cat >"$work/code.c" <<'END'
int f(int);
int loop(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= s << 3 ^ i; return s; }
int entry(int n) { return f(n) + 1; }
END
gcc -O2 -S -o "$work/code.s" "$work/code.c"
"$CHORD" show -m clock -p text "$work/code.s" | tr ';' '\n' | sed -n 's/^[^#"]*\(incq.*__chord_numbers_clock.*\)/  an addition:        \1/p
	s/^[^#"]*\(incq.*%gs:[0-9]*(%r.*\)/  in a loop:          \1/p
	s/^[^#"]*\(leaq.*__chord_numbers_clock.*\)/  before such a loop: \1/p' | sed 's/\.Lchord.*//' | sort -u

echo
echo "Table 2: time"
"$bench/run.sh" --runs "$runs" --programs "$programs" --columns "fixed clock events"

echo
echo "Table 3: $rounds thousand rounds of small procedures"
gcc -O2 -I"$bench/../include" -o "$work/plain" "$bench/small.c"
"$CHORD" cc -O2 -fchord=clock -o "$work/clock" "$bench/small.c"
gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
export CHORD_FILE=/dev/null

# per_round PROGRAM: instructions, by the difference of two runs
per_round()
{
	for n in 1 2; do
		valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/$1" $n 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
	done | awk 'NR == 1 { a = $1 } END { printf "%.1f", ($1 - a) / 1000 }'
}

additions=$("$work/clock" 1 say 2>&1 >/dev/null)
plain=$(per_round plain)
clock=$(per_round clock)
"$work/pair" "$runs" "$work/plain $rounds >/dev/null" "$work/clock $rounds >/dev/null 2>&1" >"$work/times"
awk -v a="$additions" -v p="$plain" -v c="$clock" '{
	printf "  additions a round               %8.2f\n  instructions a round, plain     %8.1f\n", a, p
	printf "  expected cost                   %7.1f%%\n", 100 * a / p
	printf "  measured cost, in instructions  %7.1f%%\n", 100 * (c - p) / p
	printf "  measured cost, in time          %7.1f%%  (%.1f%% to %.1f%%)\n", 100 * ($1 - 1), 100 * ($2 - 1), 100 * ($3 - 1)
}' "$work/times"
