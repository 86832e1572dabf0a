#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord diff`: programs that do a known number of things more or less often. Prints ok, FAIL or skip for each test; status 1 if one
# failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

# holds FILTER: of the JSON in ./out
holds() { jq -e "$1" out >/dev/null || no "not so: $1: $(jq -c . out | head -c 1500)"; }

# source FOLDER TEXT: FOLDER/prog.c, which calls a function of two instructions (call and step) so
# and so often
source() {
	mkdir -p "$1/sub"
	cat >"$1/sub/prog.c" <<-END
		#include <stdlib.h>
		#define STEP __asm__ volatile("nop")
		$2
		static __attribute__((noinline)) void step(void) { STEP; }
		static __attribute__((noinline)) void more(long n) { while (n--) STEP; }
		int main(int argc, char **argv)
		{
			for (long i = atol(argv[1]); i; i--)
				step();
			more(argc > 2 ? atol(argv[2]) : 0);
			${3-}
			return 0;
		}
	END
}

# run FOLDER PROFILE ARGUMENT...
run() {
	local folder=$1 profile=$2
	shift 2
	CHORD_FILE=$profile "$folder/prog" "$@" || no "it ends with status $?"
}

# two: one build, two runs: 100 steps more
two() {
	source one ""
	want $cc -O1 -g -o one/prog one/sub/prog.c
	run one a 1000
	run one b 1100
}

t_one_build() {
	two
	want "$CHORD" diff --json one/prog a b
	# step is nop and ret; the loop in main is call, sub and jne
	holds '.functions | map({(.name): .change}) | add | .step == 200 and .main == 300'
	holds '.functions[0].name == "main" and .functions[0].state == "changed" and (.functions | length) == 2'
	holds '.totals.instructions | .change == 500 and .after - .before == 500'
	holds '.totals.calls.change == 100 and .failed == false and .not_compared == []'
	want "$CHORD" diff --json b a
	holds '.totals.instructions.change == -500 and .before.processes == 1 and (.after.program | endswith("/one/prog"))'
	want "$CHORD" diff a a
	grep -q "^No function's instruction count changed" out || no "$(cat out)"
	want "$CHORD" diff --json --lines one/prog a b
	holds '.lines | length == 3 and (map(.change) | add) == 500 and all(.file | endswith("one/sub/prog.c"))'
	want "$CHORD" diff --top=1 one/prog a b
	grep -q 'and 1 more' out || no "$(cat out)"
}

t_two_builds() {
	source one "static __attribute__((noinline)) void old(void) { STEP; }" "old();"
	source two "static __attribute__((noinline)) void fresh(void) { STEP; STEP; }" "fresh();"
	want $cc -O1 -g -o one/prog "$PWD/one/sub/prog.c"
	(cd two && want $cc -O1 -g -o prog "$PWD/sub/prog.c")
	run one a 1000
	run two b 1000 50
	want "$CHORD" diff --json --lines one/prog a two/prog b
	holds '.functions | map({(.name): [.state, .before, .after]}) | add | .old == ["gone", 2, 0] and .fresh == ["new", 0, 3]'
	holds '.functions[0].name == "more"'
	# the file lies in another folder, and is the same
	holds '.lines | map(select(.state == "changed" and (.file | endswith("/two/sub/prog.c")))) | length == 2'
	want "$CHORD" diff --json a b
	cp two/prog one/prog
	refused 1 "^chord: a: .*another build of it lies at its path now; name the program" "$CHORD" diff a b
}

