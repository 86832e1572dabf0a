#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord coverage`: compared with what a source says, with gcov's lines at -O0, and with callgrind's at -O2; sources in several
# programs, changes, limits. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

# holds FILTER: of the JSON in ./out
holds() { jq -e "$1" out >/dev/null || no "not so: $1: $(jq -c 'del(.files[].line)' out | head -c 1500)"; }

# states FILE: `LINE STATE` for the lines of a source file, from the JSON in ./out
states() { jq -r --arg f "/$1" '.files[] | select(.file | endswith($f)) | .line[] | "\(.line) \(.state)"' out; }

# choose.c: what runs is said by the arguments
choose() {
	cat >choose.c <<-'END'
		#include <stdlib.h>
		#define NO __attribute__((noipa))
		NO int one(int n) { return n + 1; }
		NO int two(int n)
		{
			if (n > 5)
				n = one(n);
			return n * 2;
		}
		NO int three(int n)
		{
			return n * 3;
		}
		int main(int argc, char **argv)
		{
			int n = argc;
			for (int i = 1; i < argc; i++)
				switch (argv[i][0]) {
				case '1':
					n += one(n);
					break;
				case '2':
					n += two(n);
					break;
				case '3':
					n += three(n);
					break;
				}
			return n == 12345;
		}
	END
}

t_known() {
	choose
	want $cc -O1 -g -o choose choose.c
	want ./choose 1 2
	want "$CHORD" coverage --json ./choose
	[ "$(states choose.c | sed -n 's/ not covered//p' | xargs)" = "12 13 26 27" ] || no "$(states choose.c)"
	holds '.totals.functions | .total == 4 and .covered == 3 and .not_covered == 1 and .not_known == 0 and .percent == 75'
	holds '.files[0].function | map({(.name): [.line, .state, .calls]}) | add | .one == [3, "covered", 2] and .three == [10, "not covered", 0]'
	holds '.files[0].line[] | select(.line == 6) | .branches == [{"taken": "covered", "not_taken": "not covered"}] or
		.branches == [{"taken": "not covered", "not_taken": "covered"}]'
	holds '.files | length == 1 and (.[0].lines.total == (.[0].line | length))'
	want "$CHORD" coverage --uncovered ./choose
	grep -qx '  choose.c: 12-13, 26-27' out || no "$(cat out)"
	# another run of another process adds what ran there
	want ./choose 3
	want "$CHORD" coverage --json ./choose
	holds '.processes == 2 and .totals.functions.covered == 4 and .totals.lines.not_covered == 0'
	want "$CHORD" coverage --uncovered ./choose choose.*.chord
	! grep -q 'Never ran' out || no "$(cat out)"
}

# Many processes at a time in one folder.
t_parallel() {
	choose
	want $cc -O2 -g -o choose choose.c
	mkdir profiles
	seq 1 12 | CHORD_DIR=profiles xargs -P 4 -I{} sh -c './choose $(( {} % 2 + 1 ))'
	want "$CHORD" coverage --json ./choose profiles
	holds '.processes == 12 and .totals.functions.covered == 3'
	holds '.files[0].function[] | select(.name == "one") | .calls == 6'
	CHORD_DIR=profiles want "$CHORD" coverage --json ./choose
	holds '.processes == 12'
}

# gcov_agrees SOURCE COMPILER ARGUMENT...: on lines that both have. Only gcov has labels, and a function where its name is: in the line
# table it begins with its brace.
gcov_agrees() {
	local source=$1 compiler=$2 line
	shift 2
	states "$source" | sed 's/ /|/' | sort -t'|' -k1,1 >ours
	want "$compiler" -O0 --coverage -o counted "$source"
	./counted "$@"
	gcov --json-format --stdout counted*.gcda >g.json 2>err || no "gcov: $(cat err)"
	jq -r --arg f "$source" '.files[] | select(.file | endswith($f)) | .lines | group_by(.line_number) | .[] |
		"\(.[0].line_number)|\(if any(.count > 0) then "covered" else "not covered" end)"' g.json | sort -t'|' -k1,1 >theirs
	join -j 1 -t'|' theirs ours >both
	[ "$(wc -l <both)" -ge 15 ] || no "only $(wc -l <both) lines in common"
	awk -F'|' '$2 != $3' both >differ
	[ ! -s differ ] || no "line|gcov|chord: $(cat differ)"
	for line in $(join -v 1 -t'|' theirs ours | cut -d'|' -f1); do
		sed -n "${line}p" "$source" | grep -Eq '^	*(case .*|default):$' || [ "$(sed -n "$((line + 1))p" "$source" | tr -d '[:space:]')" = "{" ] ||
			no "only gcov has line $line: $(sed -n "${line}p" "$source")"
	done
}
t_gcov() {
	command -v gcov >/dev/null || skip "no gcov"
	choose
	want $cc -O0 -g -o choose choose.c
	want ./choose 1 2
	want "$CHORD" coverage --json ./choose
	gcov_agrees choose.c gcc 1 2
	cp "$here/prog.cc" .
	want "$CHORD" c++ -O0 -g -o prog prog.cc
	want ./prog 3 44 abc 4
	want "$CHORD" coverage --json ./prog
	gcov_agrees prog.cc g++ 3 44 abc 4
}

