#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [PART...]: profiles of paths. RECORD is the program that steps through others and records their paths.
#
# The parts check: what each path of small programs executes, and how often; that all counts are those of edges; that paths, and how
# far unfinished ones came, are as a debugger sees them; that pairs of definition and use are as single steps have them; --diff,
# select, split and merge; that paths of interest have the counts of a build that counts all paths; what is wrong with files and
# orders.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
: "${RECORD:=$(dirname "$CHORD")/record}"
: "${STUDIES:=$(dirname "$CHORD")/studies}"
. "$here/../may.sh"
. "$here/../registry.sh"
situations=$here/../situations
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-paths.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset CHORD_FILE
export LC_ALL=C
failed=0 turn_at=0

ok() { echo "ok paths/$1"; }
fail() { echo "FAIL paths/$1: $2"; failed=1; }

# same LABEL FILE FILE
same()
{
	if cmp -s "$2" "$3"; then ok "$1"; else fail "$1" "$(diff "$2" "$3" | sed -n 2p)"; fi
}

# weave COMPILER ARGUMENT...: with chord cc or c++.
weave()
{
	local compiler=$1 driver=cc log=$work/log
	shift
	case $* in *.cc*)
		driver=c++
		case $compiler in gcc) compiler=g++ ;; clang) compiler=clang++ ;; esac
	esac
	CHORD_CC=$compiler CHORD_CXX=$compiler "$CHORD" $driver "$@" >"$log" 2>&1
}

# ---- what paths execute ----

# Lines FUNCTION COUNT TAG..., of the profiles of ./known.
told()
{
	"$CHORD" paths --json ./known | jq -r --rawfile source "$here/known.c" '
		($source | split("\n") | to_entries | map(select(.value | test("@[a-z]+ \\*/$")) |
			{key: (.key + 1 | tostring), value: (.value | capture("@(?<t>[a-z]+)").t)}) | from_entries) as $tag |
		.paths[] | select(.begins == "at entry" or (.unfinished | not)) |
		"\(.function) \(.count) \([.lines[] | $tag[.line | tostring] | select(.)] | join(" "))"' |
		awk '{ n = $2; $2 = ""; sum[$0] += n } END { for (p in sum) { split(p, w, "  "); print w[1], sum[p], w[2] } }' |
		grep -E '^(choose|twice|pick|deep) ' | sort
}

known()
{
	local compiler level label
	sed -nE 's|^/\* path: (.*) \*/$|\1|p' "$here/known.c" | sort >expected
	for compiler in gcc clang; do
		for level in -O0 -O2; do
			label=known/$compiler/$level
			rm -f known*
			if weave "$compiler" "$level" -g -fchord=paths -o known "$here/known.c" && ./known && told >found; then
				same "$label" expected found
			else
				fail "$label" "$(head -n 1 log)"
			fi
		done
	done
}

# ---- all counts ----

# equal LABEL COMPILER LEVEL SOURCE [OPTION]: with paths and with edges.
equal()
{
	local measure
	for measure in edges paths; do
		rm -f ./*.chord
		if ! weave "$2" "$3" -g "-I$situations" "-fchord=$measure" -o program "${@:4}"; then
			fail "$1" "$(head -n 1 log)"
			return
		fi
		./program >"$measure.out" 2>&1
		"$CHORD" report --insns ./program >"$measure.insns" 2>"$measure.says"
		"$CHORD" report --edges ./program >"$measure.edges" 2>>"$measure.says"
		[ -s "$measure.insns" ] && [ -s "$measure.edges" ] || { fail "$1" "$(head -n 1 "$measure.says")"; return; }
	done
	cmp -s edges.out paths.out || fail "$1" "another output"
	cmp -s edges.says paths.says || fail "$1" "$(diff edges.says paths.says | sed -n 2p)"
	cmp -s edges.edges paths.edges || fail "$1" "$(diff edges.edges paths.edges | sed -n 2p)"
	same "$1" edges.insns paths.insns
	# What paths tell of conditional jumps is what counters of edges say.
	awk '$4 == "taken" { taken[$1 " " $2] = $5 } $4 == "fall" { fell[$1 " " $2] = $5 }
		END { for (b in taken) if (b in fell) print b, taken[b], fell[b] }' edges.edges | sort >expected
	"$CHORD" paths --json --branches ./program |
		jq -r '.branches[] | "\(.function) \(.block) \(.taken) \(.not_taken)"' | sort >found
	same "$1/branches" expected found
}

counts()
{
	local source compiler way
	for source in "$here"/{leaves.c,throws.cc,many.c,endless.c} "$situations"/{setjmp-loop.c,longjmp.c,switch-table.c} \
		"$situations"/{computed-goto.c,fork.c,exit-deep.c,recursion-deep-longjmp.c,rethrow.cc,throw-qsort.cc,threads-c11.c,vfork-exit.c}; do
		in_turn gcc/-O2 clang/-O2 gcc/-O0 clang/-O0
		for way in $turn; do
			equal "counts/${source##*/}/$way" "${way%/*}" "${way#*/}" "$source"
		done
	done
	for compiler in gcc clang; do
		equal "counts/framed.c/$compiler" "$compiler" -O2 "$here/framed.c" -fno-omit-frame-pointer
	done
}

# ---- as a debugger sees it ----

# recorded LABEL COMMAND...: of a program that was built with -fchord=paths -no-pie.
recorded()
{
	local label=$1 says status why
	shift
	may trace || { echo "skip paths/$label: $why"; return; }
	rm -f recorded.chord
	says=$(LD_BIND_NOW=1 "$RECORD" recorded.chord "$@" 2>&1 >recorded.out </dev/null)
	status=$?
	says=$(tail -n 1 recorded.out | tr -d '\0')
	case $status in
	0) echo "ok paths/$label: $says" ;;
	77) echo "skip paths/$label: it runs too long to be stepped through" ;;
	*) fail "$label" "$says" ;;
	esac
}

