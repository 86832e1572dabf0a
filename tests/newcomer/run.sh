#!/bin/bash
# SPDX-License-Identifier: MIT
# What a new user of Chord stumbles over: profiles and debug information that are elsewhere, tables that say what is hot, options
# that other tools have. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

# is WHAT WANTED
is() { [ "$1" = "$2" ] || no "'$1' and not '$2': $(head -c 600 out)"; }
before() { cp "$here/prog.c" .; }
build() { want $cc -O1 -g -o prog prog.c; }
# works NUMBER OPERAND...: how often the report has work() called
works() {
	local number=$1
	shift
	want "$CHORD" report --json --function=work "$@"
	is "$(jq -c '[.functions[].calls]' out)" "[$number]"
}

# ---- where things are ----

# The program has another name than when it ran, or runs by a link.
t_other_name() {
	build
	want ./prog
	mv prog renamed
	works 4 ./renamed
	mkdir bin
	mv renamed bin/
	works 4 bin/renamed
	mv prog.*.chord bin/
	works 4 bin/renamed
	(cd bin && works 4 renamed) || exit 1
	# Not one of another build, nor of another program.
	rm bin/*.chord
	sed 's/i < 3/i < 4/' prog.c >other.c
	want $cc -O1 -g -o other other.c
	want ./other
	refused 1 'no profile of this build in the current folder.*, nor beside the program.*, nor by its build id' "$CHORD" report bin/renamed
	works 5 ./other
}

# A library: the profiles of all programs that used it.
t_library() {
	echo 'int shared(int a) { return a * 7; }' >lib.c
	want $cc -O1 -g -fPIC -shared -o libshared.so lib.c
	for n in 2 3; do
		echo "int shared(int); int main(void) { int s = 0; for (int i = 0; i < $n; i++) s += shared(i); return s == 5; }" >user.c
		want $cc -O1 -o user$n user.c -L. -lshared -Wl,-rpath,"$PWD"
		want ./user$n
	done
	want "$CHORD" report --json ./libshared.so
	is "$(jq -c '[.functions[] | select(.name == "shared") | .calls]' out)" '[5]'
	# One that is no longer there was measured nevertheless.
	mv libshared.so gone
	want "$CHORD" report --json ./user2
	is "$(jq -c '[.unknown[].name, .unmeasured.libraries[]] | map(sub(".*/"; ""))' out)" '["libshared.so","libc.so.6"]'
	want "$CHORD" report ./user2
	grep -qx '  libc.so.6: not built with Chord' out || no "$(grep 'not built' out)"
}

t_libtool() {
	echo 'int helped(int a) { return a - 1; }' >help.c
	sed 's/int n = often/extern int helped(int); int n = helped(3) + often/' prog.c >user.c
	want libtool --tag=CC --mode=compile $cc -O1 -g -c help.c
	want libtool --tag=CC --mode=compile $cc -O1 -g -c user.c
	want libtool --tag=CC --mode=link $cc -O1 -g -o libhelp.la help.lo -rpath /nowhere
	want libtool --tag=CC --mode=link $cc -O1 -g -o user user.lo libhelp.la
	grep -q 'temporary wrapper script' user || no "libtool has made no script"
	want "$CHORD" verify ./user
	want ./user
	works 4 ./user
	mkdir elsewhere
	(cd elsewhere && works 4 ../user) || exit 1
	want "$CHORD" report --json ./user
	is "$(jq -c '[.functions[] | select(.name == "helped") | .calls]' out)" '[1]'
	mv ./*.chord .libs
	works 4 ./user
}

has_lines() {
	want "$CHORD" report --json --lines ./prog
	jq -r '.lines[] | select(.line) | "\(.file):\(.line)"' out | grep -q "prog.c:$(sed -n '/often \*/=' prog.c)" || no "$1: no lines"
	want "$CHORD" report --json --inlined ./prog
	jq -e '.source_functions[] | select(.name == "often") | .file | endswith("prog.c")' out >/dev/null || no "$1: no functions"
}

