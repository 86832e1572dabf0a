#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of real programs, on small inputs. The instructions of a trace are those that single steps saw. All blocks are regenerated
# from the witnesses that the trace's paths would have written. A process that is killed at any time leaves the beginning of what it
# would have left.
#
#	programs.sh [--programs "A B"] [--kills N] [--work DIR]
#
# ../oracle/measures.sh compares counts from traces with those of edges. STEPS and REGENERATE are the programs of this folder, as
# built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
oracle=$here/../oracle
kills=100
left=
while [ $# -gt 0 ]; do
	case $1 in
	--kills) kills=$2 ;;
	*) left="$left $1 '$2'" ;;
	esac
	shift 2
done
eval "set -- $left"
. "$oracle/lib.sh"
. "$here/../may.sh"
: "${STEPS:=$(dirname "$CHORD")/steps}"
: "${REGENERATE:=$(dirname "$CHORD")/regenerate}"
programs="bzip2 lua5.4 sqlite3 grep"
work=$CHORD_CACHE/work/tracing
options "$@"

pass()
{
	echo "ok tracing/$*"
}

no()
{
	failures=$((failures + 1))
	echo "FAIL tracing/$*"
}

# The program of a command, in the run folder.
program()
{
	echo "$work/here/$(program_of "$1")"
}

# tiny PROGRAM: a command that runs few instructions: single steps are slow.
tiny()
{
	cd "$work/here"
	case $1 in
	bzip2)
		head -c 300 input >tiny
		bzip2 <tiny >tiny.bz2
		echo "./bzip2 -d -c tiny.bz2 >output"
		;;
	lua5.4)
		echo "print(pcall(error, 'x'), ('a,b'):gsub(',', '.'))" >tiny.lua
		echo "./lua tiny.lua >output"
		;;
	sqlite3)
		echo "./sqlite3 -batch :memory: 'select max(1, 2)' >output"
		;;
	grep)
		head -c 300 input >tiny
		echo "./grep -c '[a-f]the' tiny >output"
		;;
	esac
}

# The addresses of a command from single steps, and from the trace that the same run left.
stepped()
{
	profile=$1.chord
	rm -f "$profile" "$profile.trace" "$work"/here/steps.*
	BREAKS=1 run_here "$STEPS" "$2"
	"$CHORD" trace --insns --thread=1 "$(program "$2")" "$profile" 2>"$1.err" |
		awk '$2 ~ /^[0-9a-f]+$/ && NF > 2 { print $2 }' >"$1.traced"
	if [ -s "$1.traced" ] && cmp -s "$work/here/steps.1" "$1.traced"; then
		pass "steps: ${1##*/}, $(wc -l <"$1.traced") instructions"
	else
		no "steps: ${1##*/}: $(wc -l <"$work/here/steps.1") stepped, $(wc -l <"$1.traced") traced $(head -n 1 "$1.err")"
	fi
	rm -f "$1.traced" "$work"/here/steps.*
}

# For each command: its blocks, from witnesses.
regenerated()
{
	profile=$1.chord
	rm -f "$profile" "$profile.trace"
	run_here "" "$2"
	if "$REGENERATE" "$(program "$2")" "$profile" >"$1.log" 2>&1; then
		pass "regenerated: ${1##*/}, $(cat "$1.log")"
	else
		no "regenerated: ${1##*/}: $(head -n 1 "$1.log")"
	fi
}

# A command, killed within its first fifth of a second, leaves a beginning of the whole trace.
killed()
{
	profile=$1.whole.chord
	rm -f "$1".*chord*
	begin=$(date +%s%N)
	run_here "" "$2"
	took=$((($(date +%s%N) - begin) / 1000000 + 2))
	[ $took -lt 200 ] || took=200
	profile=$1.killed.chord
	n=0 some=0 bad=
	while [ $n -lt "$kills" ] && [ -z "$bad" ]; do
		n=$((n + 1))
		rm -f "$profile" "$profile.trace"
		after=$(awk -v seed="$n" -v took="$took" 'BEGIN { srand(seed); printf "%.4f", rand() * took / 1000 }')
		run_here "timeout -s KILL $after" "$2"
		[ -s "$profile" ] && [ -s "$profile.trace" ] || continue # killed before it had a head
		"$CHORD" trace --diff "$(program "$2")" "$1.whole.chord" "$profile" >"$1.diff" 2>&1 && continue
		# Without a thread it has traced nothing yet.
		if grep -q "killed.chord: the thread ends there" "$1.diff" && ! grep -q "whole.chord: the thread ends there" "$1.diff"; then
			some=$((some + 1))
		else
			grep -q '^Thread 1: only .*whole.chord has it$' "$1.diff" || bad=$(head -n 3 "$1.diff")
		fi
	done
	if [ -z "$bad" ] && [ $some -gt 0 ]; then
		pass "killed: ${1##*/}, $n times, $some amid it"
	elif [ -z "$bad" ]; then
		echo "skip tracing/killed: ${1##*/}: never amid it"
	else
		no "killed: ${1##*/}: after ${after}s: $bad"
	fi
}

for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	dir=$work/$program
	"$real/recipe.sh" "$program" build "$dir" "$CHORD cc -fchord=trace" "$CHORD c++ -fchord=trace" "" "-O2 -g -fno-pie" -no-pie \
		>"$dir.log" 2>&1 || die "$program: build (see $dir.log)"
	small=yes
	each "$program" "$dir" regenerated "$work/$program.regenerated"
	small=
	prepared "$program" "$dir"
	if may trace; then
		stepped "$work/$program.steps" "$(tiny "$program")"
	else
		echo "skip tracing/steps: $program: $why"
	fi
	if [ -n "$fixed" ]; then
		killed "$work/$program.killed" "$(head -n 1 "$work/commands")"
	else
		echo "skip tracing/killed: $program: addresses cannot be fixed"
	fi
done
finished
