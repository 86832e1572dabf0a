#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord html`: pages opened from disk in a headless Chromium, looked at, clicked through and walked by keyboard. Their numbers are
# those of the report. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"
. "$here/browser.sh"

lib=$(dirname "$CHORD")/libexec/chord
browser_why=
browser_start || { browser_stop; : "${browser_why:=no browser}"; }
trap 'browser_stop; [ -n "${CHORD_TEST_DIR-}" ] || rm -rf "$w"' EXIT

pages() {
	[ -e "$lib/html/index.html" ] || skip "chord was built without pages: $(cat "$lib/html/.left-out")"
}

# built OPTION...: the program and its report, without a browser
built() {
	pages
	cp "$here/prog.c" .
	want $cc -O2 -g "$@" -o prog prog.c
	want ./prog
	want "$CHORD" report --json --lines --files --calls ./prog
	mv out report
}

# shown [ARGUMENT...]: writes pages of ./prog and opens them
shown() {
	[ -z "$browser_why" ] || skip "$browser_why"
	want "$CHORD" html -o pages "${@:-./prog}"
	console >/dev/null
	open_page "file://$PWD/pages/index.html"
	is 'document.querySelector("main").children.length > 0' true
}

# at ADDRESS: goes to a page and waits until it is there
at() {
	js "new Promise(done => { const main = document.getElementById('main'), before = main.firstChild;
		if (location.hash === '$1') return done();
		new MutationObserver((_, self) => { if (main.firstChild !== before) { self.disconnect(); done(); } }).observe(main, {childList: true});
		location.hash = '$1'; })" >/dev/null
}

quiet() {
	local said
	said=$(console)
	[ -z "$said" ] || no "the console says: $said"
}

# Of a table: what a column shows, by the row's name; rows are as they are shown.
rows() { js "[...document.querySelectorAll('.table .list .row')].map(row => [...row.children].map(cell => cell.textContent))"; }

# shows FILTER VALUE: waits up to five seconds for the rows to be that
shows() {
	local got
	for _ in $(seq 25); do
		got=$(rows | jq -r "$1")
		[ "$got" = "$2" ] && return
		sleep 0.2
	done
	no "$1 is $got, not $2"
}

# into SELECTOR: clicks until it has the focus; what moved meanwhile may have been in the way
into() {
	for _ in $(seq 10); do
		click "$1"
		[ "$(text "document.activeElement.matches('$1')")" = true ] && return
		sleep 0.2
	done
	no "$1 has not the focus"
}

t_functions() {
	built
	shown
	at '#/functions'
	rows >rows
	jq -r '.[] | select(.[2] != "0") | [.[5], .[0], .[2]] | @tsv' rows | tr -d , | sort >shown
	jq -r '.functions[] | select(.calls > 0) | [.name, .instructions, .calls] | @tsv' report | sort >known
	diff shown known >differs || no "not as the report has it: $(cat differs)"
	[ "$(wc -l <shown)" = 5 ] || no "not five functions: $(cat shown)"
	# Sorted by name, then the other way round.
	click '[data-key=name]'
	shows '[.[][5]] | join(" ")' "inner main never outer pointed shared"
	click '[data-key=name]'
	shows '.[0][5]' shared
	text 'document.querySelector("[data-key=name]").getAttribute("aria-sort")' | grep -qx descending || no "nothing says how it is sorted"
	into .filter
	press e r
	shows '[.[][5]] | sort | join(" ")' "inner never outer"
	is 'document.querySelector(".count").textContent' "3 of 6"
	quiet
}