# program_in FOLDER: wc.c, with a wc.h beside it and one below
program_in() {
	mkdir -p "$1/below"
	cat >"$1/wc.c" <<-END
		#include "wc.h"
		#include "below/wc.h"
		static int __attribute__((noinline)) count(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum ^= half(twice(i));
			return sum;
		}
		int main(int argc, char **argv) { return argc < 2 ? 0 : count(100 + 0 * argv[1][0]) & 1; }
	END
	printf 'static inline int twice(volatile int i)\n{\n\treturn i * 2;\n}\n' >"$1/wc.h"
	printf 'static inline int half(volatile int i)\n{\n\treturn i / 2;\n}\n' >"$1/below/wc.h"
}
# The same program in two folders, built from without, from within, and by names that go around: no line differs.
t_two_folders() {
	program_in a
	program_in deep/er/b
	local compiler folder n=0
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		export CHORD_CC=$compiler
		want $cc -O1 -g -o a/one a/wc.c
		(cd a && want $cc -O1 -g -o two wc.c)
		(cd a/below && want $cc -O1 -g -o ../three .././../a/wc.c)
		want $cc -O1 -g -o deep/er/b/one deep/er/b/wc.c
		(cd deep/er && want $cc -O1 -g -o b/two ./b/.././b//wc.c)
		want $cc -O1 -gdwarf-4 -o deep/er/b/three "$PWD/deep/er/b/wc.c"
		for n in one two three; do
			CHORD_FILE=$PWD/$n.a a/$n x
			CHORD_FILE=$PWD/$n.b deep/er/b/$n x
		done
		for n in one two three; do
			for m in one two three; do
				want "$CHORD" diff --json --lines a/$n $n.a deep/er/b/$m $m.b
				[ "$(jq '.lines | length' out)" = 0 ] || no "$compiler $n, $m: $(jq -c '.lines | map([.file, .line, .change])' out)"
			done
			want "$CHORD" report --json --files --lines a/$n $n.a
			holds '.files | map(.file | sub(".*/a/"; "")) | sort == ["below/wc.h", "wc.c", "wc.h"]'
			holds '([.files[].instructions] | add) == .totals.instructions'
		done
	done
	unset CHORD_CC
}
# A folder reached through a symbolic link is not one that `..` leads back from.
t_link_in_path() {
	mkdir -p real/deep
	ln -s real/deep link
	program_in real
	mkdir other
	echo 'int none;' >wc.c
	want $cc -O1 -g -o prog link/../wc.c
	CHORD_FILE=p ./prog x
	want "$CHORD" report --json --files ./prog p
	holds '.files | map(.file) | sort | length == 3 and (map(select(endswith("/link/../wc.c"))) | length) == 1'
}
# A function's line is where it is declared, not that of an inlined callee's, with which it begins.
t_declared() {
	cat >decl.cc <<-'END'
		static inline __attribute__((always_inline)) int inlined(int c)
		{
			return c * 7 + 1;
		}
		extern "C" __attribute__((noinline)) int begins(int c)
		{
			return inlined(c);
		}
		template<class T> struct box {
			int member(T x) const;
			int v;
		};
		template<class T>
		__attribute__((noinline)) int
		box<T>::member(T x) const
		{
			return inlined(x + v);
		}
		namespace { namespace in {
		__attribute__((noinline)) int spaced(int c)
		{
			return inlined(c) ^ 3;
		}
		} }
		int main(int argc, char **)
		{
			box<int> b = {argc};
			auto f = [](int x) __attribute__((noinline)) {
				return inlined(x) ^ 9;
			};
			return begins(argc) + b.member(argc) + in::spaced(argc) + f(argc) == 5;
		}
	END
	local compiler how
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || continue
		for how in -O0 -O1 -O2 -gdwarf-4 -gsplit-dwarf "-O2 -flto"; do
			case $compiler$how in clang*flto) continue ;; esac
			export CHORD_CXX=$compiler
			want "$CHORD" c++ -g $how -o prog decl.cc
			CHORD_FILE=p ./prog
			want "$CHORD" report --json ./prog p
			jq -r '.functions[] | "\(.name) \(.file) \(.line)"' out >where
			grep -q "^begins .*/decl.cc 5$" where && grep -q "spaced.* .*/decl.cc 20$" where && grep -q 'member.* .*/decl.cc 1[35]$' where &&
				grep -q '^main .*/decl.cc 25$' where && grep -Eq '^_ZZ4main.* .*/decl.cc 28$' where || no "$compiler $how: $(cat where)"
		done
	done
	unset CHORD_CXX
	# nothing is said in assembly: the line is the first instruction's
	printf '\t.text\n\n\t.globl main\n\t.type main,@function\nmain:\n\txorl %%eax, %%eax\n\tret\n\t.size main,.-main\n' >m.s
	want $cc -g -o prog m.s
	CHORD_FILE=p ./prog
	want "$CHORD" report --json ./prog p
	holds '.functions[0] | .name == "main" and (.file | endswith("/m.s")) and (.line == 5 or .line == 6)'
}
# What a program needs and was not built with Chord is named, by report as by stat.
t_libraries() {
	want gcc -shared -fpic -o libplain.so -x c - <<<'int plain(int a) { return a; }'
	want $cc -shared -fpic -o libours.so -x c - <<<'int ours(int a) { return a + 1; }'
	want $cc -o prog -x c - -x none -L. -lplain -lours -Wl,-rpath,"$PWD" <<<'int plain(int), ours(int);
		int main(void) { return plain(0) + ours(-1); }'
	CHORD_FILE=p ./prog
	want "$CHORD" report ./prog p
	grep -qx '  libplain.so, libc.so.6: not built with Chord' out || no "$(cat out)"
	want "$CHORD" report --json ./prog p
	holds '.unmeasured.libraries == ["libplain.so", "libc.so.6"]'
	want "$CHORD" stat --json -o json ./prog
	[ "$(jq -c .not_counted.libraries json)" = '["libplain.so","libc.so.6"]' ] || no "stat: $(jq -c .not_counted json)"
	# linked by a path, as without -l: the program needs "./libours.so"
	want $cc -o prog -x c - -x none ./libours.so ./libplain.so <<<'int plain(int), ours(int);
		int main(void) { return plain(0) + ours(-1); }'
	CHORD_FILE=r ./prog
	want "$CHORD" report --json ./prog r
	holds '.unmeasured.libraries == ["./libplain.so", "libc.so.6"]'
	mv libours.so elsewhere.so
	want "$CHORD" report --json ./prog r
	holds '.unmeasured.libraries == ["./libplain.so", "libc.so.6"] and .unknown[0].name == "./libours.so"'
	want $cc -static -o prog -x c - <<<'int main(void) { return 0; }'
	CHORD_FILE=q ./prog
	want "$CHORD" report --json ./prog q
	holds '.unmeasured.libraries == []'
}