# Debug information in a file of its own: beside the program, in .debug, by build id, as debuginfod's client keeps it.
t_debug_files() {
	build
	want ./prog
	id=$("$CHORD" report --json ./prog | jq -r .build_id)
	# A compression that libdw may not know: it is said what helps.
	if objcopy --compress-debug-sections=zstd prog packed 2>err; then
		want "$CHORD" report --lines ./packed prog.*.chord
		grep -qE '  prog\.c:[0-9]+$|no line numbers: decompress its debug sections \(objcopy --decomp' out || no "$(cat out err)"
		rm packed
	fi
	want objcopy --only-keep-debug prog prog.debug
	want strip --strip-debug prog
	want objcopy --add-gnu-debuglink=prog.debug prog
	has_lines "beside the program"
	mkdir .debug
	mv prog.debug .debug/
	has_lines "in .debug"
	mv .debug/prog.debug kept
	want "$CHORD" report --json --lines ./prog
	is "$(jq '[.lines[] | select(.line)] | length' out)" 0
	want "$CHORD" report --lines ./prog
	grep -q 'no line numbers: put its debug file prog.debug' out || no "where its debug file is wanted is not said"
	want "$CHORD" report --inlined ./prog
	grep -q 'no debug information: put its debug file prog.debug' out || no "nor with --inlined"
	mkdir -p "home/.cache/debuginfod_client/$id" "cache/$id"
	cp kept "home/.cache/debuginfod_client/$id/debuginfo"
	HOME=$PWD/home XDG_CACHE_HOME='' has_lines "debuginfod's cache"
	cp kept "cache/$id/debuginfo"
	DEBUGINFOD_CACHE_PATH=$PWD/cache has_lines "DEBUGINFOD_CACHE_PATH"
	# An empty file there says that nobody has it; one of another build is none.
	: >"cache/$id/debuginfo"
	DEBUGINFOD_CACHE_PATH=$PWD/cache want "$CHORD" report --json --lines ./prog
	is "$(jq '[.lines[] | select(.line)] | length' out)" 0
	want $cc -O2 -g -o other prog.c
	cp other "cache/$id/debuginfo"
	DEBUGINFOD_CACHE_PATH=$PWD/cache want "$CHORD" report --json --lines ./prog
	is "$(jq '[.lines[] | select(.line)] | length' out)" 0
}

# Test programs of configure, which runs them in the user's folder, leave nothing there; what only looks like them is measured.
t_configure() {
	cp prog.c conftest.c
	want $cc -Werror -O1 -g -o conftest conftest.c
	[ ! -s err ] || no "it says: $(cat err)"
	want ./conftest
	want $cc -c -o conftest.o conftest.c
	refused 1 'not built with `chord cc`' "$CHORD" verify ./conftest
	[ -z "$(find . -name '*.chord')" ] || no "profiles: $(find . -name '*.chord')"
	cp prog.c conftester.c
	want $cc -O1 -g -o conftester conftester.c
	want ./conftester
	works 4 ./conftester
}

# ---- what is hot, and who calls ----

# Address, text and offset are objdump's, the line that of the debug information.
t_hottest() {
	build
	want ./prog
	want "$CHORD" report --json --hottest --top=0 ./prog
	mv out json
	is "$(jq -r '.hottest[0].function' json)" often
	is "$(jq '.hottest[0].count' json)" 1000
	is "$(jq '[.hottest[].count] | add' json)" "$(jq .totals.instructions json)"
	objdump -d --no-show-raw-insn prog >listing
	jq -r '.hottest[] | select(.text) | "\(.address) \(.function) \(.offset) \(.text | split(" ")[0])"' json >hot
	[ "$(wc -l <hot)" -gt 20 ] || no "few: $(cat hot)"
	while read -r address function offset text; do
		line=$(grep -E "^ *$(printf %x "$address"):" listing) || no "objdump has no $address"
		begin=$(awk -v f="<$function>:" '$2 == f { print $1 }' listing)
		[ $((0x$begin + offset)) = "$address" ] || no "$function+$offset is not $address"
		# Zydis writes jz and cmovz, objdump je and cmove, and operands' sizes behind the name.
		name=$(echo "$line" | awk '{print $2}')
		case $text in j*) text=j name=${name:0:1} ;; *) text=${text:0:3} name=${name:0:3} ;; esac
		[ "$text" = "$name" ] || no "$text at $address is $line"
	done <hot
	want "$CHORD" report --hottest --top=3 ./prog
	grep -qE '^ +1,000 +[0-9.]+% +[0-9a-f]+  [a-z].*prog.c:[0-9]+  often\+0x' out || no "$(cat out)"
	want "$CHORD" report --hottest --function=work --json ./prog
	is "$(jq -c '[.hottest[].function] | unique' out)" '["work"]'
}