# As written: what was inlined is of the function that it comes from.
t_inlined() {
	pages
	printf '%s\n' 'static inline int half(int x) { return x / 2 + 1; }' '__attribute__((noipa)) int f(int x) { return half(x) + half(x + 3); }' \
		'int main(void) { int s = 0; for (int i = 0; i < 9; i++) s += f(i); return s == 0; }' >in.c
	want $cc -O2 -g -o prog in.c
	want ./prog
	want "$CHORD" report --json --inlined ./prog
	mv out report
	shown
	at '#/functions/written'
	rows | jq -r '.[] | [.[4], .[0], .[2], .[3]] | @tsv' | tr -d , | sort >shown
	jq -r '.source_functions[] | [.name, .instructions, .inlined, .with_inlined] | @tsv' report | sort >known
	grep -q '^half' known || no "half was not inlined: $(cat known)"
	diff shown known >differs || no "not as the report has it: $(cat differs)"
	press / h a l f ENTER
	is 'document.querySelector(".beside").textContent.includes("72 in f")' true
	quiet
}

t_lines() {
	built
	shown
	at '#/lines'
	rows | jq -r '.[] | select(.[4] | test("prog.c:")) | [(.[4] | sub(".*:"; "")), .[0], .[2]] | @tsv' | tr -d , | sort >shown
	jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | [.line, .instructions, .most] | @tsv' report | sort >known
	diff shown known >differs || no "not as the report has it: $(cat differs)"
	at '#/'
	is 'document.querySelector(".panel:nth-of-type(2) li .name").textContent.trim().replace(/\s+/g, " ")' \
		"$(jq -r '[.lines[] | select(.line)] | max_by(.instructions) | .file + ":" + (.line | tostring)' report | sed 's|.*/||' | while IFS=: read -r f n; do
			echo "$f:$n $(sed -n "${n}s/^[[:space:]]*//p" prog.c)"; done)"
	at '#/files'
	n=$(jq '.files[] | select(.file | endswith("prog.c")) | .instructions' report)
	rows | jq -e --arg n "$n" 'any(.[]; (.[0] | gsub(",";"")) == $n and (.[5] | endswith("prog.c")))' >/dev/null || no "no file with $n: $(rows)"
	quiet
}

# Source beside instructions; a line shows its instructions, an instruction its line.
t_code() {
	built
	shown
	at "#/function/$(js 'chord.functions.find(f => f.name === "shared").id')"
	is 'document.querySelectorAll(".source .row").length > 20' true
	js '[...document.querySelectorAll(".source .row")].map(row => [...row.children].slice(0, 3).map(cell => cell.textContent))' >lines
	for line in $(jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | "\(.line):\(.most):\(.instructions)"' report); do
		IFS=: read -r number most n <<<"$line"
		jq -e --arg line "$number" --arg most "$most" --arg n "$n" 'map(map(gsub(","; ""))) | all(.[]; .[2] != $line or (.[0] | . == $most or
			(. == "#####" and $most == "0")) and (.[1] | . == $n or (. == "#####" and $n == "0")))' lines >/dev/null || no "line $line: $(cat lines)"
	done
	insns=$(js '[...document.querySelectorAll(".asm .line .n")].map(cell => Number(cell.textContent.replace(/,/g, ""))).reduce((a, b) => a + b)')
	[ "$insns" = "$(jq '.functions[] | select(.name == "shared") | .instructions' report)" ] || no "its instructions ran $insns times"
	line=$(grep -n 'sink += i' prog.c | cut -d: -f1)
	js "[...document.querySelectorAll('.source .row')].find(row => row.querySelector('.no').textContent === '$line').click()" >/dev/null
	is 'document.querySelectorAll(".asm .marked").length > 0' true
	js 'document.querySelector(".asm .line").click()' >/dev/null
	is 'document.querySelectorAll(".source .marked").length' 1
	quiet
}

# Its edges as the report has them; hotter ones are thicker.
t_graph() {
	built
	shown
	id=$(js 'chord.functions.find(f => f.name === "shared").id')
	at "#/function/$id/graph"
	is 'document.querySelectorAll(".drawing .node").length > 2' true
	js '[...document.querySelectorAll(".edge")].map(e => [e.querySelector("text").textContent, Number(e.querySelector("path").getAttribute("stroke-width"))])' >edges
	jq -e 'length > 2 and (map(.[0] | gsub(","; "") | tonumber) | max) == 25' edges >/dev/null || no "the way back is not taken 10 * 2 + 5 * 1 times: $(cat edges)"
	jq -e '(max_by(.[0] | gsub(","; "") | tonumber) | .[1]) == (map(.[1]) | max)' edges >/dev/null || no "the hottest is not the thickest: $(cat edges)"
	is "[...document.querySelectorAll('.edge path')].every(p => !/NaN/.test(p.getAttribute('d')))" true
	press j j ENTER
	is 'location.hash.startsWith("#/function/'"$id"'/code/")' true
	quiet
}

