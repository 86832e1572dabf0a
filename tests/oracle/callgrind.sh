#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares Chord's count of every instruction of real programs with callgrind's count, in the same run of the program built without
# Chord.
#
#	callgrind.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"

programs="bzip2 lua5.4 sqlite3 grep"
configs="gcc-O2 gcc-O3"

callgrind="valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no --skip-plt=no"

# For each: the run under callgrind, and the program that it was a run of.
run_callgrind()
{
	profile=/dev/null
	rm -rf "$1.callgrind" "$1.dir"
	run_here "$callgrind --log-file=$1.log --callgrind-out-file=$1.callgrind" "$2"
	mkdir "$1.dir"
	cp "$work/here/$(program_of "$2")" "$1.dir/"
	[ -s "$1.callgrind" ]
}

# compared NAME PLAIN MEASURED COMMAND: the files of a command's runs.
compared()
{
	cmp "$2.out" "$3.out" >/dev/null || say_fail "$1: the outputs differ ($4)"
	names=$(dirname "$2")/$program.$config.edges/$(program_of "$4").names
	[ -e "$names" ] && names="--names $names" || names=
	if "$work/compare" $names "$2.dir/$(program_of "$4")" "$2.callgrind" "$3.insns" >"$2.result"; then
		say_ok "$1: $(tail -n 1 "$2.result")"
	else
		say_fail "$1: $(tail -n 1 "$2.result") ($4)"
		sed '$d' "$2.result"
	fi
}

one()
{
	name=$1/$2
	stem=$work/$1.$2
	rm -rf "$stem".plain.[0-9]* "$stem".edges.[0-9]*
	plain_build "$1" "$2" >"$stem.plain.log" 2>&1 || { say_fail "$name: plain build (see $stem.plain.log)"; return; }
	built "$1" "$2" edges || { say_fail "$name: measured build (see $stem.edges.log)"; return; }
	plain=$(plain_dir "$1" "$2")
	each "$1" "$plain" run_callgrind "$stem.plain" || { say_fail "$name: callgrind (see $stem.plain.*.log)"; return; }
	# callgrind's floating point is not the machine's: what is said is compared to this.
	each "$1" "$plain" run_plain "$stem.plain"
	each "$1" "$stem.edges" run_measured "$stem.edges" || { say_fail "$name: $(tail -q -n 1 "$stem".edges.*.err | tail -n 1)"; return; }
	number=0
	while read -r command <&4; do
		number=$((number + 1))
		compared "$name/$number" "$stem.plain.$number" "$stem.edges.$number" "$command"
	done 4<"$work/commands"
}

options "$@"
${CC:-gcc} -O2 -D_GNU_SOURCE -o "$work/compare" "$oracle/compare.c"
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	for config in $configs; do
		one "$program" "$config"
	done
done
finished
