#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord stat`: its totals against those of lackey and callgrind for the program built without Chord, against each other, and
# against what a source says; what passes through; bad input. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"
. "$(dirname "$0")/../may.sh"
plain="instructions,blocks,branches,taken,calls,indirect-calls,returns,loads,stores,bytes-loaded,bytes-stored,atomics,fp,vector,divides,backward-branches"

# Each test has a folder for temporary files, and leaves none there.
before() { mkdir tmp && export TMPDIR="$PWD/tmp" && cp "$here"/prog.c "$here"/events.s .; }
after() { [ -z "$(ls -A tmp)" ] || no "left behind: $(ls -A tmp)"; }

# quietly refused: and nothing is printed
quietly() {
	"$@"
	[ ! -s out ] || no "$* printed: $(head -c 200 out)"
}

# stat STATUS EVENTS COMMAND...: "EVENT NUMBER" lines in ./events, all in ./json
stat() {
	local status=$1 events=$2 got
	shift 2
	"$CHORD" stat -o json --json ${events:+-e "$events"} "$@" >out 2>err
	got=$?
	[ $got = "$status" ] || no "status $got, not $status, of stat $*: $(head -c 400 err)"
	# the digits of a table's content
	sed -Ei 's/"(cost:[^"]*)#[0-9a-f]{8}"/"\1"/' json
	jq -r '.events | to_entries[] | "\(.key) \(.value)"' json >events || no "no JSON: $(head -c 300 json)"
}

# is EVENT NUMBER: what the last stat said
is() { grep -qxF "$1 $2" events || no "not $1 $2: $(tr '\n' ' ' <events)"; }

# same FILE: the last stat's numbers are those
same() { [ -s events ] && cmp -s events "$1" || no "$2: $(diff "$1" events | tr '\n' ' ')"; }

# ---- other people's counts ----

# tools: compare and events, for all tests
tools() {
	[ ! -x "$w/compare" ] || return 0
	for tool in compare events; do
		gcc -O2 -D_GNU_SOURCE -o "$w/$tool" "$here/../oracle/$tool.c" || no "$tool.c does not compile"
	done
}

# places: what was measured, as addresses of the plain program
places() {
	CHORD_FILE=p.chord ./prog 20 >/dev/null
	want "$CHORD" report --insns ./prog p.chord
	"$w/compare" --places plain out >places || no "no places"
}

# agree FILE: what is in the file is what stat says
agree() {
	[ -s "$1" ] || no "nothing from valgrind"
	while read -r event number; do
		is "$event" "$number"
	done <"$1"
}

against_valgrind() {
	tools
	want gcc "$@" -no-pie -pthread -o plain prog.c
	want $cc "$@" -no-pie -pthread -o prog prog.c
	places
	objdump -d plain >disassembly
	stat 3 "" ./prog 20
	valgrind --tool=lackey --vex-guest-chase=no --trace-mem=yes --log-fd=9 ./plain 20 9>&1 >/dev/null 2>&1 |
		"$w/events" lackey places disassembly >lackey || no "lackey"
	agree lackey
	valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no --skip-plt=no \
		--cache-sim=yes --branch-sim=yes --callgrind-out-file=callgrind.out ./plain 20 >/dev/null 2>&1
	"$w/events" callgrind places disassembly callgrind.out plain >callgrind || no "callgrind"
	agree callgrind
}
t_valgrind_O0() { against_valgrind -O0; }
t_valgrind_O2() { against_valgrind -O2; }
t_valgrind_avx2() {
	grep -qw avx2 /proc/cpuinfo || skip "no AVX2 here"
	against_valgrind -O3 -mavx2
}

# ---- one way to measure against another ----