t_paths() {
	built -fchord=paths
	want "$CHORD" paths --json --function=shared ./prog
	mv out paths
	shown
	at "#/function/$(js 'chord.functions.find(f => f.name === "shared").id')/graph"
	n=$(js 'document.querySelectorAll(".path").length')
	[ "$n" = "$(jq '.paths | length' paths)" ] || no "$n paths, not $(jq '.paths | length' paths)"
	[ "$(text 'document.querySelector(".path b").textContent')" = "$(jq -r '.paths[0].count' paths) ×" ] || no "not the hottest path: $(text 'document.querySelector(".path").textContent')"
	click .path
	is 'document.querySelectorAll(".edge.onpath").length > 0' true
	quiet
}

# What is known of calls in an edges build, and in one that counts them.
t_calls() {
	built
	shown
	at '#/calls'
	rows | jq -r '.[] | [.[0], .[1], .[2]] | @tsv' | sort >calls
	for call in "10	outer	inner" "10	inner	shared" "5	main	shared" "1	main	outer" "0	main	never" "1	main	(through a pointer)"; do
		grep -qxF "$call" calls || no "no '$call': $(cat calls)"
	done
	at "#/function/$(js 'chord.functions.find(f => f.name === "pointed").id')/calls"
	text 'document.querySelector("main").textContent' | grep -q '1 of them otherwise' || no "nothing says that it was entered through a pointer"
	quiet
}

