#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord export`: the tool for each format reads it, and shows the numbers of the report. Prints ok, FAIL or skip for each test;
# status 1 if one failed.
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

# most LINE: how often the line's instruction ran that ran most.
most() { jq ".lines[] | select(.line == $1 and (.file | endswith(\"prog.c\"))) | .most" report; }

# needs COMMAND PACKAGE
needs() { command -v "$1" >/dev/null || skip "no $2"; }

t_lcov() {
	local tracefile branches line
	lcov_version
	built
	want "$CHORD" export --format=lcov -o prog.info ./prog
	want "$CHORD" export --format=$tracefile -o read.info ./prog
	want lcov $branches --summary read.info
	grep -q 'functions\.*: 66\.7% (2 of 3 functions)' out || no "$(cat out)"
	grep -q 'branches\.*: 80\.0% (8 of 10 branches)' out || no "$(cat out)"
	want genhtml --branch-coverage -o html read.info
	grep -qi 'warning' out err && no "genhtml warns: $(cat out err)"
	# The count of a line is that of the instruction that ran most.
	for line in $(jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | "\(.line):\(.most)"' report); do
		grep -qx "DA:${line%:*},${line#*:}" prog.info || no "no DA:$line"
	done
	grep -qx 'FNDA:50,sum' prog.info || no "sum was not called 50 times"
	grep -qx 'FNDA:0,never' prog.info || no "never is not there"
}

# Functions have last lines, which are theirs, too, where their code is inlined; no line contradicts its function.
t_lcov2() {
	cp "$here/inlined.c" .
	want $cc -O2 -g -o inlined inlined.c
	want ./inlined
	want "$CHORD" export -f lcov2 -o inlined.info ./inlined
	for line in FN:16,20,outer FN:24,29,main; do
		grep -q "^${line%%,*},${line#*,}" inlined.info || no "not $line: $(grep FN: inlined.info)"
	done
	grep -q 'inner' inlined.info && no "inner has no code of its own"
	grep -q 'both' inlined.info && no "it is not known how often both was entered: $(grep both inlined.info)"
	:
}

t_cobertura() {
	needs xmllint libxml2-utils
	needs diff-cover diff-cover
	mkdir tree
	cd tree || no "no folder"
	want git init -q -b main .
	want git -c user.name=x -c user.email=x@x commit -q --allow-empty -m nothing
	want git checkout -q -b more
	built
	want git add prog.c
	want git -c user.name=x -c user.email=x@x commit -q -m more
	want "$CHORD" export -f cobertura -o prog.xml ./prog
	want xmllint --noout --nonet --dtdvalid "$here/cobertura.dtd" prog.xml
	want xmllint --xpath 'string(//class[@name="prog.c"]/lines/line[@number="12"]/@hits)' prog.xml
	[ "$(cat out)" = "$(most 12)" ] || no "line 12: $(cat out), not $(most 12)"
	want xmllint --xpath 'string(//method[@name="sum"]//line[@number="11"]/@condition-coverage)' prog.xml
	[ "$(cat out)" = '75% (3/4)' ] || no "branches of line 11: $(cat out)"
	want diff-cover prog.xml --compare-branch=main
	grep -q 'prog.c (82.4%): Missing lines 20-21,34' out || no "$(cat out)"
	grep -qi warning out err && no "$(grep -i warning out err)"
	:
}

# geninfo and gcovr start gcov and read what it leaves; so this one leaves what Chord exported.
t_gcov() {
	local tracefile branches line
	lcov_version
	built
	want "$CHORD" export -f gcov -o prog.gcov.json.gz ./prog
	printf '#!/bin/sh\ncase $* in *-v*|*help*) exec gcov "$@" ;; esac\ncp %s/prog.gcov.json.gz .\n' "$PWD" >gcov-stand-in
	chmod +x gcov-stand-in
	mkdir objects
	want gcc --coverage -O0 -c -o objects/prog.o prog.c
	want gcc --coverage -o objects/prog objects/prog.o
	want objects/prog
	want geninfo $branches --gcov-tool "$PWD/gcov-stand-in" -o prog.info objects
	# A count beside `unexecuted_block` is as gcov has it. Version 2 warns of that where the line has no branches.
	grep -v '^Subroutine .* redefined\|WARNING: (inconsistent) .*unexecuted block\|(use "geninfo --ignore' err | grep -q . && no "$(cat err)"
	for line in $(jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | "\(.line):\(.most)"' report); do
		grep -qx "DA:${line%:*},${line#*:}" prog.info || no "no DA:$line in $(cat prog.info)"
	done
	grep -qx 'BRDA:12,.*' prog.info && no "line 12 has no jump"
	grep -qxE 'FNDA:50,sum|FNA:[0-9]+,50,sum' prog.info || no "sum was not called 50 times"
}

t_pprof() {
	needs protoc protobuf-compiler
	built
	want "$CHORD" export -f pprof -o prog.pb.gz ./prog
	gzip -dc prog.pb.gz | protoc --decode=PprofProfile -I "$here/../../src/export" pprof.proto >decoded 2>err || no "$(cat err)"
	grep -q 'string_table: "instructions"' decoded || no "$(head decoded)"
	[ "$(awk '/^sample \{/ { in_sample = 1 } /^}/ { in_sample = 0 } in_sample && /value:/ { n += $2 } END { print n }' decoded)" = "$total" ] ||
		no "samples do not sum to $total"
	go=$(command -v go || ls -d /usr/lib/go-1.*/bin/go 2>/dev/null | tail -n 1)
	[ -n "$go" ] || skip "no go tool pprof"
	want "$go" tool pprof -top prog.pb.gz
	grep -q "accounting for $total, 100% of $total total" out || no "$(cat out)"
	n=$(jq '.functions[] | select(.name == "sum") | .instructions' report)
	grep -Eq "^ *$n .* $n .* sum$" out || no "sum is not $n: $(cat out)"
	grep -Eq "^ .* $total +100% +main$" out || no "main does not have all below it: $(cat out)"
	grep -v '^Main binary filename not available\.$' err | grep -q . && no "$(cat err)"
	want "$go" tool pprof -list '^sum$' prog.pb.gz
	n=$(jq '.lines[] | select(.line == 12 and (.file | endswith("prog.c"))) | .instructions' report)
	grep -Eq "^ *$n +$n +12:" out || no "line 12 is not $n: $(cat out)"
}

# What the counts of calls do not tell apart stays so.
t_stacks() {
	cp "$here/stacks.c" .
	want $cc -O1 -g -o stacks stacks.c
	want ./stacks
	want "$CHORD" export -f folded -o edges.folded ./stacks
	rm ./*.chord
	want $cc -O1 -g -fchord=calls -o stacks stacks.c
	want ./stacks
	want "$CHORD" report --json ./stacks
	mv out report
	want "$CHORD" export -f folded -o calls.folded ./stacks
	for file in edges.folded calls.folded; do
		[ "$(awk '{ n += $NF } END { print n }' $file)" = "$(jq .totals.instructions report)" ] || no "$file has another sum"
		grep -q '^main;only;below;inlined [0-9]' $file || no "$(cat $file)"
		grep -q '^main;again [0-9]' $file || no "$(cat $file)"
		grep -q '^\[callers not known apart\];twice [0-9]' $file || no "$(cat $file)"
	done
	# It calls nothing: so what it did for each is known.
	grep -q '^\[callers not known apart\];leaf [0-9]' edges.folded || no "$(cat edges.folded)"
	[ "$(grep -c ';leaf [0-9]' calls.folded)" = 2 ] || no "$(cat calls.folded)"
	a=$(sed -n 's/^main;leaf //p' calls.folded) b=$(sed -n 's/^main;only;leaf //p' calls.folded)
	[ "$((a * 3))" = "$((b * 10))" ] || no "leaf ran 10 times for main, thrice for only: $a, $b"
}

t_speedscope() {
	built
	want "$CHORD" export -f speedscope -o prog.speedscope.json ./prog
	want jq -r '.profiles[0] | .endValue, (.weights | add), (.samples | length) - (.weights | length)' prog.speedscope.json
	[ "$(tr '\n' ' ' <out)" = "$total $total 0 " ] || no "not $total: $(cat out)"
	want jq -r '.shared.frames as $f | .profiles[0].samples[] | map($f[.].name) | join(";")' prog.speedscope.json
	grep -qx 'main;sum' out || no "$(cat out)"
}

# valid SCHEMA FILE: by a validator that is not ours
valid() {
	want /usr/bin/python3 -c 'import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for text in open(sys.argv[2]) if sys.argv[3:] else [open(sys.argv[2]).read()]:
	jsonschema.validate(json.loads(text), schema)' "$@"
}

t_json() {
	/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
	built
	want "$CHORD" export -f json -o prog.json ./prog
	valid "$here/../../docs/schema/export.json" prog.json
	want jq -c '([.functions[].instructions] | add), (.functions[] | select(.name == "sum") | .calls),
		(.files[] | select(.name | endswith("prog.c")) | .lines[] | select(.line == 12) | .count)' prog.json
	[ "$(tr '\n' ' ' <out)" = "$total 50 $(most 12) " ] || no "$(cat out)"
	want "$CHORD" export -f jsonl -o prog.jsonl ./prog
	valid "$here/../../docs/schema/instruction.json" prog.jsonl lines
	[ "$(jq -s 'map(.count) | add' prog.jsonl)" = "$total" ] || no "rows do not sum to $total"
}

t_callgrind() {
	built
	want "$CHORD" export -f callgrind -o cg ./prog
	want callgrind_annotate cg
	[ "$(sed -nE 's/^([0-9,]+) .*PROGRAM TOTALS.*/\1/p' out | tr -d ,)" = "$total" ] || no "totals: $(grep TOTALS out) and $total"
	n=$(jq '.functions[] | select(.name == "sum") | .instructions' report)
	[ "${n:-0}" -gt 0 ] || no "the report does not have sum"
	[ "$(sed -nE 's/^ *([0-9,]+) .*prog\.c:sum .*/\1/p' out | head -n 1 | tr -d ,)" = "$n" ] || no "sum is not $n: $(cat out)"
	# A function is one row, whether it calls or is called.
	[ "$(grep -c '^ *[0-9,]* .* *[^>] [^ ]*prog\.c:sum' out)" = 1 ] || no "sum has several rows: $(cat out)"
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
	# A function is one row, whether it calls or is called.
	[ "$(grep -c '^ *[0-9,]* .* *[^>] [^ ]*prog\.c:sum' out)" = 1 ] || no "sum has several rows: $(cat out)"
}

t_csv() {
	command -v sqlite3 >/dev/null || skip "no sqlite3"
	built
	want "$CHORD" export -f csv -o prog.csv ./prog
	want sqlite3 :memory: '.mode csv' '.import prog.csv insn' 'select sum(count) from insn' \
		"select count(*) from insn where function = 'never' and count != 0"
	[ "$(tr -d '\r' <out | tr '\n' ' ')" = "$total 0 " ] || no "not $total: $(cat out)"
}

# Counts are in place of samples: LLVM's tool sums them, and clang takes them and makes the same program.
t_llvm() {
	needs llvm-profdata llvm
	needs clang clang
	local options="-g -fdebug-info-for-profiling -Wno-unknown-attributes -Werror"
	cp "$here/prog.c" .
	CHORD_CC=clang want $cc -O1 -fno-inline $options -o prog prog.c
	want ./prog
	want "$CHORD" report --json --lines ./prog
	mv out report
	want "$CHORD" export -f llvm -o prog.prof ./prog
	want llvm-profdata merge --sample -o prog.profdata prog.prof
	[ -s err ] && no "llvm-profdata: $(cat err)"
	want llvm-profdata show --sample --function=sum prog.profdata
	calls=$(jq '.functions[] | select(.name == "sum") | .calls' report)
	grep -Eq "^Function: sum: [0-9]+, $calls, " out || no "sum was entered $calls times: $(cat out)"
	grep -qx "  5: $(most 12)" out || no "line 12 is not $(most 12): $(cat out)"
	want llvm-profdata show --sample --function=main prog.profdata
	grep -q "calls: sum:$calls" out || no "main does not call sum: $(cat out)"
	want clang -O2 $options -fprofile-sample-use=prog.profdata -o faster prog.c
	[ -s err ] && no "clang: $(cat err)"
	[ "$(./faster)" = "$(./prog)" ] || no "it does something else"
}

# block_counts FUNCTION: what gcc knows of the blocks of a function once it has read the profile
block_counts() {
	awk -v name="$1" '/^[^ ;].*\(.*\)$/ { inside = index($0, name " (") > 0 } inside && /^  <bb .*count: / { gsub(/[^0-9 ]/, ""); print $2 }' faster-fdo.cc.*i.afdo
}

# gcc reads it, warns of nothing, and has the report's counts then, of inlined, cloned and outlined code, too.
t_afdo() {
	local f blocks
	cp "$here/fdo.cc" .
	want "$CHORD" c++ -O2 -g -fchord=calls -o fdo fdo.cc
	want ./fdo
	want "$CHORD" report --json ./fdo
	mv out report
	want "$CHORD" export -f afdo -o fdo.afdo ./fdo
	want g++ -O2 -g -Wall -Wextra -Werror -fauto-profile=fdo.afdo -fdump-ipa-afdo -o faster fdo.cc
	[ -s err ] && no "g++: $(cat err)"
	for f in pointed_at:594 other:6 cloned:20 counter::counter:30 never:0; do
		[ "$(block_counts "${f%:*}" | head -n 1)" = "${f##*:}" ] || no "${f%:*} is not ${f##*:}: $(block_counts "${f%:*}")"
		[ "$(jq "[.functions[] | select(.demangled | startswith(\"${f%:*}(\")) | .calls] | add" report)" = "${f##*:}" ] || no "the report has another ${f%:*}"
	done
	blocks=$(block_counts main)
	[[ $'\n'$blocks == *$'\n1000\n500\n'* ]] || no "what is inlined in main did not run 1000 and 500 times: $blocks"
	grep -Eq '^Indirect call counter all: 600, 1 values: \[[0-9]+:594\]' faster-fdo.cc.*i.afdo || no "calls through the pointer are not there"
	[ "$(./faster)" = "$(./fdo)" ] || no "it does something else"
}

# The one that it leaves out is what is elsewhere, from which functions are called, too.
bolt_takes_all() {
	grep -i 'stale\|was ignored' out | grep -v 'profile for 1 objects was ignored' && no "$(grep -i 'stale\|was ignored' out)"
	:
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
	bolt_takes_all
	[ -n "$(./plain)" ] && [ "$(./faster)" = "$(./plain)" ] || no "it does something else"
}

# A process that was killed: what is not exact is left out, and that is said.
t_not_exact() {
	printf 'int main(void) { for (volatile long i = 0;;) i++; }\n' >endless.c
	want $cc -g -o endless endless.c
	timeout 0.3 ./endless
	want "$CHORD" export -f lcov -o endless.info ./endless
	grep -q 'main\|procedures\? [a-z]* left out' err || no "nothing says so: $(cat err)"
	grep -q '^DA' endless.info && no "it has lines"
	:
}

# A measured library that is not there any more is named.
t_library_gone() {
	want $cc -g -shared -fpic -o libl.so -x c - <<<'int lib(int n) { return n; }'
	want $cc -g -o uses -x c - -x none -L. -ll -Wl,-rpath,"$PWD" <<<'int lib(int); int main(void) { return lib(0); }'
	want ./uses
	want "$CHORD" export -f lcov ./uses
	[ ! -s err ] || no "$(cat err)"
	mv libl.so gone.so
	for format in lcov json; do
		want "$CHORD" export -f $format ./uses
		grep -q 'warning: .*libl.so: left out, though it was measured' err || no "nothing says so: $(cat err)"
	done
}

# A name with a newline begins no record.
t_newline() {
	printf 'int main(int c, char **v)\n{\n\treturn c > 1;\n}\n' >'x
fn=y.c'
	want $cc -g -o prog 'x
fn=y.c'
	want ./prog
	for format in lcov lcov2 callgrind; do
		want "$CHORD" export -f $format ./prog
		grep -q '^\(SF\|fl\)[:=].*/x fn=y.c$' out || no "$format: $(head -n 20 out)"
		grep -q '^fn=y.c' out && no "$format: $(head -n 20 out)"
	done
	:
}

# Names that assembly can have in quotation marks. Readers show the first ones as they are; of the others there are bytes that text cannot have.
odd=('a b' 'c:d' 'g;h' "<i>&'" 'p,q' '=r' '%s' '(1) t' '(u' '[v]' '#w' '-x' '!y' 'z/1' '7 u' '7:5 8' 'fn=' 'calls=2 3' 'a;b c;d 5' '*' $'\303\274n'
	$'t\tb' $'\1\2' $'\177' $'n\377o' $'\357\277\277')
printable=21

# odd_source QUOTE: each function of these names is called three times more than its number says
odd_source() {
	local i
	echo 'volatile long sink;'
	for i in "${!odd[@]}"; do
		printf 'void f%d(void) __asm__("%s%s%s");\n__attribute__((noinline)) void f%d(void)\n{\n\tsink += %d;\n}\n' $i "$1" "${odd[i]}" "$1" $i $i
	done
	printf 'int main(void)\n{\n'
	for i in "${!odd[@]}"; do
		printf '\tfor (int i = 0; i < %d; i++)\n\t\tf%d();\n' $((i + 3)) $i
	done
	printf '\treturn 0;\n}\n'
}

# Whatever a function's name is, readers get well-formed text, with all of the counts, by that name.
t_names() {
	local i f tracefile branches
	lcov_version
	needs xmllint libxml2-utils
	needs protoc protobuf-compiler
	odd_source '\"' >odd.c
	want $cc -O1 -g -fno-unroll-loops -o odd odd.c
	want ./odd
	want "$CHORD" report --json ./odd
	total=$(jq .totals.instructions out)
	for f in lcov cobertura gcov callgrind pprof folded speedscope json jsonl csv bolt; do
		want "$CHORD" export -f $f -o odd.$f ./odd
	done
	want xmllint --noout --nonet --dtdvalid "$here/cobertura.dtd" odd.cobertura
	want jq -e . odd.gcov odd.speedscope odd.json
	[ "$(jq -s 'map(.count) | add' odd.jsonl)" = "$total" ] || no "rows of JSON do not sum to $total"
	gzip -dc odd.pprof | protoc --decode=PprofProfile -I "$here/../../src/export" pprof.proto >decoded 2>err || no "$(cat err)"
	want /usr/bin/python3 -c 'import csv, re, sys
rows = list(csv.DictReader(open("odd.csv", newline="", encoding="utf-8")))
stacks = [re.fullmatch("([^;]+)(;[^;]+)* ([0-9]+)", s) for s in open("odd.folded", encoding="utf-8").read().split("\n")[:-1]]
print(sum(int(r["count"]) for r in rows), sum(int(s[3]) for s in stacks))'
	[ "$(cat out)" = "$total $total" ] || no "CSV and stacks have $(cat out), not $total"
	want "$CHORD" export -f $tracefile -o read.info ./odd
	want genhtml --branch-coverage -o html read.info
	grep -qi warning out err && no "genhtml warns: $(cat out err)"
	want callgrind_annotate --threshold=100 odd.callgrind
	mv out annotated
	for ((i = 0; i < printable; i++)); do
		f=${odd[i]}
		grep -qFx "FNDA:$((i + 3)),$f" odd.lcov || no "lcov: no $f"
		jq -e --arg f "$f" --argjson n $((i + 3)) '.functions[] | select(.name == $f).calls == $n' odd.json >err || no "JSON: no $f"
		jq -e --arg f "$f" '.shared.frames[] | select(.name == $f)' odd.speedscope >err || no "speedscope: no $f"
		jq -e --arg f "$f" --argjson n $((i + 3)) '.files[].functions[] | select(.name == $f).execution_count == $n' odd.gcov >err || no "gcov: no $f"
		grep -qF " odd.c:$f [./odd]" annotated || no "callgrind_annotate: no $f"
		want xmllint --xpath "count(//method[@name=\"$f\"])" odd.cobertura
		[ "$(cat out)" = 1 ] || no "Cobertura: no $f"
	done
}

# llvm-bolt knows each of these names; clang's profiles have no form for some, and that is said.
t_names_for_compilers() {
	local bolt i f
	needs llvm-profdata llvm
	needs clang clang
	odd_source '' >odd.c
	CHORD_CC=clang want $cc -O1 -g -fdebug-info-for-profiling -fno-unroll-loops -o odd odd.c
	want ./odd
	want "$CHORD" export -f llvm -o odd.prof ./odd
	grep -q 'odd: 8 functions are left out, whose names this format has no form for' err || no "$(cat err)"
	want llvm-profdata merge --sample -o odd.profdata odd.prof
	want llvm-profdata show --sample odd.profdata
	for ((i = 0; i < printable; i++)); do
		f=${odd[i]}
		case $f in
		[0-9#![]*) grep -qF "Function: $f:" out && no "$f has been read: $(cat out)" ;;
		*) grep -Eq "^Function: .*: [0-9]+, $((i + 3)), " out && grep -qF "Function: $f: " out || no "$f is not there: $(cat out)" ;;
		esac
	done
	bolt=$(command -v llvm-bolt || ls /usr/bin/llvm-bolt-[0-9]* 2>/dev/null | head -n 1)
	[ -n "$bolt" ] || skip "no llvm-bolt"
	want clang -O1 -g -fno-unroll-loops -Wl,--emit-relocs -o plain odd.c
	want "$CHORD" export -f bolt -o odd.fdata ./odd
	"$bolt" plain -o faster --data=odd.fdata --reorder-blocks=ext-tsp >out 2>&1 || no "$(tail -n 3 out)"
	grep -q "$((${#odd[@]} + 1)) out of [0-9]* functions .* have non-empty execution profile" out || no "$(grep profile out)"
	bolt_takes_all
	:
}

# cost COMMAND...: instructions that it takes, as valgrind counts them
cost() {
	valgrind --tool=callgrind --callgrind-out-file=cost "$@" >/dev/null 2>err || no "status $? of $*: $(head -c 400 err)"
	awk '/^summary:|^totals:/ { n = $2 } END { print n }' cost
}

# twice_the_work COMMAND COMMAND-OF-TWICE-AS-MUCH: nothing is done for each pair
twice_the_work() {
	local once twice
	grep -q __asan_init "$CHORD" && skip "valgrind does not run what is built with sanitizers"
	once=$(cost $1)
	twice=$(cost $2)
	[ "$once" -gt 0 ] && [ $((twice * 10)) -lt $((once * 27)) ] || no "twice as much takes $twice instructions, once $once: $1"
}

# A function of many jumps costs so much for each.
t_jumps() {
	needs valgrind valgrind
	local n f
	for n in 3000 6000; do
		perl -e 'my $n = shift; print "volatile int v;\nint main(void)\n{\n\tint n = 0;\n";
			print "\tif (v == $_)\n\t\tn++;\n" for 1 .. $n; print "\treturn n;\n}\n"' $n >jumps$n.c
		want $cc -g -O0 -o jumps$n jumps$n.c
		CHORD_FILE=jumps$n.chord want ./jumps$n
	done
	for f in lcov gcov; do
		twice_the_work "$CHORD export -f $f ./jumps3000 jumps3000.chord" "$CHORD export -f $f ./jumps6000 jumps6000.chord"
	done
	twice_the_work "$CHORD coverage ./jumps3000 jumps3000.chord" "$CHORD coverage ./jumps6000 jumps6000.chord"
}

# So do files, in however many folders.
t_folders() {
	needs valgrind valgrind
	local n
	for n in 1000 2000; do
		perl -e 'my $n = shift; for (1 .. $n) { printf "#line 1 \"/src/d%d/f%d.c\"\nint f%d(int n)\n{\n\treturn n + 1;\n}\n", $_ % ($n / 2), $_, $_ }
			print "#line 1 \"/src/main.c\"\nint main(void)\n{\n\treturn f1(-1);\n}\n"' $n >many$n.c
		want $cc -g -O0 -o many$n many$n.c
		CHORD_FILE=many$n.chord want ./many$n
		want "$CHORD" export -f cobertura -o many.xml ./many$n many$n.chord
		[ "$(grep -c '<package ' many.xml)" = $((n / 2 + 1)) ] || no "$(grep -c '<package ' many.xml) folders"
		[ "$(grep -c '<class ' many.xml)" = $((n + 1)) ] || no "$(grep -c '<class ' many.xml) files"
	done
	twice_the_work "$CHORD export -f cobertura ./many1000 many1000.chord" "$CHORD export -f cobertura ./many2000 many2000.chord"
}

# - is standard output, as it is standard input elsewhere.
t_standard_output() {
	built
	"$CHORD" export -f lcov ./prog >plain || no "status $?"
	want "$CHORD" export -f lcov -o - ./prog
	cmp -s plain out || no "-o - is not what there is without -o"
	want "$CHORD" export -f lcov -o /dev/stdout ./prog
	cmp -s plain out || no "-o /dev/stdout is not what there is without -o"
	want "$CHORD" merge -o sum ./prog.*.chord
	want "$CHORD" merge -o - ./prog.*.chord
	cmp -s sum out || no "merge -o - is not the sum"
	[ ! -e ./- ] || no "there is a file of the name -"
	# What is no text does not come to a terminal.
	script -qec true log >/dev/null 2>err || skip "no terminal can be made: $(head -n 1 err)"
	for format in pprof afdo; do
		script -qec "$CHORD export -f $format ./prog" log >out 2>&1
		[ "$? $(tr -d '\r' <out)" = "1 chord: $format: it is not for terminals: name a file with --output" ] || no "$format: $(cat -v out | head -c 300)"
		want "$CHORD" export -f $format ./prog
		[ -s out ] || no "$format: nothing is written"
	done
	script -qec "$CHORD export -f lcov ./prog" log >out 2>&1
	tr -d '\r' <out | cmp -s plain - || no "the text is not shown on a terminal"
}

# Files are chosen as `chord coverage` chooses them, and rates are those of the chosen ones.
t_chosen_files() {
	printf '#include <cstdio>\n#include <string>\n#include <vector>\n#include "own.h"\n%s\n' \
		'int main() { std::vector<std::string> v; for (int i = 0; i < own(3); i++) v.push_back(std::to_string(i)); return v.size() != 6; }' >v.cc
	printf 'static inline int own(int x) { return x > 5 ? 1\n: 2 * x; }\n' >own.h
	want "$CHORD" c++ -g -O0 -o v v.cc
	want ./v
	for f in lcov lcov2 cobertura gcov; do
		want "$CHORD" export -f $f -o all.$f ./v
		grep -q '/usr/include' all.$f || no "$f: no headers"
		want "$CHORD" export -f $f --exclude='/usr/*' -o some.$f ./v
		grep -q 'v\.cc' some.$f && grep -q 'own\.h' some.$f && ! grep -q '/usr/include' some.$f || no "$f: $(head -c 400 some.$f)"
		want "$CHORD" export -f $f --include=own.h --include='*.cc' --exclude='*/v.cc' -o one.$f ./v
		grep -q 'own\.h' one.$f && ! grep -q '/usr/include\|v\.cc' one.$f || no "$f: $(head -c 400 one.$f)"
		refused 1 "no source file that" "$CHORD" export -f $f --include=none -o none.$f ./v
		[ ! -e none.$f ] || no "$f: a file of nothing"
	done
	grep -q 'branches-covered="1" branches-valid="2"' one.cobertura &&
		! grep -q 'branches-covered="1" branches-valid="2"' all.cobertura || no "$(grep lines-valid one.cobertura)"
	want "$CHORD" coverage --json ./v
	[ "$(grep -c '^SF:' some.lcov)" = "$(jq '.files | length' out)" ] || no "other files than those of chord coverage"
	refused 2 "csv has all files" "$CHORD" export -f csv --exclude='/usr/*' ./v
}

t_refused() {
	built
	refused 2 "no such format" "$CHORD" export -f nothing ./prog
	refused 2 "which format" "$CHORD" export ./prog
	refused 2 "which program" "$CHORD" export -f lcov
	refused 1 "absent" "$CHORD" export -f lcov ./absent
	refused 1 "nowhere/x" "$CHORD" export -f lcov -o nowhere/x ./prog
}

for name in lcov lcov2 cobertura gcov callgrind calls pprof stacks speedscope json csv llvm afdo bolt not-exact library-gone newline names names-for-compilers jumps folders standard-output chosen-files refused; do
	test_case "$name"
done
exit $failed