# The call graph of a build with edges, from call instructions.
t_calls() {
	build
	want ./prog
	want "$CHORD" report --calls --json --top=0 ./prog
	is "$(jq -c '[.call_sites | group_by([.caller, .callee])[] | [.[0].caller, .[0].callee, (map(.calls) | add)]]' out)" \
		'[["main","(through a pointer)",1],["main","often",1],["main","work",3],["often","rand",1000]]'
	is "$(jq '[.call_sites[].calls] | add' out)" "$(jq .totals.calls out)"
	is "$(jq '.call_sites[] | select(.callee == "rand") | .line' out)" "$(sed -n '/often \*/=' prog.c)"
	want "$CHORD" report --calls ./prog
	grep -q 'fchord=calls has who is called through pointers' out || no "nothing is said of pointers"
	want "$CHORD" report --tree ./prog
	grep -qE '^ +1,000      rand' out || no "$(cat out)"
	# With counters of their own the same calls.
	rm ./*.chord
	want $cc -O1 -g -fchord=calls -o prog prog.c
	want ./prog
	want "$CHORD" report --calls --json ./prog
	is "$(jq -c '[.call_sites | group_by([.caller, .callee])[] | [.[0].caller, .[0].callee, (map(.calls) | add)]]' out)" \
		'[["main","(through a pointer)",1],["main","often",1],["main","work",3],["often","rand",1000]]'
}

# Functions of which only events are counted are in no sum of instructions, and the report says how many they are.
t_events_only() {
	echo 'int far(int); int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += far(i); return s == 7; }' >main.c
	echo 'int far(int a) { int s = a; while (a--) s ^= a * 3; return s; }' >far.c
	want $cc -O1 -c main.c
	want $cc -O1 -fchord=events -c far.c
	want $cc -o both main.o far.o
	want ./both
	want "$CHORD" report ./both
	grep -qE '^ +1  of them with events only, not in these sums$' out || no "$(cat out)"
	want "$CHORD" report --json ./both
	is "$(jq -c '[.totals | .procedures, .events_only]' out)" '[2,1]'
	want "$CHORD" export -f csv ./both
	grep -q '1 procedure is left out, in which only events are counted' err || no "$(cat err)"
	want $cc -O1 -fchord=events -o alone main.c far.c
	want ./alone
	want "$CHORD" report --lines ./alone
	grep -qE '^ +2  of them with events only$' out || no "$(cat out)"
}

# A function that was inlined everywhere is told of where it is asked for.
t_inlined() {
	echo 'static inline __attribute__((always_inline)) int gone(int a) { return a * 3; }
		int main(int argc, char **argv) { int s = 0; for (int i = 0; i < 10; i++) s += gone(argc + i) ^ gone(s); return s == 1; }' >in.c
	want $cc -O1 -g -o in in.c
	want ./in
	refused 1 'no procedure has such a name: it was inlined' "$CHORD" report --function=gone ./in
	refused 1 'no procedure has such a name$' "$CHORD" report --function=nowhere ./in
	want "$CHORD" report --inlined --json --function=gone ./in
	is "$(jq -c '[.source_functions[].name]' out)" '["gone"]'
	is "$(jq '.source_functions[0] | .instructions == .inlined and .instructions >= 10' out)" true
	want "$CHORD" report ./in
	grep -q -- '--inlined tells it apart' out || no "nothing says that functions were inlined"
}

# With -flto what was inlined is in another unit than what it was written in, and that one's folder counts.
t_inlined_elsewhere() {
	mkdir one two
	echo 'int far(int); int main(int argc, char **argv) { return far(argc) == 7; }' >one/main.c
	echo 'volatile int v; int far(int a) { v = a; return v * 3; }' >two/far.c
	(cd one && want $cc -O2 -gdwarf-4 -flto -c main.c) || exit 1
	(cd two && want $cc -O2 -gdwarf-4 -flto -c ../two/far.c) || exit 1
	want $cc -O2 -gdwarf-4 -flto -o far one/main.o two/far.o
	want ./far
	want "$CHORD" report --inlined --json ./far
	is "$(jq -r '.source_functions[] | select(.name == "far") | .file' out)" "$PWD/two/far.c"
}

# ---- what other tools have ----

t_stat() {
	build
	want "$CHORD" stat -x, -o csv ./prog
	want "$CHORD" stat -j -o json ./prog
	grep -v '^#' csv | cut -d, -f1,3 | sort >ours
	jq -r '.events | to_entries[] | "\(.value),\(.key)"' json | sort >theirs
	[ "$(wc -l <ours)" -ge 16 ] || no "few events: $(cat csv)"
	diff ours theirs >difference || no "$(cat difference)"
	grep -q '^#  *libc.so.6: not built with Chord' csv || no "what was not counted is not said: $(cat csv)"
	want "$CHORD" stat '-x;' -r 3 -e loads,call:rand -o csv ./prog
	grep -q '^1000;;call:rand;1000;1000$' csv || no "$(cat csv)"
	refused 2 'chord query 17' "$CHORD" stat -p 17
	refused 2 'chord query --watch' "$CHORD" stat -I 100 ./prog
	refused 2 'only programs that were built with Chord' "$CHORD" stat -a ./prog
	refused 2 'which separator' "$CHORD" stat -x '' ./prog
	refused 2 '-x cannot be combined with --json' "$CHORD" stat -x, -j ./prog
	refused 2 "'cycles' is no event of Chord's: .*cost:FILE" "$CHORD" stat -e cycles ./prog
	refused 2 "'LLC-load-misses' is no event of Chord's: .*loads" "$CHORD" stat -e LLC-load-misses ./prog
	refused 2 'did you mean instructions\?$' "$CHORD" stat -e instuctions ./prog
}

# What would be dropped without a word is wrong usage.
t_sort() {
	build
	want ./prog
	for table in inlined hottest calls tree; do
		refused 2 "--$table cannot be combined with --sort" "$CHORD" report --$table --sort=name ./prog
	done
	refused 2 'lines have no calls' "$CHORD" report --lines --sort=calls ./prog
	want "$CHORD" report --lines --sort=file ./prog
	want "$CHORD" report --sort=calls ./prog
}

# Folders and profiles that are called like a trace.
t_trace_named() {
	want "$CHORD" cc -O1 -g -fchord=trace -o prog "$here/prog.c"
	mkdir runs.trace
	want env CHORD_DIR=runs.trace ./prog
	want env CHORD_FILE=run.trace ./prog
	for profile in runs.trace run.trace run.trace.trace; do
		want "$CHORD" trace ./prog $profile
		grep -q 'work()' out || no "$profile: $(head -n 3 out)"
	done
	refused 1 '^chord: none: No such file' "$CHORD" trace ./prog none.trace
}

# A place in a trace by the name of a function that has no entry there: it is said why.
t_trace_places() {
	printf '%s\n' 'static int inside(int a) { while (a % 7) a += 5; return a; }' '__attribute__((noipa)) int apart(int a) { return inside(a) + 1; }' \
		'int main(void) { return !apart(1); }' >places.c
	want "$CHORD" cc -O2 -g -fchord=trace -o places places.c
	want ./places
	for how in --from --to --grep; do
		refused 1 '^chord: inside: no procedure has such a name: it was inlined$' "$CHORD" trace $how=inside ./places
		refused 1 '^chord: apatr: no procedure has such a name; did you mean apart\?$' "$CHORD" trace $how=apatr ./places
		refused 1 '^chord: strange: no procedure has such a name$' "$CHORD" trace $how=strange ./places
	done
	refused 1 '^chord: apart: no thread has entered it 2 times$' "$CHORD" trace --from=apart:2 ./places
	refused 1 '^chord: apart:1: --grep takes no number; --from=apart:1 --to=apart:1 prints this activation$' "$CHORD" trace --grep=apart:1 ./places
	refused 1 '^chord: strange:1: no procedure has such a name$' "$CHORD" trace --grep=strange:1 ./places
	want "$CHORD" trace --from=apart:1 --to=apart:1 ./places
	refused 2 '--to comes before --from' "$CHORD" trace --from=9 --to=8 ./places
	refused 2 '--to comes before --from' "$CHORD" trace --from=apart:2 --to=apart ./places
	want "$CHORD" trace --from=main --to=apart ./places
}

# The code of a function is there, but its procedure has a longer name: which one is said, and not that it was inlined.
t_longer_name() {
	printf '%s\n' 'volatile int v;' 'static __attribute__((noinline)) int part(int a, int b) { v = a; while (a--) v += b; return v; }' \
		'int main(int c, char **a) { (void)a; return part(c, 5) + part(c + 1, 5) == 7; }' >clone.c
	printf '%s\n' 'volatile int v;' 'namespace app { namespace {' 'inline __attribute__((always_inline)) int part(char a) { return v + a; }' \
		'__attribute__((noinline)) int part(int a) { v = a; v = a * 2; return v + a; }' '} }' \
		'int main(int c, char **) { return app::part(c) + app::part(c + 1) + app::part((char)c) == 7; }' >space.cpp
	for debug in -g1 -g; do
		for measure in edges trace; do
			want "$CHORD" cc -O2 $debug -fchord=$measure -o clone.$measure clone.c
			want "$CHORD" c++ -O2 $debug -fchord=$measure -o space.$measure space.cpp
			want ./clone.$measure
			want ./space.$measure
		done
		refused 1 'such a name; did you mean part\.constprop\.0\?$' "$CHORD" report --function=part ./clone.edges
		refused 1 'such a name; did you mean part\.constprop\.0\?$' "$CHORD" trace --grep=part ./clone.trace
		refused 1 'such a name; did you mean app::\(anonymous namespace\)::part\?$' "$CHORD" report --function=part ./space.edges
		refused 1 'such a name; did you mean app::\(anonymous namespace\)::part\?$' "$CHORD" trace --grep=part ./space.trace
	done
	echo 'int apart(int a) { return a + 1; }' >plain.c
	echo 'int apart(int); int main(void) { return apart(1) == 3; }' >mixed.c
	want gcc -O2 -g -c plain.c
	want "$CHORD" cc -O2 -g -o mixed mixed.c plain.o
	want ./mixed
	refused 1 'no procedure has such a name: it was not built with Chord$' "$CHORD" report --function=apart ./mixed
}

# valid FILE: it is as the schema has it; of its own part of that it is said what is wrong
valid() {
	python3 - "$here/../../docs/schema/output.json" "$1" >err 2>&1 <<-'END'
		import json, sys, jsonschema
		schema, value = (json.load(open(name)) for name in sys.argv[1:])
		part = [p for p in schema["oneOf"] if p["properties"]["format"]["const"] == value["format"]]
		assert len(part) == 1, value["format"]
		jsonschema.Draft7Validator.check_schema(schema)
		jsonschema.Draft7Validator({**part[0], "definitions": schema["definitions"]}).validate(value)
		jsonschema.Draft7Validator(schema).validate(value)
	END
}
fits() {
	want "$CHORD" "$@"
	valid out || no "$*: $(head -n 20 err)"
}

# The commands whose work is a file, a folder, or a graph: the numbers are those of others, too.
fits_rest() {
	fits merge --json -o sum.chord prog.*.chord b.chord
	jq -e '.processes == 2 and .modules[0].build_id != ""' out >/dev/null || no "merge: $(cat out)"
	refused 2 'both the sum .* and --json' "$CHORD" merge --json -o - b.chord
	fits weights --json ./prog b.chord
	# Edges come into main as often as they leave it, and work runs as often as the report says.
	jq -c '.procedures[] | select(.name == "work").edges | [(.[] | select(.from == "entry").count)] | add' out >entered
	is "$(cat entered)" "$("$CHORD" report --json ./prog b.chord | jq '.functions[] | select(.name == "work").calls')"
	if [ -e "$("$CHORD" hook)/html/index.html" ]; then
		fits html --json -o pages ./prog b.chord
		[ -e "$(jq -r .page out)" ] || no "html: $(cat out)"
	fi
	fits graph --json "$here/../graph/fig4.graph"
	is "$(jq -c '[.edges[] | select(.chord) | [.from, .to, .count]]' out)" \
		'[["b","e",10],["c","e",21],["d","e",22],["e","f",3],["g","EXIT",3],["h","EXIT",3]]'
	fits graph --json "$here/../graph/irreducible.graph"
	refused 2 'has --json' "$CHORD" graph --json --paths "$here/../graph/fig4.graph"
}

# Each event of a trace, and with --lines the lines that are there without --json, too.
fits_events() {
	for how in "" --blocks --insns --lines; do
		# shellcheck disable=SC2086
		want "$CHORD" trace --json $how ./traced
		python3 - "$here/../../docs/schema/trace.json" out >err 2>&1 <<-'END' || no "trace $how: $(head -n 20 err)"
			import json, sys, jsonschema
			schema = json.load(open(sys.argv[1]))
			jsonschema.Draft7Validator.check_schema(schema)
			check, events = jsonschema.Draft7Validator(schema), [json.loads(line) for line in open(sys.argv[2])]
			assert any(e["event"] == "enter" for e in events)
			for e in events: check.validate(e)
			assert not check.is_valid({**events[0], "event": "oddity"})
		END
	done
	jq -r 'select(.event == "block").lines[] | "\(.instructions) \(.file | sub(".*/"; "")):\(.line)"' out | uniq -f 1 >lines
	want "$CHORD" trace --lines ./traced
	sed -nE 's/^ *([0-9,]+) +([^ ]*prog\.c:[0-9]+)$/\1 \2/p' out | tr -d , | cmp -s - lines || no "other lines: $(head -n 5 lines) $(head -n 8 out)"
}

