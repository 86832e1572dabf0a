#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord export`: each format is read by the tool that it is for, whose numbers are then those of the report. Prints ok, FAIL
# or skip for each; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

built() {
	cp "$here/prog.c" .
	want $cc -O2 -g "$@" -o prog prog.c
	want ./prog
	want "$CHORD" report --json --lines ./prog
	mv out report
	total=$(jq .totals.instructions report)
	[ "$total" -gt 0 ] || no "the report has no instructions: $total"
}

t_lcov() {
	built
	want "$CHORD" export --format=lcov -o prog.info ./prog
	want lcov --rc lcov_branch_coverage=1 --summary prog.info
	grep -q 'functions\.\.: 66\.7% (2 of 3 functions)' out || no "$(cat out)"
	want genhtml --branch-coverage -o html prog.info
	grep -qi 'warning' out err && no "genhtml warns: $(cat out err)"
	# The count of a line is that of the instruction that ran most.
	for line in $(jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | "\(.line):\(.most)"' report); do
		grep -qx "DA:${line%:*},${line#*:}" prog.info || no "no DA:$line"
	done
	grep -qx 'FNDA:50,sum' prog.info || no "sum was not called 50 times"
	grep -qx 'FNDA:0,never' prog.info || no "never is not there"
}

t_callgrind() {
	built
	want "$CHORD" export -f callgrind -o cg ./prog
	want callgrind_annotate cg
	[ "$(sed -nE 's/^([0-9,]+) .*PROGRAM TOTALS.*/\1/p' out | tr -d ,)" = "$total" ] || no "totals: $(grep TOTALS out) and $total"
	n=$(jq '.functions[] | select(.name == "sum") | .instructions' report)
	[ "${n:-0}" -gt 0 ] || no "the report does not have sum"
	[ "$(sed -nE 's/^ *([0-9,]+) .*prog\.c:sum .*/\1/p' out | head -n 1 | tr -d ,)" = "$n" ] || no "sum is not $n: $(cat out)"
}

# Calls have inclusive costs where they are counted.
t_calls() {
	built -fchord=calls
	want "$CHORD" export -f callgrind -o cg ./prog
	grep -A1 '^cfn=sum$' cg | grep -qx 'calls=50 0' || no "no 50 calls of sum"
	want callgrind_annotate --inclusive=yes cg
	n=$(jq '.functions[] | select(.name == "sum") | .instructions' report)
	[ "${n:-0}" -gt 0 ] || no "the report does not have sum"
	[ "$(sed -nE 's/^ *([0-9,]+) .*prog\.c:sum .*/\1/p' out | head -n 1 | tr -d ,)" = "$n" ] || no "sum is not $n: $(cat out)"
}

t_csv() {
	command -v sqlite3 >/dev/null || skip "no sqlite3"
	built
	want "$CHORD" export -f csv -o prog.csv ./prog
	want sqlite3 :memory: '.mode csv' '.import prog.csv insn' 'select sum(count) from insn' \
		"select count(*) from insn where function = 'never' and count != 0"
	[ "$(tr -d '\r' <out | tr '\n' ' ')" = "$total 0 " ] || no "not $total: $(cat out)"
}

t_bolt() {
	local bolt
	bolt=$(command -v llvm-bolt || ls /usr/bin/llvm-bolt-[0-9]* 2>/dev/null | head -n 1)
	[ -n "$bolt" ] || skip "no llvm-bolt"
	built
	want gcc -O2 -g -Wl,--emit-relocs -o plain prog.c
	want "$CHORD" export -f bolt -o prog.fdata ./prog
	"$bolt" plain -o faster --data=prog.fdata --reorder-blocks=ext-tsp >out 2>&1 || no "$(tail -n 3 out)"
	grep -q '2 out of [0-9]* functions .* have non-empty execution profile' out || no "$(grep profile out)"
	grep -qi 'stale\|was ignored' out && no "$(grep -i 'stale\|was ignored' out)"
	[ -n "$(./plain)" ] && [ "$(./faster)" = "$(./plain)" ] || no "it does something else"
}

# A process that was killed: what is not exact is left out, and that is said.
t_not_exact() {
	printf 'int main(void) { for (volatile long i = 0;;) i++; }\n' >endless.c
	want $cc -g -o endless endless.c
	timeout 0.3 ./endless
	want "$CHORD" export -f lcov -o endless.info ./endless
	grep -q 'main\|procedures are left out' err || no "nothing says so: $(cat err)"
	grep -q '^DA' endless.info && no "it has lines"
	:
}

t_refused() {
	built
	refused 2 "no such format" "$CHORD" export -f nothing ./prog
	refused 2 "which format" "$CHORD" export ./prog
	refused 2 "which program" "$CHORD" export -f lcov
	refused 1 "absent" "$CHORD" export -f lcov ./absent
	refused 1 "nowhere/x" "$CHORD" export -f lcov -o nowhere/x ./prog
}

for name in lcov callgrind calls csv bolt not-exact refused; do
	test_case "$name"
done
exit $failed