t_measures() {
	echo "load 3
store 2
taken 5
insn:/^cvt/ 7
divide 20
default 1" >costs
	local all=$plain,call:fib,call:/^q.*t$/,insn:v*\|mov*,cost:costs measure
	want $cc -O2 -pthread -o prog prog.c
	stat 3 "$all" ./prog 20
	cp events edges
	for measure in every-block every-edge events events,edges; do
		want $cc -O2 -pthread -fchord=$measure -fchord-events="$all" -o prog prog.c
		stat 3 "$all" ./prog 20
		if [ $measure = every-block ]; then
			grep -v null events >known
			grep -vxFf known edges | grep -Ev '^(taken|backward-branches|cost:costs) ' && no "every-block: $(tr '\n' ' ' <events)"
		else
			same edges $measure
		fi
	done
	# what is counted is what there is to see, if nothing is asked for
	want $cc -O2 -pthread -fchord=events -fchord-events=stores,cost:costs,call:fib -o prog prog.c
	stat 3 "" ./prog 20
	grep -E '^(stores|cost:costs|call:fib) ' edges | sort >some
	[ "$(wc -l <some)" = 3 ] && sort events | cmp -s - some || no "not those that are counted: $(tr '\n' ' ' <events)"
	stat 3 loads,stores ./prog 20
	is loads null
	jq -e '.unknown_events[0].name == "loads"' json >/dev/null || no "not said to be unknown"
}
t_tables() {
	echo "load 1" >loads
	echo "taken 1" >taken
	echo "default 1 # all" >ones
	printf 'insn:div|idiv 0\ndefault 1\n' >most
	want $cc -O2 -pthread -o prog prog.c
	stat 3 loads,cost:loads,taken,cost:taken,instructions,cost:ones,cost:most,insn:div\|idiv ./prog 20
	[ "$(jq '.events.loads - .events["cost:loads"]' json)" = 0 ] || no "loads"
	[ "$(jq '.events.taken - .events["cost:taken"]' json)" = 0 ] || no "taken"
	[ "$(jq '.events.instructions - .events["cost:ones"]' json)" = 0 ] || no "instructions"
	[ "$(jq '.events.instructions - .events["cost:most"] - .events["insn:div|idiv"]' json)" = 0 ] || no "all but divisions"
}
# Objects with different lists of events have different counters; together they have counted all.
t_lists() {
	echo 'int half(int n) { int sum = 0; for (int i = 0; i < n; i += 2) sum ^= i * n; return sum; }' >half.c
	echo 'int half(int); int main(int argc, char **argv)
		{ int sum = argc; for (int i = 0; i < 100; i++) if (argv[0][0] != i) sum += half(i); return sum == 1; }' >main.c
	want $cc -O1 -fchord-events=instructions,branches -o one main.c half.c
	stat 0 instructions,branches ./one
	cp events one.events
	want $cc -O1 -c -fchord-events=instructions,branches main.c
	want $cc -O1 -c -fchord-events=branches,loads,instructions half.c
	want $cc -o prog main.o half.o
	stat 0 instructions,branches ./prog
	same one.events "two lists"
	want $cc -O1 -c -fchord-events=instructions half.c
	want $cc -o prog main.o half.o
	stat 0 instructions ./prog
	is "$(grep instructions one.events | cut -d" " -f1)" "$(grep instructions one.events | cut -d" " -f2)"
}
# Tables of one name in different objects are different events, of one content in different folders the same.
t_tables_apart() {
	mkdir a b c
	echo "default 1" | tee a/t >c/t
	echo "default 2" >b/t
	echo 'int two(void) { return 2; }' >two.c
	echo 'int two(void); int main(void) { return two() - two(); }' >one.c
	for d in b c; do
		want $cc -fchord-events=cost:a/t -c one.c
		want $cc -fchord-events=cost:$d/t -c two.c
		want $cc -o prog one.o two.o
		"$CHORD" stat -o json --json ./prog
		jq -r '.events | keys[]' json | grep -Ec '^cost:t#[0-9a-f]{8}$' >n
		[ "$(cat n)" = $([ $d = b ] && echo 2 || echo 1) ] || no "$d: $(cat json)"
	done
}
t_repeated() {
	want $cc -O2 -pthread -o prog prog.c
	stat 3 "" ./prog 20
	cp events one
	stat 3 "" -r 5 ./prog 20
	same one "five runs"
	jq -e '.runs == 5 and ([.spread[] | .min == .max] | all)' json >/dev/null || no "runs differ: $(cat json)"
	"$CHORD" stat -r 3 -e loads ./prog 20 2>said >/dev/null
	grep -Eq '^ +[0-9,]+  loads +\+- 0$' said || no "$(cat said)"
	# addresses are the same every time, unless they are not to be
	want $cc -O0 -o places -x c - <<<'int main(void) { for (unsigned long i = (unsigned long)&i >> 12 & 0xffff; i; i--); return 0; }'
	stat 0 instructions -r 5 ./places
	if ! setarch -R true 2>/dev/null; then :
	elif jq -e '.spread.instructions | .min != .max' json >/dev/null; then no "addresses differ: $(jq -c .spread json)"; fi
	stat 0 instructions --aslr -r 5 ./places
	is_fixed || jq -e '.spread.instructions | .min != .max' json >/dev/null || no "--aslr"
	# the number of rounds grows
	printf '#!/bin/sh\necho x >>n\nexec ./prog $(wc -l <n)\n' >more
	chmod +x more
	stat 3 instructions -r 3 ./more
	jq -e '.spread.instructions | .min < .median and .median < .max' json >/dev/null || no "no spread: $(cat json)"
	is instructions "$(jq .spread.instructions.median json)"
}

