#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--full] [--measures LIST] [--jobs N] [--keep DIR] [NAME...]: each situation is a small program that
# carries its own truth. It is built plain and with Chord and does the same both times, and
# chord report says exactly what the source says. Without --full: gcc -O2 edges, events, calls and paths, clang
# -O0 every-edge, and of a few gcc -O2 some-paths; with it gcc and clang, -O0 and -O2, all measures. Events are counted beside edges
# and have to agree with what these say. CHORD is the program to test.
#
# Comments of a source, each on a line of its own:
#   expect: FUNCTION N [MAX]   activations of a function, in all profiles; words are
#                              expanded by the shell in the folder where the program ran
#   line: TAG N [MAX]          executions of the source lines that end in "@TAG"; such lines
#                              are one instruction (STEP)
#   line exactly: TAG N        and no other instruction is said to be of such a line
#   absent: FUNCTION...        not in the report
#   profiles: N                this many profiles
#   status: N                  exit status, 0 if not given
#   options: OPTION...         for the default build, which is $CC $SRC $OPTIONS -o program
#   build: COMMAND             instead; $PLAIN is the compiler without Chord
#   run: COMMAND               instead of ./program
#   report: ARGUMENT...        instead of ./program
#   notes: REGEX               the report's notes have a line like this; none: there are none
#   no notes: REGEX            they have no line like this
#   says: REGEX                Chord says lines like this to standard error
#   unknown [FUNCTION...]: allowed because WHY    of these functions (if none is named, of
#                              all) the report may say that their counts are not known; unknown[MEASURE]: with that one
#   events[COMPILER LEVEL]: NAME +N|-N... because WHY   so many more or fewer than edges say, where it is built so; without this
#                              they have to be equal
#   events: not exact because WHY   where the report says itself that not all is known
#   refused [FUNCTION...]: allowed because WHY
#   bounds: allowed because WHY   counts may be bounds in place of numbers, as where the notes have to say it
#   only: COMPILER because WHY
#   without: MEASURE because WHY
#   paths FUNCTION...: differ because WHY    from run to run
#   paths: none because WHY    can be read; the report is read nevertheless
#   need: COMMAND              else it is skipped
#
# There is no test of a clock that goes back: what is counted does not depend on a clock.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
export CHORD LC_ALL=C
. "$here/../registry.sh"
unset CHORD_FILE CHORD_CC CHORD_CXX

# directive NAME WORD: the texts behind "WORD:", one a line.
directive()
{
	sed -nE "s|^/\* $2: (.*) \*/\$|\1|p" "$here/$1"
}

# may NAME WHAT FUNCTION: the file says that a function may be unknown or refused.
may()
{
	sed -nE "s|^/\* $2(\[$measure\])?(( [^ :]+)*): allowed because .*|\2 |p" "$here/$1" | grep -qE "^ \$| $3 "
}

# compile DIR: the commands of the source, in DIR; CC, PLAIN, SRC and OPTIONS are set.
compile()
(
	cd "$1" || exit 1
	directive "$name" build >commands
	# shellcheck disable=SC2016
	[ -s commands ] || echo '$CC $SRC $OPTIONS -o program' >commands
	OPTIONS=$(directive "$name" options)
	grep -q '\$OPTIONS' commands || { CC="$CC $OPTIONS" PLAIN="$PLAIN $OPTIONS"; }
	set -e
	. ./commands
)

# build DIR DRIVER...: no driver for the plain program.
build()
{
	local CC PLAIN="$compiler $level -g -I$here" SRC=$here/$name
	mkdir "$1"
	CC=${2:+$2 $level -g -I$here}
	: "${CC:=$PLAIN}"
	compile "$1" >"$1.log" 2>&1
}

# run DIR: in DIR/run; prints the status.
run()
(
	mkdir "$1/run"
	cd "$1/run" || exit 1
	find .. -maxdepth 1 \( -name program -o -name '*.so' \) -exec ln {} . \;
	command=$(directive "$name" run)
	status=0
	{ timeout -k 1 60 bash -c "${command:-./program}" </dev/null >../out 2>../err; } 2>/dev/null || status=$?
	echo "$status"
)

