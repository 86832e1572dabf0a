#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--full] [--measures LIST] [--jobs N] [--keep DIR] [NAME...]: each situation is a small program whose source says what is
# true of it. It is built plain and with Chord, and has to do the same both times. chord report has to say exactly what the source
# says. Without --full: gcc -O2 with edges, events, calls, paths and registers (edges with -fchord-loops=registers) and so on, clang -O0
# with every-edge, and for a few programs gcc -O2 with some-paths. If no names are given and FULL is not set (make check-torture sets
# it), of gcc's measures each program is built with edges and a third of the others. With --full: gcc and clang, -O0 and -O2, all
# measures. Events are counted beside edges, and both have to agree. CHORD is the program to test.
#
# Comments of a source, each on a line of its own:
#   expect: FUNCTION N [MAX]   activations of a function, in all profiles; words are
#                              expanded by the shell in the folder where the program ran
#   line: TAG N [MAX]          executions of the source lines that end in "@TAG"; such lines
#                              are one instruction (STEP); words are expanded, too
#   line exactly: TAG N        and no other instruction is said to be of such a line
#   absent: FUNCTION...        not in the report
#   profiles: N                the number of profiles
#   status: N                  exit status, 0 if not given
#   options: OPTION...         for the default build, which is $CC $SRC $OPTIONS -o program
#   build: COMMAND             in place of the default build; $PLAIN is the compiler without Chord
#   run: COMMAND               in place of ./program
#   report: ARGUMENT...        in place of ./program
#   notes: REGEX               the report's notes have a line like this; none: there are no notes
#   no notes: REGEX            the notes have no line like this
#   says: REGEX                Chord writes lines like this to standard error
#   unknown [FUNCTION...]: allowed because WHY    the report may say that the counts of these functions (of all,
#                              if none is named) are not known; unknown[MEASURE]: with that measure ([paths]: and path-registers)
#   events[COMPILER LEVEL]: NAME +N|-N... because WHY   so many more or fewer than edges say, if it is built by this
#                              compiler at this level; without this comment both have to be equal
#   events: not exact because WHY   the report itself says that not all is known
#   refused [FUNCTION...]: allowed because WHY
#   bounds: allowed because WHY   counts may be bounds in place of numbers, as where the notes have to say it
#   only: COMPILER because WHY
#   without: MEASURE because WHY
#   paths FUNCTION...: differ because WHY    they differ from run to run
#   paths: none because WHY    no paths can be read; the report is read nevertheless
#   need: COMMAND              without it the situation is skipped
#
# There is no test of a clock that goes back: what is counted does not depend on a clock.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
export CHORD LC_ALL=C
. "$here/../registry.sh"
unset CHORD_FILE CHORD_CC CHORD_CXX

# A process for each question would take longer than what is asked about: sources and facts are read once, into these.
# said[WORD]: the texts behind "WORD:", one a line; text: the source's lines; facts: those of the report; sums[WORDS]: of the
# numbers at the end of the facts that begin so.
declare -A said sums
text=() facts=()