# Lines for which callgrind saw an instruction of the program built without Chord.
t_callgrind() {
	command -v valgrind >/dev/null || skip "no valgrind"
	cp "$here/prog.cc" .
	want "$CHORD" c++ -O2 -g -o prog prog.cc
	want ./prog 3 44 abc 4
	want g++ -O2 -g -o plain prog.cc
	valgrind --tool=callgrind --dump-line=yes --compress-strings=no --compress-pos=no --callgrind-out-file=cg ./plain 3 44 abc 4 \
		>err 2>&1 || skip "valgrind cannot run here: $(tail -n 1 err)"
	# costs behind fl=, fi= and fe= lines that name the file; those behind calls= are inclusive
	awk '/^f[lie]=/ { file = substr($0, 4) } /^calls=/ { getline; next } /^[0-9]+ [0-9]+$/ && file ~ /\/prog.cc$/ && $1 && $2 { print $1 }' cg |
		sort -u >theirs
	want "$CHORD" coverage --json ./prog
	states prog.cc | awk '$2 == "covered" { print $1 }' | sort -u >ours
	[ "$(wc -l <theirs)" -gt 15 ] || no "callgrind has $(wc -l <theirs) lines only"
	cmp -s ours theirs || no "only callgrind: $(comm -13 ours theirs | xargs); only Chord: $(comm -23 ours theirs | xargs)"
}

# One source file in two programs, and a library that both use: each line once.
t_programs() {
	choose
	sed 's/int main/int entry/' choose.c >part.c
	printf 'int twice(int n)\n{\n\tif (n > 2)\n\t\treturn 2 * n;\n\treturn n;\n}\nint nobody(void) { return 1; }\n' >lib.c
	printf 'int twice(int), entry(int, char **);\nint main(int c, char **v) { return entry(c, v) + twice(1) == 77; }\n' >a.c
	printf 'int twice(int), entry(int, char **);\nint main(int c, char **v) { return entry(c, v) + twice(5) == 77; }\n' >b.c
	want $cc -O1 -g -shared -fpic -o libtwice.so lib.c
	want $cc -O1 -g -o a a.c part.c -L. -ltwice -Wl,-rpath,"$PWD"
	want $cc -O2 -g -o b b.c part.c -L. -ltwice -Wl,-rpath,"$PWD"
	want $cc -o other -x c - <<<'int main(void) { return 0; }'
	want ./a 1
	want ./b 3
	want "$CHORD" coverage --json ./a ./b
	holds '.files | map(.file | sub(".*/"; "")) == ["a.c", "b.c", "lib.c", "part.c"]'
	holds '.files[2] | .functions.total == 2 and .functions.covered == 1 and .lines.not_covered == 1'
	holds '.files[2].function[] | select(.name == "twice") | .calls == 2'
	holds '.files[3].function | map({(.name): .state}) | add | . == {"one": "covered", "two": "not covered", "three": "covered", "entry": "covered"}'
	# of one program only, the other's is not seen; so with the profiles named, in any order
	want "$CHORD" coverage --json ./a
	holds '.files | map(.file | sub(".*/"; "")) == ["a.c", "lib.c", "part.c"]'
	holds '.files[1].function[] | select(.name == "twice") | .calls == 1'
	want "$CHORD" coverage --json b.*.chord ./b a.*.chord ./a
	holds '.files[2].function[] | select(.name == "twice") | .calls == 2'
	# the library alone, over all programs that used it
	want "$CHORD" coverage --json ./libtwice.so a.*.chord b.*.chord --include=lib.c
	holds '.files | length == 1 and (.[0].function[] | select(.name == "twice") | .calls == 2)'
	refused 1 "b.*.chord: of none of the programs" "$CHORD" coverage ./a ./other b.*.chord
	refused 1 "none of the profiles is of this build" "$CHORD" coverage ./a ./b a.*.chord
	refused 1 "named twice" "$CHORD" coverage ./a "$PWD/a"
	# a program that did not run is no error only if that is said
	rm b.*.chord
	refused 1 "chord: ./b: no profile of this build" "$CHORD" coverage ./a ./b
	want "$CHORD" coverage --initial --json ./a ./b
	holds '.files[1].lines | .covered == 0 and .not_known == 0 and .not_covered > 0'
	rm a.*.chord
	want "$CHORD" coverage --initial --json ./a ./b
	holds '.totals.lines.covered == 0 and .totals.lines.not_known == 0 and .totals.lines.total > 10'
}

