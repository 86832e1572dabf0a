# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Records a command and runs it again, for the suites of recording. To be sourced after cases.sh.

# record COMMAND...: into log; out, err and status are what it left
record() {
	rm -f log
	{ timeout -k 5 60 "$CHORD" record -o log "$@" >out 2>err </dev/null; status=$?; } 2>/dev/null
	[ -s log ] || no "no log of $*: $(head -c 300 err)"
}

# replay TIMES: each as it was recorded
replay() {
	local got
	for i in $(seq "$1"); do
		{ timeout -k 5 100 "$CHORD" replay log >again 2>again.err </dev/null; got=$?; } 2>/dev/null
		[ $got = $status ] || no "replay $i: status $got, not $status: $(head -c 400 again.err)"
		cmp -s out again || no "replay $i: other output: $(cmp out again)"
		cmp -s err again.err || no "replay $i: other errors: $(head -c 400 again.err)"
	done
}