# Without symbols calls lead to functions that the map names; between objects it is not known whose function a name is.
t_objects() {
	pages
	cp "$here/prog.c" .
	want $cc -O2 -s -o prog prog.c
	want ./prog
	shown
	grep -q 'compile it with -g' err || no "nothing says that there are no lines"
	at "#/function/$(js 'chord.functions.find(f => f.name === "inner").id')/calls"
	text 'document.querySelector("main").textContent' | grep -q 'by these callers only' || no "stripped, inner is not called by outer only"
	printf 'int half(int x) { return x / 2; }\nint twice(int x) { return half(x) * 4; }\n' >l.c
	printf 'int twice(int);\nint main(void) { int s = 0; for (int i = 0; i < 9; i++) s += twice(i); return s & 0; }\n' >m.c
	rm -rf pages ./*.chord
	want $cc -O2 -g -shared -fPIC -o libl.so l.c
	want $cc -O2 -g -o prog m.c -L. -ll -Wl,-rpath,"$PWD"
	want ./prog
	shown
	at "#/function/$(js 'chord.functions.find(f => f.name === "twice").id')/calls"
	text 'document.querySelector("main").textContent' | grep -q '9 of them otherwise' || no "nothing says that twice was called from elsewhere"
	at '#/calls'
	rows | jq -r '.[] | [.[0], .[1], .[2]] | @tsv' | grep -qx '9	main	twice' || no "no call of twice: $(rows)"
	quiet
}

# A build that counts events only: what is not counted is not said to be 0.
t_events() {
	pages
	cp "$here/prog.c" .
	want $cc -fchord=events -O2 -g -o prog prog.c
	want ./prog
	shown
	at '#/functions'
	[ "$(rows | jq -r '[.[][0]] | unique | join(" ")')" = '?' ] || no "functions: $(rows)"
	at '#/files'
	rows | jq -e 'all(.[]; .[0] == "?")' >/dev/null || no "files: $(rows)"
	at '#/coverage'
	rows | jq -e '.[0][1] == "?"' >/dev/null || no "coverage: $(rows)"
	quiet
}

# Nothing is invented: a function that two call stands below what they have in common.
t_flame() {
	built
	shown
	at '#/flame'
	is 'document.querySelectorAll(".flame g").length > 3' true
	tree='(function walk(n) { return [n.name, ...n.children.map(walk).sort()].flat(); })'
	parent='async name => { const g = await chord.callGraph(), d = chord.flame.dominators(g), id = chord.functions.find(f => f.name === name).id;
		return d.parent[id] < 0 ? "top" : chord.functions[d.parent[id]].name; }'
	for pair in main:top outer:main inner:outer shared:main pointed:top; do
		[ "$(text "($parent)('${pair%:*}')")" = "${pair#*:}" ] || no "${pair%:*} is below $(text "($parent)('${pair%:*}')")"
	done
	text 'document.querySelector("output").textContent' | grep -q "$(jq .totals.instructions report | sed -E ':a;s/([0-9])([0-9]{3})\b/\1,\2/;ta')" ||
		no "the whole is $(text 'document.querySelector("output").textContent')"
	want $cc -fchord=calls -O2 -g -o prog prog.c
	rm -rf ./*.chord pages
	want ./prog
	want "$CHORD" report --json --calls ./prog
	mv out report
	shown
	at '#/flame/calls'
	js 'chord.callGraph().then(g => chord.flame.calls(g, chord.flame.roots(g)[0].id))' >tree.json
	# main is whole: its boxes together are all that the program executed. shared is called by two: it is marked and has no children.
	[ "$(jq -r .name tree.json)" = main ] && [ "$(jq '[.. | objects | .self] | add' tree.json)" = "$(jq .totals.instructions report)" ] ||
		no "the boxes' sum is not all: $(cat tree.json)"
	jq -e '[.. | objects | select(.name == "shared")] | length == 2 and all(.[]; .note and .children == [])' tree.json >/dev/null || no "shared: $(cat tree.json)"
	# What ran for the calls by inner is what the report has between call and return.
	n=$(jq '.call_sites[] | select(.caller == "inner" and .callee == "shared") | .events.instructions' report)
	jq -e --argjson n "$n" '[.. | objects | select(.name == "inner") | .children[] | select(.name == "shared") | .self] == [$n]' tree.json >/dev/null ||
		no "shared for inner is not $n: $(cat tree.json)"
	quiet
}

# A callback runs within what calls it: no box has it twice. A function that calls itself has no tree.
t_callback() {
	pages
	cat >back.c <<-'END'
		#include <stdlib.h>
		static int a[200];
		__attribute__((noipa)) static int order(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }
		__attribute__((noipa)) static int depth(int n) { return n ? depth(n - 1) + 1 : 0; }
		__attribute__((noipa)) static void work(void) { qsort(a, 200, sizeof *a, order); }
		int main(void)
		{
			for (int i = 0; i < 200; i++)
				a[i] = i * 7919 % 200;
			work();
			return depth(9) != 9;
		}
	END
	want $cc -fchord=calls -O1 -g -o prog back.c
	want ./prog
	want "$CHORD" report --json ./prog
	mv out report
	shown
	at '#/flame/calls'
	js 'chord.callGraph().then(g => chord.flame.calls(g, chord.flame.roots(g)[0].id))' >tree.json
	[ "$(jq -r .name tree.json)" = main ] && [ "$(jq '[.. | objects | .self] | add' tree.json)" = "$(jq .totals.instructions report)" ] ||
		no "not all below main: $(cat tree.json)"
	[ "$(js 'chord.flame.calls(chord.callGraph.made, chord.functions.find(f => f.name === "depth").id)')" = null ] || no "depth has a tree"
	at "#/flame/calls/$(js 'chord.functions.find(f => f.name === "depth").id')"
	text 'document.querySelector("main").textContent' | grep -q 'depth may call itself' || no "nothing says why there is none"
	at '#/flame'
	text "(name => { const d = chord.flame.dominators(chord.callGraph.made), id = chord.functions.find(f => f.name === name).id;
		return d.parent[id]; })('order')" | grep -qx -- -1 || no "order is not at the top"
	quiet
}

t_coverage() {
	built
	shown
	at '#/coverage'
	want "$CHORD" coverage --json ./prog
	jq -r '.totals | to_entries[] | [.key, .value.covered, .value.not_covered, .value.not_known] | @tsv' out | sort >known
	js '[...document.querySelectorAll(".plain tbody tr")].map(row => [...row.children].map(cell => cell.textContent))' |
		jq -r '.[] | [.[0], .[2], .[3], .[4]] | @tsv' | sort >shown
	diff shown known >differs || no "not as chord coverage has it: $(cat differs)"
	grep -q '^functions	5	1	0$' shown || no "not 5 of 6 functions: $(cat shown)"
	# With those that the command leaves out.
	click '.tools input[type=checkbox]'
	want "$CHORD" coverage --json --include='*' ./prog
	[ "$(text 'document.querySelector(".plain tbody tr td:nth-child(4)").textContent')" = "$(jq .totals.lines.not_covered out)" ] ||
		no "with all files: $(text 'document.querySelector(".plain").textContent')"
	quiet
}

t_diff() {
	built
	mv ./*.chord a.chord
	want ./prog 9
	mv prog.*.chord b.chord
	want "$CHORD" diff --json ./prog a.chord b.chord
	mv out differs
	shown --diff ./prog a.chord b.chord
	at '#/difference'
	rows | jq -r '.[] | [.[4], .[0], .[1]] | @tsv' | tr -d , | sort >shown
	jq -r '.functions[] | [.name, .before, .after] | @tsv' differs | sort >known
	[ -s known ] || no "nothing differs"
	diff shown known >differs || no "not as chord diff has it: $(cat differs)"
	at '#/difference/lines'
	rows | jq -e 'length > 1' >/dev/null || no "no lines differ"
	quiet
}

# The linker was told which build id to write, the same for two builds. So the id does not say that procedures have the same numbers.
t_same_id() {
	pages
	printf '%s\n' '__attribute__((noinline)) static int one(int n) { return n ? n * 3 : 1; }' 'int main(void) { return one(0) == 2; }' >a.c
	printf '%s\n' '__attribute__((noinline)) static int two(int n) { return n ? n * 5 : 2; }' \
		'__attribute__((noinline)) static int three(int n) { return n > 7 ? n * 7 : 3; }' \
		'__attribute__((noinline)) static int one(int n) { return n ? n * 3 : 1; }' \
		'int main(void) { return one(1) + two(0) + three(0) == 2; }' >b.c
	for p in a b; do
		mv $p.c prog.c
		want $cc -O1 -Wl,--build-id=0x0123456789abcdef -o $p prog.c
		want ./$p
		mv $p.*.chord of-$p.chord
	done
	want "$CHORD" html --diff -o more ./a of-a.chord ./b of-b.chord
	want "$CHORD" html --diff -o less ./b of-b.chord ./a of-a.chord
	[ "$(cat more/data/function/*.js | grep -o 'there was no function' | wc -l)" = 2 ] || no "functions that were not there have counts before"
}

# The numbers in a column of changes, of rows of a pane
changes() { js "[...document.querySelectorAll('$1')].map(e => Number(e.textContent.replace(/[,+]/g, '').replace('−', '-') || 0))"; }

# Beside source, instructions and edges what they ran more or less than before.
t_changes() {
	built
	mv ./*.chord a.chord
	want ./prog 9
	mv prog.*.chord b.chord
	want "$CHORD" diff --json --lines ./prog a.chord b.chord
	mv out differs
	shown --diff ./prog a.chord b.chord
	at "#/function/$(js 'chord.functions.find(f => f.name === "shared").id')"
	is 'document.querySelectorAll(".source .change.up").length > 0' true
	js '[...document.querySelectorAll(".source .row")].map(row => [row.querySelector(".no").textContent, row.querySelector(".change").textContent])' |
		jq -r '.[] | map(gsub("[,+]"; "")) | @tsv' | sort >rows
	grep -v '	$' rows >shown
	# Of those that are in sight.
	jq -r '.lines[] | select(.line and (.file | endswith("prog.c"))) | [.line, .after - .before] | @tsv' differs | sort |
		join -t '	' -o 1.1,1.2 - rows >known
	[ -s known ] || no "no line differs"
	diff shown known >wrong || no "not as chord diff has it: $(cat wrong)"
	n=$(jq '.functions[] | select(.name == "shared") | .after - .before' differs)
	[ "$(changes '.asm .line .change' | jq add)" = "$n" ] || no "not $n: $(changes '.asm .line .change')"
	press LEFT n
	first=$(text 'document.querySelector(".source [aria-selected=true] .change").textContent')
	press n
	is '/^[+−]/.test(document.querySelector(".source [aria-selected=true] .change").textContent)' true
	[ -n "$first" ] || no "n leads to a line that did not change"
	at "#/function/$(js 'chord.functions.find(f => f.name === "shared").id')/graph"
	is '[...document.querySelectorAll(".edge.up text")].some(e => e.textContent === "19 (+4)")' true
	at "#/function/$(js 'chord.functions.find(f => f.name === "inner").id')/graph"
	is 'document.querySelectorAll(".edge.up, .edge.down").length' 0
	quiet
	# Another build: what has the same graph is compared, other functions are not.
	cp prog plain
	sed -i 's/inner(3);/inner(n > 20 ? 2 : 3);/; s/static volatile long sink;/static volatile long sink, other;/' prog.c
	want $cc -O2 -g -o prog prog.c
	want ./prog
	want "$CHORD" html -o pages --diff ./plain b.chord ./prog prog.*.chord
	open_page about:blank
	open_page "file://$PWD/pages/index.html"
	is 'document.querySelector("main").children.length > 0' true
	at "#/function/$(js 'chord.functions.find(f => f.name === "shared").id')/graph"
	is '[...document.querySelectorAll(".edge.down text")].some(e => e.textContent === "15 (−4)")' true
	at "#/function/$(js 'chord.functions.find(f => f.name === "outer").id')"
	is 'document.querySelector(".asm .why").textContent.trim()' "not compared: its instructions or their graph were others before"
	is 'document.querySelectorAll(".asm .change").length' 0
	quiet
}

# The hottest function and its line, by keys only.
t_keyboard() {
	built
	shown
	press 2
	is 'location.hash' '#/functions'
	press / s h a ENTER ENTER
	is 'location.hash.startsWith("#/function/")' true
	is 'document.querySelector("h1").textContent' shared
	is 'document.activeElement.getAttribute("aria-label")' "Instructions of shared"
	press j j j
	is 'document.querySelector(".asm [aria-selected=true]") !== null && document.activeElement.hasAttribute("aria-activedescendant")' true
	press LEFT
	is 'document.activeElement.getAttribute("aria-label").startsWith("Source of")' true
	press DOWN
	is 'getComputedStyle(document.activeElement).outlineStyle !== "none"' true
	press ESC
	is 'location.hash' '#/functions'
	press t
	first=$(text 'getComputedStyle(document.body).backgroundColor')
	press t
	[ "$(text 'getComputedStyle(document.body).backgroundColor')" != "$first" ] || no "t does not change the theme"
	press '?'
	is 'document.querySelector("dialog").open' true
	is 'document.activeElement.textContent' Close
	press ESC
	is 'document.querySelector("dialog").open' false
	# Each control has a name.
	is '[...document.querySelectorAll("button, input, [tabindex=\"0\"]")].every(e => e.getAttribute("aria-label") || e.textContent.trim())' true
	quiet
}

# Names and text are data, wherever they come from.
t_names() {
	pages
	printf '%s\n' 'int f(int x) __asm__("\"f</script><img src=x onerror=alert(1)>\"");' \
		'__attribute__((noipa)) int f(int x) { return x + 1; } /* </script><script>document.title = "bad"</script> \ " '"'"' `${1}` */' \
		"/* $(printf '\342\200\250 \342\200\251 \342\200\256 \377\376 \001 \360\237\230\200') */" \
		'int main(void) { f(-1); return 0; }' >'a"b<i>.c'
	want $cc -O1 -g -w -o prog 'a"b<i>.c'
	want ./prog
	shown
	for page in '#/' '#/functions' '#/files' '#/lines' '#/calls' '#/flame' '#/coverage' '#/function/0' '#/function/1' '#/function/1/graph' '#/file/0'; do
		at "$page"
		sleep 0.2
		is 'document.querySelectorAll("img, main script, main i:not([style]):not(.bar i)").length' 0
	done
	is 'document.title.includes("bad")' false
	js '[...document.querySelectorAll(".source .text")].map(t => t.textContent)' >lines
	jq -e 'any(.[]; contains("</script><script>document.title = \"bad\"</script> \\ \" '"'"' `${1}` */"))' lines >/dev/null || no "the line is not as it stands: $(cat lines)"
	jq -e 'any(.[]; contains("‹U+2028›") and contains("‹U+202E›") and contains("\ufffd") and contains("‹U+0001›") and contains("\ud83d\ude00"))' lines >/dev/null ||
		no "odd characters: $(cat lines)"
	quiet
}