# Profiles alone: all that they name, with the same counts as if it were named.
t_profiles() {
	choose
	printf 'int twice(int n)\n{\n\treturn 2 * n;\n}\n' >lib.c
	want $cc -O1 -g -shared -fpic -o libtwice.so lib.c
	sed 's/main(int argc, char \*\*argv)/entry(int argc, char **argv)/; s/int main/int entry/' choose.c >part.c
	printf 'int twice(int), entry(int, char **);\nint main(int c, char **v) { return entry(c, v) + twice(1) == 77; }\n' >b.c
	want $cc -O1 -g -o a choose.c
	want $cc -O1 -g -o b b.c part.c -L. -ltwice -Wl,-rpath,"$PWD"
	mkdir profiles
	CHORD_DIR=$PWD/profiles want ./a 1
	CHORD_DIR=$PWD/profiles want ./b 3
	want "$CHORD" coverage --json a b libtwice.so profiles
	jq 'del(.modules)' out >named
	want "$CHORD" coverage --json profiles
	jq 'del(.modules)' out | cmp -s - named || no "it is another: $(jq 'del(.modules)' out | diff - named | head -n 5)"
	holds '[.modules[].path | sub(".*/"; "")] | sort == ["a", "b", "libtwice.so"]'
	want "$CHORD" coverage profiles/*.chord
	grep -q "^sum of 2 profiles: " out || no "$(cat out)"
	for each in a b libtwice.so; do grep -q "^with $PWD/$each\$" out || no "not with $each: $(cat out)"; done
	mv libtwice.so gone.so
	want "$CHORD" coverage profiles
	grep -q "^  $PWD/libtwice.so: No such file or directory" out || no "$(cat out)"
	rm a b
	refused 1 "$PWD/a: No such file or directory" "$CHORD" coverage profiles
	mkdir empty
	refused 1 'no profile in the folder' "$CHORD" coverage empty
	refused 2 'which program?' "$CHORD" coverage
	refused 2 'programs that are named' "$CHORD" coverage --initial profiles
}

# Instances of a template are functions of their own, and one source.
t_templates() {
	cp "$here/prog.cc" .
	want "$CHORD" c++ -O1 -fno-inline -g -o prog prog.cc
	want ./prog 3
	want "$CHORD" coverage --json ./prog
	# clamp<int> ran, clamp<double> did not
	[ "$(jq -c '[.files[] | select(.file | endswith("/prog.cc")) | .function[] | select(.name | test("clamp")) | .state] | sort' out)" = \
		'["covered","not covered"]' ] || no "clamp: $(jq -c '[.files[].function[] | select(.name | test("clamp"))]' out)"
	states prog.cc | grep -qx '13 not covered' && states prog.cc | grep -qx '17 covered' || no "$(states prog.cc)"
}

# A function that runs only where it was inlined ran, though its own code did not.
t_inlined() {
	cat >inl.c <<-'END'
		#include <stdlib.h>
		int step(int n)
		{
			return n * 7 + 1;
		}
		int other(int n)
		{
			return n * 5 + 1;
		}
		int main(int argc, char **argv)
		{
			volatile int n = 0;
			if (argc > 3)
				n = other(atoi(argv[1]));
			else
				n = step(argc);
			return n == 12345;
		}
	END
	want $cc -O2 -g -o inl inl.c
	want ./inl
	want "$CHORD" coverage --json ./inl
	holds '.files[0].function | map({(.name): [.state, .calls, .blocks.covered]}) | add |
		.step == ["covered", 0, 0] and .other == ["not covered", 0, 0] and .main[0] == "covered"'
	holds '.files[0].function | length == 3'
}

t_patterns() {
	choose
	sed 's/int main/int entry/' choose.c >part.c
	mkdir -p src/sub
	printf 'int entry(int, char **);\nint main(int c, char **v) { return entry(c, v); }\n' >src/sub/main.c
	want $cc -O1 -g -o prog src/sub/main.c part.c
	want ./prog 1
	want "$CHORD" coverage --json --include='sub/*' ./prog
	holds '(.files | length) == 1 and (.files[0].file | endswith("/src/sub/main.c")) and (.files_left_out | map(sub(".*/"; "")) | contains(["part.c"]))'
	want "$CHORD" coverage --json --exclude=main.c --exclude='*.h' ./prog
	holds '(.files | length) == 1 and (.files[0].file | endswith("/part.c")) and .totals.lines == .files[0].lines'
	refused 1 "no source file of the programs is wanted" "$CHORD" coverage --include=nothing ./prog
	# What is the system's, and Rust's, is left out unless it is asked for.
	printf '# 1 "%s"\nint %s(int a) { return a + 1; }\n' /usr/include/sys.h sys /rustc/5980/library/rt.rs rt /rust/deps/raw.rs raw \
		/home/rustc/mine.rs mine >parts.i
	echo 'int main(void) { return 0; }' >>parts.i
	want $cc -O0 -g -o parts parts.i
	want ./parts
	want "$CHORD" coverage --json ./parts
	holds '[.files[].file] == ["/home/rustc/mine.rs"]'
	want "$CHORD" coverage --json --include='*' ./parts
	holds '.files | length == 4'
}

