#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the totals of `chord stat` for real programs with valgrind's, in the same run of the program built without Chord. On
# whole workloads callgrind, with its simulation of caches and branches, gives instructions, stores and conditional branches. On
# small ones lackey's trace of every access gives instructions, taken branches, loads, stores and their bytes. All totals are of the
# measured code only.
#
#	events.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"

programs="bzip2 lua5.4 sqlite3 grep"
configs="gcc-O2"

callgrind="valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no --skip-plt=no
	--cache-sim=yes --branch-sim=yes"
# Where valgrind puts programs that may lie anywhere.
base=0x108000

# The folder as it was before any run.
again()
{
	rm -rf "$work/here"
	cp -r "$1" "$work/here"
}

# For each: as chord stat counts it.
run_stat()
{
	profile=/dev/null
	run_here "\"$CHORD\" stat --json -o $1.json" "$2"
	jq -r '.events | to_entries[] | "\(.key) \(.value)"' "$1.json" >"$1.events"
	jq -r '(.unknown[] | "\(.name): \(.reason)"), .notes[]' "$1.json" >"$1.notes"
}

# For each: measured, for the places, and by chord stat.
run_both()
{
	again "$measured_here"
	run_measured "$1" "$2" || return 1
	again "$measured_here"
	run_stat "$1" "$2"
}

# places STEM COMMAND: where what was measured lies in the plain program.
places()
{
	plain=$work/here/$(program_of "$2")
	objdump -d "$plain" >"$1.disassembly"
	"$work/compare" --places "$plain" "$measured.$number.insns" >"$1.places"
}

# For each, with the STEM of the measured runs in $measured.
run_callgrind()
{
	profile=/dev/null
	rm -f "$1.callgrind"
	again "$plain_here"
	run_here "$(echo $callgrind) --log-file=$1.log --callgrind-out-file=$1.callgrind" "$2"
	[ -s "$1.callgrind" ] && places "$1" "$2" &&
		"$work/events" callgrind "$1.places" "$1.disassembly" "$1.callgrind" "$(program_of "$2")" >"$1.truth"
}

run_lackey()
{
	profile=/dev/null
	again "$plain_here"
	places "$1" "$2" || return 1
	if readelf -h "$plain" | grep -q 'Type:.*DYN'; then at=$base; else at=0; fi
	rm -f "$1.trace"
	mkfifo "$1.trace"
	"$work/events" lackey "$1.places" "$1.disassembly" $at <"$1.trace" >"$1.truth" &
	reader=$!
	run_here "valgrind --tool=lackey --vex-guest-chase=no --trace-mem=yes --log-file=$1.trace" "$2"
	wait $reader
}

# agree NAME TRUTH EVENTS COMMAND: all that valgrind tells is what chord stat says.
agree()
{
	if [ -s "$2" ] && ! grep -qvxFf "$3" "$2"; then
		say_ok "$1: $(tr '\n' ' ' <"$2")"
	else
		say_fail "$1: valgrind $(tr '\n' ' ' <"$2"), chord $(tr '\n' ' ' <"$3") ($4)"
	fi
	[ ! -s "${3%.events}.notes" ] || say_fail "$1: $(cat "${3%.events}.notes")"
}

# against NAME WHAT STEM: the commands, measured in STEM.edges.N, and under valgrind as STEM.WHAT.N.
against()
{
	measured=$3.edges
	each_command "$measured" run_both || { say_fail "$1: $(tail -q -n 1 "$measured".*.err | tail -n 1)"; return; }
	each_command "$3.$2" "run_$2" || { say_fail "$1: $2 (see $3.$2.*)"; return; }
	number=0
	while read -r command <&4; do
		number=$((number + 1))
		agree "$1/$number" "$3.$2.$number.truth" "$measured.$number.events" "$command"
	done 4<"$work/commands"
}

# each_command STEM FUNCTION: FUNCTION STEM.NUMBER COMMAND for every command, in the folder as it is.
each_command()
{
	number=0
	while read -r command <&3; do
		number=$((number + 1))
		"$2" "$1.$number" "$command" || return 1
	done 3<"$work/commands"
}

one()
{
	name=$1/$2
	stem=$work/$1.$2.events
	rm -rf "$stem".*
	plain_build "$1" "$2" >"$stem.plain.log" 2>&1 || { say_fail "$name: plain build (see $stem.plain.log)"; return; }
	built "$1" "$2" edges || { say_fail "$name: measured build (see $work/$1.$2.edges.log)"; return; }
	plain_here=$stem.plain
	measured_here=$stem.measured
	for what in callgrind lackey; do
		kept "$1" "$(plain_dir "$1" "$2")" "$plain_here"
		kept "$1" "$work/$1.$2.edges" "$measured_here"
		against "$name/$what" $what "$stem"
	done
}

# kept PROGRAM BUILD FOLDER: the run folder of a build, kept to be copied; the commands in $work/commands.
kept()
{
	prepared "$1" "$2" || die "$1: no workload"
	[ "$what" = callgrind ] || (small_workload "$1") >"$work/commands"
	rm -rf "$3"
	cp -r "$work/here" "$3"
}

options "$@"
for tool in compare events; do
	${CC:-gcc} -O2 -D_GNU_SOURCE -o "$work/$tool" "$oracle/$tool.c"
done
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	for config in $configs; do
		one "$program" "$config"
	done
done
finished
