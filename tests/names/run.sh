#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of C++ as people read them, in all commands, and as patterns. They are compared with those of binutils. Prints ok, FAIL or
# skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

before() {
	cp "$here/names.cc" .
	want "$CHORD" c++ -O1 -g -o names names.cc
	want ./names
}

# is WHAT WANTED
is() { [ "$1" = "$2" ] || no "'$1' and not '$2': $(head -c 600 out)"; }
# shows TEXT...: the output has each; hides TEXT...: none
shows() { for text in "$@"; do grep -qF -- "$text" out || no "no '$text': $(head -c 900 out)"; done; }
hides() { for text in "$@"; do grep -qF -- "$text" out && no "'$text' is there: $(head -c 900 out)"; done; :; }

# "SYMBOL<tab>NAME" of all functions, by nm.
by_nm() {
	nm -p names | awk '$2 ~ /^[tTwW]$/ {print $3}' >symbols
	nm -pC names | sed -nE 's/^[0-9a-f]+ [tTwW] //p' >readable
	paste symbols readable
}

t_json() {
	by_nm >theirs
	want "$CHORD" report --json ./names
	jq -r '.functions[] | .name + "\t" + .demangled' out >ours
	[ "$(grep -c app:: ours)" -ge 6 ] || no "few names: $(cat ours)"
	while IFS= read -r line; do
		grep -qxF -- "$line" theirs || no "nm has no $line"
	done <ours
	is "$(jq -r '.functions[] | select(.name == "plain") | .demangled' out)" plain
	want "$CHORD" report --no-demangle --json ./names
	is "$(jq '[.functions[] | select(.name != .demangled)] | length' out)" 0
}

t_report() {
	want "$CHORD" report --top=0 ./names
	shows 'app::Box<long>::twice(long) const' 'app::Box<long>::operator+=(long const&)' 'app::(anonymous namespace)::hidden(int)' \
		'app::Square::area() const' 'plain'
	hides _Z
	want "$CHORD" report --no-demangle --top=0 ./names
	shows _ZNK3app3BoxIlE5twiceEl
	hides 'app::'
}

# On a terminal long names are shortened; everywhere else they are whole.
t_short_names() {
	script -qec true log >/dev/null 2>err || skip "no terminal can be made: $(head -n 1 err)"
	local thrice='app::thrice(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&, '
	want "$CHORD" report ./names
	shows "$thrice"
	COLUMNS=90 want script -qec "$CHORD report ./names" log
	shows 'app::thrice(...)' 'app::Box<long>::twice(long) const'
	hides "$thrice"
	COLUMNS=90 want script -qec "$CHORD report --full-names ./names" log
	shows "$thrice"
	COLUMNS=90 want script -qec "$CHORD report --json ./names" log
	shows "$thrice"
}

# A word that names no function: which one may have been meant.
t_meant() {
	refused 1 'did you mean app::Box<long>::twice\?' "$CHORD" report --function=twice ./names
	refused 1 'did you mean plain\?' "$CHORD" report --function=plian ./names
	refused 1 'did you mean app::Square::area\?' "$CHORD" annotate ./names area
	refused 1 'has such a name$' "$CHORD" report --function=nothing_like_it ./names
}

# One function by its symbol, its name, with its parameters, or a part of them.
t_patterns() {
	for pattern in _ZNK3app3BoxIlE5twiceEl 'app::Box<long>::twice' '*::twice' 'app::Box<long>::twice(long) const' '*twice(*'; do
		want "$CHORD" report --json "--function=$pattern" ./names
		is "$(jq -c '[.functions[] | [.name, .calls]]' out)" '[["_ZNK3app3BoxIlE5twiceEl",2]]'
	done
	want "$CHORD" report --json '--function=*thrice*' ./names
	is "$(jq -c '[.functions[].calls]' out)" '[3]'
	# Types of parameters count only where the pattern has some.
	refused 1 "no procedure has such a name" "$CHORD" report '--function=app::thrice*allocator*' ./names
	want "$CHORD" report '--function=app::thrice(*allocator*' ./names
	refused 1 "no procedure has such a name" "$CHORD" report '--function=app::twice' ./names
}

t_annotate() {
	want "$CHORD" annotate --asm ./names app::Square::area
	shows 'app::Square::area() const: '
	want "$CHORD" annotate --asm ./names main
	shows '<app::Box<long>::twice(long) const>' '<operator delete(void*, unsigned long)>'
	hides _Z
	want "$CHORD" annotate --summary ./names
	shows 'app::Square::area() const'
	want "$CHORD" annotate --no-demangle --summary ./names
	shows _ZNK3app6Square4areaEv
	hides app::
	want "$CHORD" annotate ./names 'app::(anonymous namespace)::hidden'
	shows 'return a + 1'
}

