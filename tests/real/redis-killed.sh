#!/bin/sh
# SPDX-License-Identifier: MIT
# redis-killed.sh [--work DIR] [--requests N]: a server that is killed under load. redis-server (Debian's source) is built with
# edges and events. It answers redis-benchmark, has children save its data, and is stopped, looked at, and killed. Then
#	- "report --pid" of the stopped server is exact, and agrees with "query"
#	- the killed server and each child that ended are in the report, and no procedure is unknown
#	- what the report says of commands agrees with what the server itself counted ("info commandstats")
# Prints "ok ..." or "FAIL ..."; status 1 if anything failed. CHORD is the program to test.
set -u
real=$(cd "$(dirname "$0")" && pwd)
. "$real/lib.sh"
: "${CHORD:=$real/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
work=$CHORD_CACHE/work/redis requests=20000 failed=0
while [ $# -gt 1 ]; do
	case $1 in
	--work) work=$2 ;;
	--requests) requests=$2 ;;
	*) die "$1: no such option" ;;
	esac
	shift 2
done

say()
{
	echo "$*"
	case $1 in FAIL*) failed=1 ;; esac
}

cli()
{
	./redis-cli -s "$work/run/socket" "$@"
}

# range KEY FILTER: least and most of a number of the report.
range()
{
	jq -r "$2 | \"\(.$1 // .$1_at_least) \(.$1 // .$1_at_most)\"" "$work/report.json"
}

build()
{
	mkdir -p "$work"
	[ -x "$work/source/src/redis-server" ] && return
	source_package redis
	[ -d "$work/source" ] || copy_source redis "$work/source"
	cd "$work/source" || exit 1
	make -j2 MALLOC=libc OPTIMIZATION=-O2 CC="$CHORD cc -fchord=edges,events -fchord-events=instructions,blocks" >"$work/build.log" 2>&1
}

# load: sets, gets, lists, and a child that saves.
load()
{
	./redis-benchmark -s "$work/run/socket" -q -n "$requests" -t set,get,lpush,incr >/dev/null
	cli bgsave >/dev/null
	while cli info persistence | grep -q rdb_bgsave_in_progress:1; do sleep 0.1; done
}

build || { tail -n 3 "$work/build.log"; say "FAIL redis does not build"; exit 1; }
rm -rf "$work/run"
mkdir -p "$work/run"
cd "$work/source/src" || exit 1
(cd "$work/run" && CHORD_FILE=redis-server.%p.chord exec "$work/source/src/redis-server" --port 0 --unixsocket "$work/run/socket" \
	--save '' --daemonize no --dir "$work/run" >log 2>&1) &
for _ in $(seq 100); do cli ping >/dev/null 2>&1 && break; sleep 0.1; done
pid=$(cli info server | sed -n 's/^process_id:\([0-9]*\).*/\1/p')
[ -n "$pid" ] || { say "FAIL the server does not answer"; exit 1; }
load
./redis-benchmark -s "$work/run/socket" -q -n 100000000 -t set,get >/dev/null 2>&1 &
bench=$!
sleep 1
kill -STOP "$pid"
while ! grep -q '^State:.T' "/proc/$pid/status"; do sleep 0.1; done
"$CHORD" report --json --pid "$pid" >"$work/report.json" || failed=1
"$CHORD" query --json "$pid" >"$work/query.json" || failed=1
set -- $(range instructions .totals) "$(jq .events.instructions "$work/query.json")"
if [ "$1" = "$3" ] && [ "$2" = "$3" ]; then
	say "ok a stopped server: $1 instructions by edges, and by query"
else
	say "FAIL a stopped server: $1 to $2 instructions by edges, $3 by query: $(jq -c '[.notes, .unknown]' "$work/report.json")"
fi
kill -CONT "$pid"
sleep 1
cli info commandstats | sed -n 's/^cmdstat_\([a-z]*\):calls=\([0-9]*\).*/\1 \2/p' >"$work/told"
kill -KILL "$bench" 2>/dev/null
sleep 0.5
cli info commandstats | sed -n 's/^cmdstat_\([a-z]*\):calls=\([0-9]*\).*/\1 \2/p' >"$work/told"
kill -KILL "$pid"
wait 2>/dev/null
cd "$work/run" || exit 1
"$CHORD" report --json "$work/source/src/redis-server" ./*.chord >"$work/report.json" || failed=1
[ "$(jq -c .unknown "$work/report.json")" = '[]' ] || say "FAIL not known: $(jq -c .unknown "$work/report.json")"
profiles=$(find . -name '*.chord' | wc -l)
if [ "$profiles" -ge 2 ]; then
	say "ok $profiles processes: $(range instructions .totals) instructions at least and at most"
else
	say "FAIL $profiles profiles, of the server and its child"
fi
for name in set get lpush incr; do
	n=$(sed -n "s/^$name //p" "$work/told")
	set -- $(range calls ".functions[] | select(.name == \"${name}Command\")")
	if [ "${1:-null}" -le "$n" ] 2>/dev/null && [ "$n" -le "$2" ] && [ $(($2 - $1)) -le 64 ]; then
		say "ok ${name}Command: $1 to $2 activations, $n told"
	else
		say "FAIL ${name}Command: ${1:-none} to ${2:-none}, $n told"
	fi
done
exit $failed