# A clone that the compiler calls otherwise is the same function if there is one only.
t_clones() {
	source one ""
	source two ""
	want $cc -O1 -S -o one/prog.s one/sub/prog.c
	sed 's/\<more\>/more.constprop.0/g' one/prog.s >one/p.s
	sed 's/\<more\>/more.isra.7/g' one/prog.s >two/p.s
	want $cc -o one/prog one/p.s
	want $cc -o two/prog two/p.s
	run one a 1000 10
	run two b 1000 20
	want "$CHORD" diff --json one/prog a two/prog b
	holds '.functions | length == 1 and .[0].name == "more.isra.7" and .[0].state == "changed" and .[0].change == 30'
}

t_limits() {
	two
	local total
	total=$("$CHORD" diff --json a b | jq .totals.instructions.before)
	# 500 of some 5000: exactly on the limit is not above it
	source one "" "more(0);"
	want "$CHORD" diff --fail-above=100% one/prog a b
	want "$CHORD" diff --fail-above 10 --fail-function-above 10 one/prog a b
	refused 1 "^chord: b: 500 instructions more than before \(\+9\.9[0-9] %\): above the limit of 5 %" "$CHORD" diff --fail-above=5% one/prog a b
	refused 1 "b: main: 300 instructions more than before \(\+5\.9[0-9] % of all\): above the limit of 5 %" "$CHORD" diff --fail-function-above=5 one/prog a b
	! grep -q step: err || no "step is above 5 %, too: $(cat err)"
	refused 1 "b: 500 instructions" "$CHORD" diff --json --fail-above=0 one/prog a b
	holds '.failed == true'
	want "$CHORD" diff --fail-above=0 one/prog b a
	want "$CHORD" diff --fail-above=0 one/prog a a
	# to the last instruction: total * p / 100 = 500
	local p=$((500 * 100000000 / total))
	refused 1 "b: 500 instr" "$CHORD" diff --fail-above="$(printf '%d.%06d' $((p / 1000000)) $((p % 1000000)))" a b
	p=$((p + 1))
	want "$CHORD" diff --fail-above="$(printf '%d.%06d' $((p / 1000000)) $((p % 1000000)))" a b
}

t_not_known() {
	two
	# refused in one of them
	mkdir two
	want $cc -O1 -S -o two/p.s one/sub/prog.c
	sed -i 's/^more:/more:\n\tleaq .+7(%rip), %r11/' two/p.s
	want $cc -O1 -o two/prog two/p.s
	run one a 1000 20
	run two b 1000 20
	want "$CHORD" diff --json one/prog a two/prog b
	holds '.not_compared | length == 1 and .[0].name == "more"'
	holds '.functions == [] and .totals.instructions.change == 0'
	refused 1 "it cannot be said whether a limit is exceeded: 1 function could not be compared" \
		"$CHORD" diff --fail-above=50 one/prog a two/prog b
}

