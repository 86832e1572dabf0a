#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord annotate`: source and instructions with counts beside them. Prints ok, FAIL or skip for each; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"
unset NO_COLOR

# line COMMENT: the first two columns of the line of ./out that ends in that comment, one blank between
line() { sed -nE "s|^ *([0-9,#?]+) +([0-9,#?]+) +[0-9]+ .*/\* $1 \*/\$|\1 \2|p" out; }
# is WHAT WANTED
is() { [ "$1" = "$2" ] || no "'$1' and not '$2': $(head -c 600 out)"; }

known() {
	cp "$here/known.c" .
	want $cc "$@" -g -o known known.c
	want ./known 100
}

t_source() {
	for level in -O0 -O2; do
		rm -f ./*.chord
		known $level
		want "$CHORD" annotate ./known known.c
		is "$(line once)" "1 1"
		is "$(line each)" "100 100"
		is "$(line fourth)" "25 25"
		is "$(line never)" "##### #####"
		want "$CHORD" annotate --asm ./known main
		grep -qE '^main: [0-9,]+ instructions executed in 1 call$' out || no "$(head -n 1 out)"
		want "$CHORD" annotate ./known known.c
		grep -qE "^ +1  /\* SPDX" out || no "a line without code has numbers"
	done
}

# What a line executed, by callgrind of the program built without Chord: "LINE NUMBER" in the order of lines.
by_callgrind() {
	want valgrind -q --tool=callgrind --callgrind-out-file=cg --compress-strings=no --compress-pos=no ./plain "$@"
	awk '/^(fl|fi|fe)=/ { on = /known\.c$/ } /^fn=/ { fn = $0 } /^calls=/ { getline; next } on && /^[0-9]/ { n[$1] += $2 }
		END { for (l in n) print l, n[l] }' cg | sort -n
}

t_callgrind() {
	for level in -O0 -O2 -O3; do
		rm -f ./*.chord
		# Linkage would be counted for the line that calls, padding for the line before.
		known $level -fno-plt -fno-align-loops -fno-align-jumps -Wl,-z,now
		want gcc $level -g -fno-plt -fno-align-loops -fno-align-jumps -Wl,-z,now -o plain known.c
		want "$CHORD" annotate ./known known.c
		sed -nE 's/^ *[0-9,]+ +([0-9,]+) +([0-9]+)( .*|$)/\2 \1/p' out | tr -d , >ours
		by_callgrind 100 >theirs
		[ -s theirs ] || no "callgrind says nothing"
			diff theirs ours >difference || no "$level: $(cat difference)"
	done
}

# Names without what they are members of, templates' and functions' parameters: readers differ in these, and in what they say of
# constructors.
bare() { c++filt -p | sed -E 's/\(anonymous namespace\):://g; s/<.*>//g; s/\[abi:[^]]*\]//g; s/^.*:://; s/operator.*/operator/; s/ .*//'; }

# What each function executed, and in which place, as llvm-symbolizer says of the addresses of instructions: "NAME IN LINE NUMBER".
by_symbolizer() {
	want "$CHORD" annotate --no-demangle --asm ./inlined
	sed -nE '/padding/d; s/^ *([0-9,]+) +([0-9a-f]+)  .*/\2 \1/p' out | tr -d , >executed
	sed 's/^/0x/; s/ .*//' executed | llvm-symbolizer --no-demangle --inlines --functions=linkage -e inlined >frames
	# The function and the place of each frame are lines of their own, a blank line ends an address.
	paste -d'\n' <(awk 'NF && ++i % 2; !NF { i = 0; print "" }' frames | bare) \
		<(awk 'NF && ++i % 2 == 0; !NF { i = 0; print "" }' frames) >named
	awk 'NR == FNR { n[NR] = $2; next }
		!NF { if (k % 2 == 0 && k) { at++; sum[name[1] " " (k > 2 ? name[2] " " line[2] : "-")] += n[at] } k = 0; next }
		{ if (++k % 2) name[(k + 1) / 2] = $1; else { split($1, part, ":"); line[k / 2] = part[2] } }
		END { for (i in sum) if (sum[i]) print i, sum[i] }' executed named >sums
	# Padding is the procedure's own.
	sed -nE 's/^([^ ]+): [0-9,]+ instructions executed in .*/\1/p; s/^ *([0-9,]+) +[0-9a-f]+  \(padding\)/= \1/p' out | tr -d , |
		awk '$1 == "=" { print name, "-", $2; next } NF { ("echo " $1 " | c++filt -p") | getline name; sub(/^.*::/, "", name) }' >>sums
	awk '{ n = $NF; $NF = ""; sum[$0] += n } END { for (k in sum) print k sum[k] }' sums | sort
}

# Functions as they are written: the same sums as llvm-symbolizer gives, and together all that ran.
t_inlined() {
	cp "$here/inlined.cc" .
	for way in "gcc -O2" "gcc -O3" "gcc -O0" "clang -O2"; do
		rm -f ./*.chord
		case $way in gcc*) cxx=g++ ;; *) cxx=clang++ ;; esac
		want env CHORD_CXX=$cxx "$CHORD" c++ "${way#* }" -g -o inlined inlined.cc
		want ./inlined 50
		by_symbolizer >theirs
		[ -s theirs ] || no "llvm-symbolizer says nothing"
		want "$CHORD" report --json --inlined ./inlined
		jq -r '.source_functions[] | .name as $n | .copies[] | select(.instructions > 0) | $n' out | bare >name
		jq -r '.source_functions[].copies[] | select(.instructions > 0) | .in // "-"' out | bare >in
		jq -r '.source_functions[].copies[] | select(.instructions > 0) | "\(.line // "") \(.instructions)"' out >rest
		paste -d' ' name in rest | tr -s ' ' | awk '{ n = $NF; $NF = ""; sum[$0] += n } END { for (k in sum) print k sum[k] }' | sort >ours
		diff theirs ours >difference || no "$way: $(cat difference)"
		is "$(jq '[.source_functions[].instructions] | add' out)" "$(jq .totals.instructions out)"
		is "$(jq '[.source_functions[] | .instructions == ([.copies[].instructions] | add // 0)] | all' out)" true
		is "$(jq '[.source_functions[] | .inlined == ([.copies[] | select(.in) | .instructions] | add // 0)] | all' out)" true
		is "$(jq '.source_functions[] | select(.name == "main") | .with_inlined' out)" \
			"$(jq '.functions[] | select(.name == "main") | .instructions' out)"
		want "$CHORD" annotate ./inlined 'innermost*'
		case $way in *-O0) ;; *) is "$(line innermost | cut -d' ' -f1)" 50 ;; esac
	done
}

t_function() {
	known -O2
	want "$CHORD" annotate ./known loop
	is "$(line fourth)" "25 25"
	is "$(line once)" ""
	want "$CHORD" annotate ./known 'lo*'
	is "$(line fourth)" "25 25"
}

# Profiles may be named last.
t_operands() {
	known -O2
	mkdir profiles
	mv known.*.chord profiles/one.chord
	want "$CHORD" annotate ./known profiles/one.chord loop
	mv out first
	for last in profiles profiles/one.chord; do
		want "$CHORD" annotate ./known loop $last
		cmp -s out first || no "another listing with $last last: $(head -c 600 out)"
	done
	want "$CHORD" annotate ./known known.c profiles
	is "$(line once)" "1 1"
}

# What `chord report` shows of some functions and files is what it shows of these among all; totals are of the whole run.
t_report_some() {
	known -O2
	want "$CHORD" report --json --lines --files ./known
	mv out all
	want "$CHORD" report --json --lines --function='l*' ./known
	is "$(jq -c '[.functions[].name]' out)" '["loop"]'
	is "$(jq -c '.totals' out)" "$(jq -c '.totals' all)"
	first=$(grep -n '^loop' known.c | cut -d: -f1)
	last=$(grep -n '^main' known.c | cut -d: -f1)
	of="select(.line >= $first and .line < $last - 1)"
	[ "$(jq "[.lines[] | $of] | length" all)" -gt 3 ] || no "loop has no lines"
	is "$(jq -c "[.lines[] | $of]" out)" "$(jq -c "[.lines[] | $of]" all)"
	is "$(jq "[.lines[] | select(.line) | $of] | length" out)" "$(jq "[.lines[] | select(.line)] | length" out)"
	want "$CHORD" report --json --lines --files --file='kn*.c' ./known
	is "$(jq -c '[.lines[] | select(.file | endswith("/known.c"))]' all)" "$(jq -c .lines out)"
	is "$(jq '.files | length' out)" 1
	want "$CHORD" report --lines --source --function=loop ./known
	grep -qE '^ +25 +[0-9.]+% +25  known\.c:[0-9]+  STEP; /\* fourth \*/$' out || no "no text: $(cat out)"
	for raw in insns blocks edges; do
		want "$CHORD" report --$raw ./known
		grep '^loop ' out >all
		want "$CHORD" report --$raw --function=loop ./known
		cmp -s all out && [ -s out ] || no "--$raw: $(diff all out)"
	done
	"$CHORD" report --function=nothing ./known >out 2>err
	[ $? = 1 ] && grep -q '^chord: ./known: --function=nothing: no procedure has such a name' err || no "$(cat err)"
	"$CHORD" report --lines --file=nothing.c ./known >out 2>err
	[ $? = 1 ] && grep -q '^chord: ./known: --file=nothing.c: no procedure and no line' err || no "$(cat err)"
}

t_asm() {
	known -O2
	want "$CHORD" annotate --asm ./known loop
	is "$(awk '$3 == "nop" && $1 == "25"' out | wc -l)" 1
	is "$(awk '$3 == "nop" && $1 == "100"' out | wc -l)" 1
	# The addresses are those that a disassembler of the program has.
	awk '$3 == "nop" { print $2 }' out >places
	objdump -d --no-show-raw-insn known >objdump
	while read -r at; do
		grep -qE "^ +$at:.nop" objdump || no "there is no nop at $at"
	done <places
}

t_both() {
	known -O2
	want "$CHORD" annotate --both ./known once
	grep -qE 'known\.c:[0-9]+ .*/\* once \*/' out || no "no source"
	grep -qE '^ +1 +[0-9a-f]+  nop$' out || no "no instruction"
}

t_branches() {
	known -O0
	want "$CHORD" annotate --branches ./known loop
	grep -qE 'taken 75 \(75\.0%\), not taken 25|taken 25 \(25\.0%\), not taken 75' out || no "$(grep branch out)"
	# A share that is not all is not rounded to all: the loop's branch goes each way.
	rm -f ./*.chord
	want ./known 100000
	want "$CHORD" annotate --branches ./known loop
	grep -qE 'taken 100,000 \(>99\.9%\), not taken 1$|taken 1 \(<0\.1%\), not taken 100,000$' out || no "$(grep branch out)"
}

t_summary() {
	known -O0
	want "$CHORD" report ./known
	total=$(awk '/instructions$/ && !t { print $1; t = 1 }' out)
	want "$CHORD" annotate --summary ./known
	is "$(awk '/in all$/ { print $5 }' out)" "$total"
	is "$(awk '/  known.c$/ { print $5 }' out)" "$total"
	is "$(awk '/  loop$/ { print ($6 > 1), $7 }' out)" "1 1"
	want "$CHORD" annotate --mnemonics ./known
	is "$(awk 'NR > 1 { gsub(",", "", $1); n += $1 } END { print n }' out)" "$(echo "$total" | tr -d ,)"
	is "$(awk '$4 == "nop" { print ($1 >= 126) }' out)" 1
}

# Weinberger's examples, as docs/annotate.md has them: the counts of lines are gcov's at -O0, which has none of the braces.
t_paper() {
	for prog in max modsqrt; do
		cp "$here/../../docs/examples/$prog.c" .
		want $cc -O0 -g -o $prog $prog.c
		want ./$prog
		want "$CHORD" annotate ./$prog $prog.c
		sed -nE 's/^ *([0-9,#]+) +[0-9,#]+ +([0-9]+)  (.*)/\2 \1 \3/p' out | tr -d , | grep -vE '^[0-9]+ [^ ]+\s*[{}]$' | cut -d' ' -f1,2 >ours
		mkdir $prog.gcov
		(cd $prog.gcov && gcc -O0 --coverage -o x ../$prog.c && ./x >/dev/null && gcov -t x-$prog.gcda) >listing 2>err || no "gcov: $(cat err)"
		# Where a function begins gcov has the line of its name, and Chord that of its brace.
		sed -nE 's/^ *([0-9#]+)\*?: *([0-9]+):(.*)/\2 \1 \3/p' listing | grep -vE '^[0-9]+ [0-9#]+ [a-z]+\(' | cut -d' ' -f1,2 >theirs
		[ "$(wc -l <theirs)" -gt 6 ] || no "gcov says little"
		diff theirs ours >difference || no "$prog: $(cat difference)"
	done
	is "$("$CHORD" annotate ./max max | sed -nE 's/^ *([0-9,]+) +[0-9,]+ +16 .*/\1/p')" 7
	for line in 36 38 46 56; do
		"$CHORD" annotate ./modsqrt modsqrt.c | grep -qE "^ +##### +##### +$line " || no "line $line ran"
	done
}

t_color() {
	known -O2
	want "$CHORD" annotate ./known known.c
	grep -q $'\033' out && no "colours in a file"
	want "$CHORD" annotate --color=always ./known known.c
	grep -q $'\033\\[35m.*never' out || no "what never ran has no colour"
	refused 2 "color=red" "$CHORD" annotate --color=red ./known
}

t_terminal() {
	script -qec true log >/dev/null 2>err || skip "no terminal can be made: $(head -n 1 err)"
	known -O2
	PAGER=cat want script -qec "$CHORD annotate ./known known.c" log
	grep -q $'\033\[[0-9;]*m' out || no "no colours on a terminal"
	NO_COLOR=1 PAGER=cat want script -qec "$CHORD annotate ./known known.c" log
	grep -q $'\033\[[0-9;]*m' out && no "colours in spite of NO_COLOR"
	PAGER="sed s/^/paged:/" want script -qec "$CHORD annotate ./known known.c" log
	grep -q '^paged:' out || no "no pager"
	PAGER=nosuchpager script -qec "$CHORD annotate ./known known.c" log >out 2>&1
	is "$? $(tr -d '\r' <out | tail -n 1)" "1 chord: pager: nosuchpager cannot be run: --no-pager does without it"
	# Whoever leaves the pager early has seen enough.
	PAGER=true want script -qec "$CHORD annotate ./known known.c; echo status \$?" log
	is "$(tr -d '\r' <out)" "status 0"
	# Where there is no less, nothing is lost.
	mkdir bin
	ln -s "$(command -v cat)" bin/cat
	env -u PAGER PATH="$PWD/bin" "$(command -v script)" -qec "$CHORD annotate ./known known.c" log >out 2>&1 </dev/null
	grep -q '/[*] never' out || no "nothing is shown without less: $(head -c 300 out)"
}

t_lost_source() {
	known -O0
	mv known.c elsewhere.c
	want "$CHORD" annotate ./known known.c
	grep -q "cannot be read" out || no "nothing says so"
	refused 1 "no source file that ran can be read, such as known.c" "$CHORD" annotate ./known
	# one of two
	echo 'int main(int argc, char **argv) { extern int used(int, char **); return used(argc, argv); }' >main.c
	sed 's/\bmain\b/used/' elsewhere.c >gone.c
	want $cc -O0 -g -o two main.c gone.c
	want ./two 100
	rm gone.c
	want "$CHORD" annotate ./two
	grep -qE '^main\.c: [0-9]+ instructions executed' out || no "main.c is not shown"
	grep -qE '^  gone\.c: [0-9,]+ instructions executed$' out || no "nothing says that gone.c ran"
	want "$CHORD" annotate --json ./two
	jq -e '(.files | length) == 1 and (.files_left_out | map(sub(".*/"; ""))) == ["gone.c"]' out >/dev/null || no "$(cat out)"
	want "$CHORD" annotate ./two main.c
	! grep -q gone.c out || no "a file that was not asked for"
	# Without line numbers no source was lost.
	want $cc -O0 -o bare elsewhere.c
	want ./bare 100
	refused 1 "it has no line numbers: compile it with -g" "$CHORD" annotate ./bare
}

# A source that was changed after the program was built may have other lines.
t_newer() {
	known -O0
	for command in "annotate" "annotate --both" "annotate --json" "report --lines --source"; do
		want "$CHORD" $command ./known
		[ ! -s err ] || no "$command: $(cat err)"
	done
	touch -d '+1 minute' known.c
	for command in "annotate" "annotate --both" "annotate --json" "report --lines --source"; do
		want "$CHORD" $command ./known
		grep -qx 'chord: warning: known.c: newer than ./known: its lines may not be those that were compiled' err ||
			no "$command: no warning: $(cat err)"
	done
	want "$CHORD" report --lines ./known
	[ ! -s err ] || no "no text is shown: $(cat err)"
	want "$CHORD" coverage ./known
	[ ! -s err ] || no "no line is excluded: $(cat err)"
	sed -i '1s|^|/* LCOV_EXCL_START */ |' known.c
	touch -d '+1 minute' known.c
	want "$CHORD" coverage ./known
	grep -q 'warning: known.c: newer than ./known' err || no "lines are excluded: $(cat err)"
}

# A source with escape sequences is no way into a terminal.
t_harmless() {
	known -O2
	printf '/* \033]0;title\007 */\n' >x
	cat known.c >>x
	mv x known.c
	want "$CHORD" annotate ./known known.c
	grep -q $'\033' out && no "an escape sequence"
	# nor is the name of one
	odd=$'a\033[31m\nb'
	mkdir "$odd"
	echo 'static int part(int n) { return n * 3; } int main(int argc, char **argv) { return part(argc) - 3; }' >"$odd/"$'o\033d.c'
	want $cc -O0 -g -o odd "$odd/"$'o\033d.c'
	want ./odd
	for command in "annotate" "annotate --both" "annotate --summary" "report" "report --lines" "report --hottest" "report --inlined" \
		"report --calls" "coverage --uncovered"; do
		want "$CHORD" $command ./odd
		grep -q $'\033\|^b/o' out && no "$command: the name of a file: $(cat -v out)"
		grep -q 'o d\.c' out || no "$command: no name of a file: $(cat -v out)"
	done
	# nor the name of a symbol, measured or refused
	printf '\t.text\n\t.globl main\n\t.type main,@function\nmain:\tcall "m\033s"\n\tcall "r\033f"\n\txorl %%eax, %%eax\n\tret\n' >names.s
	printf '\t.type "m\033s",@function\n"m\033s":\tret\n\t.type "r\033f",@function\n"r\033f":\tjmp .+3\n\tnop\n\tret\n' >>names.s
	printf '\t.section .note.GNU-stack,"",@progbits\n' >>names.s
	want $cc -no-pie -o names names.s
	want ./names
	for command in verify "annotate --asm" report "report --calls" "report --blocks" "report --insns" "export -f callgrind"; do
		"$CHORD" $command ./names >out 2>&1
		grep -q $'\033' out && no "$command: the name of a symbol: $(cat -v out)"
	done
	want "$CHORD" annotate --json ./odd
	jq -e '.files[0].file | endswith("/a\u001b[31m\nb/o\u001bd.c")' out >/dev/null || no "JSON has another name: $(jq -c '.files[0].file' out)"
}

t_refused() {
	known -O2
	refused 1 "nothere: no measured function and no source file" "$CHORD" annotate ./known nothere
	refused 1 "did you mean loop\\?" "$CHORD" annotate ./known lopo
	refused 1 "did you mean loop\\?" "$CHORD" annotate ./known oop
	refused 1 "either files or functions" "$CHORD" annotate ./known loop known.c
	refused 2 "which program" "$CHORD" annotate
	refused 1 "." "$CHORD" annotate ./absent
}

# A function that others may call, too, and that ran only where it is inlined: its own lines never ran, and it is said what did.
t_elsewhere() {
	printf 'volatile int sum;\nvoid adds(int n) { while (n--) sum += n; }\nint main(void) { adds(9); }\n' >two.c
	want $cc -O2 -g -o two two.c
	want ./two
	want "$CHORD" annotate --inlined ./two adds
	executed=$(sed -nE 's/^two.c: ([0-9]+) instructions executed .*/\1/p' out)
	[ "$executed" ] || no "$(cat out)"
	for how in "" --asm --both; do
		want "$CHORD" annotate $how ./two adds
		grep -q '#####' out || no "$(cat out)"
		is "$(grep -A1 '^Not shown, since it is inlined in other functions (--inlined' out | tail -n 1)" "  code that executed $executed instructions"
	done
	for what in "--inlined ./two adds" "./two main" "./two two.c"; do
		want "$CHORD" annotate $what
		is "$(grep -c 'Not shown' out)" 0
	done
}

# A process that was killed: what is known within bounds only is not shown as if it were exact.
t_bounds() {
	cp "$here/killed.c" .
	want $cc -O1 -g -o killed killed.c
	bash -c 'timeout -s KILL 0.3 ./killed; :' 2>/dev/null
	want "$CHORD" report --json --inlined ./killed
	jq -e '.totals.instructions == null' out >/dev/null || no "its counts are exact: $(jq -c .totals out)"
	least=$(jq .totals.instructions_at_least out) most=$(jq .totals.instructions_at_most out)
	# what a function executed, with what was inlined into it, is no more than its procedure did
	jq -e '[.functions, .source_functions] | map(map(select(.name == "main"))[0]) | .[1].with_inlined_at_most <= .[0].instructions_at_most' out \
		>/dev/null || no "$(jq -c '[.functions, .source_functions] | map(map(select(.name == "main"))[0] | del(.copies))' out)"
	want "$CHORD" annotate --summary ./killed
	is "$(awk '/in all$/ { print ($(NF - 5) " " $(NF - 4) " " $(NF - 3) " " $(NF - 2)) }' out)" "$least to $most ?"
	# other has no loop: what it executed at most and what never ran at least are all of it
	is "$(awk '/  other$/ { print $4, $2 + $11, $10 }' out)" "$(awk '/  other$/ { print $1, $1, "to" }' out)"
	grep -q '^Note:' out || no "nothing says why"
	want "$CHORD" annotate --asm ./killed main
	grep -q '^main: its counts are known within bounds only: [0-9]* to [0-9]* instructions executed' out || no "$(grep main: out)"
	want "$CHORD" annotate ./killed killed.c
	# at least: the sum over lines is no more than what is known of them all
	sum=$(sed -n '1s/^killed.c: \([0-9]*\) or more instructions executed; .*/\1/p' out)
	[ "${sum:-0}" -gt 0 ] && [ "$sum" -le "$least" ] || no "not up to $least: $(head -n 1 out)"
	grep -Eq '^ +1 +[0-9]+\? .*int r = half' out || no "$(grep 'int r' out)"
	# the same numbers by --hottest
	want "$CHORD" report --hottest --top=0 ./killed
	grep -Eq '^ +[0-9,]+\? +[0-9.]+% +[0-9a-f]+  ' out || no "$(head -n 9 out)"
	want "$CHORD" report --hottest --json ./killed
	jq -e '.hottest | length > 0 and all(.count == null and .count_at_least > 0 and .count_at_most == null)' out >/dev/null ||
		no "$(jq -c '.hottest[:2]' out)"
	want "$CHORD" annotate --mnemonics ./killed
	grep -q '^[0-9]* instructions are in no sum above' out || no "$(cat out)"
	# without an operand, what is known to have run is shown, too
	want "$CHORD" annotate ./killed
	want "$CHORD" annotate --asm ./killed
	grep -Eq '^ +1\? +[0-9a-f]+  ' out || no "$(cat out)"
}

# linked_with LINKER WANTED SOURCE...: "FILE:LINE INSTRUCTIONS" of the lines of one.h and two.h that ran, then inlined functions
linked_with() {
	local linker=$1 wanted=$2
	shift 2
	rm -f ./*.chord
	want "$CHORD" c++ -O1 -g -ffunction-sections -Wl,--gc-sections "-fuse-ld=$linker" -o dropped "$@"
	want ./dropped
	want "$CHORD" report --json --lines --inlined ./dropped
	is "$(jq -r '[.lines[] | select(.most > 0 and .line) | .file | select(endswith(".h")) | sub(".*/"; "")] | unique | join(" ")' out) \
$(jq -r '[.source_functions[] | select(.inlined > 0) | .name] | sort | join(" ")' out)" "$wanted"
}

# What the linker dropped has lines, too, from address 0 on or where the copy that was kept begins. These are not lines of other code.
t_dropped() {
	{ # an unused function that reaches over all addresses of the others
		printf '#line 1 "two.h"\nint v;\nstatic inline __attribute__((always_inline)) int gone(int n) { return n * 7 ^ v; }\n'
		printf 'extern "C" int big(int n)\n{\n'
		for i in $(seq 3000); do printf '\tv += gone(n + %s) * v;\n' "$i"; done
		printf '\treturn v;\n}\n#line 1 "one.h"\nint main(int argc, char **)\n{\n\tint s = 0;\n\n'
		printf '\tfor (int i = 0; i < 100; i++)\n\t\ts ^= i * argc;\n\treturn s == 1;\n}\n'
	} >unused.cc
	copy() {
		printf '#line 1 "%s.h"\nstatic inline __attribute__((always_inline)) long %s(long n)\n{\n\tlong s = 0;\n\n' "$1" "$1"
		printf '\twhile (n)\n\t\ts += n-- ^ 5;\n\treturn s;\n}\n\n'
		printf 'inline __attribute__((noinline)) long shared(long n)\n{\n\treturn %s(n) + 1;\n}\n\n#line 1 "%s.cc"\n' "$1" "$1"
	}
	{ copy one; echo 'long far(long); int main(int argc, char **) { return shared(argc + 9) + far(argc) == 5; }'; } >one.cc
	{ copy two; echo 'long far(long n) { return shared(n + 3); }'; } >two.cc
	for linker in bfd gold lld mold; do
		[ -n "$(command -v "ld.$linker")" ] || continue
		linked_with $linker "one.h " unused.cc
		linked_with $linker "one.h one" one.cc two.cc
	done
}

# A line table whose form Chord does not know may have lines of dropped code: that is said.
t_unknown_table() {
	local at
	printf 'int main(int argc, char **argv)\n{\n\treturn argc > 7 || !argv;\n}\n' >one.c
	want "$CHORD" cc -O1 -gdwarf-5 -o one one.c
	want ./one
	at=$((0x$(readelf -SW one | sed -n 's/.* \.debug_line  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\) .*/\1/p') + 13))
	want "$CHORD" report --lines ./one
	[ ! -s err ] || no "$(cat err)"
	printf '\002' | dd of=one bs=1 seek=$at conv=notrunc 2>dd.err # operations per instruction
	"$CHORD" report --lines ./one >out 2>err || no "$(cat err)"
	grep -q '1 of its line tables cannot be told' err || no "nothing is said of the table: $(cat err)"
}

for name in source callgrind inlined function operands report-some asm both branches summary elsewhere bounds dropped unknown-table paper color terminal lost-source newer harmless refused; do
	test_case "$name"
done
exit $failed