t_markers() {
	cat >prog.c <<-'END'
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			if (argc > 7)
				abort(); /* LCOV_EXCL_LINE */
			/* GCOVR_EXCL_START */
			if (argc > 8)
				abort();
			/* GCOVR_EXCL_STOP */
			if (argc > 9) // LCOV_EXCL_BR_LINE
				exit(3); // GCOV_EXCL_LINE
			if (argc > 10) // XLCOV_EXCL_LINES
				exit(4);
			return 0;
		}
	END
	want $cc -O0 -g -o prog prog.c
	want ./prog
	want "$CHORD" coverage --json ./prog
	[ "$(states prog.c | cut -d' ' -f1 | xargs)" = "3 4 10 12 13 14 15" ] || no "$(states prog.c | xargs)"
	holds '.files[0] | .excluded_lines == 4 and .lines.not_covered == 1'
	holds '.totals.branches | .total == 4 and .covered == 2'
	want "$CHORD" coverage --json --no-markers ./prog
	holds '.files[0] | .excluded_lines == 0 and .lines.not_covered == 4 and .branches.total == 8'
	sed -i '/STOP/d' prog.c
	want $cc -O0 -g -o prog prog.c
	rm -f prog.*.chord
	want ./prog
	want "$CHORD" coverage --json ./prog
	grep -q 'prog.c:6: warning: the excluded region' err || no "nothing is said: $(cat err)"
}

# Which lines gcovr leaves out of a region, it leaves out, too; the line with the STOP is none of them.
t_region() {
	command -v gcovr >/dev/null || skip "no gcovr"
	cat >region.c <<-'END'
		int main(int argc, char **argv)
		{
			argc++; /* LCOV_EXCL_START */
			argc++;
			argc++; /* LCOV_EXCL_STOP */
			argc++; /* GCOVR_EXCL_LINE */
			return argc == 77;
		}
	END
	want $cc -O0 -g -o prog region.c
	want ./prog
	want "$CHORD" coverage --json ./prog
	states region.c | cut -d' ' -f1 | xargs >ours
	want gcc -O0 --coverage -o counted region.c
	want ./counted
	want gcovr --root . --json
	# from version 7 on it says so in another word
	jq -r '.files[0].lines[] | select(.["gcovr/noncode"] or .["gcovr/excluded"] | not) | .line_number' out | xargs >theirs
	# gcov has the line of the function's name where the line table has that of its brace
	[ "$(cat ours)" = "2 5 7 8" ] && [ "$(cat theirs)" = "1 5 7" ] || no "ours: $(cat ours); gcovr's: $(cat theirs)"
}

