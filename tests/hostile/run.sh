#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [NAME...]: Chord among hostile programs, files and people, and among programs that do what few others do. Each file
# NAME.test here is a chapter: functions t_NAME, one for each test, and what they share. With names, only these tests.
set -u
. "$(dirname "$0")/../cases.sh"
. "$here/../may.sh"

# once COMPILER WORD... -o FILE: builds a program without Chord, which is the same for all measures, and where it was built already copies it.
# Not where sources are in the folder of a test.
declare -A built=()
sparse=
once() {
	local word out='' last='' kept=$w/once.${#built[@]}
	for word; do
		[ "$last" != -o ] || out=$word
		[[ $last == -o || $word == [-/]* || ! -f $word ]] || { "$@"; return; }
		last=$word
	done
	if [ -e "${built[$*]-}" ]; then
		cp "${built[$*]}" "$out"
	else
		"$@" && cp "$out" "$kept" && built[$*]=$kept
	fi
}

# each_build FUNCTION [MEASURE...]: calls it with gcc and clang, -O0 and -O2, and each of the measures (edges if none is
# named), as FUNCTION COMPILER LEVEL MEASURE, in a folder of its own. $CC is then the command that builds with Chord, $PLAIN the one that does not.
# clang -O0 only if FULL is set (make check-torture): no suite of make check takes longer than this one.
each_build() {
	local function=$1 compiler level measure
	shift
	[ $# -gt 0 ] || set -- edges
	for compiler in gcc clang; do
		for level in -O0 -O2; do
			[ -n "${FULL-}" ] || [ $compiler$level != clang-O0 ] || continue
			for measure in "$@"; do
				[[ -z $sparse || $compiler$level = gcc-O2 || $measure = @(edges|paths|trace) ]] || continue
				mkdir "$compiler$level-$measure"
				cd "$compiler$level-$measure" || exit 1
				export CHORD_CC=$compiler
				PLAIN="once $compiler $level -g -I$here"
				CC="$CHORD cc -fchord=$measure $level -g -I$here"
				"$function" "$compiler" "$level" "$measure" || no "$function $compiler $level $measure: $(cat "$w/why")"
				unset CHORD_CC
				cd .. || exit 1
			done
		done
	done
}

# spread_builds FUNCTION MEASURE...: the same with gcc -O2, but of the others only those that differ most, unless FULL is set (make check-torture).
spread_builds() {
	local sparse=yes
	[ -z "${FULL-}" ] || sparse=
	each_build "$@"
}

# as_plain COMMAND...: ./measured ARGS does what ./plain ARGS does: standard output, standard error, status.
as_plain() {
	local status got
	./plain "$@" >plain.out 2>plain.err
	status=$?
	./measured "$@" >measured.out 2>measured.err
	got=$?
	[ $got = $status ] || no "status $got, plain $status"
	cmp -s plain.out measured.out || no "output differs: $(head -c 200 measured.out)"
	cmp -s plain.err measured.err || no "messages differ: $(head -c 200 measured.err)"
}

# calls_of PROGRAM FUNCTION [PROFILE...]: how often it was called, as the report has it.
calls_of() {
	local program=$1 function=$2
	shift 2
	"$CHORD" report --json "$program" "$@" >report.json 2>report.err || no "report: $(head -c 400 report.err)"
	jq --arg f "$function" '[.functions[] | select(.name == $f) | .calls] | add' report.json
}

for chapter in "$here"/*.test; do
	. "$chapter"
done
# A chapter's function must not take the place of another one's.
twice=$(sed -nE 's/^([a-z_0-9]+)\(\).*/\1/p' "$here"/*.test "$here/run.sh" | sort | uniq -d)
[ -z "$twice" ] || { echo "FAIL chapters: defined twice: ${twice//$'\n'/ }"; failed=1; }
for name in $(sed -nE 's/^t_([a-z0-9_]+)\(\).*/\1/p' "$here"/*.test); do
	test_case "${name//_/-}"
done
exit $failed