# A process that was killed: bounds, and what is not known, are said to be.
t_bounds() {
	pages
	printf '%s\n' 'static volatile long n;' '__attribute__((noipa)) void spin(long k) { for (long i = 0; i < k; i++) n++; }' \
		'int main(void) { for (;;) spin(n & 15); }' >endless.c
	want $cc -O1 -g -o endless endless.c
	sh -c './endless & sleep 0.3; kill -9 $!' >out 2>&1
	shown ./endless
	want "$CHORD" report --json ./endless
	at '#/functions'
	rows | jq -r '.[] | select(.[5] == "spin") | .[0]' >cell
	jq -r '.functions[] | select(.name == "spin") | if .instructions then .instructions else "\(.instructions_at_least) to \(.instructions_at_most)" end' out |
		sed 's/ to null/ or more/' >known
	[ "$(tr -d , <cell)" = "$(cat known)" ] || no "$(cat cell), not $(cat known)"
	grep -Eq 'to|more' cell || no "it is said to be exact: $(cat cell)"
	quiet
}

# Only the folder is written, through no links, and not over what is not ours.
t_folder() {
	built
	want "$CHORD" html -o pages ./prog
	[ "$(cat out)" = pages/index.html ] || no "it does not say what to open: $(cat out)"
	[ ! -s err ] || no "it says: $(cat err)"
	want "$CHORD" html -o pages ./prog
	mkdir other target
	echo mine >other/file
	refused 1 'other: there is something else in it' "$CHORD" html -o other ./prog
	[ "$(ls other)" = file ] || no "it was written: $(ls other)"
	want "$CHORD" html --force -o other ./prog
	[ "$(cat other/file)" = mine ] && [ -e other/index.html ] || no "not forced"
	refused 1 'other: there is something else in it' "$CHORD" html -o other ./prog
	echo keep >target/summary.js
	echo keep >target/victim
	rm -rf pages/data pages/app.js
	ln -s "$PWD/target" pages/data
	ln -s "$PWD/target/victim" pages/app.js
	refused 1 'pages/data' "$CHORD" html -o pages ./prog
	[ "$(cat target/summary.js target/victim)" = "$(printf 'keep\nkeep')" ] && [ "$(find target -type f | wc -l)" = 2 ] || no "it wrote through a link: $(ls target)"
	touch file
	refused 1 'file' "$CHORD" html -o file ./prog
	refused 1 'none' "$CHORD" html -o pages ./none
	refused 2 'which program' "$CHORD" html
}

