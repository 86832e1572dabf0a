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

# each_build FUNCTION [MEASURE...]: calls it as FUNCTION COMPILER LEVEL MEASURE, in a folder of its own, with each of the measures (edges
# if none is named). $CC is then the command that builds with Chord, $PLAIN the one that does not. With FULL (make check-torture) each
# measure is built by gcc and clang, -O0 and -O2; otherwise by one of these in turn, and at least two of them are used. Of more than four
# measures these are the first one and a third of the others. If $beside is set, each of those builds the measure of that name first,
# with which others are compared: ../COMPILERLEVEL-MEASURE is its folder.
each_build() {
	local function=$1 builds=("gcc -O2" "clang -O2" "gcc -O0" "clang -O0") n=2 k build measure
	shift
	[ $# -gt 0 ] || set -- edges
	[ $# -le 4 ] || { in_turn "$@"; set -- $turn; }
	[ $# -le $n ] || n=$#
	local measures=("$@")
	if [ -n "${FULL-}" ]; then
		for ((k = 0; k < 4 * $#; k++)); do
			one_build "$function" ${builds[k / $#]} "${measures[k % $#]}"
		done
	else
		for ((k = 0; k < n; k++)); do
			build=${builds[turn_at++ % 4]} measure=${measures[k % $#]}
			[ -z "${beside-}" ] || [ -e "${build/ /}-$beside" ] || one_build "$function" $build "$beside"
			[ -e "${build/ /}-$measure" ] || one_build "$function" $build "$measure"
		done
	fi
}

# one_build FUNCTION COMPILER LEVEL MEASURE
one_build() {
	local function=$1
	shift
	mkdir "$1$2-$3"
	cd "$1$2-$3" || exit 1
	export CHORD_CC=$1
	PLAIN="once $1 $2 -g -I$here"
	CC="$CHORD cc -fchord=$3 $2 -g -I$here"
	"$function" "$@" || no "$function $*: $(cat "$w/why")"
	unset CHORD_CC
	cd .. || exit 1
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