# read_source NAME
read_source()
{
	local line word
	said=()
	mapfile -t text <"$here/$1"
	for line in "${text[@]}"; do
		[[ $line == "/* "*": "*" */" ]] || continue
		line=${line#/\* } line=${line% \*/} word=${line%%: *}
		said[$word]+=${said[$word]+$'\n'}${line#*: }
	done
}

# read_facts FILE: what is not a number, as of a function of which nothing is known, counts as none.
read_facts()
{
	local line key n
	sums=()
	mapfile -t facts <"$1"
	for line in "${facts[@]}"; do
		[[ $line == @(calls|upto|line|most)\ * ]] || continue
		key=${line% *} n=${line##* }
		[[ $n == +([0-9]) ]] || n=0
		sums[$key]=$((${sums[$key]-0} + n))
	done
}

# may WHAT FUNCTION: the file says that a function may be unknown or refused.
may()
{
	local word names
	for word in "${!said[@]}"; do
		[[ ${said[$word]} == "allowed because "* ]] || continue
		names=" $word "
		case $names in
		" $1 "*) names=${names#" $1"} ;;
		" $1[$measure] "*) names=${names#" $1[$measure]"} ;;
		" $1[paths] "*) [ "$measure" = path-registers ] && names=${names#" $1[paths]"} || continue ;;
		*) continue ;;
		esac
		[[ $names == " " || $names == *" $2 "* ]] && return
	done
	return 1
}

# same FILE FILE: two empty ones need no process to be compared.
same()
{
	[ ! -s "$1" ] && [ ! -s "$2" ] && [ -e "$1" ] && [ -e "$2" ] || cmp -s "$1" "$2"
}

# compile DIR: the commands of the source, in DIR; CC, PLAIN and SRC are set.
compile()
(
	cd "$1" || exit 1
	# shellcheck disable=SC2016
	commands=${said[build]-'$CC $SRC $OPTIONS -o program'} OPTIONS=${said[options]-}
	[[ $commands == *'$OPTIONS'* ]] || { CC="$CC $OPTIONS" PLAIN="$PLAIN $OPTIONS"; }
	set -e
	eval "$commands"
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
	shopt -s nullglob
	files=(../*.so)
	shopt -u nullglob
	[ ! -e ../program ] || files+=(../program)
	[ ${#files[@]} = 0 ] || ln "${files[@]}" .
	status=0
	{ timeout -k 1 60 bash -c "${said[run]-./program}" </dev/null >../out 2>../err; } 2>/dev/null || status=$?
	echo "$status"
)

# facts DIR: what the report says, as lines of words.
facts()
(
	cd "$1/run" || exit 1
	while read -r arguments; do
		# shellcheck disable=SC2086
		"$CHORD" report --json --lines $arguments || exit 1
	done <<<"${said[report]-./program}" >../json 2>../report.err
	[ ! -s ../report.err ] || return 1
	# clang mangles a static function of C linkage. Of events that measures have of their own edges say nothing.
	jq -r --arg own "$own_events" 'def plain: sub("^_ZL(?<n>[0-9]+)(?<s>.*)$"; .n as $n | .s[:$n | tonumber]);
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
	if [[ $4 == *[!0-9\ ]* ]]; then
		read -r least most <<<"$(cd "$dir/run" && eval "echo $4")"
	else
		read -r least most <<<"$4"
	fi
	: "${most:=$least}"
	case $low$high in
	'') fail "$1: not told, and is $least" ;;
	*)
		((low <= most && least <= high)) ||
			fail "$1: $low to $high, and is $(echo "$least $most" | sed -E 's/^(.*) \1$/\1/; s/ / to /')"
		((low == high)) || [[ ${said[notes]-} == *"are bounds"* || ${said[bounds]-} == "allowed because "* ]] || fail "$1: $low to $high, not exact"
		((high - low <= 16)) || fail "$1: $low to $high, which says little"
		;;
	esac
}

fail()
{
	echo "FAIL $label: $*"
	failed=1
}

# has WORD...: there is a fact that begins so.
has()
{
	local fact
	for fact in "${facts[@]}"; do
		[[ $fact != "$* "* ]] || return 0
	done
	return 1
}

# is_excused LINE: nothing is known of the function in which that is, and the source allows that. A function's name begins its line.
is_excused()
{
	local line=$1
	while ((line-- > 0)); do
		[[ ${text[line]} =~ ^([A-Za-z_][A-Za-z_0-9]*)\( ]] || continue
		has unknown "${BASH_REMATCH[1]}" && may unknown "${BASH_REMATCH[1]}"
		return
	done
	return 1
}

# lines DIRECTIVE: of the lines with a tag, the instructions ("line exactly"), or else the
# executions of what is executed most often: compilers leave instructions that have no line
# of their own behind STEP.
lines()
{
	local tag count n m n2 m2 line found excused
	while read -r tag count; do
		n=0 m=0 n2=0 m2=0 found='' excused=
		for ((line = 1; line <= ${#text[@]}; line++)); do
			[[ ${text[line - 1]} == *"@$tag */"* ]] || continue
			found=1
			is_excused "$line" && excused=1
			n=$((n + ${sums["line $name $line"]-0}))
			m=$((m + ${sums["most $name $line"]-0}))
			n2=$((n2 + ${sums["upto line $name $line"]-0}))
			m2=$((m2 + ${sums["upto most $name $line"]-0}))
		done
		[ -n "$found" ] || fail "no line @$tag in $name"
		[ -z "$excused" ] || continue
		[[ $count != *'$'* ]] || count=$(cd "$dir/run" && eval "echo $count")
		[ "$1" = line ] && ((m <= ${count##* } && ${count%% *} <= m2)) && continue
		is "line @$tag" "$n" "$n2" "$count"
	done < <([ -z "${said[$1]-}" ] || echo "${said[$1]}")
}

expectations()
{
	local function words what reason fact
	while read -r function words; do
		for what in unknown refused; do
			has $what "$function" && may $what "$function" && continue 2
		done
		is "calls of $function" "${sums["calls $function"]-}" "${sums["upto calls $function"]-}" "$words"
	done < <([ -z "${said[expect]-}" ] || echo "${said[expect]}")
	lines line
	lines "line exactly"
	words=${said[notes]-}
	case $words in
	'') ;;
	none) ! grep '^note ' "$dir/facts" >"$dir/noted" || fail "the report has a $(head -n 1 "$dir/noted")" ;;
	*) grep -qE "^note .*$words" "$dir/facts" || fail "the report has no note '$words'" ;;
	esac
	words=${said[no notes]-}
	[ -z "$words" ] || ! grep -E "^note .*$words" "$dir/facts" >"$dir/noted" || fail "the report has a $(head -n 1 "$dir/noted")"
	for function in ${said[absent]-}; do
		[ -z "${sums["calls $function"]-}" ] || fail "$function is in the report"
	done
	for fact in "${facts[@]}"; do
		[[ $fact == @(unknown|refused)\ * ]] || continue
		read -r what function reason <<<"$fact"
		may "$what" "$function" || fail "$what: $function: $reason"
	done
	events
}

# more EVENT: what the source says that there are more of it than edges say: a number with its sign, or 0; in n.
more()
{
	local words
	read -r -a words <<<"${said[events[$compiler $level]]-}"
	for ((n = 0; ${#words[@]} > 1; )); do
		[ "${words[0]}" != because ] || break
		[ "${words[0]}" != "$1" ] || n=${words[1]}
		words=("${words[@]:2}")
	done
}

# Events counted by themselves are what follows from edges, and but for what the source says not one more or less. Both may be bounds.
events()
{
	local fact event low high least most n any='' told='' path=''
	for fact in "${facts[@]}"; do
		[[ $fact != @(note|unknown)\ * ]] || told=1
		[[ ! $fact =~ ^unknown\ [^\ ]*[./] ]] || path=1
	done
	for fact in "${facts[@]}"; do
		[[ $fact == event\ * ]] || continue
		read -r event low high least most <<<"${fact#event }"
		any=1
		if [ -n "$told" ] && [[ ${said[events]-} == "not exact because "* ]]; then
			continue
		elif [ "$low" = null ] && [ -n "$path" ]; then
			continue # of which may() has been asked
		elif [ "$low" = null ] || [ "$least" = null ]; then
			fail "$event: $low to $high, edges say $least to $most: it is not known, and nothing says why"
			continue
		fi
		more "$event"
		((low - n <= most && high - n >= least)) || fail "$event: $low to $high, and edges say $least to $most, and $n more are foreseen"
	done
	[ -n "$any" ] || case $measure in events | calls) fail "no events are told" ;; esac
}

# behaviour STATUS: of the measured program, as of the plain one.
behaviour()
{
	local says=${said[says]-} profiles=${said[profiles]-} rest=$dir/err
	[ "$1" = "$status" ] || fail "exits with $1, not $status: $(head -n 1 "$dir/err" | cut -c 1-200)"
	same "$dir/out" "$plain/out" || fail "writes other than the plain program: $(head -n 1 "$dir/out" | cut -c 1-200)"
	[ -z "$says" ] || { rest=$dir/err.rest && grep -vxE "$says" "$dir/err" >"$rest"; }
	same "$plain/err" "$rest" || fail "writes an error: $(head -n 1 "$rest" | cut -c 1-200)"
	[ -z "$says" ] || grep -qxE "$says" "$dir/err" || fail "does not say '$says'"
	mapfile -t got < <(find "$dir/run" -name '*.chord*' ! -name '*.trace')
	[ -z "$profiles" ] || [ ${#got[@]} = "$profiles" ] || fail "${#got[@]} profiles, not $profiles"
}

options_of()
{
	case $1 in
	events) echo "-fchord=edges,events -fchord-events=instructions,blocks,calls" ;;
	calls) echo "-fchord=calls -fchord-events=instructions,blocks" ;;
	clock) echo "-fchord=edges,clock" ;;
	some-paths) echo "-fchord-paths=$all/chosen" ;;
	registers) echo "-fchord=edges -fchord-loops=registers" ;;
	path-registers) echo "-fchord=paths -fchord-loops=registers" ;;
	*) echo "-fchord=$1" ;;
	esac
}