# Built without the libraries it says so, and everything else works.
t_without() {
	mkdir -p built/libexec empty
	cp "$CHORD" built/
	cp -R "$lib" built/libexec/chord
	rm -rf built/libexec/chord/html
	"$here/../../tools/html.sh" "$PWD/empty" "$PWD/built/libexec/chord/html" >out 2>&1 || no "status $?: $(cat out)"
	grep -q 'chord html is left out: .*node-d3' out || no "make does not say so: $(cat out)"
	cp "$here/prog.c" .
	want built/chord cc -O2 -g -o prog prog.c
	want ./prog
	want built/chord report ./prog
	refused 1 'node-d3, node-dagre-layout' built/chord html -o pages ./prog
	[ ! -e pages ] || no "it has made a folder"
	# make tries again, as the file that it makes is not there.
	[ ! -e built/libexec/chord/html/.made ] || no "make takes it for made"
	pages
	node=/usr/share/nodejs
	[ -d "$node/dagre" ] || node=$here/../../.packages/usr/share/nodejs
	want "$here/../../tools/html.sh" "$node" "$PWD/built/libexec/chord/html"
	want built/chord html -o pages ./prog
}

# A file of 10,000 lines, and tables as long, have elements for what is seen only.
t_long() {
	pages
	awk 'BEGIN { print "static volatile int n;"; for (i = 0; i < 5000; i++) printf "__attribute__((noipa)) void f%d(void)\n{ n += %d; }\n", i, i;
		print "int main(void) {"; for (i = 0; i < 5000; i += 7) printf "f%d();", i; print "\n}" }' >long.c
	want $cc -O0 -g -o prog long.c
	want ./prog
	shown
	at '#/file/0'
	is 'document.querySelectorAll(".source .row").length > 20' true
	press END
	is '[...document.querySelectorAll(".source .row")].pop().querySelector(".text").textContent' '}'
	is 'document.querySelectorAll(".source .row").length < 100' true
	at '#/functions'
	is 'document.querySelector(".count").textContent' "5,001 functions"
	is 'document.querySelectorAll(".table .list .row").length < 100' true
	quiet
}