# What commands print with --json is as its schema says.
t_json() {
	python3 -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for python3"
	build
	want ./prog
	fits report --json --inclusive ./prog
	fits report --json --lines --files --calls --hottest --inlined ./prog
	jq '.functions[0].instructions = "many"' out >wrong
	jq '.functions[0].oddity = 1' out >odd
	for how in annotate "annotate --asm" "annotate --summary" "annotate --mnemonics" coverage verify; do
		# shellcheck disable=SC2086
		fits $how --json ./prog
	done
	want "$CHORD" cc -O2 -g -fchord=trace -o traced prog.c
	want ./traced
	fits trace --encodings --json ./traced
	fits_events
	for how in "-r 2" --per-thread; do
		# shellcheck disable=SC2086
		want "$CHORD" stat $how --json -o stored ./prog
		valid stored || no "stat $how: $(head -n 20 err)"
	done
	want "$CHORD" annotate --json ./prog work
	is "$(jq '[.files[].lines[].instructions] | add' out)" "$("$CHORD" report --json --function=work ./prog | jq '.functions[0].instructions')"
	want "$CHORD" annotate --json --asm ./prog work
	is "$(jq '[.functions[].instructions[].count] | add' out)" "$("$CHORD" report --json --function=work ./prog | jq '.functions[0].instructions')"
	git diff --no-index /dev/null prog.c >change
	fits coverage --json --diff=change ./prog
	CHORD_FILE=b.chord want ./prog
	fits diff --json --lines --fail-above=1 ./prog prog.*.chord b.chord
	fits diff --json stored ./prog b.chord
	fits_rest
	want $cc -O1 -g -fchord=paths -o paths prog.c
	CHORD_FILE=p.chord want ./paths
	CHORD_FILE=q.chord want ./paths
	fits paths --json ./paths p.chord
	fits paths --json --def-use ./paths p.chord
	fits paths --json --branches ./paths p.chord
	fits paths --diff --json ./paths p.chord q.chord
	# Bounds: a fault leaves it open how far its block came.
	want $cc -w -O1 -g -o faulty -x c - <<<'volatile int n; int main(void) { n++; *(volatile int *)8 = 1; return n; }'
	bash -c './faulty; true' 2>/dev/null
	fits report --json ./faulty
	jq -e '.totals | has("instructions_at_least")' out >/dev/null || no "it has no bounds: $(cat out)"
	fits coverage --json ./faulty
	# The schema does not let everything pass.
	for other in wrong odd; do
		valid $other && no "what is $other fits"
		grep -q ValidationError err || no "$other: $(cat err)"
	done
	true
}