# The options of "chord paths" that name what ran.
paths_of()
{
	echo "${said[report]-./program}" | grep -v -e --core | head -n 1 | grep . || echo ./program
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
	if [[ ${said[paths]-} == "none because "* ]]; then
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

# reason MEASURE: why the source is not tested with it
reason() { [ -z "${said[without]-}" ] || sed -n "s/^$1 because //p" <<<"${said[without]}"; }

# measured MEASURE
measured()
{
	local why got=() failed='' all
	label=situations/$name/$compiler/$level/$1 dir=$work/$id.$1
	why=$(reason "$1")
	# What is told of data is in a trace.
	[ "$1" != data ] || why=${why:-$(reason trace)}
	if [ -n "$why" ]; then
		echo "skip $label: $why"
		return
	fi
	[ "$1" != some-paths ] || choose || return
	if ! build "$dir" "$CHORD ${driver} $(options_of "$1")"; then
		fail "does not compile: $(grep -m 1 . "$dir.log")"
		return
	fi
	same "$dir.log" "$plain.log" || fail "compiling says: $(head -n 1 "$dir.log")"
	behaviour "$(run "$dir")"
	if [ "$1" = some-paths ]; then
		same_paths
	elif [ ${#got[@]} != 0 ] || [[ ${said[report]-} == *--core* ]]; then
		if facts "$dir" >"$dir/facts"; then
			read_facts "$dir/facts"
			expectations
		else
			fail "report: $(head -n 1 "$dir/report.err")"
		fi
	elif [ "${said[profiles]-}" != 0 ]; then
		fail "no profile"
	fi
	[ -n "$failed" ] || echo "ok $label"
}

# situation NAME COMPILER LEVEL MEASURE...
situation()
{
	local name=$1 kind=$2 level=$3 compiler=$2 driver=cc id=$1.$2$3 status plain dir label failed why got
	shift 3
	label=situations/$name/$kind/$level plain=$work/$id
	case $name:$kind in
	*.cc:gcc) compiler=g++ driver=c++ ;;
	*.cc:clang) compiler=clang++ driver=c++ ;;
	esac
	export CHORD_CC=$compiler CHORD_CXX=$compiler
	read_source "$name"
	why=${said[only]-}
	if [ -n "$why" ] && [ "${why%% *}" != "$kind" ]; then
		echo "skip $label: ${why#*because }"
		return
	fi
	why=${said[need]-}
	if [ -n "$why" ] && ! unshare -m sh -c "$why" >/dev/null 2>&1 && ! sh -c "$why" >/dev/null 2>&1; then
		echo "skip $label: '$why' does not succeed here"
		return
	fi
	status=${said[status]-0}
	if ! build "$plain" ""; then
		fail "does not compile without Chord: $(grep -m 1 error "$plain.log")"
	elif got=$(run "$plain") && [ "$got" != "$status" ]; then
		fail "without Chord exits with $got, not $status"
	else
		compiler=$kind
		for measure; do
			measured "$measure"
		done
	fi
	[ -n "$keep" ] || rm -rf "$work/$id" "$work/$id".*
}

# worker K: every jobs-th source of the list, from the K-th: a source has a long line and a short one.
worker()
{
	awk -v jobs="$jobs" -v k="$1" '$1 != name { n++; name = $1 } n % jobs == k' "$work/list" >"$work/list.$1"
	while read -r name compiler level measures; do
		# shellcheck disable=SC2086
		situation "$name" "$compiler" "$level" $measures </dev/null
	done <"$work/list.$1"
}

some_paths="core-thread.c dlopen-threads.c fibres.c fork.c longjmp.c setjmp-loop.c siglongjmp-handler.c sigkill.c sigsegv-recovered.c"
some_paths+=" thread-cancel.c threads-64.c throw-qsort.cc vfork-exec.c"
full= keep='' jobs=2 measures="$(measures) some-paths registers path-registers" names=() workers=()
own_events=$(measures own-event)
# These two count what edges derive: the second one is built in another way.
turn_at=0
usual=$(measures | sed "s/every-block //; s/every-edge //")" registers"
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
[ ${#names[@]} = 0 ] || FULL=1
[ ${#names[@]} -gt 0 ] || names=($(cd "$here" && ls -- *.c *.cc))
for name in "${names[@]}"; do
	if [ -n "$full" ]; then
		for compiler in gcc clang; do
			for level in -O0 -O2; do
				echo "$name $compiler $level $measures"
			done
		done
	else
		in_turn $usual
		case " $some_paths " in
		*" $name "*) echo "$name gcc -O2 $turn some-paths" ;;
		*) echo "$name gcc -O2 $turn" ;;
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
