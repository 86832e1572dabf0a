#!/bin/bash
# SPDX-License-Identifier: MIT
# What `chord export` writes of real programs: each reader shows the total, the hottest function or the hottest line as chord report
# does, and gives no warning. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...], with CHORD_READERS="lua5.4 sqlite3" for these programs (otherwise Lua)
set -u
. "$(dirname "$0")/../cases.sh"
. "$here/../html/browser.sh"
recipe=$here/../real/recipe.sh
browser_why=
# What npm has: the tarball and its hash.
speedscope=1.25.0
speedscope_hash=2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03

# build PROGRAM DIR CC LDFLAGS: by the recipe, in the background; DIR.status says how it went
build() {
	{ CHORD_SMALL=1 "$recipe" "$1" build "$w/$2" "$3" "$3" gfortran "-O2 -g -fno-reorder-blocks-and-partition" "$4" >"$w/$2.log" 2>&1
	echo $? >"$w/$2.status"; } &
}

# built PROGRAM: its file. run PROGRAM: something to measure, with ./program.
built() { case $1 in sqlite3) echo sqlite3-static ;; *) echo lua ;; esac }
run() {
	case $1 in
	sqlite3) ./program -batch :memory: <"$here/../real/workload.sql" ;;
	*) ./program "$here/../real/lua/recursion.lua" 20 && ./program "$here/../real/lua/strings.lua" 2 ;;
	esac >output 2>&1
}

# prepare PROGRAM: measures it in $w/PROGRAM, with what the readers shall say; the build of the test of gcc begins. What is wrong is in $w/lacks if
# it cannot be had, in $w/wrong else.
prepare() {
	rm -rf "$w/lacks" "$w/wrong" "$w/$1" "$w/$1".*
	"$recipe" "$1" fetch >"$w/fetch.log" 2>&1 || { echo "the mirror gives no sources" >"$w/lacks"; return; }
	mkdir -p "$w/$1"
	build "$1" "$1.plain" gcc -Wl,--emit-relocs
	build "$1" "$1.measured" "$CHORD cc" ""
	wait
	(
		cd "$w/$1" && cp "$w/$1.measured/$(built "$1")" program || { tail -n 1 "$w/$1.measured.log"; exit; }
		CHORD_DIR=profiles run "$1"
		"$CHORD" report --json --lines --inlined ./program profiles >report
		"$CHORD" export -f afdo -o program.afdo ./program profiles
	) >"$w/wrong" 2>&1
	build "$1" "$1.afdo" "gcc -fauto-profile=$w/$1/program.afdo -fdump-ipa-afdo" ""
}

# of PROGRAM: what the report has: $total, the $hot function with its $calls, $work and $source, and the hottest line of it with what ran most there
of() {
	[ ! -e "$w/lacks" ] || skip "$(cat "$w/lacks")"
	[ ! -s "$w/wrong" ] || no "$(cat "$w/wrong")"
	dir=$w/$1 name=$1
	total=$(jq .totals.instructions "$dir/report")
	hot=$(jq -r '.functions | max_by(.instructions).name' "$dir/report")
	calls=$(jq '.functions | max_by(.instructions).calls' "$dir/report")
	work=$(jq '.functions | max_by(.instructions).instructions' "$dir/report")
	source=$(jq -r '.functions | max_by(.instructions).file' "$dir/report")
	line=$(jq --arg f "$source" '[.lines[] | select(.file == $f and .line)] | max_by(.instructions).line' "$dir/report")
	most=$(jq --arg f "$source" '[.lines[] | select(.file == $f and .line)] | max_by(.instructions).most' "$dir/report")
	lines=$(jq '[.lines[] | select(.line)] | "\(map(select(.most > 0)) | length) of \(length) lines"' -r "$dir/report")
	[ "$total" -gt 1000000 ] && [ "$calls" -gt 0 ] && [ "$most" -gt 0 ] || no "the report has no hot function"
}

# exported FORMAT FILE
exported() {
	want "$CHORD" export -f "$1" -o "$2" "$dir/program" "$dir/profiles"
	[ ! -s err ] || no "chord export: $(cat err)"
}