small()
{
	local source way
	for source in leaves.c throws.cc many.c; do
		in_turn gcc/-O2 clang/-O2 gcc/-O0 clang/-O0
		for way in $turn; do
			if weave "${way%/*}" "${way#*/}" -no-pie -fchord=paths -o program "$here/$source"; then
				recorded "record/$source/$way" ./program
			else
				fail "record/$source/$way" "$(head -n 1 log)"
			fi
		done
	done
}

real()
{
	local cache=${CHORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chord}
	local recipe=$here/../real/recipe.sh
	if "$recipe" bzip2 fetch >log 2>&1 && ( cd "$cache/src/bzip2" && weave gcc -O2 -no-pie -fchord=paths -D_FILE_OFFSET_BITS=64 \
		-o "$work/bzip2" blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c ) ; then
		head -c 60 "$here/run.sh" >short
		bzip2 -1 <short >short.bz2
		recorded record/bzip2/decompress ./bzip2 -d -k -f short.bz2
	else
		echo "skip paths/record/bzip2: $(tail -n 1 log)"
	fi
	mkdir -p "$work/include"
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >"$work/include/lua5.4-deb-multiarch.h"
	if "$recipe" lua5.4 fetch >log 2>&1 && ( cd "$cache/src/lua5.4/src" && weave gcc -O2 -no-pie -fchord=paths \
		"-I$work/include" -DLUA_USE_POSIX -o "$work/lua" $(ls ./*.c | grep -v luac.c) -lm ); then
		echo 'local t = {} for i = 1, 9 do t[i] = i .. "x" end print(pcall(error, table.concat(t)))' >short.lua
		recorded record/lua5.4 ./lua short.lua
	else
		echo "skip paths/record/lua5.4: $(tail -n 1 log)"
	fi
}

random()
{
	local seed include=${CSMITH_INCLUDE:-/usr/include/csmith}
	command -v csmith >/dev/null || { echo "skip paths/record/csmith: no csmith here"; return; }
	for seed in 1 2 3 4 5 6 8; do # the seventh runs too long
		csmith --seed "$seed" --max-funcs 4 --max-block-depth 3 >random.c
		if weave gcc -O1 -w "-I$include" -no-pie -fchord=paths -o program random.c; then
			RECORD_STEPS=400000 recorded "record/csmith/$seed" ./program
		else
			fail "record/csmith/$seed" "$(head -n 1 log)"
		fi
	done
}

# ---- chord paths ----

# says LABEL STATUS REGEX COMMAND...
says()
{
	local label=$1 status=$2 regex=$3 got
	shift 3
	"$@" >said 2>&1
	got=$?
	if [ "$got" != "$status" ]; then
		fail "$label" "status $got: $(head -n 1 said)"
	elif ! grep -qE -- "$regex" said; then
		fail "$label" "says $(head -n 1 said)"
	else
		ok "$label"
	fi
}

reports()
{
	rm -f ./*.chord
	weave gcc -O0 -g -fchord=paths -o many "$here/many.c" || { fail report "$(head -n 1 log)"; return; }
	CHORD_FILE=a.chord ./many 3000 >/dev/null
	CHORD_FILE=b.chord ./many 3001 >/dev/null
	says report/text 0 '^ +[0-9,]+ +paths ran, of ' "$CHORD" paths ./many a.chord
	says report/source 0 '^ +[0-9]+ .*BITS\(16\);' "$CHORD" paths --source --function many ./many a.chord
	says report/function 0 'in 1 procedure ' "$CHORD" paths --function='man[y]' ./many a.chord
	says report/branches 0 '^ +1,5[0-9]+ +1,[0-9]+  many, block [0-9]+ \(.*many.c:[0-9]+\)$' "$CHORD" paths --branches ./many a.chord
	says report/coverage 0 ' 1,048,576 .*many$' "$CHORD" paths --coverage ./many a.chord
	"$CHORD" paths --json ./many a.chord | jq '[.paths[] | .count * .length] + [.unfinished[] | .count * .length] | add' >sum
	"$CHORD" report --json ./many a.chord | jq .totals.instructions >all
	same report/sum sum all
	"$CHORD" paths --json --function many ./many a.chord | jq '[.paths[].count] | add' >sum
	echo 3000 >all
	same report/count sum all
	# Each number of 20 bits is a path: far more than the table has room for.
	CHORD_FILE=c.chord ./many 20000 print 2>numbers >/dev/null
	sort numbers | uniq -c | awk '{ print $1 }' | sort -n >all
	"$CHORD" paths --top=0 --function many ./many c.chord | awk '/ many, path / { gsub(",", "", $4); print $4 }' | sort -n >sum
	same report/overflow sum all
	"$CHORD" paths --json --diff ./many a.chord b.chord |
		jq -c '[(.only_after | length), (.only_before | length), ([.only_after[], .changed[]] | map(.after - .before) | add)]' >sum
	jq -ne --argjson x "$(cat sum)" '$x[0] >= 1 and $x[1] == 0 and $x[2] >= 2' >/dev/null && ok diff/more || fail diff/more "$(cat sum)"
	says diff/none 0 '^0 paths that both took, but' "$CHORD" paths --diff ./many a.chord a.chord
	# A folder stands for all in it, and none of these is what was compared.
	mkdir both alone
	cp a.chord b.chord both
	cp b.chord alone
	says diff/folder 0 '^0 paths that only both took$' "$CHORD" paths --diff ./many both both
	says diff/folder-head 0 ': from both to alone/b.chord$' "$CHORD" paths --diff ./many both alone
	"$CHORD" paths --json --diff ./many both alone | jq -e '.before == "both" and .after == "alone/b.chord"' >/dev/null &&
		ok diff/folder-json || fail diff/folder-json "another name"
	"$CHORD" merge -o sum.chord a.chord b.chord a.chord
	"$CHORD" paths --json ./many a.chord b.chord a.chord | jq -S '.paths | map([.function, .number, .count]) | sort' >apart
	"$CHORD" paths --json ./many sum.chord | jq -S '.paths | map([.function, .number, .count]) | sort' >merged
	same merge/paths apart merged
	"$CHORD" report --insns ./many a.chord b.chord a.chord >apart
	"$CHORD" report --insns ./many sum.chord >merged
	same merge/insns apart merged
}

choices()
{
	rm -f ./*.chord
	weave gcc -O0 -g -fchord=paths -o known "$here/known.c" || { fail select "$(head -n 1 log)"; return; }
	./known
	says select/hot 0 'paths chosen' "$CHORD" paths select --rule hot:95% -o hot.paths ./known
	says select/function 0 '^3 paths chosen' "$CHORD" paths select --rule function:choose -o x.paths ./known
	says select/uncovered 0 'paths chosen' "$CHORD" paths select --rule uncovered -o cold.paths ./known
	says select/numbers 2 'wants numbers of paths' "$CHORD" paths select --rule number:choose: ./known
	first=$(grep -n '@small' "$here/known.c" | cut -d: -f1)
	large=$(grep -n '@large' "$here/known.c" | cut -d: -f1)
	even=$(grep -n '@even' "$here/known.c" | cut -d: -f1)
	says select/lines 0 '^1 path chosen' "$CHORD" paths select --rule "lines:known.c:$large-$even" -o x.paths ./known
	says select/impossible 1 'no path executes these lines in this order' \
		"$CHORD" paths select --rule "lines:known.c:$first-$large" -o x.paths ./known
	says select/no-line 1 'known.c:1: no instruction' "$CHORD" paths select --rule lines:known.c:1 ./known
	says select/line-0 2 'line numbers from 1 on' "$CHORD" paths select --rule lines:known.c:0 ./known
	says select/no-number 2 'number:FUNCTION:N' "$CHORD" paths select --rule number:choose ./known
	says select/no-file 2 'lines:FILE:A-B-C' "$CHORD" paths select --rule lines:7 ./known
	says select/behind 2 'nothing can follow' "$CHORD" paths select --rule uncovered:x ./known
	says select/number 1 'choose has no path 99' "$CHORD" paths select --rule number:choose:99 ./known
	says select/negative 2 'wants numbers of paths' "$CHORD" paths select --rule number:choose:-1 ./known
	says select/huge 1 'choose has no path 99999999999999999999999$' \
		"$CHORD" paths select --rule number:choose:99999999999999999999999 ./known
	says select/half 2 'top:N wants a number of paths' "$CHORD" paths select --rule top:2.5 ./known
	says select/most 2 'at most 100' "$CHORD" paths select --rule top:101% ./known
	says select/hex 2 'hot:P% wants a percentage' "$CHORD" paths select --rule hot:0x5% ./known
	says select/rule 2 'rules are hot:P%' "$CHORD" paths select --rule cold ./known
	says select/nothing 2 'which paths' "$CHORD" paths select ./known
	says split/0 2 'parts=0: not a number of parts' "$CHORD" paths split --parts 0 --rule function:twice -o part ./known
	says split/empty 0 'warning: .* 1 of the parts has no paths: procedures are kept whole' \
		"$CHORD" paths split --parts 2 --rule function:twice -o part ./known
	says split/folder 1 '/missing/part.1: No such file' "$CHORD" paths split --parts 1 --rule function:twice -o /missing/part ./known
	grep -q ' part ' said && fail split/table "$(head -n 1 said)" || ok split/table
	says split/many 1 '4 paths cannot be distributed over 5 builds' "$CHORD" paths split --parts 5 --rule function:twice -o part ./known
	for way in round-robin prefix greedy procedure; do
		rm -f part.*
		"$CHORD" paths split --parts 3 --by $way --rule function:twice --rule function:choose -o part ./known >/dev/null
		"$CHORD" paths select --rule function:twice --rule function:choose -o whole ./known 2>/dev/null
		grep -h ^path part.1 part.2 part.3 | sort >parts
		grep ^path whole | sort | cmp -s - parts && ok "split/$way" || fail "split/$way" "$(wc -l <parts) paths"
	done
	says split/file 0 '^ +part' "$CHORD" paths split --parts 2 --file whole -o part ./known
	sed 's/\t[0-9a-f]*$/\t0123456789abcdef/' whole >other
	says file/build 1 'other:2: .*another build' "$CHORD" paths split --parts 2 --file other -o part ./known
	sed 's/^path .*/path 0 0/' whole >other
	says file/path 1 'other:4: .*has no such path' "$CHORD" paths split --parts 2 --file other -o part ./known
	echo nonsense >other
	says file/text 1 'other:1: not a file of paths' "$CHORD" paths split --parts 2 --file other -o part ./known
	says file/none 1 'missing: No such file' "$CHORD" paths split --parts 2 --file missing -o part ./known
	weave gcc -O0 -o edges "$here/known.c"
	./edges
	says no-paths 1 'its paths were not counted' "$CHORD" paths ./edges
	says no-function 1 'no procedure whose paths are counted' "$CHORD" paths --function=nothing ./known
}

# ---- the studies of how many probes it takes ----

# Two branches one after the other: 4 paths, 6 pairs of them, 4 sets of three; no set is drawn twice. main() has one
# path and is left out, one() has two.
studies()
{
	cat >chain.c <<-'END'
		volatile int v;
		void chain(int a, int b) { if (a) v = 1; if (b) v = 2; }
		void one(int a) { if (a) v = 3; }
		int main(void) { chain(1, 0); one(v); return 0; }
	END
	weave gcc -O0 -fchord=paths -o chain chain.c || { fail studies "$(head -n 1 log)"; return; }
	"$STUDIES" ./chain 100 . 2>log >table || { fail studies "$(head -n 1 log)"; return; }
	sed -nE 's/^\| ([1-5] \| [0-9]+ \| [0-9]+) \|.*/\1/p' table >sets
	printf '%s\n' '1 | 2 | 6' '2 | 1 | 6' '3 | 1 | 4' >expected
	same studies/sets expected sets
	"$STUDIES" ./chain 3 . 2>log | sed -nE 's/^\| ([1-5] \| [0-9]+ \| [0-9]+) \|.*/\1/p' >sets
	printf '%s\n' '1 | 2 | 5' '2 | 1 | 3' '3 | 1 | 3' >expected
	same studies/drawn expected sets
	cut -f 2-4 studies.tsv | sort >found
	printf '%s\n' 'chain	4	2' 'one	2	1' 'procedure	paths	all' >expected
	same studies/procedures expected found
}

# ---- where a signal ended activations between calls ----

# instructions PROGRAM: as the report has them, and as its paths make them.
instructions()
{
	"$CHORD" report --json "$1" | jq .totals.instructions >counted
	"$CHORD" paths --json "$1" | jq '[(.paths + .unfinished)[] | .count * .length] | add' >sum
}

doubts()
{
	local compiler level label
	for compiler in gcc clang; do
		for level in -O0 -O2; do
			label=doubts/$compiler/$level
			rm -f ./*.chord
			weave "$compiler" "$level" -g "-I$situations" -fchord=paths -o all "$situations/sigsegv-recovered.c" &&
				./all || { fail "$label" "$(head -n 1 log)"; continue; }
			instructions ./all
			same "$label/sum" counted sum
			"$CHORD" paths --json --function crash ./all |
				jq -ce '[.paths[].count] == [10] and [.unfinished[].count] == [10] and .totals.exact' >found && [ -s found ] &&
				ok "$label/all" || fail "$label/all" "$(cat found)"
			"$CHORD" paths select --rule 'function:*' -o signal.paths ./all 2>log
			weave "$compiler" "$level" -g "-I$situations" -fchord-paths=signal.paths -o some "$situations/sigsegv-recovered.c" &&
				./some || { fail "$label" "$(head -n 1 log)"; continue; }
			# Of crash it is not known whether its path is counted that the handler left; all others are exact.
			"$CHORD" paths --json ./some | jq -ce '([.inexact[].name] | unique) == ["crash"] and .unknown == [] and
				(.totals.exact | not) and all(.paths[]; .exact == (.function != "crash")) and
				all(.functions[]; .exact == (.name != "crash"))' >found && [ -s found ] && ok "$label/some" || fail "$label/some" "$(cat found)"
			"$CHORD" paths ./some >said
			if grep -q '^Not known' said || ! sed -n '/^Not exact in what/,/^$/p' said | grep -q '^  crash: 10 of its activ' ||
				[ "$(grep -c '(not exact)' said)" != 1 ]; then
				fail "$label/text" "$(tail -n 3 said)"
			else
				ok "$label/text"
			fi
			says "$label/coverage" 0 'crash \(of those of interest\) \(not exact\)$' "$CHORD" paths --coverage ./some
			cp some again
			./again
			"$CHORD" paths merge --json ./some ./again | jq -ce 'all(.paths[]; .exact == (.function != "crash"))' >found && [ -s found ] &&
				ok "$label/merge" || fail "$label/merge" "$(cat found)"
			"$CHORD" paths --diff --json ./some some.*.chord some.*.chord | jq -ce '[.doubts_before, .doubts_after][] |
				([.inexact[].name] | unique) == ["crash"]' >found && [ -s found ] && ok "$label/diff" || fail "$label/diff" "$(cat found)"
		done
	done
}

# inexact PROGRAM ENDED LEFT: of as many activations of walk() as ended or were left wherever that was. Says what is wrong.
inexact()
{
	"$CHORD" paths --json --function walk "$1" | jq -r --argjson ended "$2" --argjson left "$3" '
		([.inexact[].reason | scan("^an activation|[0-9]+ activations|[0-9]+ of its|[0-9]+ more") |
			(scan("[0-9]+") // "1") | tonumber] | add) as $n |
		([.paths[] | select(.ends == "with a return") | .count] | add) as $counted |
		if any(.paths[]; .exact) then "a path is said to be exact"
		elif $n == null or $n < 1 or $n > $left then "\($n) activations, and \($left) were left"
		elif $counted < $ended or $counted > $ended + $n then "\($counted) ended, not \($ended) and up to \($n) more"
		else empty end' || echo "there is no such report"
}

struck()
{
	local compiler level label build ended left why
	for compiler in gcc clang; do
		for level in -O0 -O2; do
			label=struck/$compiler/$level
			rm -f ./*.chord
			for build in all some; do
				if [ $build = all ]; then
					weave "$compiler" "$level" -fchord=paths -o all "$here/struck.c"
				else
					"$CHORD" paths select --rule 'function:walk' -o struck.paths ./all 2>log
					weave "$compiler" "$level" -fchord-paths=struck.paths -o some "$here/struck.c"
				fi || { fail "$label/$build" "$(head -n 1 log)"; continue; }
				read -r ended left < <(./$build)
				why=$(inexact ./$build "$ended" "$left")
				[ "$left" -gt 20 ] && [ -z "$why" ] && ok "$label/$build" || fail "$label/$build" "$left left: $why"
			done
		done
	done
}

# ---- builds that count some paths ----

# Lines of paths and their counts, by edges: numbers are another build's.
ran() { jq -r '.paths[] | "\(.function) \([.edges[].edge] | join(" ")): \(.count)"' | sort; }

# chosen LABEL COMPILER LEVEL RULE...: counts of the paths chosen, as where all are counted.
chosen()
{
	local label=$1 compiler=$2 level=$3 rule rules=()
	shift 3
	for rule; do rules+=(--rule "$rule"); done
	rm -f ./*.chord
	weave "$compiler" "$level" -g -fchord=paths -o known "$here/known.c" && ./known || { fail "$label" "$(head -n 1 log)"; return; }
	"$CHORD" paths select "${rules[@]}" -o chosen.paths ./known 2>log || { fail "$label" "$(head -n 1 log)"; return; }
	weave "$compiler" "$level" -g -fchord-paths=chosen.paths -o some "$here/known.c" && ./some || { fail "$label" "$(head -n 1 log)"; return; }
	"$CHORD" paths --json ./some | ran >some.ran
	awk -F'\t' '$1 == "procedure" { name = $2 } /^path/ { sub("path ", ""); print name " " $0 }' chosen.paths | sort >wanted
	"$CHORD" paths --json ./known | ran | awk -F: 'NR == FNR { want[$1]; next } $1 in want' wanted - >all.ran
	same "$label" all.ran some.ran
}

# listed PROGRAM: its paths with their counts.
listed()
{
	"$CHORD" paths --json "$1" | jq -r '.paths[] | select(.unfinished | not) |
		[.function, .begins, ([.edges[].edge | tostring] | join(" ")), .count] | @tsv' | sort
}

# fewer LABEL BUILD RULE ARGUMENT...: the paths chosen, which all ran, and no others, as where all are counted. BUILD OPTION FILE
# makes the program.
fewer()
{
	local label=$1 build=$2 rule=$3 want
	shift 3
	rm -f ./*.chord
	./whole "$@" >whole.out
	want=$("$CHORD" paths select --rule "$rule" -o chosen.paths ./whole 2>&1) || { fail "$label" "$want"; return; }
	"$build" -fchord-paths=chosen.paths fewer || { fail "$label" "$(head -n 1 log)"; return; }
	./fewer "$@" >fewer.out
	cmp -s whole.out fewer.out || { fail "$label" "it does something else"; return; }
	listed ./whole >all.ran
	listed ./fewer >some.ran
	[ -s some.ran ] || { fail "$label" "none of the paths that were chosen ran"; return; }
	comm -13 all.ran some.ran >differs
	[ ! -s differs ] || { fail "$label" "$(head -n 1 differs)"; return; }
	[ "$(wc -l <some.ran)" = "${want%% *}" ] && ok "$label" || fail "$label" "$(wc -l <some.ran) of $want"
}

fewer_bzip2()
{
	local cache=${CHORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chord} option=$1 out=$PWD/$2
	option=${option/=chosen/=$PWD/chosen}
	( cd "$cache/src/bzip2" && weave "$compiler" "$level" "$option" -D_FILE_OFFSET_BITS=64 -o "$out" blocksort.c huffman.c \
		crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c )
}

fewer_random()
{
	weave "$compiler" "$level" -w "-I${CSMITH_INCLUDE:-/usr/include/csmith}" "$1" -o "$2" random.c
}

# Of programs that are long enough to need all that there is to choose from.
larger()
{
	local compiler=gcc level=-O2 rule seed work=$PWD
	if "$here/../real/recipe.sh" bzip2 fetch >log 2>&1; then
		head -c 200000 "$CHORD" >input
		for compiler in gcc clang; do
			fewer_bzip2 -fchord=paths whole || { fail "fewer/bzip2/$compiler" "$(head -n 1 log)"; continue; }
			for rule in top:1 top:5% hot:99%; do
				fewer "fewer/bzip2/$compiler/$rule" fewer_bzip2 "$rule" -9 -c input
			done
		done
	else
		echo "skip paths/fewer/bzip2: $(tail -n 1 log)"
	fi
	command -v csmith >/dev/null || { echo "skip paths/fewer/csmith: no csmith here"; return; }
	for seed in 2 3 4 6; do
		csmith --seed "$seed" >random.c
		for compiler in gcc clang; do
			level=$(echo -O0 -O1 -O2 -O3 | cut -d ' ' -f $((seed % 4 + 1)))
			fewer_random -fchord=paths whole || { fail "fewer/csmith/$seed/$compiler" "$(head -n 1 log)"; continue; }
			timeout 5 ./whole >/dev/null || { echo "skip paths/fewer/csmith/$seed/$compiler: it does not end"; continue; }
			for rule in top:3 top:5% top:40%; do
				fewer "fewer/csmith/$seed/$compiler/$rule" fewer_random "$rule"
			done
		done
	done
}

# parts COMPILER LEVEL WAY: three builds, run at once, are together what one is that counts all.
parts()
{
	local label=split/$3/$1/$2 i
	rm -f ./*.chord part*
	weave "$1" "$2" -g -fchord=paths -o known "$here/known.c" && ./known || { fail "$label" "$(head -n 1 log)"; return; }
	"$CHORD" paths split --parts 3 --by "$3" --rule 'function:*' -o part ./known >log 2>&1 || { fail "$label" "$(head -n 1 log)"; return; }
	for i in 1 2 3; do
		weave "$1" "$2" -g "-fchord-paths=part.$i" -o "part$i" "$here/known.c" || { fail "$label" "$(head -n 1 log)"; return; }
		./part$i &
	done
	wait
	"$CHORD" paths merge --json ./part1 ./part2 ./part3 | ran >merged.ran
	"$CHORD" paths --json ./known | ran >all.ran
	same "$label" all.ran merged.ran
}

# Builds whose paths of interest overlap: what is in both is possible once, and its counts add up.
overlap()
{
	local number part
	rm -f ./*.chord
	weave gcc -O0 -g -fchord=paths -o known "$here/known.c" && ./known || { fail overlap "$(head -n 1 log)"; return; }
	for part in 1:0,1 2:1,2; do
		number=${part#*:} part=${part%%:*}
		"$CHORD" paths select --rule "number:choose:$number" -o part.$part ./known 2>log
		weave gcc -O0 -g -fchord-paths=part.$part -o part$part "$here/known.c" && ./part$part || { fail overlap "$(head -n 1 log)"; return; }
	done
	"$CHORD" paths merge --json --function choose ./part1 ./part2 >json
	jq -c '[.functions[].possible, .totals.possible, ([.paths[] | select(.number)] | length)]' json >found
	echo '[3,3,0]' >wanted
	same overlap/possible wanted found
	says overlap/twice 1 '^chord: ./part1: the same program as ./part1: named twice' "$CHORD" paths merge ./part1 ./part1
	says overlap/renamed 1 '^chord: .*/part1: the same program as ./part1: named twice' "$CHORD" paths merge ./part1 "$PWD/part1"
	says overlap/note 0 '^  [0-9]+ procedures? ' "$CHORD" paths merge ./part1 ./part2
	[ "$(sort said | uniq -d | grep -c ' not in the counts')" = 0 ] && ok overlap/notes || fail overlap/notes "a note is there twice"
}

# What one of two runs left unfinished is a difference, and the head of the columns is there.
unfinished()
{
	rm -f ./*.chord
	cat >leaves.c <<-'end'
		#include <setjmp.h>
		static jmp_buf env;
		__attribute__((noipa)) void out(int n) { if (n > 1) longjmp(env, 1); }
		__attribute__((noipa)) int work(int n) { out(n); return n; }
		int main(int argc, char **argv) { (void)argv; if (setjmp(env)) return 0; return work(argc) == 0; }
	end
	weave gcc -O1 -g -fno-inline -fchord=paths -o leaves leaves.c || { fail unfinished "$(head -n 1 log)"; return; }
	CHORD_FILE=a.chord ./leaves
	CHORD_FILE=b.chord ./leaves x
	"$CHORD" paths --diff --json ./leaves a.chord b.chord |
		jq -c '[.only_after[] | select(.function == "work") | [.ends, .number, .before, .after]]' >found
	echo '[["was left at a call",null,0,1]]' >wanted
	same unfinished/diff wanted found
	says unfinished/head 0 '^      instructions +count   length$' "$CHORD" paths --diff ./leaves a.chord b.chord
	says unfinished/none 0 '^0 paths that only b.chord took' "$CHORD" paths --diff ./leaves b.chord b.chord
}

# memory LABEL COMMAND...: takes less than 800 MB, a sanitizer's memory included.
memory()
{
	local label=$1 most=800000
	shift
	/usr/bin/time -o cost -f %M "$@" >out 2>said || { fail "$label" "$(head -n 1 said)"; return; }
	[ "$(tail -n 1 cost)" -lt $most ] && ok "$label" || fail "$label" "$(tail -n 1 cost) kB"
}

# Thousands of paths of a procedure with thousands of blocks: only the edges of a path are kept, not the room to find them.
long()
{
	rm -f ./*.chord
	awk -v n=8000 'BEGIN {
		print "\t.text\n\t.globl f\n\t.type f, @function\nf:\n\t.cfi_startproc\n.Lagain:"
		for (i = 0; i < n; i++)
			printf "\ttestl $%d, %%edi\n\tje .L%d\n\tincl %%eax\n.L%d:\n", i, i, i
		print "\tdecl %edi\n\tjne .Lagain\n\tret\n\t.cfi_endproc\n\t.size f, .-f\n\t.section .note.GNU-stack,\"\",@progbits"
	}' >f.s
	echo 'int f(int n); int main(int argc, char **argv) { (void)argv; return f(argc * 2000) == 1; }' >main.c
	weave gcc -O1 -fchord=paths -o one main.c f.s && cp one two && ./one && ./two x || { fail long "$(head -n 1 log)"; return; }
	memory long/select "$CHORD" paths select --rule top:100% -o long.paths ./one
	[ "$(grep -c ^path long.paths)" -gt 6000 ] && ok long/paths || fail long/paths "$(grep -c ^path long.paths)"
	memory long/merge "$CHORD" paths merge ./one ./two
}

# The first path of many() and the last one have all its edges between them: more paths than one build can tell apart.
unfit()
{
	local way
	rm -f ./*.chord
	weave gcc -O0 -g -fchord=paths -o all "$here/many.c" && ./all 20 >all.out || { fail unfit "$(head -n 1 log)"; return; }
	"$CHORD" paths select --rule number:many:0 -o fit.paths ./all 2>said
	grep -q warning said && fail unfit/fits "$(head -n 1 said)" || ok unfit/fits
	says unfit/select 0 '^chord: warning: many: its paths share edges with too many other paths' \
		"$CHORD" paths select --rule number:many:0,1048575 --rule function:main -o unfit.paths ./all
	says unfit/build 0 '^chord: warning: many: none of its paths is counted: .*unfit.paths:[0-9]+\)$' \
		env CHORD_CC=gcc "$CHORD" cc -O0 -g -fchord-paths=unfit.paths -o some "$here/many.c"
	./some 20 >some.out
	same unfit/output all.out some.out
	says unfit/report 0 '^  many: its paths of interest share edges' "$CHORD" paths ./some
	for way in round-robin prefix greedy procedure; do
		rm -f part.*
		says unfit/split/$way 0 '^ +2 .* 1 ' "$CHORD" paths split --parts 2 --by $way --rule number:many:0,1048575 -o part ./all
		[ "$(cat part.1 part.2 | grep -c ^path)" = 2 ] && ok unfit/parts/$way || fail unfit/parts/$way "$(cat part.1 part.2 | grep -c ^path)"
	done
	rm -f part.*
	says unfit/split 1 '^chord: ./all: many: those of its paths that are in part [12] share edges' \
		"$CHORD" paths split --parts 2 --by prefix --rule number:many:0,1,524287,524288,1048575 -o part ./all
	[ ! -e part.1 ] && ok unfit/nothing || fail unfit/nothing "a part was written"
	says unfit/compare 0 '^one build .* impossible: many$' \
		"$CHORD" paths split --compare --parts 2 --rule number:many:0,1048575 ./all
}

# two_builds OPTION PROGRAM: of one source, position-independent and not, in one program. Of `same` both have one graph.
two_builds()
{
	weave gcc -O2 "$1" -fPIC -fvisibility=hidden -c twice.c -o pic.o && weave gcc -O2 "$1" -fPIC -shared -o lib$2.so pic.o shared.c &&
		weave gcc -O2 "$1" -fno-pic -no-pie -o "$2" main.c twice.c -L. "-l$2" -Wl,-rpath,"$PWD" && "./$2" >"$2.out"
}

twins()
{
	rm -f ./*.chord
	cat >twice.c <<-'end'
		int table[10];
		int twice(int n) { int s = 0; for (int i = 0; i < n; i++) s += table[i % 10] & 1 ? i : 2; return s; }
		int same(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & n ? i : 2; return s; }
	end
	echo 'int twice(int); int same(int); int shared(int n) { return twice(n) + same(n); }' >shared.c
	cat >main.c <<-'end'
		#include <stdio.h>
		int twice(int); int same(int); int shared(int);
		int main(void) { printf("%d %d %d\n", twice(20), same(21), shared(30)); return 0; }
	end
	two_builds -fchord=paths all || { fail twins "$(head -n 1 log)"; return; }
	"$CHORD" paths select --rule 'function:*' -o twins.paths ./all all.*.chord 2>log || { fail twins "$(head -n 1 log)"; return; }
	[ "$(grep -c ^procedure twins.paths)" = 5 ] && ok twins/file || fail twins/file "$(grep -c ^procedure twins.paths) procedures"
	two_builds -fchord-paths=twins.paths some || { fail twins "$(head -n 1 log)"; return; }
	same twins/output all.out some.out
	listed ./all >all.ran
	listed ./some >some.ran
	same twins/counts all.ran some.ran
	"$CHORD" paths split --parts 2 --by round-robin --rule 'function:*' -o part ./all all.*.chord >log 2>&1
	cat part.1 part.2 | grep ^path | sort >parts
	grep ^path twins.paths | sort >whole
	same twins/split whole parts
}

selective()
{
	local compiler level way
	for compiler in gcc clang; do
		for level in -O0 -O2; do
			chosen "chosen/hot/$compiler/$level" $compiler $level hot:50%
			chosen "chosen/uncovered/$compiler/$level" $compiler $level uncovered
			chosen "chosen/functions/$compiler/$level" $compiler $level function:twice function:main
		done
	done
	for way in round-robin prefix greedy procedure; do
		parts gcc -O2 $way
	done
	parts clang -O0 procedure
	weave gcc -O0 -fchord=paths -o known "$here/known.c"
	"$CHORD" paths select --rule 'function:*' -o zero.paths ./known 2>log
	says chosen/build 1 'zero.paths:[0-9]*: .*build' env CHORD_CC=gcc "$CHORD" cc -O2 -fchord-paths=zero.paths -o some "$here/known.c"
	says chosen/none 1 'missing' env CHORD_CC=gcc "$CHORD" cc -O2 -fchord-paths=missing -o some "$here/known.c"
	sed -i '/^ran /d; 1s/2$/1/' zero.paths
	weave gcc -O0 -fchord-paths=zero.paths -o some "$here/known.c" && ok chosen/version-1 || fail chosen/version-1 "$(head -n 1 log)"
	sed 's/^cut.*/&\nran 1 x/' zero.paths >ran.paths
	says chosen/ran 1 'ran.paths:4: not how often an edge ran' env CHORD_CC=gcc "$CHORD" cc -O0 -fchord-paths=ran.paths -o some "$here/known.c"
	sed 's/^cut.*/&\nran 1/' zero.paths >ran.paths
	says chosen/ran-few 1 'another number of edges' env CHORD_CC=gcc "$CHORD" cc -O0 -fchord-paths=ran.paths -o some "$here/known.c"
	echo 'path 0 1' >>zero.paths
	says chosen/path 1 'zero.paths:[0-9]*: ' env CHORD_CC=gcc "$CHORD" cc -O0 -fchord-paths=zero.paths -o some "$here/known.c"
}

# ---- definitions and uses of registers ----

# paired LABEL COMPILER FLAGS SOURCE [ARGUMENT...]: as single steps of the program without counters have them, and another decoder.
paired()
{
	local label=$1 compiler=$2 flags=$3 source=$4 says integrated=
	shift 4
	[ "$compiler" = gcc ] || integrated=-fno-integrated-as
	rm -f paired.*
	# shellcheck disable=SC2086
	weave "$compiler" $flags -no-pie -fno-pie -fchord=paths -o paired "$source" || { fail "$label" "$(head -n 1 log)"; return; }
	# shellcheck disable=SC2086
	"$compiler" $integrated $flags -no-pie -fno-pie -o plain "$source" 2>log || { fail "$label" "$(head -n 1 log)"; return; }
	CHORD_FILE=paired.chord ./paired "$@" >/dev/null
	"$CHORD" paths --json --def-use ./paired paired.chord >paired.json || { fail "$label" "chord paths --def-use"; return; }
	says=$(/usr/bin/python3 "$here/pairs.py" ./plain paired.json "$@" 2>&1) && echo "ok paths/$label: $says" ||
		fail "$label" "$(tail -n 1 <<<"$says")"
}

# Registers of a few instructions each kind, in assembly; what their pairs are stands beside them.
def_use_known()
{
	cat >registers.s <<-'END'
		.globl f
		.type f, @function
		f:
			mov $1, %ecx    # 0: covered by 2 and 3, not by 5
			xor %eax, %eax  # 1
			mov %cl, %al    # 2: uses what 1 left in %rax
			add %ecx, %eax  # 3
			cmp $100, %edi  # 4
			jle 1f          # 5
			mov %ecx, %eax  # 6: never
		1:	movd %eax, %xmm3       # 7
			pxor %xmm2, %xmm2      # 8: of no use to anybody
			pxor %xmm2, %xmm2      # 9: uses nothing
			cvtsi2sd %eax, %xmm2   # 10: leaves half of what 9 left
			movhlps %xmm3, %xmm2   # 11
			movq %xmm2, %rax       # 12
			ret
		.size f, . - f
		.section .note.GNU-stack, "", @progbits
	END
	echo 'long f(int); int main(int c, char **v) { (void)v; for (int i = 0; i < 3; i++) f(c); return 0; }' >registers.c
	weave gcc -O1 -fchord=paths -o registers registers.c registers.s || { fail def-use/known "$(head -n 1 log)"; return; }
	CHORD_FILE=registers.chord ./registers
	"$CHORD" paths --json --def-use --function=f ./registers registers.chord >registers.json
	jq -r '.def_use.pairs[] | [.register, .definition.block, .definition.insn, .use.block, .use.insn, .count] | map(tostring) | join(" ")' registers.json |
		sort >found
	sort >expected <<-'END'
		rcx 0 0 0 2 3
		rcx 0 0 0 3 3
		rcx 0 0 1 0 0
		rax 0 1 0 2 3
		rax 0 2 0 3 3
		rax 0 3 2 0 3
		rax 0 3 2 3 3
		rax 1 0 2 0 0
		rax 1 0 2 3 0
		zf 0 4 0 5 3
		sf 0 4 0 5 3
		of 0 4 0 5 3
		xmm3 2 0 2 4 3
		xmm2 2 2 2 3 3
		xmm2 2 3 2 4 3
		xmm2 2 4 2 5 3
	END
	same def-use/known expected found
	says def-use/text 0 '^ +3 +f, xmm2$' "$CHORD" paths --def-use --top=0 --function=f ./registers registers.chord
	says def-use/not 0 'to   mov %ecx, %eax at ' "$CHORD" paths --def-use --function=f ./registers registers.chord
	says def-use/total 0 '^ +13 +were covered' "$CHORD" paths --def-use --function=f ./registers registers.chord
	says def-use/usage 2 'only one of --diff' "$CHORD" paths --def-use --branches ./registers
	# Of paths of interest: others may have run.
	"$CHORD" paths select --rule='function:main' -o registers.paths ./registers registers.chord
	weave gcc -O1 -fchord-paths=registers.paths -o registers registers.c registers.s
	CHORD_FILE=registers.chord ./registers
	"$CHORD" paths --json --def-use ./registers registers.chord |
		jq -r '.def_use.functions[] | "\(.name) \(.not_covered) \(.all_paths)"' | sort >found
	printf '%s\n' 'f 0 false' 'main 0 false' >expected
	same def-use/selected expected found
}

def_use()
{
	def_use_known
	/usr/bin/python3 -c 'import capstone' 2>/dev/null || { echo "skip paths/def-use: no Capstone for python3"; return; }
	may trace || { echo "skip paths/def-use: $why"; return; }
	paired def-use/known.c/gcc gcc -O0 "$here/known.c"
	paired def-use/kinds.c/gcc/-O2 gcc -O2 "$here/kinds.c" 40
	paired def-use/kinds.c/gcc/-O3 gcc "-O3 -funroll-loops" "$here/kinds.c" 40
	paired def-use/kinds.c/clang/-O0 clang -O0 "$here/kinds.c" 40
	paired def-use/kinds.c/clang/-O2 clang -O2 "$here/kinds.c" 40
	paired def-use/many.c/gcc gcc -O2 "$here/many.c"
}

# Ways through calls, as docs/paths.md makes them of a trace: mid() is called with 0 1 2 3 in turn, ten times.
through()
{
	cat >through.c <<-'END'
		int leaf(int x) { if (x & 1) return x * 3; return x / 2; }
		int mid(int x) { int r; if (x > 2) r = leaf(x); else r = leaf(x + 1) + 1; if (r & 2) r++; return r; }
		int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += mid(i & 3); return !s; }
	END
	weave gcc -O0 -fchord=trace -o through through.c || { fail through "$(head -n 1 log)"; return; }
	CHORD_FILE=through.chord ./through
	sed -n '/^chord trace --blocks --json --grep=f /,/^```/p' "$here/../../docs/paths.md" |
		sed '$d; s|^chord |"$CHORD" |; s|=f |=mid |; s|f=f |f=mid |; s|./prog|./through through.chord|' >recipe
	CHORD=$CHORD bash ./recipe >ways 2>log || { fail through "$(head -n 1 log)"; return; }
	awk '{ print $1, gsub(/leaf:/, "") }' ways >found
	printf '%s\n' '3 3' '3 3' '2 3' '2 3' >expected
	same through/counts expected found
	[ "$(cut -d ' ' -f 2- ways | sort -u | wc -l)" = 4 ] && ok through/apart || fail through/apart "$(cat ways)"
}

[ $# -gt 0 ] || set -- known counts small real random reports choices studies doubts struck selective overlap unfinished long unfit \
	twins larger def_use through
for part; do "$part"; done
exit $failed
