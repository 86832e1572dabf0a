# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the suites of Chord's commands share. Each suite is a script with a function t_NAME for every test. A test runs in a folder
# of its own, and reports a failure by no(). To be sourced. It sets $here, $CHORD, $cc and $w, a folder for all tests. A suite may
# define before() and after(), which run in the test's folder as part of it.
here=$(cd "$(dirname "$0")" && pwd)
CHORD=$(realpath "${CHORD:-$here/../../build/chord}")
w=${CHORD_TEST_DIR:-$(mktemp -d)}
trap all_ran EXIT
. "$here/../registry.sh"
export LC_ALL=C ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}
unset CHORD_CC CHORD_CXX CHORD_AS CHORD_FILE CHORD_DIR COMPILER_PATH
cc="$CHORD cc"
only=" $* "
ran=" "
failed=0

# run_elsewhere NAME...: tests of files that another script runs.
run_elsewhere() { local names="$*"; ran+="${names//-/_} "; }

# all_ran: runs as the suite ends. Unless it was asked for some of its tests, a test that no test_case named is a failure.
all_ran() {
	local status=$? name
	if [ "$only" = "  " ] && [ $status -lt 126 ]; then
		for name in $(declare -F | sed -n 's/^declare -f t_//p'); do
			[[ $ran == *" $name "* ]] || { echo "FAIL ${name//_/-}: it is in no list of tests"; status=1; }
		done
	fi
	[ -n "${CHORD_TEST_DIR-}" ] || rm -rf "$w"
	exit $status
}

# no WHY...: the test that runs fails
no() { echo "$*" >"$w/why"; exit 1; }

# skip WHY...: it cannot run here
skip() { echo "$*" >"$w/skip"; exit 0; }

# want COMMAND...: it succeeds
want() { "$@" >out 2>err || no "status $? of $*: $(head -c 400 err)"; }

# refused STATUS PATTERN COMMAND...: it fails so, with a message of that pattern
refused() {
	local status=$1 pattern=$2 got
	shift 2
	"$@" >out 2>err
	got=$?
	[ $got = "$status" ] || no "status $got, not $status, of $*: $(head -c 400 err)"
	grep -Eq -- "$pattern" err || no "not '$pattern' but: $(head -c 400 err)"
}

# lcov_version: sets $tracefile, the format of Chord's that the installed lcov reads without a warning, and $branches, its option for branches.
lcov_version() {
	tracefile=lcov2 branches=--branch-coverage
	! lcov --version | grep -q 'version 1' || { tracefile=lcov branches="--rc lcov_branch_coverage=1"; }
}

before() { :; }
after() { :; }

# bash calls this, in a process of its own, where a command does not exist. A misspelled check would pass otherwise.
command_not_found_handle() {
	echo "$1: no such command" >>"$w/lacking"
	echo "bash: $1: command not found" >&2
	return 127
}

# note_time NAME: appends to the file TEST_TIMES, if that is set, how many seconds of processors' time the test that ends here took.
note_time() {
	[ -n "${TEST_TIMES-}" ] || return 0
	cpu_time "$w/times"
	printf '%7.2f %s\n' "$cpu" "$1" >>"$TEST_TIMES"
}

# lacks_nothing: no command was missing, unless the test is skipped for that.
lacks_nothing() {
	[ ! -e "$w/lacking" ] || [ -e "$w/skip" ] || no "$(sort -u "$w/lacking")"
}

# test_case NAME: runs t_NAME (with _ for -), if it is among those asked for
test_case() {
	local name=$1
	ran+="${name//-/_} "
	[ "$only" = "  " ] || [[ $only == *" $name "* ]] || return
	rm -rf "${w:?}/$name" "$w/skip" "$w/lacking"
	mkdir -p "$w/$name"
	turn_at=${#name}
	echo "it ended badly" >"$w/why"
	if (cd "$w/$name" && before && "t_${name//-/_}" && after && note_time "$name" && lacks_nothing); then
		if [ -e "$w/skip" ]; then echo "skip $name: $(cat "$w/skip")"; else echo "ok $name"; fi
	else
		echo "FAIL $name: $(tr '\n' ' ' <"$w/why")"
		failed=1
	fi
	rm -rf "${w:?}/$name"
}