# The recipe of docs/checking.md: callgrind's counts of the program that was built without Chord.
t_callgrind() {
	local compare=$here/../../docs/examples/callgrind.sh k
	command -v valgrind >/dev/null || skip "valgrind is not here"
	cat >checked.cc <<-'END'
		#include <stdexcept>
		#include <string>
		struct word { std::string s; word(const char *t) : s(t) {} virtual ~word() {} };
		static int depth(int n) { asm volatile(""); return n < 2 ? n : depth(n - 1) + depth(n - 2); }
		static int __attribute__((noinline)) rare(int n) { if (n % 7 == 3) throw std::runtime_error("odd"); return n; }
		int main(int argc, char **argv) {
			int sum = 0;
			for (int i = 0; i < 30 * argc; i++) {
				try { sum += rare(i) + depth(i % 9) + (int)word(argv[argc - 1]).s.size(); } catch (const std::exception &) { sum--; }
			}
			return sum == 0;
		}
	END
	mkdir plain measured
	want g++ -O2 -g -o plain/prog checked.cc
	want "$CHORD" c++ -O2 -g -o measured/prog checked.cc
	for k in 1 2; do
		PATH=$PWD/plain:$PATH want valgrind -q --tool=callgrind --skip-plt=no --callgrind-out-file=plain.out.%p prog $k
		PATH=$PWD/measured:$PATH CHORD_FILE=run.%p.chord want prog $k
	done
	want "$CHORD" export -f callgrind -o measured.out measured/prog run.*.chord
	want sh "$compare" plain.out.* measured.out
	grep -Eqx '[0-9]+ functions compared, 0 differ' out || no "$(cat out)"
	[ "$(wc -l <out)" = 1 ] && [ "$(cut -d' ' -f1 out)" -ge 3 ] || no "so few: $(cat out)"
	# A run less is seen.
	rm "$(printf '%s\n' plain.out.* | head -1)"
	sh "$compare" plain.out.* measured.out >out && no "all runs are equal"
	grep -q '^rare(int): [0-9]* instructions by callgrind, [0-9]* by Chord' out || no "$(cat out)"
	sh "$compare" none measured.out 2>err && no "a file that is not there"
	grep -q 'none: cannot be read' err || no "$(cat err)"
	# Two measures.
	want "$CHORD" c++ -O2 -g -fchord=every-block -o other checked.cc
	CHORD_FILE=every.chord want ./other 1
	PATH=$PWD/measured:$PATH CHORD_FILE=one.chord want prog 1
	want "$CHORD" diff measured/prog one.chord other every.chord
	grep -q 'instructions' out && ! grep -q 'rare\|main' out || no "$(cat out)"
}

# Help of every command, by both names, and the version.
t_help() {
	for command in hook report stat annotate coverage export diff query paths "paths select" "paths split" "paths merge" weights merge \
		verify graph show; do
		want "$CHORD" $command -h
		grep -q '^Usage: chord' out || no "$command -h: $(head -3 out)"
		mv out short
		want "$CHORD" $command --help
		cmp -s out short || no "$command: -h is not --help"
	done
	want "$CHORD" --version
	mv out version
	want "$CHORD" version
	cmp -s out version || no "two versions"
	refused 2 'did you mean `chord report`' "$CHORD" reprot
	refused 2 'did you mean --lines' "$CHORD" report --linse ./prog
}

for name in other-name library libtool debug-files configure hottest calls events-only inlined inlined-elsewhere stat sort trace-places trace-named longer-name json callgrind help; do
	test_case "$name"
done
exit $failed