# facts DIR: what the report says, as lines of words.
facts()
(
	cd "$1/run" || exit 1
	directive "$name" report >../reports
	[ -s ../reports ] || echo ./program >../reports
	while read -r arguments; do
		# shellcheck disable=SC2086
		"$CHORD" report --json --lines $arguments || exit 1
	done <../reports >../json 2>../report.err
	[ ! -s ../report.err ] || return 1
	# clang mangles a static function of C linkage. Of events that measures have of their own edges say nothing.
	jq -r --arg own "$(measures own-event)" 'def plain: sub("^_ZL(?<n>[0-9]+)(?<s>.*)$"; .n as $n | .s[:$n | tonumber]);
		(.functions[] | "calls \(.name | plain) \(.calls // .calls_at_least)",
			"upto calls \(.name | plain) \(.calls // .calls_at_most)"),
		(.lines[] | (.file | split("/")[-1]) as $file |
			"line \($file) \(.line) \(.instructions // .instructions_at_least)", "most \($file) \(.line) \(.most // .most_at_least)",
			"upto line \($file) \(.line) \(.instructions // .instructions_at_most)",
			"upto most \($file) \(.line) \(.most // .most_at_most)"),
		(select(.events) | . as $r | .events | keys[] | select(test("_at_(least|most)$") | not) |
			select(IN($own | split(" ")[]) | not) | . as $e |
			"event \($e) " + ([$r.events, $r.totals | .[$e] // .[$e + "_at_least"], .[$e] // .[$e + "_at_most"]] | map(tostring) | join(" "))),
		(.notes[] | "note \(.)"),
		(.unknown[] | "unknown \(.name | plain) \(.reason)"),
		(.refused[] | "refused \(.name | plain) \(.reason)")' ../json
)

# is WHAT LEAST MOST WORDS: the words, expanded, are a number, or a range. What was reported, a number or bounds (LEAST and
# MOST), agrees with it.
is()
{
	local low=$2 high=$3 least most
	read -r least most <<<"$(cd "$dir/run" && eval "echo $4")"
	: "${most:=$least}"
	case $low$high in
	'' | *null*) fail "$1: not told, and is $least" ;;
	*)
		((low <= most && least <= high)) ||
			fail "$1: $low to $high, and is $(echo "$least $most" | sed -E 's/^(.*) \1$/\1/; s/ / to /')"
		((low == high)) || grep -qE '^/\* (notes: .*are bounds|bounds: allowed because )' "$here/$name" || fail "$1: $low to $high, not exact"
		((high - low <= 16)) || fail "$1: $low to $high, which says little"
		;;
	esac
}

fail()
{
	echo "FAIL $label: $*"
	failed=1
}

# sum WORD...: of the numbers at the end of the facts that begin so; nothing if there is none.
sum()
{
	awk -v key="$*" 'index($0, key " ") == 1 { n += $NF; any = 1 } END { if (any) print n }' "$dir/facts"
}

# function_of LINE: the function of the source in which that is; a function's name begins its line.
function_of()
{
	awk -v line="$1" 'NR > line { exit } match($0, /^[A-Za-z_][A-Za-z_0-9]*\(/) { name = substr($0, 1, RLENGTH - 1) } END { print name }' "$here/$name"
}

# is_excused LINE: nothing is known of the function in which that is, and the source allows that.
is_excused()
{
	local function
	function=$(function_of "$1")
	[ -n "$function" ] && grep -q "^unknown $function " "$dir/facts" && may "$name" unknown "$function"
}

# lines DIRECTIVE: of the lines with a tag, the instructions ("line exactly"), or else the
# executions of what is executed most often: compilers leave instructions that have no line
# of their own behind STEP.
lines()
{
	local tag count n m n2 m2 line found excused
	while read -r tag count; do
		n=0 m=0 n2=0 m2=0 found='' excused=
		while read -r line; do
			found=1
			is_excused "$line" && excused=1
			n=$((n + $(sum line "$name" "$line" | grep . || echo 0)))
			m=$((m + $(sum most "$name" "$line" | grep . || echo 0)))
			n2=$((n2 + $(sum upto line "$name" "$line" | grep . || echo 0)))
			m2=$((m2 + $(sum upto most "$name" "$line" | grep . || echo 0)))
		done < <(grep -n "@$tag \*/" "$here/$name" | cut -d: -f1)
		[ -n "$found" ] || fail "no line @$tag in $name"
		[ -z "$excused" ] || continue
		[ "$1" = line ] && ((m <= ${count##* } && ${count%% *} <= m2)) && continue
		is "line @$tag" "$n" "$n2" "$count"
	done < <(directive "$name" "$1")
}

expectations()
{
	local function words what reason
	while read -r function words; do
		for what in unknown refused; do
			grep -q "^$what $function " "$dir/facts" && may "$name" $what "$function" && continue 2
		done
		is "calls of $function" "$(sum calls "$function")" "$(sum upto calls "$function")" "$words"
	done < <(directive "$name" expect)
	lines line
	lines "line exactly"
	words=$(directive "$name" notes)
	case $words in
	'') ;;
	none) ! grep '^note ' "$dir/facts" >"$dir/noted" || fail "the report has a $(head -n 1 "$dir/noted")" ;;
	*) grep -qE "^note .*$words" "$dir/facts" || fail "the report has no note '$words'" ;;
	esac
	words=$(directive "$name" "no notes")
	[ -z "$words" ] || ! grep -E "^note .*$words" "$dir/facts" >"$dir/noted" || fail "the report has a $(head -n 1 "$dir/noted")"
	for function in $(directive "$name" absent); do
		[ -z "$(sum calls "$function")" ] || fail "$function is in the report"
	done
	while read -r what function reason; do
		may "$name" "$what" "$function" || fail "$what: $function: $reason"
	done < <(grep -E '^(unknown|refused) ' "$dir/facts")
	events
}

# more EVENT: what the source says that there are more of it than edges say: a number with its sign, or 0.
more()
{
	directive "$name" "events\\[$compiler $level\\]" | sed -n 's/ because .*//p' | awk -v e="$1" '{ for (i = 1; i < NF; i += 2) if ($i == e) n = $(i + 1) + 0 }
		END { print n + 0 }'
}

# Events counted by themselves are what follows from edges, and but for what the source says not one more or less. Both may be bounds.
events()
{
	local event low high least most n any=
	while read -r event low high least most; do
		any=1
		if directive "$name" events | grep -q '^not exact because ' && grep -qE '^(note|unknown) ' "$dir/facts"; then
			continue
		elif [ "$low" = null ] && grep -q '^unknown [^ ]*[./]' "$dir/facts"; then
			continue # of which may() has been asked
		elif [ "$low" = null ] || [ "$least" = null ]; then
			fail "$event: $low to $high, edges say $least to $most: it is not known, and nothing says why"
			continue
		fi
		n=$(more "$event")
		((low - n <= most && high - n >= least)) || fail "$event: $low to $high, and edges say $least to $most, and $n more are foreseen"
	done < <(sed -n 's/^event //p' "$dir/facts")
	[ -n "$any" ] || case $measure in events | calls) fail "no events are told" ;; esac
}