t_events() {
	source one ""
	want $cc -O1 -fchord=events -fchord-events=instructions,loads -o one/prog one/sub/prog.c
	run one a 1000
	run one b 1100
	want "$CHORD" diff --json --fail-above=50 a b
	holds '.totals | .instructions.change == 500 and .loads.change == 100 and (has("blocks") | not)'
	holds 'has("functions") | not'
	refused 1 "functions were not counted" "$CHORD" diff --fail-function-above=50 a b
	want $cc -O1 -fchord=events -fchord-events=loads -o one/prog one/sub/prog.c
	run one c 1000
	refused 1 "instructions were not counted" "$CHORD" diff --fail-above=50 c c
	# What is counted by functions and as an event is in the totals once.
	want $cc -O1 -fchord=edges -o one/prog one/sub/prog.c
	run one d 1000
	mkdir two
	want $cc -O1 -fchord=edges,events -fchord-events=instructions,blocks,calls,loads -o two/prog one/sub/prog.c
	run two e 1000
	want "$CHORD" diff --json one/prog d d
	holds '.totals | has("calls")'
	cp out once
	want "$CHORD" diff --json two/prog e e
	holds '.totals | has("loads")'
	jq -se '(.[1].totals | del(.loads)) == .[0].totals' once out >/dev/null || no "counted as events, too: $(jq -c .totals once out)"
}

t_bad_input() {
	two
	refused 2 "which profiles" "$CHORD" diff
	refused 2 "which profiles" "$CHORD" diff a
	refused 2 "which profiles" "$CHORD" diff a b c d e
	refused 2 "fail-above=x: not a percentage" "$CHORD" diff --fail-above=x a b
	refused 2 "not a percentage" "$CHORD" diff --fail-above=-1 a b
	refused 2 "not a percentage" "$CHORD" diff --fail-above= a b
	refused 2 "not a percentage" "$CHORD" diff --fail-above=0.1234567 a b
	refused 2 "not a number of rows" "$CHORD" diff --top=x a b
	refused 1 "^chord: none: No such file" "$CHORD" diff a none
	refused 1 "^chord: one/prog: not a profile but a program" "$CHORD" diff a one/prog
	refused 1 "^chord: one/sub/prog.c: not an ELF file" "$CHORD" diff one/sub/prog.c a b
	head -c 5000 a >short
	refused 1 "^chord: short: truncated" "$CHORD" diff a short
	source two "" "STEP;"
	want $cc -O1 -o two/prog two/sub/prog.c
	run two c 10
	refused 1 "^chord: c: of another build" "$CHORD" diff one/prog a c
	want gcc -O1 -c -o stub.o -x c - <<<'int other(void); int main(void) { return other(); }'
	want $cc -O1 -o four stub.o -x c - <<<'int other(void) { return 0; }'
	CHORD_FILE=d ./four
	refused 1 "^chord: d: it cannot be compared with a: they have no function in common" "$CHORD" diff one/prog a four d
}

# A snapshot is compared where its program is named.
t_snapshot() {
	source one '#include <signal.h>' 'raise(SIGUSR1); more(10);'
	want $cc -O1 -g -o one/prog one/sub/prog.c
	CHORD_SIGNAL=USR1 CHORD_FILE=a.chord one/prog 100 || no "status $?"
	want "$CHORD" diff --json one/prog a.1.chord a.chord
	holds '.functions | map({(.name): .change}) | add | .step == null and .more >= 10'
	refused 1 '^chord: a.1.chord: .*snapshot .*where the program is named: chord diff PROGRAM A B' "$CHORD" diff a.1.chord a.chord
	refused 1 '^chord: a.1.chord: .*snapshot' "$CHORD" diff a.chord a.1.chord
}