# Functions by GCOVR_EXCL_FUNCTION, also where they are inlined only; what cannot be reached, if it is not.
t_functions() {
	cat >prog.c <<-'END'
		#include <stdlib.h>
		static inline int
		gone(int x) /* GCOVR_EXCL_FUNCTION */
		{
			if (x > 4)
				x++;
			return x * 2;
		}
		int dump(int x) // LCOV_EXCL_FUNCTION
		{
			if (x > 7)
				return 3;
			return gone(x);
		}
		int main(int argc, char **argv)
		{
			if (argc > 3)
				return dump(argc);
			if (argc > 4)
				abort(); /* LCOV_UNREACHABLE_LINE */
			if (argc > 0)
				argc++; /* LCOV_UNREACHABLE_LINE */
			return gone(argc) == 66; /* GCOV_EXCL_FUNCTION */
		}
	END
	for level in -O0 -O2; do
		rm -f ./*.chord
		want $cc $level -g -o prog prog.c
		want ./prog
		want "$CHORD" coverage --json ./prog
		states prog.c | awk '$1 < 15 || $1 == 20' >wrong
		[ ! -s wrong ] || no "$level: $(cat wrong)"
		states prog.c | grep -qx '23 covered' || no "$level: $(states prog.c)"
		holds '.files[0].function | map(.name) == ["main"]'
		grep -q 'prog.c:23: warning: this excludes nothing' err || no "nothing is said of line 23: $(cat err)"
	done
	want $cc -O0 -g -o prog prog.c
	rm -f ./*.chord
	want ./prog
	want "$CHORD" coverage --json ./prog
	states prog.c | grep -qx '22 covered' || no "what ran is excluded: $(states prog.c)"
	grep -q 'prog.c:22: warning: it ran, but is marked as unreachable' err || no "nothing is said of line 22: $(cat err)"
	want "$CHORD" coverage --json --no-markers ./prog
	holds '.files[0] | (.excluded_lines == 0) and (.function | map(.name) == ["gone", "dump", "main"])'
}

# A profile from standard input, as other commands take it.
t_input() {
	choose
	want $cc -O1 -g -o choose choose.c
	CHORD_FILE=p.chord want ./choose 1
	want "$CHORD" coverage --json ./choose p.chord
	jq 'del(.profiles)' out >named
	"$CHORD" coverage --json ./choose - <p.chord >out 2>err || no "status $?: $(cat err)"
	jq 'del(.profiles)' out | cmp -s - named || no "it is another: $(cat out)"
	refused 2 'both come from standard input' "$CHORD" coverage --diff=- ./choose -
}

# What of a change never ran.
t_change() {
	choose
	mkdir -p project/src
	cp choose.c project/src/choose.c
	cd project || no "cd"
	git init -q . && git config user.email a@b && git config user.name a && git add src && git commit -qm one || skip "no git"
	sed -i 's/return n \* 3;/n += 3;\n\treturn n * 3;/; s/return n \* 2;/n -= 1;\n\treturn n * 2;/' src/choose.c
	echo text >README && git add -N README
	want $cc -O0 -g -o choose src/choose.c
	want ./choose 2
	git diff >change
	want "$CHORD" coverage --json --diff=change ./choose
	holds '.changed.lines | .total == 4 and .covered == 2 and .not_covered == 2'
	holds '.changed.files | map([.name, .file == null, .changed]) == [["README", true, 1], ["src/choose.c", false, 4]]'
	holds '.changed.files[1].line | map([.line, .state]) == [[8, "covered"], [9, "covered"], [13, "not covered"], [14, "not covered"]]'
	"$CHORD" coverage --diff=- ./choose <change >out || no "status $?"
	grep -q 'Of 5 changed lines 4 have code, and 2 of these ran (50.00 %)' out || no "$(cat out)"
	grep -q 'src/choose.c:13: *.*n += 3;' out || no "$(cat out)"
	want "$CHORD" coverage --format=markdown --diff=change ./choose
	grep -qx -- '- src/choose.c: 13-14' out || no "$(cat out)"
	# limits are of the changed lines
	want "$CHORD" coverage --diff=change --fail-under=50 ./choose
	refused 1 'changed lines: 50.00 % ran, 2 of 4: below the limit of 51 %' "$CHORD" coverage --diff=change --fail-under=51 ./choose
	want "$CHORD" coverage --diff=change --fail-under=lines:10,changed:50 ./choose
	# without prefixes, with others, from elsewhere, by diff -u
	git diff --no-prefix >change
	want "$CHORD" coverage --json --diff=change ./choose
	holds '.changed.lines.total == 4'
	git -c diff.mnemonicPrefix=true diff >change
	(cd / && want "$CHORD" coverage --json --diff="$OLDPWD/change" "$OLDPWD/choose" "$OLDPWD"/*.chord) 2>/dev/null
	git show HEAD:src/choose.c >old.c
	diff -u old.c src/choose.c >change
	want "$CHORD" coverage --json --diff=change ./choose
	holds '.changed.lines.total == 4 and .changed.files[0].name == "src/choose.c"'
	# what is none
	echo "no diff" >change
	refused 1 "change: it is no unified diff" "$CHORD" coverage --diff=change ./choose
	printf -- '--- a\n+++ b\n@@ -1,3 +1,4 @@\n x\n' >change
	refused 1 "change: it ends within a hunk" "$CHORD" coverage --diff=change ./choose
	: >change
	want "$CHORD" coverage --diff=change --fail-under=100 ./choose
	refused 2 "needs --diff" "$CHORD" coverage --fail-under=changed:100 ./choose
	refused 1 "No such file" "$CHORD" coverage --diff=absent ./choose
}

# Of two files that end alike the one that is nearer is meant; else it cannot be said.
t_which_file() {
	mkdir -p a/x b/x
	printf 'int fa(int n)\n{\n\treturn n;\n}\n' >a/x/same.c
	printf 'int fb(int n)\n{\n\treturn n;\n}\n' >b/x/same.c
	want $cc -O0 -g -o prog a/x/same.c b/x/same.c -x c - <<<'int fa(int), fb(int); int main(void) { return fa(0); }'
	want ./prog
	printf -- '--- a/x/same.c\n+++ b/x/same.c\n@@ -3 +3 @@\n-\treturn 1;\n+\treturn n;\n' >change
	refused 1 'x/same.c may be .*/a/x/same.c or .*/b/x/same.c' "$CHORD" coverage --diff=change ./prog
	want "$CHORD" coverage --json --diff=change --include='a/*' ./prog
	holds '.changed.lines.covered == 1'
	cd b || no "cd"
	want "$CHORD" coverage --json --diff=../change ../prog
	holds '.changed.lines.not_covered == 1'
}

