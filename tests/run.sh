#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh BUILD [SUITE...]: runs test suites. Each prints lines that begin with ok, FAIL or skip, and the last line here has their
# numbers. Without suites all are run, and the long ones are cut down to a sample. Several run at a time. A suite that ends badly
# without a FAIL line counts as one failure.
set -u
unset CHORD_DIR
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
. "$here/may.sh"
. "$here/registry.sh"
# What runs commands by the shell of a login (GNU parallel) gets one that is known.
export CHORD=$build/chord LC_ALL=C SHELL=/bin/sh
# Sources and plain builds are kept at home, if there is one.
home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
home=${CHORD_CACHE:-${home:+$home/chord}}
[ -n "$home" ] && mkdir -p "$home" 2>/dev/null && [ -w "$home" ] || home=$build/cache
export CHORD_CACHE=$home
out=$(mktemp -d "${TMPDIR:-/tmp}/chord-check.XXXXXX")
log=$out/log
: >"$log"
trap 'rm -rf "$out"' EXIT
trap 'for job in $(jobs -p); do kill -- "-$job"; done; exit 130' INT TERM

# Programs of cmocka: every test that passed, failed or was skipped is a line.
unit()
{
	local status=0 test source
	for source in "$here"/unit/*.c; do
		test=$build/tests/$(basename "$source" .c)
		[ -x "$test" ] || { echo "FAIL unit/${test##*/}: it is not built: make check builds it"; continue; }
		"$test" 2>&1 | sed -E -e "s|^\[ +OK \] (.*)|ok unit/${test##*/}/\1|" -e "s|^\[ +FAILED +\] ([a-z].*)|FAIL unit/${test##*/}/\1|" \
			-e '/^\[[ =-]+\]|^\[ +RUN/d' -e '/^\[  PASSED/d'
		[ "${PIPESTATUS[0]}" = 0 ] || status=1
	done
	return $status
}

house()
{
	for rule in layers fmt; do
		if "$here/../tools/$rule.sh"; then echo "ok house/$rule"; else echo "FAIL house/$rule"; fi
	done
}

# What the machine lacks for samples of programs from elsewhere: sources, or addresses that are the same in two runs.
lacks()
{
	case $1 in
	torture-sample | csmith-sample) may fixed || return 0 ;;
	esac
	case $1 in
	oracle-sample | real-sample) why=$("$here/real/recipe.sh" bzip2 fetch 2>&1) && return 1 ;;
	torture-sample) why=$("$here/torture/torture.sh" --fetch 2>&1) && return 1 ;;
	*) return 1 ;;
	esac
	why="the mirror gives no sources: $(echo "$why" | tail -n 1)"
}

# What make check has samples of, one after the other, to the end.
whole_torture()
{
	local each bad=0
	"$here/torture/torture.sh" --sample 1 && echo "ok torture" || bad=1
	for each in hostile situations timers tracing replay paths; do
		FULL=1 "$here/$each/run.sh" || bad=1
	done
	"$here/alloc/run.sh" --every 1 || bad=1
	"$here/tracing/kills.sh" || bad=1
	"$here/fuzz/run.sh" --whole damage index || bad=1
	return $bad
}