# Long names of C++: a row has what tells them apart, which is not their beginning.
t_templates() {
	pages
	cat >prog.cc <<-'END'
		#include <map>
		#include <string>
		#include <vector>
		template <class T, class U = std::map<std::string, std::vector<T>>> struct table {
			U rows;
			__attribute__((noinline)) void put(const std::string &key, T value) { rows[key].push_back(value); }
			__attribute__((noinline)) T operator()(T a) const { return a * (T)rows.size(); }
		};
		int main() { table<long> t; for (int i = 0; i < 100; i++) t.put("a", 1); return t(2) != 2; }
	END
	want "$CHORD" c++ -O1 -g -o prog prog.cc
	want ./prog
	shown
	at '#/functions'
	js '[...document.querySelectorAll(".table .list a[href^=\"#/function\"]")].map(a => [a.textContent, a.title])' >names
	jq -e 'any(.[]; .[0] == "table<…>::put(…)" and (.[1] | test("::put\\(.*string.* const&, long\\)$")))' names >/dev/null || no "$(cat names)"
	jq -e 'any(.[]; .[0] == "table<long, std::map<…> >::operator()(long) const")' names >/dev/null || no "$(cat names)"
	is 'chord.shorter("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)")' 'std::ostream& std::operator<< <…>(…)'
	is 'chord.shorter("a name of C that is so long that it does not fit, without brackets")' \
		'a name of C that is so long that it does not fit, without brackets'
	# Numbers that are longer than usual are not cut off.
	js 'document.body.append(chord.grid({label: "", rows: [{id: 0, n: "18446744073709551615", name: "x"}], sort: "n",
		columns: [{key: "n", title: "n", kind: "number"}, {key: "name", title: "name", kind: "text"}]}).node)' >/dev/null
	is '[...document.querySelectorAll(".table")].pop().querySelector(".list .row > *").textContent' 18,446,744,073,709,551,615
	is '(cell => cell.scrollWidth <= cell.clientWidth)([...document.querySelectorAll(".table")].pop().querySelector(".list .row > *"))' true
	is '[chord.share(7, 25023219), chord.share(25023201, 25023219), chord.share(1, 8), chord.share(0, 8), chord.share(8, 8)].join()' \
		'<0.01 %,>99.99 %,12.50 %,0.00 %,100.00 %'
	quiet
}

for t in folder without functions inlined lines code graph paths calls objects events flame callback coverage diff same_id changes keyboard names bounds long templates; do
	test_case $t
done
exit $failed