# behaviour STATUS: of the measured program, as of the plain one.
behaviour()
{
	local says profiles
	says=$(directive "$name" says)
	[ "$1" = "$status" ] || fail "exits with $1, not $status: $(head -n 1 "$dir/err" | cut -c 1-200)"
	cmp -s "$dir/out" "$plain/out" || fail "writes other than the plain program: $(head -n 1 "$dir/out" | cut -c 1-200)"
	grep -vxE "${says:-chord: none}" "$dir/err" >"$dir/err.rest"
	cmp -s "$plain/err" "$dir/err.rest" || fail "writes an error: $(head -n 1 "$dir/err.rest" | cut -c 1-200)"
	[ -z "$says" ] || grep -qxE "$says" "$dir/err" || fail "does not say '$says'"
	find "$dir/run" -name '*.chord*' ! -name '*.trace' >"$dir/got"
	profiles=$(directive "$name" profiles)
	if [ -n "$profiles" ] && [ "$(wc -l <"$dir/got")" != "$profiles" ]; then
		fail "$(wc -l <"$dir/got") profiles, not $profiles"
	fi
}

options_of()
{
	case $1 in
	events) echo "-fchord=edges,events -fchord-events=instructions,blocks,calls" ;;
	calls) echo "-fchord=calls -fchord-events=instructions,blocks" ;;
	clock) echo "-fchord=edges,clock" ;;
	some-paths) echo "-fchord-paths=$all/chosen" ;;
	*) echo "-fchord=$1" ;;
	esac
}