# lines_changed FILTER: of the change in ./change
lines_changed() {
	want "$CHORD" coverage --json --diff=change ./prog
	holds "$1"
}

# Letters before names are git's only if both names have them and git, or the programs, leave no other reading.
t_prefixes() {
	mkdir c b src
	printf 'int fc(int n)\n{\n\treturn n;\n}\n' >c/x.c
	printf 'int fx(int n)\n{\n\treturn n;\n}\n' >x.c
	printf 'int fb(int n)\n{\n\treturn n;\n}\n' >b/y.c
	printf 'int fy(int n)\n{\n\treturn n;\n}\n' >y.c
	printf 'int fs(int n)\n{\n\treturn n;\n}\n' >src/d.c
	want $cc -O0 -g -o prog c/x.c x.c b/y.c y.c src/d.c -x c - <<<'int fc(int), fx(int), fy(int); int main(void) { return fc(0) + fy(0); }'
	want ./prog
	# git diff --no-prefix of c/x.c, which ran; x.c did not
	printf 'diff --git c/x.c c/x.c\n--- c/x.c\n+++ c/x.c\n@@ -3 +3 @@\n-\treturn 1;\n+\treturn n;\n' >change
	lines_changed '.changed | .lines.covered == 1 and .files[0].name == "c/x.c"'
	printf 'diff --git b/y.c b/y.c\n--- /dev/null\n+++ b/y.c\n@@ -0,0 +3 @@\n+\treturn n;\n' >change
	lines_changed '.changed | .lines.not_covered == 1 and .files[0].name == "b/y.c"'
	# with prefixes, of y.c
	printf 'diff --git a/y.c b/y.c\n--- a/y.c\n+++ b/y.c\n@@ -3 +3 @@\n-\treturn 1;\n+\treturn n;\n' >change
	lines_changed '.changed | .lines.covered == 1 and .files[0].name == "y.c"'
	# diff -r a b: either
	sed -i 1d change
	refused 1 'b/y.c may be .*/b/y.c or .*/y.c' "$CHORD" coverage --diff=change ./prog
	# ./d.c is another file than src/d.c, unless that is a copy of it
	echo 'int other;' >d.c
	printf -- '--- d.c\n+++ d.c\n@@ -3 +3 @@\n-\treturn 1;\n+\treturn n;\n' >change
	lines_changed '.changed | .lines.total == 0 and .files[0].file == null'
	cp src/d.c d.c
	lines_changed '.changed | .lines.not_covered == 1'
}

