#!/bin/sh
# SPDX-License-Identifier: MIT
# Chord's count of every instruction of real programs against callgrind's count on the
# program built without Chord, same run.
#
#	callgrind.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"

programs="bzip2 lua5.4 sqlite3 grep"
configs="gcc-O2 gcc-O3"

callgrind="valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no --skip-plt=no"

# truths PROGRAM BUILD STEM: what callgrind has to say about every command.
truths()
{
	prepared "$1" "$2" || return 1
	number=0 profile=/dev/null
	while read -r command <&3; do
		number=$((number + 1))
		rm -f "$3.$number.callgrind"
		(run_here "$callgrind --log-file=$3.$number.log --callgrind-out-file=$3.$number.callgrind" "$command") ||
			echo "status $?" >>"$work/stderr"
		cat "$work/here/output" "$work/stderr" >"$3.$number.out" 2>/dev/null || :
		mkdir -p "$3.$number.dir"
		cp "$work/here/$(program_of "$command")" "$3.$number.dir/"
		[ -s "$3.$number.callgrind" ] || return 1
	done 3<"$work/commands"
}

# compared NAME STEM NUMBER COMMAND
compared()
{
	cmp "$2.$3.out" "$2.measured.$3.out" >/dev/null || say_fail "$1/$3: the outputs differ ($4)"
	if "$work/compare" "$2.$3.dir/$(program_of "$4")" "$2.$3.callgrind" "$2.measured.$3.insns" >"$2.$3.result"; then
		say_ok "$1/$3: $(tail -n 1 "$2.$3.result")"
	else
		say_fail "$1/$3: $(tail -n 1 "$2.$3.result") ($4)"
		cat "$2.$3.result"
	fi
}

one()
{
	name=$1/$2
	stem=$work/$1.$2
	rm -rf "$stem".[0-9]* "$stem".measured.*
	plain_build "$1" "$2" >"$stem.plain.log" 2>&1 || { say_fail "$name: plain build"; return; }
	built "$1" "$2" edges || { say_fail "$name: measured build (see $stem.edges.log)"; return; }
	truths "$1" "$(plain_dir "$1" "$2")" "$stem" || { say_fail "$name: callgrind"; return; }
	insns_of "$1" "$stem.edges" "$stem.measured" || { say_fail "$name: $(cat "$stem".measured.*.err | tail -n 1)"; return; }
	number=0
	while read -r command <&4; do
		number=$((number + 1))
		compared "$name" "$stem" "$number" "$command"
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