# copied: how many bytes `copy` has read, one run after another
copied() { tr '\n' ' ' <counts; }
t_input_again() {
	cat >copy.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int work(int n) { return n * 3; }
		int main(int argc, char **argv)
		{
			int n = 0, c, most = argc > 1 ? atoi(argv[1]) : -1;
			FILE *f = fopen("counts", "a");
			setvbuf(stdin, NULL, _IONBF, 0);
			while (n != most && (c = getchar()) != EOF)
				n += 0 * work(c) + 1;
			fprintf(f, "%d\n", n);
			return fclose(f);
		}
	END
	want $cc -O1 -fno-inline -o copy copy.c
	head -c 200000 /dev/zero >data
	local how alike='.spread | .instructions.min == .instructions.max and ."call:getchar|getc".median >= 200000'
	for how in file middle pipe slow null; do
		: >counts
		case $how in
		file) stat 0 "instructions,call:getchar|getc" -r 3 ./copy <data ;;
		middle) { head -c 100 >/dev/null; stat 0 instructions -r 3 ./copy; } < <(cat data) ;;
		pipe) cat data | stat 0 "instructions,call:getchar|getc" -r 3 ./copy ;;
		slow) { head -c 3; sleep 0.3; head -c 4; sleep 0.3; } <data | stat 0 instructions -r 3 ./copy ;;
		null) stat 0 instructions -r 3 ./copy </dev/null ;;
		esac
		[ "$(sort -u counts | wc -l)" = 1 ] && [ "$(wc -l <counts)" = 3 ] || no "$how: $(copied)"
		[ "$how" != file ] && [ "$how" != pipe ] || [ "$(head -n 1 counts)" = 200000 ] || no "$how: $(copied)"
		[ "$how" != slow ] || [ "$(head -n 1 counts)" = 7 ] || no "$how: $(copied)"
		[ "$how" != file ] && [ "$how" != pipe ] || jq -e "$alike" json >/dev/null || no "$how: $(cat json)"
		jq -e '.notes == [] and (.spread.instructions | .min == .max)' json >/dev/null || no "$how: $(jq -c . json)"
	done
	# a file is read from where it stands, and left as the last run left it
	: >counts
	{ dd bs=1 count=1000 status=none >/dev/null; "$CHORD" stat -o said -r 3 ./copy 50; wc -c >rest; } <data
	[ "$(copied)" = "50 50 50 " ] && [ "$(cat rest)" = 198950 ] || no "from the middle: $(copied), $(cat rest)"
	# a writer that never ends, a program that does not read it all, or not at all
	: >counts
	timeout 20 "$CHORD" stat -o said -r 3 ./copy 4 < <(echo abc; exec sleep 5) || no "an endless pipe: $?"
	[ "$(copied)" = "4 4 4 " ] || no "an endless pipe: $(copied)"
	: >counts
	yes | timeout 20 "$CHORD" stat -o said -r 3 ./copy 70000 || no "yes: $?"
	[ "$(copied)" = "70000 70000 70000 " ] || no "yes: $(copied)"
	: >counts
	timeout 20 "$CHORD" stat -o said -r 3 ./copy 0 < <(exec sleep 5) || no "not read: $?"
	[ "$(copied)" = "0 0 0 " ] || no "not read: $(copied)"
	# one run has the pipe itself
	printf '#include <sys/stat.h>\nint main(void) { struct stat s; fstat(0, &s); return s.st_ino %% 200 + 1; }' >inode.c
	want $cc -o inode inode.c
	cat data | { "$CHORD" stat -o said ./inode; echo $? >chord; ./inode; echo $? >plain; }
	cmp -s chord plain || no "another pipe"
}
# Counts, processes and statuses that differ are said.
t_runs_differ() {
	printf '#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>
		int main(void) { FILE *f = fopen("n", "a"); fseek(f, 0, SEEK_END); long n = ftell(f); fputc(0, f); fclose(f);
		volatile int x = 0; for (long i = 0; i < n * 100; i++) x += i; if (n == 1 && !fork()) return 0; wait(0); return n == 2 ? 5 : 0; }' >grow.c
	want $cc -O1 -o grow grow.c
	stat 5 instructions,returns -r 3 ./grow
	jq -e '.notes | index("the runs did not do the same: 2 of 2 counts differ; shown are their medians") != null and
		index("the runs had from 1 to 2 processes") != null and
		index("1 of 3 runs ended with another status than the first, which ended with 0") != null' json >/dev/null || no "$(jq -c .notes json)"
	rm n
	"$CHORD" stat -e instructions -r 3 ./grow 2>err
	grep -q 'counts differ; shown are their medians' err && grep -Eq 'instructions +[0-9,]+ to [0-9,]+' err || no "$(cat err)"
}
t_events_again() {
	want $cc -O2 -pthread -o prog prog.c
	"$CHORD" stat -e loads -e stores,calls --event=call:fib -o json --json ./prog 5 >out
	[ "$(jq -c '.events | keys_unsorted' json)" = '["loads","stores","calls","call:fib"]' ] || no "$(jq -c .events json)"
	"$CHORD" stat -e loads -e loads -o json --json ./prog 5 >out
	[ "$(jq -c '.events | keys' json)" = '["loads"]' ] || no "$(jq -c .events json)"
	want $cc -O2 -fchord=events -fchord-events=loads,stores,calls -o waits -x c - <<<'#include <unistd.h>
		int main(void) { return pause(); }'
	CHORD_FILE=p.chord ./waits &
	sleep 0.3
	"$CHORD" query -e calls -e loads --json $! >json 2>err
	{ kill $! && wait $!; } 2>/dev/null
	[ "$(jq -c '.events | keys_unsorted' json)" = '["calls","loads"]' ] || no "query: $(cat json err)"
}