# A file that a change names twice has its lines once.
t_twice() {
	choose
	want $cc -O0 -g -o prog choose.c
	want ./prog 2
	printf -- '--- a/choose.c\n+++ b/choose.c\n@@ -6,2 +6,2 @@\n-\tif (n > 1)\n-\t\tn = 3;\n+\tif (n > 5)\n+\t\tn = one(n);\n' >one
	sed 's|[ab]/choose|choose|' one >two
	cat one two one >change
	lines_changed '.changed | .lines.total == 2 and (.files | length) == 1 and .files[0].changed == 2'
	want "$CHORD" coverage --diff=change ./prog
	grep -q 'Of 2 changed lines 2 have code' out || no "$(cat out)"
}

# Code without line information: of its lines nothing is known, so no limit of them is reached.
t_without_lines() {
	mkdir src
	printf 'int q(int n)\n{\n\treturn n;\n}\n' >src/q.c
	printf 'int q(int);\nint main(void)\n{\n\treturn q(0);\n}\n' >m.c
	printf -- '--- a/src/q.c\n+++ b/src/q.c\n@@ -3 +3 @@\n-\treturn 1;\n+\treturn n;\n' >change
	want $cc -O0 -c src/q.c
	want $cc -O0 -g -o prog m.c q.o
	want ./prog
	refused 1 'changed lines: src/q.c has no line information' "$CHORD" coverage --diff=change --fail-under=100 ./prog
	grep -q 'not known, for there is no line information: src/q.c' out || no "$(cat out)"
	grep -q 'Not known: lines of files without line information .*: q.c' out || no "$(cat out)"
	want "$CHORD" coverage --format=markdown --diff=change ./prog
	grep -qx 'Changed, and there is no line information of it:' out && grep -qx -- '- src/q.c' out || no "$(cat out)"
	lines_changed '.changed.files[0].line_information == false and (.files[] | select(.file | endswith("m.c")) | .line_information)'
	sed -i 's|src/q.c|README|' change
	want "$CHORD" coverage --diff=change --fail-under=100 ./prog
	want "$CHORD" coverage --format=markdown --uncovered --diff=change ./prog
	grep -qx -- '- README' out || no "$(cat out)"
	want $cc -O0 -o prog m.c q.o
	want ./prog
	refused 1 'changed lines: the programs have no line information' "$CHORD" coverage --diff=change --fail-under=100 ./prog
	want $cc -O0 -g -o prog m.c src/q.c
	want ./prog
	sed -i 's|README|src/q.c|' change
	want "$CHORD" coverage --diff=change --fail-under=100 ./prog
	! grep -q 'line information' out || no "$(cat out)"
}

# A measured library that is not there any more: no limit is reached, and every form says so.
t_library_gone() {
	printf 'int lib(int n)\n{\n\tif (n)\n\t\treturn 2;\n\treturn n;\n}\n' >lib.c
	want $cc -O0 -g -shared -fpic -o libl.so lib.c
	want $cc -O0 -g -o prog -x c - -x none -L. -ll -Wl,-rpath,"$PWD" <<<'int lib(int); int main(void) { return lib(0); }'
	want ./prog
	refused 1 'lines: .*below the limit of 100 %' "$CHORD" coverage --fail-under=100 ./prog
	want "$CHORD" coverage --fail-under=functions:100 ./prog
	want "$CHORD" coverage --format=markdown --uncovered ./prog
	grep -qx -- '- lib.c: 4' out || no "$(cat out)"
	mv libl.so gone.so
	refused 1 'libl.so: it was measured and is in no sum' "$CHORD" coverage --fail-under=functions:100 ./prog
	refused 1 'libl.so: it was measured and is in no sum' "$CHORD" coverage --fail-under=100 --json ./prog
	holds '.failed == true'
	want "$CHORD" coverage --format=markdown ./prog
	grep -q '^- .*libl.so: ' out || no "$(cat out)"
}

# A name with a newline begins no row.
t_newline() {
	printf 'int main(int c, char **v)\n{\n\treturn c > 1;\n}\n' >'x
&y.c'
	want $cc -O0 -g -o prog 'x
&y.c'
	want ./prog
	want "$CHORD" coverage --format=markdown ./prog
	grep -q '^| x \\&y.c | 100.00 %' out || no "$(cat out)"
	want "$CHORD" coverage ./prog
	grep -q ' x &y.c$' out || no "$(cat out)"
}

