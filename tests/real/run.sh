#!/bin/sh
# SPDX-License-Identifier: MIT
# Real programs, built plain and built with "chord cc": their own test suites must
# not see a difference, and no procedure may be left unmeasured.
#
#	run.sh [--sample] [--plain] [--programs "A B"] [--configs "X Y"]
#	       [--measures edges,every-block] [--jobs N] [--work DIR] [--keep]
#
# Prints "ok real/PROGRAM/CONFIG/MEASURE/WHAT (SECONDS s)", "FAIL ...: why" or
# "skip ...: why"; status 1 if anything failed. Logs are in DIR/logs. CHORD is the
# program to test, CHORD_CACHE keeps sources and plain builds.
set -eu
real=$(cd "$(dirname "$0")" && pwd)
. "$real/lib.sh"
. "$real/configs.sh"

programs=$all_programs
configs=$all_configs
measures=edges
jobs=2
work=$CHORD_CACHE/work/real
keep=

now()
{
	date +%s%N
}

# seconds SINCE
seconds()
{
	tenths=$((($(now) - $1) / 100000000))
	echo "$((tenths / 10)).$((tenths % 10))"
}

say()
{
	echo "$*"
	echo "$*" >>"$work/results"
}

# step NAME COMMAND...: a line for it, its output in a log, its status.
step()
{
	step=$1
	shift
	log=$work/logs/$(echo "$step" | tr / .).log
	start=$(now)
	if "$@" >"$log" 2>&1; then
		say "ok real/$step ($(seconds "$start") s)"
		return 0
	fi
	say "FAIL real/$step: $(why "$log") (see $log)"
	return 1
}

# The last line of a log that looks like a reason.
why()
{
	{ grep -aE 'FAIL|rror|chord:|refused|differ' "$1" || tail -n 1 "$1"; } | tail -n 1 | cut -c 1-160
}

# suite_of PROGRAM DIR SUMMARY: the program's tests; SUMMARY is what must be the same
# for the measured program.
suite_of()
{
	mkdir -p "$3.profiles"
	CHORD_FILE="$3.profiles/%n.%b.chord" "$real/recipe.sh" "$1" suite "$2" >"$3.log" 2>&1 || {
		tail -n 50 "$3.log"
		return 1
	}
	"$real/recipe.sh" "$1" summary "$3.log" >"$3"
	[ -s "$3" ] || {
		echo "the tests' summary is empty"
		return 1
	}
}

plain_summary()
{
	echo "$(plain_dir "$1" "$2").suite${CHORD_SAMPLE:+.sample}"
}

plain_suite()
{
	kept=$(plain_summary "$1" "$2")
	[ ! -f "$kept" ] || return 0
	suite_of "$1" "$(plain_dir "$1" "$2")" "$kept.new" || return 1
	rm -rf "$kept.new.profiles"
	mv "$kept.new" "$kept"
}

measured_suite()
{
	suite_of "$1" "$3" "$3.suite" || return 1
	diff "$(plain_summary "$1" "$2")" "$3.suite" || {
		echo "the summary of the tests differs"
		return 1
	}
}

# Every procedure measured? Every program of the recipe, whatever the first says.
verify()
{
	failed=0
	for file in $("$real/recipe.sh" "$1" programs "$2"); do
		echo "$file:"
		"$CHORD" verify "$2/$file" || failed=1
	done
	return $failed
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# The profiles that the suite left must be readable, and flow conserved in them.
reports()
{
	failed=0 found=0
	for file in $("$real/recipe.sh" "$1" programs "$2"); do
		profile=$2.suite.profiles/$(basename "$file").$(build_id "$2/$file").chord
		[ -f "$profile" ] || continue
		found=1
		echo "$file:"
		"$CHORD" report --top 3 "$2/$file" "$profile" || failed=1
	done
	[ $found = 1 ] || echo "no profile was left"
	[ $failed = 0 ] && [ $found = 1 ]
}

one_measure()
{
	name=$1/$2/$3
	dir=$work/$1.$2.$3
	rm -rf "$dir" "$dir".*
	step "$name/build" build_measured "$1" "$2" "$dir" "$3" || return 0
	step "$name/verify" verify "$1" "$dir" || :
	step "$name/suite" measured_suite "$1" "$2" "$dir" || return 0
	step "$name/report" reports "$1" "$dir" || return 0
	[ -n "$keep" ] || rm -rf "$dir" "$dir".*
}

# One program in one configuration: what a process of its own does.
one()
{
	if ! applies "$1" "$2"; then
		say "skip real/$1/$2: no such compiler for it"
		return 0
	fi
	step "$1/$2/plain/build" plain_build "$1" "$2" || return 0
	step "$1/$2/plain/suite" plain_suite "$1" "$2" || return 0
	[ "$measures" != none ] || return 0
	for measure in $(echo "$measures" | tr , ' '); do
		one_measure "$1" "$2" "$measure"
	done
}

fetch_all()
{
	for program in $programs; do
		step "$program/fetch" "$real/recipe.sh" "$program" fetch || :
	done
}

all()
{
	mkdir -p "$work/logs"
	exec 7>"$work/lock"
	flock -n 7 || die "another run works in $work (take another with --work)"
	: >"$work/results"
	fetch_all
	for program in $programs; do
		[ -f "$CHORD_CACHE/src/$program/.chord-fetched" ] || continue
		for config in $configs; do
			echo "$program $config"
		done
	done | xargs -P "$jobs" -n 2 "$0" --work "$work" --measures "$measures" $keep --one
	echo "$(grep -c ^ok "$work/results") ok, $(grep -c ^FAIL "$work/results") failed, $(grep -c ^skip "$work/results") skipped"
	! grep -q ^FAIL "$work/results"
}

sample()
{
	export CHORD_SAMPLE=1
	programs="bzip2 zlib ncompress lua5.4"
	configs="gcc-O2 gcc-O3 clang-O2"
}

while [ $# -gt 0 ]; do
	case $1 in
	--sample) sample ;;
	--plain) measures=none ;;
	--keep) keep=--keep ;;
	--programs) programs=$2; shift ;;
	--configs) configs=$2; shift ;;
	--measures) measures=$2; shift ;;
	--jobs) jobs=$2; shift ;;
	--work) work=$2; shift ;;
	--one) one "$2" "$3"; exit ;;
	*) die "run.sh: what is $1?" ;;
	esac
	shift
done
all