# What the linker replaced (loads from the GOT, calls through it, thread-local variables) is taken out of counters of events
# where edges are counted, too; else the bounds hold and are said.
t_relaxed() {
	cat >relax.c <<-'END'
		#include <stdio.h>
		extern int x;
		extern __thread int mine;
		extern int other(int);
		int *volatile p;
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 10; i++) {
				__asm__ volatile("");
				p = &x;
				mine += i;
			}
			if (argc > 1)
				other(argc + *p);
			for (int i = 0; i < 3; i++)
				other(i);
			return mine != 45;
		}
	END
	echo 'int x = 5; __thread int mine; __attribute__((noinline)) int other(int a) { return a; }' >x.c
	local compiler how some=instructions,loads,stores,bytes-loaded,calls
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		export CHORD_CC=$compiler
		for how in "-O2 -fPIC" "-O0 -fPIC" "-O2 -fPIC -fno-plt" "-O2 -fPIC -fno-plt -static" "-O1 -fPIC -no-pie" "-O2 -fPIE -pie" \
			"-O2 -fPIC -Wl,--no-relax"; do
			want $cc $how -o prog relax.c x.c
			stat 0 $some ./prog
			cp events true
			want $cc $how -fchord=events,edges -fchord-events=$some -o prog relax.c x.c
			stat 0 $some ./prog
			same true "$compiler $how, edges and events"
			jq -e '.notes == []' json >/dev/null || no "$compiler $how: $(jq -c .notes json)"
			want $cc $how -fchord=events -fchord-events=$some -o prog relax.c x.c
			stat 0 $some ./prog
			within "$compiler $how"
		done
	done
	unset CHORD_CC
}
# within WHAT: each event is the true one, or lies in its bounds, and a note says why
within() {
	local event n low high
	while read -r event n; do
		grep -qxF "$event $n" events && continue
		read -r low high <<<"$(jq -r ".events | \"\\(.[\"${event}_at_least\"]) \\(.[\"${event}_at_most\"])\"" json)"
		[ "$low" != null ] || no "$1: $event is $n, not $(grep "^$event " events)"
		[ "$low" -le "$n" ] && { [ "$high" = null ] || [ "$n" -le "$high" ]; } || no "$1: $event is $n, not $low to $high"
		jq -e ".notes | map(select(startswith(\"$event: in \") and test(\"the linker replaced instructions\"))) | length == 1" json \
			>/dev/null || no "$1: no note: $(jq -c .notes json)"
	done <true
}