t_diff() {
	mv names.*.chord a.chord
	sed 's/i < 3/i < 4/' names.cc >x.cc && mv x.cc names.cc
	want "$CHORD" c++ -O1 -g -o names2 names.cc
	want ./names2
	want "$CHORD" diff ./names a.chord ./names2 names2.*.chord
	shows 'app::thrice(std::'
	hides _Z
	want "$CHORD" diff --json ./names a.chord ./names2 names2.*.chord
	is "$(jq -r '.functions[] | select(.name | test("thrice")) | .demangled | test("^app::thrice\\(std::")' out)" true
	want "$CHORD" diff --no-demangle ./names a.chord ./names2 names2.*.chord
	shows _ZN3app6thrice
	refused 1 'app::thrice\(std::.*above the limit' "$CHORD" diff --fail-function-above=0 ./names a.chord ./names2 names2.*.chord
}

t_paths() {
	rm -f ./*.chord
	want "$CHORD" c++ -O1 -g -fchord=paths -o names names.cc
	want ./names
	want "$CHORD" paths --top=0 ./names
	shows 'app::Box<long>::twice(long) const, path '
	hides _Z
	want "$CHORD" paths --json --function=app::Box* ./names
	is "$(jq -c '[.paths[].function_demangled] | sort' out)" \
		'["app::Box<long>::operator+=(long const&)","app::Box<long>::twice(long) const"]'
	want "$CHORD" paths select --rule='function:app::Box<long>::twice' -o chosen ./names
	grep -q _ZNK3app3BoxIlE5twiceEl chosen || no "not chosen: $(cat chosen)"
}

t_calls() {
	rm -f ./*.chord
	want "$CHORD" c++ -O1 -g -fchord=calls -o names names.cc
	want ./names
	want "$CHORD" report --calls --top=0 ./names
	shows 'main -> app::Box<long>::twice(long) const' 'app::Square::area() const'
	hides _Z
	want "$CHORD" report --tree --top=0 ./names
	shows '  app::Box<long>::twice(long) const'
	hides _Z
	want "$CHORD" report --calls --json ./names
	is "$(jq -r '[.call_sites[] | select(.callee == "_ZNK3app3BoxIlE5twiceEl") | .callee_demangled] | unique[]' out)" \
		'app::Box<long>::twice(long) const'
}

t_export() {
	for format in callgrind folded; do
		want "$CHORD" export -f $format ./names
		shows 'app::Box<long>::twice(long) const'
		hides _ZNK
		want "$CHORD" export --no-demangle -f $format ./names
		shows _ZNK3app3BoxIlE5twiceEl
		hides app::
	done
}

t_verify() {
	g++ -c -O1 -o plain.o -x c++ - <<<'namespace app { int outside(int a) { return a; } }'
	want "$CHORD" c++ -O1 -o mixed names.cc plain.o
	"$CHORD" verify --strict ./mixed >out 2>err
	shows 'app::outside(int): not built with Chord'
	"$CHORD" verify --strict --no-demangle ./mixed >out 2>err
	shows '_ZN3app7outsideEi: not built with Chord'
}

# Names of source files with bytes that compilers escape: without line information they come from the assembler text.
t_files() {
	odd=$'\xc3\xa9 "q" \\101.c'
	echo 'int main(void) { return 0; }' >"$odd"
	for options in -g0 -g; do
		rm -f ./*.chord
		want $cc $options -O1 -o odd "$odd"
		want ./odd
		want "$CHORD" report --json --files ./odd
		is "$(jq -r '.functions[0].file | sub(".*/"; "")' out)" "$odd"
		is "$(jq -r '.files[].file | sub(".*/"; "")' out)" "$odd"
		want "$CHORD" annotate --summary --json ./odd
		is "$(jq -r '.files[].file' out)" "$odd"
	done
	# control characters are blanks, so that rows of tables and of files stay whole
	cp "$odd" $'t\tq.c'
	want $cc -g0 -O1 -o tab $'t\tq.c'
	want ./tab
	want "$CHORD" weights -o weights ./tab
	grep -q $'^procedure\tmain\tt q\\.c\t' weights || no "$(cat weights)"
}

# Names of programs and profiles come from elsewhere, too: no command shows a control character of them.
t_terminal() {
	local odd=$'\e]0;x\a\tprog' build shown
	echo 'int main(void) { return 0; }' >main.c
	for build in edges paths trace,data; do
		rm -f ./*.chord*
		want $cc -g -O1 -fchord=$build -o "$odd" main.c
		want "./$odd" && want "./$odd"
		for shown in report trace "trace --lackey" "trace --diff" paths "paths --diff" stat annotate coverage diff; do
			case $build:$shown in
			edges:trace* | edges:paths* | paths:trace* | trace*:paths*) continue ;;
			*:*diff) set -- ./*.chord ;;
			*) set -- ;;
			esac
			# shellcheck disable=SC2086
			"$CHORD" $shown "./$odd" "$@" >out 2>&1
			[ -s out ] || no "$build: chord $shown says nothing"
			! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' out || no "$build: chord $shown: $(cat -v out | head -n 3)"
			! grep -q $'\tprog' out || no "$build: chord $shown: a tab in $(grep -m 1 $'\tprog' out)"
		done
	done
}

for name in json report short-names meant patterns annotate diff paths calls export verify files terminal; do
	test_case "$name"
done
exit $failed
