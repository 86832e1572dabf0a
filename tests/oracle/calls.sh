#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares what -fchord=calls says of real programs with callgrind, in the same run of the program built without Chord: calls and
# inclusive instructions of every pair of measured functions that call each other, and of all calls of each function.
#
#	calls.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"

programs="bzip2 lua5.4 sqlite3 grep"
configs="gcc-O2-whole"

# No stack is deeper.
depth=200
# A resolver would come between a call and what is called.
callgrind="env LD_BIND_NOW=1 valgrind --tool=callgrind --separate-callers=$depth --separate-recs=1 --dump-line=no
	--compress-strings=no --compress-pos=no --skip-plt=no"

# For each: the run under callgrind.
run_callgrind()
{
	profile=/dev/null
	rm -f "$1.callgrind"
	run_here "$(echo $callgrind) --log-file=$1.log --callgrind-out-file=$1.callgrind" "$2"
	[ -s "$1.callgrind" ]
}

# For each: the calls of a measured run, as calls.awk wants them.
run_calls()
{
	profile=$1.chord
	rm -f "$profile"
	run_here "" "$2"
	"$CHORD" report --json --calls "$work/here/$(program_of "$2")" "$profile" >"$1.json" 2>"$1.err" || return 1
	jq -r '(.functions[].name | "name \(.)"), (.call_sites[] | "site \(.caller) \(.callee | gsub(" "; "_")) \(.calls) \(.events.instructions)",
		(.caller as $c | (.callees // [])[] | "through \($c) \(.name | gsub(" "; "_")) \(.calls)"))' "$1.json" >"$1.sites"
	jq -r '(.unknown[] | "\(.name): \(.reason)"), .notes[]' "$1.json" >"$1.notes"
}

# agree NAME CALLGRIND SITES COMMAND
agree()
{
	here=$work/here/$(program_of "$4")
	: >"$3.got"
	if ! awk -v program="$here" -v got="$3.got" -v depth=$depth -f "$oracle/calls.awk" "$3" "$2" | sort >"$3.expected"; then
		say_fail "$1: $2 cannot be read"
	elif sort -o "$3.got" "$3.got" && [ -s "$3.got" ] && cmp -s "$3.expected" "$3.got"; then
		say_ok "$1: $(awk '{ n[$1]++ } END { print n["edge"] + 0, "call edges,", n["calls"] + 0, "through pointers,", n["all"] + 0,
			"callers" }' "$3.got")"
	else
		say_fail "$1: $(diff "$3.expected" "$3.got" | grep -c '^[<>]') differ: $(diff "$3.expected" "$3.got" |
			grep '^[<>]' | head -n 6 | tr '\n' ' ') ($4)"
	fi
	[ ! -s "${3%.sites}.notes" ] || say_fail "$1: $(head -n 3 "${3%.sites}.notes")"
}

one()
{
	name=$1/$2/calls
	stem=$work/$1.$2
	rm -rf "$stem".plain.[0-9]* "$stem".calls.[0-9]*
	plain_build "$1" "$2" >"$stem.plain.log" 2>&1 || { say_fail "$name: plain build (see $stem.plain.log)"; return; }
	built "$1" "$2" calls || { say_fail "$name: measured build (see $stem.calls.log)"; return; }
	small=yes
	each "$1" "$(plain_dir "$1" "$2")" run_callgrind "$stem.plain" || { say_fail "$name: callgrind (see $stem.plain.*.log)"; return; }
	each "$1" "$stem.calls" run_calls "$stem.calls" || { say_fail "$name: $(tail -q -n 1 "$stem".calls.*.err | tail -n 1)"; return; }
	number=0
	while read -r command <&4; do
		number=$((number + 1))
		agree "$name/$number" "$stem.plain.$number.callgrind" "$stem.calls.$number.sites" "$command"
	done 4<"$work/commands"
}

options "$@"
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	for config in $configs; do
		one "$program" "$config"
	done
done
finished