# Reports have the instructions that linkers put in place of calls for thread-local variables: callgrind's counts of the plain program.
# Where they put more of them than there were (mold, at times), the report says so.
t_relaxed_functions() {
	cat >thread.c <<-'END'
		#include <stdio.h>
		static __attribute__((tls_model("local-dynamic"))) __thread int a;
		__attribute__((tls_model("global-dynamic"))) __thread int b;
		__attribute__((noinline)) int local(int x) { return a += x; }
		__attribute__((noinline)) int global(int x) { return b += x; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 1000; i++)
				sum += local(i) ^ global(i);
			return sum != 0;
		}
	END
	local how measure
	for how in "" -mcmodel=large -static -no-pie -fuse-ld=gold -fuse-ld=lld; do
		[[ $how != -fuse-ld=* ]] || command -v "ld.${how#*=}" >/dev/null || continue
		want gcc -O2 -fPIC $how -o plain thread.c
		want valgrind --tool=callgrind --skip-plt=no --compress-strings=no --compress-pos=no --callgrind-out-file=callgrind.out ./plain
		awk '/^fn=/ { f = substr($0, 4) } /^calls=/ { skip = 1; next } /^[0-9+*-]/ { if (!skip) n[f] += $2; skip = 0 }
			END { for (f in n) if (f ~ /^(local|global)$/) print f, n[f] }' callgrind.out | sort >true
		[ "$(wc -l <true)" = 2 ] || no "$how: callgrind has $(cat true)"
		for measure in edges paths trace edges,events; do
			rm -f ./*.chord
			want $cc -O2 -fPIC $how -fchord=$measure -o prog thread.c
			want ./prog
			want "$CHORD" report --json prog
			jq -r '.functions[] | select(.name == "local" or .name == "global") | "\(.name) \(.instructions)"' out | sort >got
			cmp -s true got || no "$how $measure: $(paste -s -d ' ' got), not $(paste -s -d ' ' true)"
			jq -e '.notes == []' out >/dev/null || no "$how $measure: $(jq -c .notes out)"
			# The same program again, by weights that a reader wrote.
			want "$CHORD" weights -o weights prog
			want $cc -O2 -fPIC $how -fchord=$measure -fchord-weights=weights -o prog thread.c
			[ ! -s err ] || no "$how $measure: $(cat err)"
		done
	done
}

# ---- what a source says ----

t_jumps() {
	printf 'long events(long n); long other(long n);\n#include <stdlib.h>\nint main(int c, char **v) { events(atol(v[1])); return 0; }\n' >main.c
	local some=taken,branches,backward-branches,returns,call:other
	for how in "" -static "-fchord=events -fchord-events=$some"; do
		want $cc $how -O0 -o prog main.c events.s
		want "$CHORD" verify prog
		stat 0 $some,call:events ./prog 5
		cp events at5
		[[ $how == *events* ]] || is call:events 1
		is call:other 1
		stat 0 $some ./prog 6
		is call:other 1
		cp events at6
		stat 0 $some ./prog 7
		is call:other 0
		cp events at7
		# 7: jne out is taken; 6: it is not; 5: the jump before is taken
		set -- $(sed -n 's/^taken //p' at5 at6 at7) $(sed -n 's/^branches //p' at5 at6 at7) \
			$(sed -n 's/^backward-branches //p' at5 at6 at7) $(sed -n 's/^returns //p' at5 at6 at7)
		# each further round: two conditional jumps, taken, backward; every second one goes by the table to .Leven
		[ $(($2 - $1)) = 1 ] && [ $(($3 - $2)) = 3 ] || no "taken: $1 $2 $3"
		[ $(($5 - $4)) = 3 ] && [ $(($6 - $5)) = 2 ] || no "branches: $4 $5 $6"
		[ $(($8 - $7)) = 2 ] && [ $(($9 - $8)) = 2 ] || no "backward: $7 $8 $9"
		[ "${10}" = "${11}" ] && [ "${11}" = "${12}" ] || no "returns: ${10} ${11} ${12}"
	done
}
t_callees() {
	printf '#include <stdio.h>\n#include <string.h>\n#include <unistd.h>
		static __attribute__((noinline)) int mine(int a) { return a * 3 + getppid(); }
		int (*volatile pointer)(int) = mine; char b[100];
		int main(void) { puts("x"); int s = 0; for (int i = 0; i < 5; i++) s += mine(i) + pointer(i) + strlen(b);
		if (s == 1) _exit(9); return 0; }' >main.c
	for how in "" -no-pie -fno-plt -static "-O2 -Wl,-z,now" "-fno-builtin -O1"; do
		want $cc -fno-builtin $how -o prog main.c
		stat 0 call:puts,call:mine,call:strlen,call:_exit,call:getppid,call:/^_exit$/,calls ./prog
		is call:puts 1
		is call:mine 5
		is call:strlen 5
		is call:getppid 10
		is call:_exit 0
		is calls 26
		jq -e '.notes | map(select(test("^5 calls through pointers"))) | length == 1' json >/dev/null || no "$how: $(jq -c .notes json)"
		jq -e '.notes | map(select(test("nothing in"))) | length == 0' json >/dev/null || no "$how: $(jq -c .notes json)"
	done
	strip prog
	stat 0 call:mine,call:puts,call:getppid ./prog
	is call:mine 5
	is call:getppid 10
	want $cc -fchord=events -fchord-events=call:/^raed/,insn:xyz,call:puts -o prog main.c
	[ "$(grep -Ec '^chord: warning: prog: (call:/\^raed/|insn:xyz): nothing that is measured in it matches$' err)" = 2 ] &&
		[ "$(wc -l <err)" = 2 ] || no "at the link: $(cat err)"
	want $cc -fno-builtin -o prog main.c
	stat 0 call:raed,insn:xyz,call:puts ./prog
	jq -e '.notes | map(select(test("^(call:raed|insn:xyz): nothing in the measured code"))) | length == 2' json >/dev/null ||
		no "patterns without matches are not named: $(jq -c .notes json)"
}

# ---- processes and threads ----

t_threads() {
	tools
	want gcc -O2 -no-pie -pthread -o plain prog.c
	for measure in edges every-edge events; do
		want $cc -fchord=$measure -fchord-events=$plain -O2 -no-pie -pthread -o prog prog.c
		stat 3 $plain --per-thread ./prog 5 threads
		jq -e '.threads | length == 4 and (map(.thread) == [0, 1, 2, 3])' json >/dev/null || no "threads: $(jq -c .threads json)"
		jq -e '.events as $all | .threads | map(.events) | [.[0] | keys[]] as $k | . as $t |
			all($k[]; . as $e | ($t | map(.[$e]) | add) == $all[$e])' json >/dev/null || no "they do not add up: $(jq -c . json)"
		jq -e '.unknown == [] and .notes == []' json >/dev/null || no "$(jq -c . json)"
		jq -r '.threads[] | .thread as $n | .events | to_entries[] | "\($n) \(.key) \(.value)"' json | sort >"$measure.threads"
		[ -s edges.threads ] && cmp -s edges.threads $measure.threads || no "$measure: $(diff edges.threads $measure.threads | head -n 20 | tr '\n' ' ')"
	done
	# callgrind calls a thread by a number that one before it had
	want $cc -O2 -no-pie -pthread -o prog prog.c
	CHORD_FILE=p.chord ./prog 5 together
	want "$CHORD" report --insns ./prog p.chord
	"$w/compare" --places plain out | grep -v ' rep$' >places
	printf 'rep 0\ndefault 1\n' >others
	stat 3 cost:others,branches --per-thread ./prog 5 together
	jq -r '.threads[] | "\(.thread) instructions \(.events["cost:others"])", "\(.thread) branches \(.events.branches)"' json >numbers
	objdump -d plain >disassembly
	valgrind --tool=callgrind --separate-threads=yes --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no \
		--skip-plt=no --cache-sim=yes --branch-sim=yes --callgrind-out-file=callgrind.out ./plain 5 together >/dev/null 2>&1
	for n in 0 1 2 3; do
		"$w/events" callgrind places disassembly callgrind.out-0$((n + 1)) plain | sed "/^stores/d; s/^/$n /" >truth
		[ -s truth ] && ! grep -qvxFf numbers truth || no "thread $n: $(cat truth), not $(grep "^$n" numbers)"
	done
	quietly refused 2 "cannot be combined with --repeat" "$CHORD" stat --per-thread -r 2 ./prog
	stat 3 instructions --per-thread ./prog 5 fork
	jq -e '.threads | length == 2 and (map(.process) | unique | length) == 2' json >/dev/null || no "fork: $(jq -c . json)"
}

t_processes() {
	want $cc -O2 -pthread -o prog prog.c
	stat 3 instructions,calls ./prog 20
	one=$(jq .events.instructions json)
	stat 3 instructions ./prog 20 fork
	jq -e '.processes == 2' json >/dev/null || no "not two processes"
	jq -e ".events.instructions * 2 > 3 * $one" json >/dev/null || no "the child is not in it"
	jq -e '.unknown == [] and .notes == []' json >/dev/null || no "$(cat json)"
	# another program in its place, and a script around both
	want $cc -O0 -pthread -o slow prog.c
	stat 3 instructions ./slow 20
	slow=$(jq .events.instructions json)
	stat 3 instructions ./prog 20 exec ./slow 20
	jq -e ".processes == 2 and .events.instructions > $one + $slow - 20" json >/dev/null || no "exec: $(cat json)"
	stat 3 instructions sh -c './prog 20; ./slow 20'
	is instructions $((one + slow))
	stat 3 instructions ./prog 20 exit
	jq -e ".events.instructions > $one and .unknown == [] and .notes == []" json >/dev/null || no "exit: $(cat json)"
	stat 137 instructions ./prog 20 kill
	jq -e '.notes == [] and .unknown == []' json >/dev/null || no "killed by itself: $(cat json)"
	stat 139 instructions ./prog 20 fault
	jq -e '.notes[0] | test("was killed")' json >/dev/null || no "it is not said that it was killed: $(cat json)"
}
t_pass_through() {
	printf '#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); fputs("err", stderr); return 7; }' >cat.c
	want $cc -O2 -o cat cat.c
	echo hello | "$CHORD" stat -e instructions ./cat >out 2>err
	[ "${PIPESTATUS[1]}" = 7 ] || no "the status is not the program's"
	[ "$(cat out)" = hello ] || no "standard output: $(cat out)"
	grep -q '^err' err && grep -q instructions err || no "standard error: $(cat err)"
	echo hello | "$CHORD" stat -o totals -- ./cat >out 2>err
	[ "$(cat err)" = err ] && grep -q bytes-stored totals || no "with -o: $(cat err)"
	PATH=$PWD:$PATH "$CHORD" stat --json cat </dev/null 2>err >out
	[ "$(sed 's/^err//' err | jq .status)" = 7 ] || no "found by PATH: $(cat err)"
}
t_not_counted() {
	want gcc -O2 -shared -fpic -o libplain.so -x c - <<<'int plain(int a) { return a; }'
	want $cc -O2 -shared -fpic -o libours.so -x c - <<<'int ours(int a) { return a + 1; }'
	want gcc -c -o object.o -x c - <<<'int object(int a) { return a; }'
	want $cc -O0 -o prog -x c - -x none object.o -L. -lplain -lours -Wl,-rpath,"$PWD" <<<'int plain(int), ours(int), object(int);
		int main(void) { return plain(0) + ours(-1) + object(0); }'
	stat 0 calls,instructions,call:plain\|ours ./prog
	jq -e '.not_counted | .functions == 1 and (.libraries | index("libplain.so") != null and index("libours.so") == null)' json \
		>/dev/null || no "$(jq -c .not_counted json)"
	is call:plain\|ours 2
	"$CHORD" stat ./prog 2>err
	grep -q 'libplain.so, libc.so.6: not built with Chord\|libc.so.6, libplain.so: not built' err || no "$(cat err)"
}

# ---- bad input ----

# Procedures that only their own text calls are entered with events not counted, unless one that calls them is refused:
# then the others count what they do by edges.
t_refused_caller() {
	cat >calls.c <<-END
		#define ALONE __attribute__((noinline)) static
		ALONE unsigned leaf(unsigned n) { return n * 7 + 3; }
		ALONE unsigned ways(unsigned n) { if (n & 1) return leaf(n) + 1; return n >> 2; }
		__attribute__((noinline)) unsigned divides(unsigned a, unsigned b) { return ways(a / b) + leaf(a); }
		int main(void)
		{
			unsigned sum = 0;
			for (unsigned i = 1; i < 100; i++)
				sum += divides(sum + i * 77, i + 2) + ways(i);
			return sum == 1;
		}
	END
	printf 'divide 3000000000\n' >costs
	want $cc -O1 -fchord-events=instructions,cost:costs -o some calls.c
	want $cc -O1 -fchord=edges -o edges calls.c
	CHORD_FILE=some.chord ./some && CHORD_FILE=edges.chord ./edges || no "status $?"
	want "$CHORD" report ./some some.chord
	grep -q "an event's increment of more than 31 bits" out err || no "nothing is refused"
	want "$CHORD" report --json ./some some.chord && jq .events.instructions out >counted
	want "$CHORD" report --json ./edges edges.chord
	jq '[.functions[] | select(.name != "divides") | .instructions] | add' out >true
	cmp counted true || no "$(cat counted) instructions, not $(cat true)"
}

t_bad_input() {
	want $cc -O2 -pthread -o prog prog.c
	want gcc -O2 -pthread -o plain prog.c
	quietly refused 2 "^chord: -e: 'lods' is no event; there are instructions, " "$CHORD" stat -e loads,lods ./prog
	quietly refused 2 "^chord: -e: an empty name" "$CHORD" stat -e "" ./prog
	quietly refused 2 "^chord: -e: cost:|^chord: -e: none: No such file" "$CHORD" stat -e cost:none ./prog
	echo "lods 3" >costs
	quietly refused 2 "^chord: -e: costs:1: 'lods' is no class of instructions; there are default" "$CHORD" stat -e cost:costs ./prog
	quietly refused 2 "^chord: -e: call:/\(/: " "$CHORD" stat -e 'call:/(/' ./prog
	quietly refused 2 "a number of runs is from 1" "$CHORD" stat -r 0 ./prog
	quietly refused 2 "a number of runs is from 1" "$CHORD" stat -r -1 ./prog
	quietly refused 2 "a number of runs is from 1" "$CHORD" stat -r many ./prog
	quietly refused 2 "which program" "$CHORD" stat
	quietly refused 2 "unrecognized option" "$CHORD" stat --nonsense ./prog
	quietly refused 1 "^chord: ./none: No such file or directory" "$CHORD" stat ./none
	quietly refused 1 "^chord: none-at-all: No such file or directory" "$CHORD" stat none-at-all
	quietly refused 1 "^chord: ./prog.c: Permission denied" "$CHORD" stat ./prog.c
	"$CHORD" stat ./plain >out 2>err
	[ $? = 1 ] && grep -q '^chord: ./plain: it has no map of Chord' err || no "without a map: $(cat err)"
	"$CHORD" stat true >out 2>err
	[ $? = 1 ] && grep -q '^chord: true: it left no profile: ' err || no "true: $(cat err)"
	# where it cannot be printed, nothing is run
	printf '#!/bin/sh\ntouch ran\nexec ./prog\n' >runs
	chmod +x runs
	quietly refused 1 '^chord: none/file: No such file' "$CHORD" stat -o none/file ./runs
	quietly refused 1 '^chord: tmp: Is a directory' "$CHORD" stat -o tmp ./runs
	quietly refused 2 'a number of runs' "$CHORD" stat -o new -r 0 ./runs
	quietly refused 1 '^chord: none: No such file' "$CHORD" stat -o new none
	[ ! -e ran ] && [ ! -e new ] || no "it was run, or there is a file: $(ls)"
	echo before >old
	quietly refused 1 '^chord: none: No such file' "$CHORD" stat -o old none
	[ "$(cat old)" = before ] || no "a file is gone: $(cat old)"
	"$CHORD" stat -e loads -o /dev/stdout ./runs 2>err | grep -q loads && [ ! -s err ] || no "to a pipe: $(cat err)"
	yes | head -100000 >old
	"$CHORD" stat -e loads -o old ./runs >out 2>err
	[ "$(grep -c loads old)" = 1 ] && [ "$(wc -l <old)" -lt 10 ] || no "more than the counts: $(wc -l <old)"
	# a file that cannot be emptied
	cat >sealed.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int c, char **v) {
		int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
		if (write(fd, "before", 6) != 6 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) || dup2(fd, 9) != 9) return 77;
		execvp(v[1], v + 1);
		return 76;
	}
	EOF
	gcc -o sealed sealed.c || no "cannot compile"
	refused 1 '^chord: /proc/self/fd/9: Operation not permitted' ./sealed "$CHORD" stat -e loads -o /proc/self/fd/9 ./prog
	# options of every command
	for command in hook report stat diff query paths "paths select" "paths split" "paths merge" weights merge verify graph show; do
		quietly refused 2 . "$CHORD" $command --nonsense
		[ "$command" = hook ] || quietly refused 2 . "$CHORD" $command
	done
	quietly refused 2 . "$CHORD" hook operand
	quietly refused 2 "the passes are labels, code, graph, place and text" "$CHORD" show -p nonsense prog.c
	for command in report verify weights graph show paths merge\ -o\ new; do
		quietly refused 1 "^chord: none: No such file" "$CHORD" $command none
		quietly refused 1 "^chord: (tmp|new): " "$CHORD" $command tmp
	done
	quietly refused 2 "not a percentage" "$CHORD" diff --fail-above=x a b
	quietly refused 2 "no such command" "$CHORD" nonsense
	quietly refused 1 "No such file or directory" env TMPDIR="$PWD/none" "$CHORD" stat ./prog
	want "$CHORD" stat --help
}

# A folder with profiles that are damaged, or are none though they have such names: each reader names them, and ends with status 1.
t_damaged() {
	local command file
	echo 'int main(int argc, char **argv) { return argv[argc - 1] == 0; }' >small.c
	want $cc -O1 -g -o prog small.c
	mkdir folder
	for i in 1 2; do CHORD_FILE=folder/prog.$i.chord ./prog >/dev/null || no "it ends with status $?"; done
	head -c 5000 folder/prog.2.chord >folder/prog.3.chord
	head -c 30 folder/prog.2.chord >folder/4.chord
	yes | head -c 9000 >folder/5.chord.17
	echo "no profile, and not named as one" >folder/6.chord.txt
	for command in report "report --json" coverage "export -f csv" annotate "paths" "html -o pages" weights "merge -o merged"; do
		case $command in merge*) refused 1 . "$CHORD" $command folder ;; *) refused 1 . "$CHORD" $command ./prog folder ;; esac
		for file in prog.3.chord 4.chord 5.chord.17; do
			grep -q "folder/$file: .*\(truncated\|not a profile\)" err || no "$command does not name $file: $(cat err)"
		done
		grep 6.chord.txt err && no "$command names what is none"
	done
	[ ! -e merged ] || no "there is a sum"
	rm folder/prog.3.chord folder/4.chord folder/5.chord.17
	want "$CHORD" report ./prog folder
}

for name in valgrind_O0 valgrind_O2 valgrind_avx2 measures tables lists tables_apart repeated input_again runs_differ events_again relaxed relaxed_functions jumps callees threads processes pass_through not_counted refused_caller damaged bad_input; do
	test_case $name
done
exit $failed