suite()
{
	local why
	lacks "$1" && { echo "skip $1: $why"; return 0; }
	case $1 in
	house | unit) "$1" ;;
	graph) "$here/graph/run.sh" "$CHORD" ;;
	calls) "$here/calls/run.sh" ;;
	processors) "$here/processors/run.sh" ;;
	events) "$here/events/run.sh" ;;
	clock | golden | hook | hostile | input | runtime | situations | step | stat | replay | timers | diff | paths | weights | annotate | coverage | merge | names | newcomer | export | readers | html | packaging | paper | trace | tracing) "$here/$1/run.sh" ;;
	alloc) "$here/alloc/run.sh" ;;
	fuzz) "$here/fuzz/run.sh" --mutations 100 ;;
	oracle-sample) "$here/oracle/callgrind.sh" --programs "bzip2 lua5.4" --configs gcc-O2 && "$here/oracle/measures.sh" --programs bzip2 &&
		"$here/oracle/events.sh" --programs bzip2 && "$here/oracle/calls.sh" --programs bzip2 &&
		"$here/tracing/programs.sh" --programs bzip2 --kills 10 ;;
	oracle) "$here/oracle/callgrind.sh" && "$here/oracle/callgrind.sh" --programs openssl --configs gcc-O2 &&
		"$here/oracle/measures.sh" && "$here/oracle/events.sh" &&
		"$here/oracle/calls.sh" && "$here/tracing/programs.sh" ;;
	real-sample) "$here/real/run.sh" --sample ;;
	replay-sample) REPLAYS=2 SIGNALS=50 MUTATIONS=5 "$here/replay/run.sh" world signals struck mapped maps damaged mutated kinds threads server processes \
		exec-of-threads walk outputs debug-back debug-seldom debug-interrupt debug-comparison debug-garbage debug-seek debug-race debug-processes ;;
	real) "$here/real/run.sh" && CHORD_READERS="lua5.4 sqlite3" "$here/readers/run.sh" ;;
	torture-sample) "$here/torture/torture.sh" --sample 40 && echo "ok torture" ;;
	torture) whole_torture ;;
	csmith-sample) "$here/torture/csmith.sh" --programs 10 && echo "ok csmith" ;;
	csmith) "$here/torture/csmith.sh" --programs 1000 && echo "ok csmith" ;;
	gas-sample) "$here/torture/gas.sh" --texts 20 --seconds 40 && echo "ok gas" ;;
	gas) "$here/torture/gas.sh" --texts 2000 && echo "ok gas" ;;
	*) echo "FAIL $1: no such suite"; return 1 ;;
	esac
}

# one NAME: a suite, with its time, and the processors' time of it.
one()
{
	local start=$SECONDS said=$out/$1.said
	echo "== $1"
	suite "$1" </dev/null 2>&1 | tee "$said"
	if [ "${PIPESTATUS[0]}" != 0 ] && ! grep -q '^FAIL' "$said"; then
		echo "FAIL $1: it ended badly"
	fi
	cpu_time "$out/$1.times"
	echo "   ($((SECONDS - start)) s; ${cpu%.*} s of processors' time)"
}

# Of those that have ended, what was not yet shown.
show()
{
	local name
	for name in "$@"; do
		[ -e "$out/$name.ended" ] || continue
		tee -a "$log" <"$out/$name"
		rm "$out/$name.ended" "$out/$name"
	done
}

# One more at a time than there are processors, because some tests wait, but six at most; each is shown when it has ended. Jobs have
# groups of their own: other background jobs of a script ignore signals that are tested here.
lanes=$(($(nproc) + 1))
[ "$lanes" -le 6 ] || lanes=6
set -m
# What fetches sources first, then longer ones.
[ $# -gt 0 ] || set -- house unit graph golden real-sample tracing hostile situations paths replay oracle-sample clock runtime fuzz step timers events input hook \
	torture-sample calls stat weights csmith-sample gas-sample readers diff coverage merge annotate names newcomer packaging paper export html alloc trace
for name in "$@"; do
	while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do
		wait -n
		show "$@"
	done
	{ one "$name"; : >"$out/$name.ended"; } >"$out/$name" 2>&1 &
done
while [ "$(jobs -rp | wc -l)" -gt 0 ]; do
	wait -n
	show "$@"
done
show "$@"
for name in "$@"; do
	[ -e "$out/$name" ] && { cat "$out/$name"; echo "FAIL $name: its shell has ended"; } | tee -a "$log"
done
passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^FAIL ' "$log")
skipped=$(grep -c '^skip ' "$log")
# Once more at the end, where a long log is read first: what failed, with what was said around it.
if [ "$failed" != 0 ]; then
	echo "== failed"
	grep -E -B 3 -A 12 '^FAIL ' "$log" | sed 's/^/   /'
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