# grouped NUMBER: 1,234,567
grouped() { printf '%s' "$1" | sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta'; }

silent() { [ ! -s err ] || no "it warns: $(head -c 400 err)"; }

read_lcov() {
	local tracefile branches
	lcov_version
	exported $tracefile program.info
	want lcov $branches --summary program.info
	silent
	grep -qF "($lines)" out || no "not $lines: $(cat out)"
	want genhtml --branch-coverage -o html program.info
	silent
	grep -qi warning out && no "genhtml warns: $(grep -i warning out)"
	find html -name "${source##*/}.func.html" -exec grep -A2 ">$hot<" {} + >row
	grep -q "<td class=\"coverFnHi\">$calls</td>" row || no "$hot was not called $calls times: $(cat row)"
}

read_lcov2() {
	lcov --version | grep -q 'version [2-9]' || skip "lcov is older than 2: $(lcov --version)"
	exported lcov2 program.info
	want lcov --branch-coverage --summary program.info
	grep -qF "($lines)" out || no "not $lines: $(cat out)"
	grep -q 'no messages were reported' out || no "it warns: $(cat out)"
}

read_cobertura() {
	exported cobertura program.xml
	want xmllint --noout --nonet --dtdvalid "$here/../export/cobertura.dtd" program.xml
	want xmllint --xpath "string(//class[contains(@filename, '${source##*/}')]/lines/line[@number='$line']/@hits)" program.xml
	[ "$(cat out)" = "$most" ] || no "line $line is $(cat out), not $most"
	want xmllint --xpath "concat(/coverage/@lines-covered, ' of ', /coverage/@lines-valid, ' lines')" program.xml
	[ "$(cat out)" = "$lines" ] || no "$(cat out), not $lines"
}

# gcovr has a count for each line of its table of JSON.
read_gcov() {
	command -v gcovr >/dev/null && gcovr --version | grep -Eq '^gcovr ([89]|[1-9][0-9])' || skip "no gcovr of version 8 or later"
	mkdir gcov
	exported gcov gcov/program.gcov.json.gz
	want gcovr -g -k -r "${source%/*}" --json lines.json gcov
	grep -q WARNING err && no "$(cat err)"
	[ "$(jq ".files[] | select(.file == \"${source##*/}\").lines[] | select(.line_number == $line).count" lines.json)" = "$most" ] ||
		no "line $line is not $most"
	[ "$(jq ".files[].functions[] | select(.name == \"$hot\").execution_count" lines.json)" = "$calls" ] || no "$hot was not called $calls times"
}

read_callgrind() {
	exported callgrind program.callgrind
	want callgrind_annotate program.callgrind
	silent
	grep -q "^$(grouped "$total") (100.0%)  PROGRAM TOTALS" out || no "not $total: $(grep TOTALS out)"
	grep -Eq "^ *$(grouped "$work") \([ 0-9.]*%\)  .*:$hot " out || no "$hot is not $work: $(head -n 40 out)"
}

read_pprof() {
	local go
	go=$(command -v go || ls -d /usr/lib/go-1.*/bin/go 2>/dev/null | tail -n 1)
	[ -n "$go" ] || skip "no go tool pprof"
	exported pprof program.pb.gz
	want "$go" tool pprof -top program.pb.gz
	grep -v '^Main binary filename not available\.$' err | grep -q . && no "$(cat err)"
	grep -q "% of $total total" out || no "not $total: $(cat out)"
	want "$go" tool pprof -list "^$hot\$" program.pb.gz
	grep -Eq "^ *$most .* $line:" out || awk -v l="$line:" '$3 == l' out | grep -q . || no "no line $line"
	[ "$(awk '/^ *Total:/ { print $2 }' out)" = "$total" ] || grep -q "Total: *$total" out || no "not $total: $(head -n 5 out)"
}

# Its frames are functions as they are written, with what was executed for them, wherever they are inlined.
read_folded() {
	local flamegraph
	flamegraph=$(command -v flamegraph.pl || ls /usr/share/perl5/Devel/NYTProf/flamegraph.pl 2>/dev/null)
	[ -n "$flamegraph" ] || skip "no flamegraph.pl"
	exported folded program.folded
	want perl "$flamegraph" --countname=instructions program.folded
	silent
	mv out program.svg
	want xmllint --noout --nonet program.svg
	silent
	grep -qF "<title>all ($(grouped "$total") instructions, 100%)" program.svg || no "not $total: $(grep -m 1 '<title>all' program.svg)"
}

# Into the cache, once.
get_speedscope() {
	local cache=${CHORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chord}/npm
	browser_start || skip "$browser_why"
	trap browser_stop EXIT
	if [ ! -e "$cache/speedscope-$speedscope.tgz" ]; then
		command -v npm >/dev/null || skip "no npm, which has speedscope"
		mkdir -p "$cache"
		timeout 60 npm pack --silent --pack-destination . "speedscope@$speedscope" >out 2>err || skip "npm does not give speedscope: $(tail -n 1 err)"
		mv "speedscope-$speedscope.tgz" "$cache"
	fi
	[ "$(sha256sum <"$cache/speedscope-$speedscope.tgz")" = "$speedscope_hash  -" ] || no "this is another speedscope: $cache/speedscope-$speedscope.tgz"
	tar xzf "$cache/speedscope-$speedscope.tgz"
}

read_speedscope() {
	local own
	get_speedscope
	exported speedscope program.json
	{ printf 'speedscope.loadFileFromBase64("program.json", "'; base64 -w 0 program.json; printf '")'; } >load.js
	open_page "file://$PWD/package/dist/release/index.html#localProfilePath=$PWD/load.js&view=sandwich"
	for _ in $(seq 100); do
		[ "$(text 'document.querySelectorAll("tr").length > 1')" != true ] || break
		sleep 0.5
	done
	own=$(jq --arg f "$hot" '.source_functions[] | select(.name == $f).instructions' "$dir/report")
	is "[...document.querySelectorAll('tr')].find(r => r.children[2]?.innerText === '$hot')?.children[1].innerText.replace(/ .*/, '')" \
		"$(grouped "$own")"
	console | grep -E 'SEVERE|rror|annot' && no "speedscope complains"
	:
}

read_json() {
	exported json program.json
	want jq -c --arg hot "$hot" --arg file "$source" --argjson line "$line" '([.functions[].instructions] | add),
		(.functions[] | select(.name == $hot) | .instructions, .calls), (.files[] | select(.name == $file).lines[] | select(.line == $line).count)' program.json
	[ "$(tr '\n' ' ' <out)" = "$total $work $calls $most " ] || no "$(cat out), not $total $work $calls $most"
	exported jsonl program.jsonl
	[ "$(jq -n 'reduce inputs.count as $n (0; . + $n)' program.jsonl)" = "$total" ] || no "rows do not sum to $total"
}

read_csv() {
	exported csv program.csv
	want sqlite3 :memory: '.mode csv' '.import program.csv insn' 'select sum(count) from insn' \
		"select sum(count) from insn where function = '$hot'" "select max(cast(count as integer)) from insn where file = '$source' and line = $line"
	silent
	[ "$(tr -d '\r' <out | tr '\n' ' ')" = "$total $work $most " ] || no "$(cat out), not $total $work $most"
}

read_llvm() {
	needs llvm-profdata llvm
	exported llvm program.prof
	want llvm-profdata merge --sample -o program.profdata program.prof
	silent
	want llvm-profdata show --sample --function="$hot" program.profdata
	silent
	grep -Eq "^Function: $hot: [0-9]+, $calls, " out || no "$hot was not entered $calls times: $(head -n 1 out)"
}

# gcc says of some lines of sqlite3 that they are too far from their function, with any profile.
read_afdo() {
	for _ in $(seq 600); do
		[ ! -e "$w/$name.afdo.status" ] || break
		sleep 0.5
	done
	[ "$(cat "$w/$name.afdo.status")" = 0 ] || no "it does not build: $(tail -n 1 "$w/$name.afdo.log")"
	grep -Ei 'warning|note:' "$w/$name.afdo.log" | grep -v 'offset exceeds 16 bytes \[-Woverflow\]' | grep . && no "gcc warns: $(cat "$w/$name.afdo.log")"
	find "$w/$name.afdo" -type f -name '*.afdo' -exec awk -v f="$hot" '/^[^ ;].*\(.*\)$/ { inside = index($0, f " (") > 0 }
		inside && /<bb 2> .count: / { gsub(/[^0-9 ]/, ""); print $2 }' {} + >count
	[ "$(cat count)" = "$calls" ] || no "$hot is entered $(cat count) times, not $calls"
}

read_bolt() {
	local bolt
	bolt=$(command -v llvm-bolt || ls /usr/bin/llvm-bolt-[0-9]* 2>/dev/null | head -n 1)
	[ -n "$bolt" ] || skip "no llvm-bolt"
	[ "$(cat "$w/$name.plain.status")" = 0 ] || no "it does not build: $(tail -n 1 "$w/$name.plain.log")"
	"$bolt" "$w/$name.plain/$(built "$name")" -o faster >out 2>&1 || skip "llvm-bolt does not take the program without a profile either: $(tail -n 1 out)"
	exported bolt program.fdata
	"$bolt" "$w/$name.plain/$(built "$name")" -o faster --data=program.fdata --reorder-blocks=ext-tsp --print-only="$(jq -r '.functions | sort_by(-.instructions)[:30] | map(.name) | join(",")' "$dir/report")" --print-cfg >out 2>err || no "$(tail -n 3 err)"
	grep -hi 'stale\|was ignored' out err | grep -v 'profile for 1 objects was ignored' | grep . && no "$(grep -hi 'stale\|was ignored' out err)"
	grep -Eq '[1-9][0-9]* out of [0-9]* functions .* have non-empty execution profile' out err || no "no profile: $(grep -h profile out err)"
	# Of each function that it has a graph of: how often it was entered.
	sed -nE 's/^Binary Function "(.*)" .*/\1/p; s/^  Exec Count  : ([0-9]+).*/\1/p' out | paste - - >entered
	[ -s entered ] || no "it has no functions: $(head out)"
	while read -r f n; do
		f=${f%%[/(]*}
		jq -e --arg f "$f" --argjson n "$n" '[.functions[] | select(.name == $f).calls] | any(. == $n)' "$dir/report" >why || no "$f was not entered $n times"
	done <entered
}

# needs COMMAND PACKAGE
needs() { command -v "$1" >/dev/null || skip "no $2"; }

export CHORD_CACHE=${CHORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chord}
for program in ${CHORD_READERS:-lua5.4}; do
	prepare "$program"
	for reader in lcov lcov2 cobertura gcov callgrind pprof folded speedscope json csv llvm bolt afdo; do
		eval "t_${program}_$reader() { of $program; read_$reader; }"
		test_case "$program-$reader"
	done
done
wait
exit $failed