# The options of "chord paths" that name what ran.
paths_of()
{
	directive "$name" report | grep -v -e --core | head -n 1 | grep . || echo ./program
}

# choose: of the paths that ran where all are counted every second one, in $all/chosen; where the program has no profile, of all.
choose()
{
	local from
	all=$work/$id.all from=$(paths_of)
	build "$all" "$CHORD ${driver} -fchord=paths" || { fail "does not compile: $(grep -m 1 . "$all.log")"; return 1; }
	run "$all" >/dev/null
	# shellcheck disable=SC2086
	(
		cd "$all/run" || exit 1
		"$CHORD" paths select --rule top:100% -o ../ran $from 2>../log && "$CHORD" paths --json $from >../json 2>../log && exit 0
		ls ./*.chord* >../profiles 2>&1 && grep -vq "no map of Chord's" ../log && exit 1
		for from in ./program ./*.so; do
			"$CHORD" paths select --rule 'function:*' -o ../ran "$from" 2>>../log && exit 0
		done
		exit 1
	) || { fail "paths: $(head -n 1 "$all/log")"; return 1; }
	awk '!/^path / || n++ % 2 == 0' "$all/ran" >"$all/chosen"
}

# Paths of interest have the counts that they have where all are counted, and no other is counted as one; but for those
# of functions in which a signal struck, and those that the source says to be different.
same_paths()
{
	if directive "$name" paths | grep -q '^none because '; then
		facts "$dir" >"$dir/facts" || fail "report: $(head -n 1 "$dir/report.err")"
		return
	fi
	[ "$(jq '.paths | length' "$all/json" 2>&1)" -gt 0 ] || { fail "nothing to compare: no path ran where all are counted"; return; }
	# shellcheck disable=SC2046
	if ! ( cd "$dir/run" && "$CHORD" paths --json $(paths_of) >../json 2>../paths.err ); then
		fail "paths: $(head -n 1 "$dir/paths.err")"
		return
	fi
	jq -rn --slurpfile all "$all/json" --slurpfile some "$dir/json" --rawfile chosen "$all/chosen" \
		--arg allowed "$(sed -nE "s|^/\* paths (.*): differ because .*|\1|p" "$here/$name")" '
		def key: "\(.function)\t\(.file)\t\([.edges[].edge | tostring] | join(" "))";
		def counts: reduce .paths[] as $p ({}; .[$p | key] += $p.count);
		def plain: sub("^_ZL(?<n>[0-9]+)(?<s>.*)$"; .n as $n | .s[:$n | tonumber]);
		([$all[0], $some[0] | .inexact[].name]) as $doubtful | ($allowed | split(" ")) as $allowed |
		(reduce ($chosen | split("\n")[]) as $line ({}; if $line | startswith("procedure\t") then
				.proc = ($line | split("\t")[1:3] | join("\t"))
			elif $line | startswith("path ") then .want["\(.proc)\t\($line[5:])"] = true else . end) | .want) as $want |
		($all[0] | counts) as $a | ($some[0] | counts) as $s | $a + $s | keys[] |
		select((split("\t")[0]) as $f | ($doubtful | index($f)) or ($allowed | index($f | plain)) | not) |
		(if $want[.] then $a[.] // 0 else 0 end) as $expected | select(($s[.] // 0) != $expected) |
		"\(.) ran \($expected) times, and here \($s[.] // 0)"' >"$dir/differ" 2>"$dir/paths.err" || fail "jq: $(cat "$dir/paths.err")"
	[ ! -s "$dir/differ" ] || fail "path $(head -n 1 "$dir/differ")"
}

# measured MEASURE
measured()
{
	local got failed= all
	label=situations/$name/$compiler/$level/$1 dir=$work/$id.$1
	got=$(directive "$name" without | sed -n "s/^$1 because //p")
	# What is told of data is in a trace.
	[ "$1" != data ] || got=${got:-$(directive "$name" without | sed -n "s/^trace because //p")}
	if [ -n "$got" ]; then
		echo "skip $label: $got"
		return
	fi
	[ "$1" != some-paths ] || choose || return
	if ! build "$dir" "$CHORD ${driver} $(options_of "$1")"; then
		fail "does not compile: $(grep -m 1 . "$dir.log")"
		return
	fi
	cmp -s "$dir.log" "$plain.log" || fail "compiling says: $(head -n 1 "$dir.log")"
	got=$(run "$dir")
	behaviour "$got"
	if [ "$1" = some-paths ]; then
		same_paths
	elif [ -s "$dir/got" ] || directive "$name" report | grep -q -e --core; then
		if facts "$dir" >"$dir/facts"; then
			expectations
		else
			fail "report: $(head -n 1 "$dir/report.err")"
		fi
	elif [ "$(directive "$name" profiles)" != 0 ]; then
		fail "no profile"
	fi
	[ -n "$failed" ] || echo "ok $label"
}

# situation NAME COMPILER LEVEL MEASURE...
situation()
{
	local name=$1 kind=$2 level=$3 compiler=$2 driver=cc id=$1.$2$3 status plain dir label failed why
	shift 3
	label=situations/$name/$kind/$level plain=$work/$id
	case $name:$kind in
	*.cc:gcc) compiler=g++ driver=c++ ;;
	*.cc:clang) compiler=clang++ driver=c++ ;;
	esac
	export CHORD_CC=$compiler CHORD_CXX=$compiler
	why=$(directive "$name" only)
	if [ -n "$why" ] && [ "${why%% *}" != "$kind" ]; then
		echo "skip $label: ${why#*because }"
		return
	fi
	why=$(directive "$name" need)
	if [ -n "$why" ] && ! unshare -m sh -c "$why" >/dev/null 2>&1 && ! sh -c "$why" >/dev/null 2>&1; then
		echo "skip $label: '$why' does not succeed here"
		return
	fi
	status=$(directive "$name" status)
	: "${status:=0}"
	if ! build "$plain" ""; then
		fail "does not compile without Chord: $(grep -m 1 error "$plain.log")"
	elif [ "$(run "$plain" | tee "$plain/status")" != "$status" ]; then
		fail "without Chord exits with $(cat "$plain/status"), not $status"
	else
		compiler=$kind
		for measure; do
			measured "$measure"
		done
	fi
	[ -n "$keep" ] || rm -rf "$work/$id" "$work/$id".*
}

# worker K: every jobs-th line of the list, from the K-th.
worker()
{
	awk -v jobs="$jobs" -v k="$1" 'NR % jobs == k' "$work/list" >"$work/list.$1"
	while read -r name compiler level measures; do
		# shellcheck disable=SC2086
		situation "$name" "$compiler" "$level" $measures </dev/null
	done <"$work/list.$1"
}

some_paths="core-thread.c dlopen-threads.c fibres.c fork.c longjmp.c setjmp-loop.c siglongjmp-handler.c sigkill.c sigsegv-recovered.c"
some_paths+=" thread-cancel.c threads-64.c throw-qsort.cc vfork-exec.c"
full= keep='' jobs=2 measures="$(measures) some-paths" names=() workers=()
# These two count what edges derive: the second one is built in another way.
usual=$(measures | sed "s/every-block //; s/every-edge //")
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=1 ;;
	--jobs) jobs=$2; shift ;;
	--keep) keep=$2; shift ;;
	--measures) full=1 measures=$2; shift ;;
	-*) echo "run.sh: $1: no such option" >&2; exit 2 ;;
	*) names+=("$1") ;;
	esac
	shift
done
if [ -n "$keep" ]; then
	mkdir -p "$keep" && work=$(realpath "$keep")
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/chord-situations.XXXXXX")
	trap 'rm -rf "$work"' EXIT
fi
chmod 755 "$work"
[ ${#names[@]} -gt 0 ] || names=($(cd "$here" && ls -- *.c *.cc))
for name in "${names[@]}"; do
	if [ -n "$full" ]; then
		for compiler in gcc clang; do
			for level in -O0 -O2; do
				echo "$name $compiler $level $measures"
			done
		done
	else
		case " $some_paths " in
		*" $name "*) echo "$name gcc -O2 $usual some-paths" ;;
		*) echo "$name gcc -O2 $usual" ;;
		esac
		echo "$name clang -O0 every-edge"
	fi
done >"$work/list"
for k in $(seq 0 $((jobs - 1))); do
	worker "$k" 2>&1 | tee "$work/log.$k" &
	workers+=($!)
done
wait "${workers[@]}"
! grep -hq '^FAIL' "$work"/log.*
