#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs, recorded once and replayed many times. The bytes and the status are the same, and so is the clock of each thread at
# its end, the number of its own instructions. If a run is one process of one thread that ends by itself, its own profile has to
# have the same number. Prints ok, FAIL or skip for each test; status 1 if one failed.
# real.sh [NAME...]
# REPLAYS: the number of replays of each log (default 3). From 10 on, programs that take long to build are tried, too: sqlite3, grep
# and Lua, by tests/real/recipe.sh.
set -u
. "$(dirname "$0")/../cases.sh"
. "$(dirname "$0")/../may.sh"
. "$here/again.sh"
REPLAYS=${REPLAYS:-3}
real=$here/../real
export CHORD_SMALL=1
ulimit -c 0

before() { may trace fixed || skip "$why"; }

# many COMMAND...: out, err and status are those of the recording, tally is what the threads made
many() {
	local got i
	rm -f log ./*.chord
	CHORD_FILE=$PWD/%p.chord record "$@"
	for ((i = 1; i <= REPLAYS; i++)); do
		{ timeout -k 5 100 "$CHORD" replay --tally log >again 2>again.err </dev/null; got=$?; } 2>/dev/null
		[ $got = $status ] || no "replay $i of $*: status $got, not $status: $(head -c 400 again.err)"
		cmp -s out again || no "replay $i of $*: other output: $(cmp out again)"
		grep '^chord: log: thread' again.err >tally
		grep -v '^chord: log: thread' again.err | cmp -s - err || no "replay $i of $*: other errors: $(head -c 400 again.err)"
		[ $i != 1 ] || cp tally first
		cmp -s tally first || no "replay $i of $*: threads came elsewhere: $(diff tally first | head -3)"
	done
	[ -s first ] || no "$*: no tally"
}

# counted: what the threads' clocks add up to is what all profiles of the recorded run say
counted() {
	local made profiles
	made=$(sed -n 's/.*, clock //p' tally | awk '{ n += $1 } END { printf "%.0f", n }')
	profiles=$(for p in ./*.chord; do "$CHORD" report --json "$1" "$p" | jq .events.instructions; done | awk '{ n += $1 } END { printf "%.0f", n }')
	[ "$made" != 0 ] && [ "$made" = "$profiles" ] || no "the threads made $made instructions, profiles have $profiles"
}

# measured PROGRAM: in folder `built`, by its recipe; kept while Chord and the recipe stay the same
measured() {
	local key dir=${CHORD_CACHE:-$HOME/.cache/chord}/work/replay/$1
	"$real/recipe.sh" "$1" fetch >fetch.log 2>&1 || skip "the mirror gives no sources: $(tail -n 1 fetch.log)"
	key=$(cat "$CHORD" "$(dirname "$CHORD")/libexec/chord/runtime.s" "$real/recipes/$1.sh" | cksum)
	[ "$(cat "$dir.key" 2>/dev/null)" = "$key" ] && { built=$dir; return; }
	rm -rf "$dir" && mkdir -p "${dir%/*}"
	"$real/recipe.sh" "$1" build "$dir" "$cc -fchord=events" "$CHORD c++ -fchord=events" "" -O2 "" >build.log 2>&1 ||
		no "$1 cannot be built: $(tail -n 3 build.log)"
	echo "$key" >"$dir.key"
	built=$dir
}

long() { [ "$REPLAYS" -ge 10 ] || skip "only with REPLAYS=10 and more"; }

t_bzip2() {
	local src=${CHORD_CACHE:-$HOME/.cache/chord}/src/bzip2
	"$real/recipe.sh" bzip2 fetch >fetch.log 2>&1 || skip "the mirror gives no sources: $(tail -n 1 fetch.log)"
	$cc -w -O1 -fchord=events -o bzip2 "$src"/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib,bzip2}.c \
		>cc.err 2>&1 || no "bzip2: $(tail -3 cc.err)"
	seq 5000 >numbers
	many ./bzip2 -c numbers
	counted bzip2
	mv out packed
	many ./bzip2 -dc packed
	counted bzip2
	# a program that forks and execs
	many sh -c './bzip2 -c numbers | ./bzip2 -dc | sort -rn | head -3; (./bzip2 -t packed); ./bzip2 -t numbers; exit 5'
	[ $status = 5 ] || no "status $status"
	counted bzip2
}

t_sqlite3() {
	long
	measured sqlite3
	cp "$built/sqlite3-static" sqlite3
	cp "$real/workload.sql" .
	cat >session.sql <<-'EOF2'
	.open session.db
	create table t(a integer primary key, b text, c real);
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
		insert into t select i, hex(randomblob(8)), random() / 1e9 from n;
	create index tb on t(b);
	select count(*), min(b), max(b), sum(c) from t where b like '%A%';
	.backup copy.db
	.output dump.sql
	.dump
	.output stdout
	attach 'copy.db' as copy;
	select count(*) from copy.t join t using (a);
	.read missing.sql
	pragma journal_mode=wal;
	update t set b = b || a where a % 3 = 0;
	vacuum;
	select datetime('now'), total_changes(), last_insert_rowid();
	EOF2
	many sh -c 'exec ./sqlite3 -batch <session.sql'
	counted sqlite3
	many sh -c 'exec ./sqlite3 -batch file.db <workload.sql'
	counted sqlite3
}

t_lua() {
	long
	measured lua5.4
	cp "$(find "$built" -name lua -type f -perm -u+x | head -1)" lua || no "no Lua in $built"
	cat >prog.lua <<-'EOF2'
	math.randomseed()
	local t = {}
	for i = 1, 3000 do t[i] = math.random(1 << 40) .. tostring({}) end
	table.sort(t)
	local f = io.open("lines", "w")
	for _, s in ipairs(t) do f:write(s, "\n") end
	f:close()
	local n, co = 0, coroutine.wrap(function() for l in io.lines("lines") do coroutine.yield(l) end end)
	for l in co do n = (n * 31 + #l + l:byte(3)) % 1000003 end
	print(n, os.time(), os.clock(), t[1], io.popen("echo $$"):read("a"))
	print(pcall(error, {}), os.tmpname())
	os.exit(6)
	EOF2
	many ./lua prog.lua
	[ $status = 6 ] || no "status $status: $(head -c 300 err)"
	counted lua
}

t_grep() {
	long
	measured grep
	cp "$built/src/grep" grep
	cp -r "$here/../../src" tree
	many ./grep -rnE 'struct (task|tracee)|[a-z]+_put' tree
	counted grep
	many ./grep -rlic 'RETURN' tree nothing
	[ $status = 2 ] || no "status $status"
	counted grep
}

# Mutexes, condition variables, a data race.
t_threads() {
	$CHORD c++ -w -pthread -O2 -fchord=events -fchord-timers=instructions -o threads "$here/threads.cc" 2>cc.err || no "$(head -c 300 cc.err)"
	many ./threads
	[ $status = 3 ] || no "status $status: $(head -c 300 err)"
	[ "$(grep -c ', clock [1-9]' tally)" -ge 4 ] || no "few threads: $(cat tally)"
}

# A server on the loopback and its clients.
t_server() {
	$cc -w -pthread -O1 -fchord=events -o server "$here/server.c" 2>cc.err || no "$(head -c 300 cc.err)"
	many ./server
	[ $status = 0 ] && [ "$(grep -c 'client . got' out)" = 3 ] || no "status $status: $(head -c 300 out err)"
}

# fork, vfork, execve, shared memory, a shell.
t_processes() {
	$cc -w -O1 -fchord=events -o processes "$here/processes.c" 2>cc.err || no "$(head -c 300 cc.err)"
	many ./processes
	[ $status = 7 ] || no "status $status"
	[ "$(wc -l <tally)" -ge 7 ] || no "few processes: $(cat tally)"
}

for name in bzip2 sqlite3 lua grep threads server processes; do
	test_case "$name"
done
exit $failed