# Any event that follows from the counts, with what was reached.
t_any_event() {
	two
	# step() is called 100 times more: a call and a return each, and one branch of the loop in main
	want "$CHORD" diff --json --fail-above=calls:10.1 --fail-above=returns:11 --fail-above branches:10 one/prog a b
	holds '.limits | map([.event, .exceeded]) == [["calls", false], ["returns", false], ["branches", false]]'
	holds '.totals.branches.change == 100 and .totals.returns.change == 100 and (.totals | has("loads") | not)'
	holds '.limits[1].reached_percent > 9.8 and .limits[1].reached_percent < 10 and .limits[1].limit_percent == 11'
	refused 1 '^chord: b: 100 branches more than before \(\+9\.[0-9]* %\): above the limit of 9 %' "$CHORD" diff --fail-above=branches:9 one/prog a b
	grep -qx '  branches: +9\.[0-9]* %, limit 9 %: exceeded' out || no "$(cat out)"
	refused 1 'b: 100 call:step more than before \(\+10.00 %\): above the limit of 9.99 %' "$CHORD" diff --fail-above=call:step:9.99 one/prog a b
	want "$CHORD" diff --fail-above=call:step:10 --fail-above=call:more:0 --fail-function-above=7 one/prog a b
	grep -qx '  call:step: +10.00 %, limit 10 %: kept' out && grep -qx '  call:more: no growth, limit 0 %: kept' out || no "$(cat out)"
	grep -qx '  main, of all instructions: +5.9[0-9] %, limit 7 %: kept' out || no "$(cat out)"
	refused 1 "whether a limit is exceeded" "$CHORD" diff --fail-above=nonsense:3 one/prog a b
	refused 2 "fail-above=loads:: not a percentage" "$CHORD" diff --fail-above=loads: one/prog a b
}

# What chord stat printed once is as good as a profile, for events.
t_stored() {
	source one ""
	want $cc -O1 -g -o one/prog one/sub/prog.c
	want "$CHORD" stat --json -o before.json one/prog 1000
	want "$CHORD" stat --json -o after.json one/prog 1100
	run one b 1100
	want "$CHORD" diff --json --fail-above=branches:10 before.json after.json
	holds '.totals | .instructions.change == 500 and .branches.change == 100 and .stores.change >= 100 and .calls.change == 100'
	holds '(has("functions") | not) and .before.profile == "before.json" and .failed == false and .after.processes == 1'
	cp out both
	want "$CHORD" diff --json before.json one/prog b
	[ "$(jq -cS .totals out)" = "$(jq -cS .totals both)" ] || no "with a profile: $(jq -c .totals out)"
	want "$CHORD" diff --json before.json b
	holds '.totals.instructions.change == 500'
	want "$CHORD" diff --json one/prog b before.json
	holds '.totals.instructions.change == -500'
	refused 1 '^chord: after.json: 100 taken more than before .*: above the limit of 5 %' "$CHORD" diff --fail-above=taken:5 before.json after.json
	refused 1 'after.json: it cannot be said whether a limit is exceeded: functions were not counted' "$CHORD" diff --fail-function-above=5 before.json after.json
	refused 1 'call:step was not counted' "$CHORD" diff --fail-above=call:step:5 before.json after.json
	want "$CHORD" diff before.json after.json
	grep -q '(chord stat)' out && grep -q '+500 .* instructions' out || no "$(cat out)"
	# what is not known
	jq '.events.instructions = null | .events.instructions_at_least = 10 | .events.instructions_at_most = null | .events.loads = null' before.json >some.json
	want "$CHORD" diff --json some.json after.json
	holds '.totals.instructions | .before == null and .before_at_least == 10 and .change == null'
	holds '(.totals | has("loads") | not) and .not_compared == [{"name": "loads", "reason": "chord stat did not know it"}]'
	refused 1 'loads were not counted' "$CHORD" diff --fail-above=loads:5 some.json after.json
	echo '{"a": 1}' >other.json
	refused 1 '^chord: other.json: it has no events' "$CHORD" diff other.json after.json
	echo '{"a": 1' >broken.json
	refused 1 '^chord: broken.json:.*it is no JSON' "$CHORD" diff broken.json after.json
}