# What is not known is never said not to have run.
t_unknown() {
	cat >prog.c <<-'END'
		#include <unistd.h>
		__attribute__((noinline)) static int last(int n)
		{
			return n + 1;
		}
		int main(int argc, char **argv)
		{
			volatile int n = argc;
			if (argc > 1) {
				sleep(100);
				n = last(n);
			}
			if (argc > 2)
				n = last(n);
			return n == 77;
		}
	END
	want $cc -O0 -g -o prog prog.c
	bash -c 'timeout -s KILL 0.5 ./prog 1; :' 2>/dev/null
	want "$CHORD" coverage --json ./prog
	# 7 to 10 ran, the others did not
	states prog.c | awk '$1 >= 7 && $1 <= 10 ? $2 $3 == "notcovered" : $2 == "covered" { bad = 1 } END { exit bad }' &&
		states prog.c | grep -qx '9 covered' || no "$(states prog.c | xargs)"
	holds '.totals.lines | .not_known > 0 and .percent == null and .percent_at_least < .percent_at_most'
	refused 1 'lines: .* it cannot be said whether the limit of 50 % is reached' "$CHORD" coverage --fail-under=50 ./prog
	want "$CHORD" coverage --uncovered ./prog
	grep -q 'Not known whether it ran:' out || no "$(cat out)"
	# a procedure that Chord refuses
	printf '#include <stdio.h>\nint refused(int n)\n{\n\t__asm__ volatile(".byte 0x74, 0x01\\n\\tnop");\n\treturn n;\n}\nint main(void)\n{\n\treturn refused(0);\n}\n' >r.c
	want $cc -O0 -g -o r r.c
	want ./r
	"$CHORD" verify ./r >verify 2>&1 && no "nothing is refused"
	want "$CHORD" coverage --json ./r
	holds '.refused == 1 and .totals.functions.not_known == 1 and .totals.functions.not_covered == 0 and .totals.lines.not_covered == 0'
	states r.c | grep -qx '5 not known' || no "$(states r.c)"
	# a file that was not built with Chord at all
	want gcc -O0 -g -c -o plain.o -x c - <<<'int plain(int n) { return n; }'
	want $cc -O0 -g -o p plain.o -x c - -x none <<<'int plain(int); int main(void) { return plain(0); }' || :
	want ./p
	want "$CHORD" coverage --json ./p
	holds '.totals.functions | .total == 2 and .not_known == 1 and .covered == 1'
}

t_limits() {
	choose
	want $cc -O1 -g -o choose choose.c
	want ./choose 1 2
	want "$CHORD" coverage --fail-under=functions:75 ./choose
	want "$CHORD" coverage --fail-under=function:75%,blocks:10 --fail-under=branch:10 ./choose
	refused 1 'functions: 75.00 % ran, 3 of 4: below the limit of 75.1 %' "$CHORD" coverage --fail-under=functions:75.1 ./choose
	# as for lcov and gcovr
	refused 1 'lines: .*below the limit of 100 %' "$CHORD" coverage --fail-under-lines=100 ./choose
	refused 1 'lines: .*below the limit of 100 %' "$CHORD" coverage --fail-under-line 100 --json ./choose
	holds '.failed == true'
	refused 1 'branches: ' "$CHORD" coverage --fail-under-branch=100 ./choose
	for bad in x lines: lines:x 101 changes:3 lines:3,; do
		refused 2 "expected PCT or KIND:PCT" "$CHORD" coverage --fail-under=$bad ./choose
	done
	refused 2 "which program" "$CHORD" coverage
	refused 2 "text, json or markdown" "$CHORD" coverage --format=x ./choose
	refused 1 "absent" "$CHORD" coverage ./absent
	want $cc -O1 -o choose choose.c
	rm choose.*.chord
	want ./choose 1 2
	want "$CHORD" coverage --json --fail-under=functions:75 ./choose
	holds '.totals.lines.total == 0 and .totals.lines.percent == null and .totals.functions.total == 4'
	refused 1 'lines: there are none' "$CHORD" coverage --fail-under=10 ./choose
}

for name in known parallel gcov callgrind programs profiles templates inlined patterns markers region functions input change which-file prefixes twice without-lines library-gone newline unknown limits; do
	test_case "$name"
done
exit $failed