# Several programs and libraries at once: all that is in two folders.
t_programs() {
	local side
	for side in old new; do
		mkdir -p $side/profiles
		printf 'int twice(int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\t__asm__ volatile("nop");\n\treturn n;\n}\n' >$side/lib.c
		[ $side = old ] || sed -i 's/"nop"/"nop; nop"/' $side/lib.c
		want $cc -O1 -g -shared -fpic -o $side/libtwice.so $side/lib.c
		want $cc -O1 -g -o $side/a -x c - -x none -L$side -ltwice -Wl,-rpath,"$PWD/$side" <<<'int twice(int); int main(void) { return twice(100) - 100; }'
		want $cc -O1 -g -o $side/b -x c - -x none -L$side -ltwice -Wl,-rpath,"$PWD/$side" <<<'int twice(int); int main(void) { return twice(10) - 10; }'
		CHORD_DIR=$side/profiles $side/a
		CHORD_DIR=$side/profiles $side/b
	done
	want "$CHORD" diff --json --fail-program-above=100 old/profiles new/profiles
	holds '.programs | map({(.name): .change}) | add | . == {"a": 0, "b": 0, "libtwice.so": 110}'
	holds '.functions | length == 1 and .[0].name == "twice" and .[0].change == 110'
	holds '.before.processes == 2 and .limits[0].most == "libtwice.so" and .limits[0].exceeded == false and .not_compared == []'
	refused 1 '^chord: new/profiles: libtwice.so: 110 instructions more than before \(\+[0-9.]* %\): above the limit of 1 %' \
		"$CHORD" diff --fail-program-above=1 old/profiles new/profiles
	grep -q 'program or library' out || no "$(cat out)"
	rm new/profiles/b.*
	want "$CHORD" diff old/profiles new/profiles
	grep -qx '  processes: 2 before, 1 after' out || no "$(cat out)"
	# a program by another name is the same
	mv new/a new/a2
	rm -r new/profiles/* old/profiles/*
	CHORD_FILE=x old/a
	CHORD_FILE=y new/a2
	want "$CHORD" diff --json old/a x new/a2 y
	holds '.functions | length == 1 and .[0].name == "twice"'
}

t_formats() {
	two
	want "$CHORD" diff --format=markdown --fail-above=50 one/prog a b
	grep -qx '### Instructions: +500 +9.9[0-9]%' out && grep -q '^| main | 3,0[0-9]* | 3,3[0-9]* | +300 | +9.9[0-9]% | +5.9[0-9]% |$' out &&
		grep -qx -- '- instructions: +9.9[0-9] %, limit 50 %' out || no "$(cat out)"
	refused 1 . "$CHORD" diff --format=markdown --fail-above=1 one/prog a b
	grep -qx -- '- \*\*instructions: +9.9[0-9] %, limit 1 %: exceeded\*\*' out || no "$(cat out)"
	# a file's name as the workflow command needs it
	mkdir 'a, b:c'
	cp one/sub/prog.c 'a, b:c/p%.c'
	want $cc -O1 -g -o one/prog 'a, b:c/p%.c'
	run one a 1000
	run one b 1100
	refused 1 . "$CHORD" diff --format=github --fail-function-above=5 --fail-above=1 one/prog a b
	grep -qx '::error title=chord diff::instructions: 5,0[0-9]* to 5,5[0-9]*, +9.9[0-9]%25' out || no "$(cat out)"
	grep -qx '::error file=a%2C b%3Ac/p%25.c,line=[0-9]*,title=more instructions::main(): 3,0[0-9]* to 3,3[0-9]* instructions, +9.9[0-9]%25, +5.9[0-9]%25 of all' out || no "$(cat out)"
	grep -qx '::warning file=a%2C b%3Ac/p%25.c,line=4,title=more instructions::step(): 2,000 to 2,200 instructions, +10.00%25, .*' out || no "$(cat out)"
	[ "$(wc -l <out)" = 3 ] || no "$(cat out)"
	# less is nobody's issue
	want "$CHORD" diff --format=github b a
	[ "$(wc -l <out)" = 1 ] && grep -q '^::notice title' out || no "$(cat out)"
	# what GitLab takes: https://docs.gitlab.com/ci/testing/code_quality/, its fields and values
	refused 1 . "$CHORD" diff --format=gitlab --fail-function-above=5 one/prog a b
	holds 'length == 2 and all((.description | type) == "string" and (.check_name | type) == "string" and (.fingerprint | test("^[0-9a-f]{32}$")) and
		(.severity | IN("info", "minor", "major", "critical", "blocker")) and (.location.path | startswith("/") | not) and .location.lines.begin > 0)'
	holds '.[0].severity == "major" and .[1].severity == "minor" and .[0].fingerprint != .[1].fingerprint and .[0].location.path == "a, b:c/p%.c"'
	jq -r '.[].fingerprint' out >first
	run one c 1200
	want "$CHORD" diff --format=gitlab one/prog a c
	jq -r '.[].fingerprint' out | cmp -s - first || no "another fingerprint"
	want "$CHORD" diff --format=gitlab one/prog a a
	holds '. == []'
	refused 2 "format=x: text, json" "$CHORD" diff --format=x a b
}

# events NUMBER [MOST]: what chord stat prints of so many instructions
events() { printf '{"program": "p", "processes": 1, "events": {"instructions": %s}}\n' "$1${2+, \"instructions_at_least\": $2, \"instructions_at_most\": $3}"; }
# What may be above a limit and may not be is not said to be kept, nor to be exceeded.
t_bounds() {
	events 100 >before.json
	events null 100 100000 >wide.json
	refused 1 '^chord: wide.json: it cannot be said whether a limit is exceeded: instructions: its bounds' "$CHORD" diff --fail-above=1 before.json wide.json
	grep -q '^  instructions: .*, limit 1 %: not known$' out || no "$(cat out)"
	refused 1 . "$CHORD" diff --json --fail-above=1 before.json wide.json
	holds '.failed and (.limits[0] | .exceeded == null and .reached_percent == null and (.unknown | type) == "string")'
	refused 1 . "$CHORD" diff --format=github --fail-above=1 before.json wide.json
	grep -q '^::error title=chord diff::instructions: .*, limit 1 %25: not known$' out || no "$(cat out)"
	events null 100 null >open.json
	refused 1 'cannot be said' "$CHORD" diff --fail-above=1000000 before.json open.json
	events null 100 101 >near.json
	want "$CHORD" diff --fail-above=1 before.json near.json
	grep -qx '  instructions: at most +1.00 %, limit 1 %: kept' out || no "$(cat out)"
	events null 110 120 >above.json
	refused 1 'above.json: at least 10 instructions more than before \(\+10.00 %\): above the limit of 9 %' "$CHORD" diff --fail-above=9 before.json above.json
	grep -qx '  instructions: at least +10.00 %, limit 9 %: exceeded' out || no "$(cat out)"
	refused 1 'cannot be said' "$CHORD" diff --fail-above=10 before.json above.json
	# of what the wide one may have been it is little
	events 100100 >after.json
	refused 1 'cannot be said' "$CHORD" diff --fail-above=50 wide.json after.json
	want "$CHORD" diff --fail-above=0 above.json before.json
}

# killed: a profile k of a program whose counts are bounds
killed() {
	source one '#include <unistd.h>' 'if (argc > 3) more(3); else more(4); pause();'
	want $cc -O1 -g -o one/prog one/sub/prog.c
	CHORD_FILE=k bash -c 'timeout -s KILL 0.3 one/prog 10; :' 2>/dev/null
	want "$CHORD" report --json one/prog k
	holds '.functions | map(select(.name == "main"))[0].instructions == null'
}
# The same of functions and programs.
t_bounds_of_rows() {
	killed
	local of
	for of in function program; do
		refused 1 '^chord: k: it cannot be said whether a limit is exceeded: [^ ]*: instructions: its bounds' "$CHORD" diff --fail-$of-above=0.1 one/prog k k
		grep -q ': its bounds are .*, limit 0.1 %: not known$' out || no "$of: $(cat out)"
		refused 1 . "$CHORD" diff --format=github --fail-$of-above=0.1 one/prog k k
		grep -q '^::error title=chord diff::.*, limit 0.1 %25: not known$' out || no "$of: $(cat out)"
		want "$CHORD" diff --fail-$of-above=1000000 one/prog k k
	done
}

# Rows that are asked for are there, or it is said why not.
t_rows() {
	two
	want "$CHORD" stat --json -o stored.json one/prog 1000
	for rows in lines functions; do
		refused 1 "^chord: stored.json: --$rows: only totals of events are known" "$CHORD" diff --$rows stored.json a
		refused 1 "^chord: stored.json: --$rows: only totals of events are known" "$CHORD" diff --$rows --json a stored.json
	done
	for format in markdown github gitlab; do
		refused 2 "--lines is for text and JSON" "$CHORD" diff --lines --format=$format a b
	done
	want "$CHORD" diff --functions --format=markdown a b
	grep -q '^| main |' out || no "$(cat out)"
}

# GitHub hears of programs' limits and of what was not compared, too.
t_github() {
	two
	refused 1 . "$CHORD" diff --format=github --fail-program-above=1 one/prog a b
	grep -qx '::error title=chord diff::prog: +9.9[0-9] %25, limit 1 %25: exceeded' out || no "$(cat out)"
	want "$CHORD" diff --format=github --fail-program-above=50 one/prog a b
	grep -q 'limit' out && no "$(cat out)"
	mkdir two
	want $cc -O1 -S -o two/p.s one/sub/prog.c
	sed -i 's/^more:/more:\n\tleaq .+7(%rip), %r11/' two/p.s
	want $cc -O1 -o two/prog two/p.s
	run two c 1000
	want "$CHORD" diff --format=github one/prog a two/prog c
	grep -q '^::warning title=chord diff::not compared, and in no sum: 1 ' out || no "$(cat out)"
}

# A profile of a folder that is damaged: what it counted could be on either side of a limit, and every form says that it is missing.
t_missing() {
	two
	mkdir before after
	run one before/1.chord 1000
	run one after/1.chord 1000
	run one after/2.chord 5000
	truncate -s 5000 after/2.chord
	refused 1 'after: it cannot be said whether a limit is exceeded: 1 profile could not be used' \
		"$CHORD" diff --fail-above=5 one/prog before after
	grep -q 'after/2.chord: truncated' err || no "which: $(cat err)"
	grep -q '^ *1 profile of it could not be used' out && grep -q 'limit 5 %: not known' out || no "$(cat out)"
	refused 1 after/2.chord "$CHORD" diff --json one/prog before after
	holds '.before.missing == 0 and .after.missing == 1'
	refused 1 . "$CHORD" diff --fail-above=5 --json one/prog before after
	holds '.failed and .limits[0].exceeded == null and .limits[0].unknown == "1 profile could not be used"'
	for format in markdown github; do
		refused 1 . "$CHORD" diff --format=$format one/prog before after
		grep -q '[Pp]rofiles could not be used, and their counts are missing: 0 of before, 1 of after' out || no "$(cat out)"
	done
	# what chord stat printed without one of its processes
	refused 1 . "$CHORD" stat --json -e instructions -o stored.json sh -c \
		'one/prog 1000; for f in ${CHORD_FILE%/*}/*.chord; do truncate -s 5000 "$f"; done; one/prog 1000'
	[ "$(jq '.missing | length' stored.json)" = 1 ] || no "$(cat stored.json)"
	refused 1 'it cannot be said whether a limit is exceeded: 1 profile' "$CHORD" diff --fail-above=5 stored.json a
}

# aligned TITLE: in ./out the last column begins below its title in all rows of each table that has one of that title.
aligned() {
	awk -v title="$1" '$NF == title { at = length($0) - length(title); next } /^ *$/ { at = 0 }
		at { if (substr($0, at, 1) != " " || substr($0, at + 1, 1) == " ") bad = 1; seen = 1 }
		END { exit bad || !seen }' out || no "$1: $(cat out)"
}

# Bounds may be longer than the columns of numbers, which become wider then.
t_bounds_in_tables() {
	cat >loop.c <<-END
		static __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		int main(void) { for (volatile int x;; x = fib(22)) ; }
	END
	want $cc -O1 -g -o loop loop.c
	{ CHORD_FILE=a timeout -s KILL 1 ./loop; CHORD_FILE=b timeout -s KILL 1.2 ./loop; } 2>/dev/null
	want "$CHORD" report ./loop a
	aligned function
	want "$CHORD" report --lines ./loop a
	aligned line
	want "$CHORD" diff ./loop a b
	aligned function
	grep -Eq '^ *[0-9,]{11,} to [0-9,]{11,} ' out || no "no long bounds: $(cat out)"
	"$CHORD" stat --per-thread -e instructions,calls timeout -s KILL 1.5 ./loop 2>out >&2
	grep -Eq '^ *[0-9,]{11,} to [0-9,]{11,}  instructions' out || no "no long bounds: $(cat out)"
	[ "$(grep -Eo '^[ 0-9,to]{26,}  (instructions|calls) ' out | sed -E 's/(instructions|calls) $//' |
		awk '{ print length }' | sort -u | wc -l)" = 1 ] ||
		no "stat: $(cat out)"
}

# What cannot come from chord stat is refused.
t_stored_wrong() {
	events 100 >a.json
	events null 7 5 >wrong.json
	refused 1 '^chord: wrong.json: instructions: its bounds are the wrong way round' "$CHORD" diff a.json wrong.json
	echo '{"events": {"instructions": 5, "instructions": 6}}' >twice.json
	refused 1 '^chord: twice.json:.*duplicate' "$CHORD" diff a.json twice.json
}

for name in one_build two_builds two_folders link_in_path declared libraries clones limits any_event stored stored_wrong bounds bounds_of_rows bounds_in_tables rows github missing programs formats not_known events snapshot bad_input; do
	test_case $name
done
exit $failed
