#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--long] [--stops N] [--keep DIR] [PART...]: on-line queries of events, from inside and from outside of a program.
#   bad     queries that cannot be answered
#   plain   what chord query prints
#   relaxed  what is said of instructions that the linker replaced
#   unseen  the process does not notice
#   stops   random stops of stepped programs, also in woven-in code, against the steps
#   marks   chord_events() at random places, against the steps of the program that is not measured
# With --long it makes 10,000 stops, and tries 200 programs of csmith, and Lua. --stops N: N stops of each program. CHORD is the
# program to test, STOPS the program that steps.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${CHORD:=$top/build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
: "${STOPS:=$(dirname "$CHORD")/stops}"
export CHORD LC_ALL=C
unset CHORD_FILE CHORD_CC CHORD_CXX CHORD_THREADS
real=$top/tests/real
. "$top/tests/may.sh"
: "${CSMITH_INCLUDE:=/usr/include/csmith}"
all=instructions,loads,stores,branches,calls,bytes-loaded,taken,returns

ok() { echo "ok events/$*"; }
skip() { echo "skip events/$*"; }
fail() { echo "FAIL events/$*"; failed=1; }

# measured COMPILER OPTIONS SOURCE PROGRAM [EVENTS]
measured()
{
	# shellcheck disable=SC2086
	CHORD_CC=$1 "$CHORD" cc $2 -fchord=events -fchord-events="${5:-$all}" -o "$4" "$3" -pthread 2>"$4.log" ||
		{ fail "${4##*/}: does not compile: $(head -n 1 "$4.log")"; return 1; }
}

# start PROGRAM [ARGUMENT...]: in the background, its profile out of the way; the number is in $pid.
start()
{
	: >"$work/said"
	CHORD_FILE=$work/profile.%p "$@" >"$work/said" 2>/dev/null &
	pid=$!
}

# waits COMMAND...: until it succeeds, five seconds at most
waits()
{
	for _ in $(seq 500); do
		"$@" && return
		sleep 0.01
	done
	return 1
}

stop()
{
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# ---- bad ----

# refuses NAME MESSAGE COMMAND...: says that, and nothing else.
refuses()
{
	local name=$1 message=$2 status
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	status=$?
	if [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^chord: $message" "$work/err"; then
		ok "bad/$name"
	else
		fail "bad/$name: status $status: $(head -c 300 "$work/err")"
	fi
}

is_traced() { [ "$(awk '/^TracerPid/ { print $2 }' "/proc/$1/status")" != 0 ]; }
is_zombie() { grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

bad_of_running()
{
	refuses unknown-event "stores: not counted by process $pid, which counts loads, call:work\|pause\$" \
		"$CHORD" query -e loads,stores $pid
	refuses empty-event "\"\": not counted by" "$CHORD" query -e loads, $pid
	if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		refuses another-user "$pid: not permitted: only root and its owner can look into a process\$" \
			setpriv --reuid 65534 --clear-groups "$CHORD" query $pid
	else
		skip "bad/another-user: not root"
	fi
	# what cannot be read here is not gone
	refuses few-descriptors "/proc/$pid/task/$pid/stat(us)?: Too many open files\$" prlimit --nofile=4 "$CHORD" query $pid
	gdb -q -nx -batch -p $pid -ex 'shell sleep 3' >/dev/null 2>&1 &
	waits is_traced $pid
	refuses traced "$pid: process [0-9]+ traces it already\$" "$CHORD" query $pid
	wait $!
	# its file is gone, and another is in its place
	cp "$work/edges" "$work/new" && mv "$work/new" "$work/asks"
	"$CHORD" query $pid >"$work/out" 2>&1 && [ "$(wc -l <"$work/out")" = 2 ] && ok bad/replaced ||
		fail "bad/replaced: $(head -n 1 "$work/out")"
}

# Killed a little before, while or after it is looked at: an answer, or one line that says why not.
meanwhile()
{
	local n status answers=0
	for n in $(seq 60); do
		start "$work/brief"
		waits [ -s "$work/said" ] || { fail "bad/meanwhile: asks says nothing"; stop $pid; return; }
		{ sleep 0.00$((n % 10))$((n % 7)); kill -KILL $pid; } &
		"$CHORD" query $pid >"$work/out" 2>"$work/err"
		status=$?
		wait $! $pid 2>/dev/null
		if [ $status = 0 ] && [ ! -s "$work/err" ] && [ "$(wc -l <"$work/out")" = 2 ]; then
			answers=$((answers + 1))
		elif ! { [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
			grep -qE "^chord: $pid: (no such process|it has ended)" "$work/err"; }; then
			fail "bad/meanwhile: status $status: $(cat "$work/out" "$work/err" | head -c 300)"
			return
		fi
	done 2>/dev/null # the shell's words on who was killed
	ok "bad/meanwhile: $answers of 60 were in time"
}

# The kernel shows a name of two lines as it is, and in a path of two lines \012, which may be what a path has itself. Of root's
# processes Chord need not know the path.
odd_names()
{
	local odd as=
	[ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --clear-groups true 2>/dev/null || as="setpriv --reuid 65534 --clear-groups"
	chmod 711 "$work"
	for odd in $'two\nlines' 'one\012line'; do
		mkdir -m 777 "$work/$odd" && cp "$work/brief" "$work/$odd/$odd" || { fail bad/odd-names; return; }
		: >"$work/said"
		# shellcheck disable=SC2086 # several words, or none
		(cd "$work/$odd" && CHORD_FILE=profile exec $as "./$odd") >"$work/said" 2>/dev/null &
		pid=$!
		waits [ -s "$work/said" ]
		# shellcheck disable=SC2086
		$as "$CHORD" query $pid >"$work/out" 2>&1 && [ "$(wc -l <"$work/out")" = 2 ] && ok "bad/odd-names: ${odd//$'\n'/ }" ||
			fail "bad/odd-names: $(head -n 1 "$work/out")"
		stop $pid
	done
}

bad()
{
	local pid arguments
	measured gcc -O1 "$here/asks.c" "$work/asks" 'loads,call:work|pause' || return
	cp "$work/asks" "$work/brief"
	"$CHORD" cc -O1 -o "$work/edges" "$here/waits.c" && gcc -O1 -o "$work/unmeasured" "$here/waits.c" || { fail bad; return; }
	refuses none "999999999: no such process\$" "$CHORD" query 999999999
	start "$work/asks"
	waits [ -s "$work/said" ] && bad_of_running || fail "bad: asks says nothing"
	stop $pid
	refuses ended "$pid: no such process\$" "$CHORD" query $pid
	meanwhile
	odd_names
	start "$work/edges" sleep 10000
	waits [ -s "$work/profile.$pid" ] && sleep 0.1
	refuses no-events "$pid: it counts no events: build it with -fchord=events\$" "$CHORD" query $pid
	stop $pid
	start "$work/unmeasured" sleep 10000
	refuses not-measured "$pid: the process has no profile" "$CHORD" query $pid
	stop $pid
	# one that nobody has asked how it ended
	bash -c "'$work/unmeasured' sleep 300 >/dev/null & echo \$! >'$work/zombie'; exec sleep 10" &
	pid=$!
	waits [ -s "$work/zombie" ] && waits is_zombie "$(cat "$work/zombie")"
	refuses zombie "$(cat "$work/zombie"): it has ended\$" "$CHORD" query "$(cat "$work/zombie")"
	stop $pid
	for arguments in "" "1 2" "x" "--watch=0 1" "--watch=x 1" "0"; do
		# shellcheck disable=SC2086
		"$CHORD" query $arguments >"$work/out" 2>"$work/err"
		[ $? = 2 ] && [ ! -s "$work/out" ] || fail "bad/usage: '$arguments'"
	done
	ok bad/usage
}

# ---- plain ----

# of PATH: a number of the JSON
of() { jq -r "$1" "$work/json"; }

# near NUMBER LEAST: not much above
near() { [ "$1" -ge "$2" ] && [ "$1" -le $(($2 + 30)) ]; }

# The thread that stays has taken over what the other left; main does a little more until it waits.
plain()
{
	local pid watcher status ended stays main
	measured gcc -O1 "$here/asks.c" "$work/asks" loads,instructions || return
	start "$work/asks"
	waits [ -s "$work/said" ] || { fail "plain: asks says nothing"; return; }
	sleep 0.1
	read -r ended stays main <"$work/said"
	"$CHORD" query --json --thread -e loads $pid >"$work/json" || fail plain/json
	if near "$(of '.threads[0].events.loads')" "$main" && near "$(of '.threads[1].events.loads')" "$stays" &&
		[ "$(of '.threads[1].threads_before')" = 1 ] && [ "$stays" -gt $((ended + 200)) ] && [ "$ended" -gt 100 ] &&
		[ "$(of '.events.loads - .threads[0].events.loads - .threads[1].events.loads')" = 0 ] &&
		[ "$(of '.others.loads')" = 0 ] && [ "$(of '.notes | length')" = 0 ]; then
		ok plain/thread
	else
		fail "plain/thread: $(cat "$work/said"): $(jq -c . "$work/json")"
	fi
	"$CHORD" query -e instructions,loads $pid | tr -d , >"$work/out"
	[ "$(awk '{ print $2 }' "$work/out" | tr '\n' ' ')" = 'instructions loads ' ] &&
		[ "$(awk '$2 == "loads" { print $1 }' "$work/out")" = "$(of .events.loads)" ] && ok plain/text ||
		fail "plain/text: $(cat "$work/out")"
	"$CHORD" query --watch=0.05 $pid >"$work/out" 2>&1 &
	watcher=$!
	waits eval '[ $(wc -l <"$work/out") -gt 5 ]'
	stop $pid
	wait $watcher
	status=$?
	[ $status = 0 ] && [ "$(wc -l <"$work/out")" -gt 5 ] && [ "$(tail -n 1 "$work/out" | awk '{ print $2, $4 }')" = '+0 +0' ] &&
		ok plain/watch || fail "plain/watch: status $status: $(tail -n 1 "$work/out")"
}

# ---- relaxed ----

# A load from the GOT that the linker made a lea is counted as a load, which is said. The store is none of these.
relaxed()
{
	local pid
	printf '%s\n' 'extern int x; int *volatile p; int pause(void); int puts(const char *);' \
		'int main(void) { for (int i = 0; i < 10; i++) p = &x; puts("x"); p[1] = puts(""); for (;;) pause(); }' >"$work/linked.c"
	echo 'int x[2];' >"$work/x.c"
	CHORD_CC=gcc "$CHORD" cc -O1 -fPIC -fchord=events -fchord-events=loads,stores -o "$work/linked" "$work/linked.c" "$work/x.c" &&
		start stdbuf -oL "$work/linked" || { fail relaxed; return; }
	waits [ -s "$work/said" ]
	"$CHORD" query $pid >"$work/out"
	if grep -q '^  loads: in 2 blocks of linked the linker replaced instructions; they are counted as they were assembled$' "$work/out" &&
		! grep -q 'stores: in' "$work/out"; then
		ok relaxed
	else
		fail "relaxed: $(cat "$work/out")"
	fi
	stop $pid
}

# ---- unseen ----

# Calls end when they would, while queries come in as fast as they can.
unseen()
{
	local how ms pid
	"$CHORD" cc -O1 -fchord=events -o "$work/waits" "$here/waits.c" || { fail unseen; return; }
	for how in epoll epoll_p semtimedop sigtimedwait read poll sleep; do
		for ms in 300 1; do
			start "$work/waits" $how $ms $((300 / ms))
			while kill -0 $pid 2>/dev/null; do "$CHORD" query $pid >"$work/out" 2>&1; done
			wait $pid
			[ "$(cat "$work/said")" = '0 early, 1' ] || { fail "unseen/$how: $ms ms: $(cat "$work/said")"; continue 2; }
		done
		ok "unseen/$how"
	done
}

# ---- stops ----

# stops NAME N GAP SEED PROGRAM [ARGUMENT...]: N of them, about every GAP steps
stops()
{
	local name=$1 n=$2 gap=$3 seed=$4
	shift 4
	if CHORD_FILE=$work/profile "$STOPS" "$CHORD" "$n" "$gap" "$seed" "$@" >"$work/stops.out" 2>&1 &&
		! grep -q FAIL "$work/stops.out"; then
		ok "stops/$name: $(tail -n 1 "$work/stops.out")"
	else
		fail "stops/$name: $(grep -m 1 FAIL "$work/stops.out" || tail -n 1 "$work/stops.out")"
	fi
}

all_stops()
{
	local many=1000000
	[ -x "$STOPS" ] || { fail "stops: no $STOPS: make it first"; return; }
	measured gcc -O2 "$here/ways.c" "$work/ways" $all,blocks && stops ways "${stops:-30}" 300 1 "$work/ways" $many
	measured gcc -O2 "$here/struck.c" "$work/struck" && stops struck "${stops:-30}" 300 1 "$work/struck" $many
	measured gcc -O2 "$here/threads.c" "$work/threads" $all,blocks && stops threads "${stops:-20}" 500 1 "$work/threads" $many
	measured g++ -O2 "$here/throws.cc" "$work/throws" $all,blocks && stops throws "${stops:-12}" 1000 1 "$work/throws" $many
	measured gcc -O2 "$here/aligned.c" "$work/aligned" $all,blocks && stops aligned "${stops:-20}" 300 1 "$work/aligned" $many
	measured gcc -O2 "$here/locals.c" "$work/locals" $all,blocks && stops locals "${stops:-30}" 300 1 "$work/locals" $many
	[ -n "$long" ] || return
	measured clang -O1 "$here/ways.c" "$work/ways-clang" $all,blocks && stops ways-clang "$stops" 300 2 "$work/ways-clang" $many
	measured gcc -O0 "$here/struck.c" "$work/struck0" && stops struck-altstack "$stops" 300 2 "$work/struck0" $many 1
	lua_texts "$work/lua" 0 && lua_built "$work/lua" events &&
		stops lua $((stops * 4)) 1000 1 "$work/lua/meas" "$here/short.lua" 25
}

# ---- marks ----

# texts DIR NAME SHARE SEED COMPILER ARGUMENT...: the compiler's text with queries put in
texts()
{
	local dir=$1 name=$2 share=$3 seed=$4
	shift 4
	"$@" -mno-red-zone -w -S -o "$dir/$name.s" &&
		awk -v share="$share" -v seed="$seed" -v table=1 -f "$here/mark.awk" "$dir/$name.s" >"$dir/$name.plain.s" &&
		awk -v share="$share" -v seed="$seed" -f "$here/mark.awk" "$dir/$name.s" >"$dir/$name.meas.s"
}

# assembled DIR MEASURE: plain and measured
assembled()
{
	local text
	for text in "$1"/*.plain.s; do
		text=${text%.plain.s}
		gcc -c -o "$text.plain.o" "$text.plain.s" && "$CHORD" cc -fchord="$2" -c -o "$text.meas.o" "$text.meas.s" || return 1
	done
}

# linked DIR LINKER OPTION...: DIR/plain and DIR/meas
linked()
{
	local dir=$1 linker=$2
	shift 2
	gcc -O2 -c -o "$dir/record.o" "$here/record.c" && $linker -o "$dir/plain" "$dir"/*.plain.o "$dir/record.o" "$@" &&
		CHORD_CC=$linker "$CHORD" cc -o "$dir/meas" "$dir"/*.meas.o "$dir/record.o" "$@"
}

# functions DIR: where those of the plain program are that the measured one has measured
functions()
{
	nm -S "$1"/*.plain.o | awk 'NF == 4 && $3 ~ /[tTwW]/ { print $4 }' | sort -u >"$1/names"
	nm -S "$1/plain" | awk 'NR == FNR { n[$1] = 1; next } NF == 4 && $3 ~ /[tTwW]/ && ($4 in n) { print $1, $2 }' "$1/names" -
}

# compared NAME DIR ARGUMENT...: what the queries answer is what was stepped. Both run under one name, which a program may look at.
compared()
{
	local name=$1 dir=$2 status said n
	shift 2
	objcopy -O binary -j .marks --set-section-flags .marks=alloc "$dir/plain" "$dir/marks" 2>/dev/null || : >"$dir/marks"
	functions "$dir" >"$dir/ranges"
	ln -sf plain "$dir/program"
	RECORD=$dir/plain.record STEPS=$steps "$work/truth" "$dir/ranges" "$dir/marks" "$dir/true" "$dir/program" "$@" \
		>"$dir/plain.out" 2>&1
	status=$?
	ln -sf meas "$dir/program"
	said=$( (CHORD_FILE=$dir/profile RECORD=$dir/meas.record timeout 60 setarch -R "$dir/program" "$@" >"$dir/meas.out" 2>&1; echo $?) 2>/dev/null)
	n=$(stat -c %s "$dir/true")
	queries=$((queries + n / 8))
	if [ "$status" = 99 ] && ! tail -c 8 "$dir/meas.record" | cmp -s -n 8 - /dev/zero; then
		skip "marks/$name: it goes on for too long" # and what it recorded at first has been written over
		return
	fi
	if [ "$status" != 99 ] && { [ "$status" != "$said" ] || ! cmp -s "$dir/plain.out" "$dir/meas.out"; }; then
		fail "marks/$name: status $said, not $status, or other output"
	elif [ "$n" = 0 ] || cmp -s -n "$n" "$dir/true" "$dir/meas.record"; then
		ok "marks/$name: $((n / 8)) queries"
	else
		fail "marks/$name: $(cmp -n "$n" "$dir/true" "$dir/meas.record" | sed 's/.* byte/byte/')"
	fi
}

# marks NAME SHARE SEED MEASURE LINKER ARGUMENTS COMPILER ARGUMENT...
marks()
{
	local name=$1 share=$2 seed=$3 measure=$4 linker=$5 arguments=$6 dir=$work/$1.marks
	shift 6
	mkdir -p "$dir"
	if texts "$dir" text "$share" "$seed" "$@" 2>"$dir/log" && assembled "$dir" "$measure" 2>>"$dir/log" &&
		linked "$dir" "$linker" -lm -pthread 2>>"$dir/log"; then
		# shellcheck disable=SC2086
		compared "$name" "$dir" $arguments
	else
		fail "marks/$name: does not compile: $(head -n 1 "$dir/log")"
	fi
	[ -n "$keep" ] || rm -rf "$dir"
}

# lua_texts DIR SHARE
lua_texts()
{
	local file seed=0
	(. "$real/lib.sh" && . "$real/recipes/lua5.4.sh" && fetch && copy_source lua5.4 "$1" && cd "$1/src" && fixed_addresses) \
		>"$work/lua.log" 2>&1 || { skip "lua: its source cannot be had"; return 1; }
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >"$1/src/lua5.4-deb-multiarch.h"
	for file in "$1"/src/*.c; do
		[ "${file##*/}" != luac.c ] || continue
		seed=$((seed + 1))
		texts "$1" "$(basename "$file" .c)" "$2" $seed gcc -O2 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 '-Dluai_makeseed(L)=0x5eed' \
			'-Dl_randomizePivot()=0x5eed' "$file" || { fail "lua: does not compile"; return 1; }
	done
}

# lua_built DIR MEASURE
lua_built()
{
	assembled "$1" "$2" && linked "$1" gcc -Wl,-E -lm -ldl || { fail "lua: cannot be built"; return 1; }
}

random_program()
{
	local level compiler=gcc
	level=$(echo "-O2 -O0 -O3 -O1 -Os" | cut -d' ' -f$(($1 % 5 + 1)))
	[ $(($1 % 4)) != 3 ] || compiler=clang
	(cd "$work" && timeout 20 csmith --seed "$1" --max-funcs 5 --no-argc --output csmith.c) 2>/dev/null || return
	marks "csmith-$1" 0.03 "$1" events gcc "" $compiler "$level" -I"$CSMITH_INCLUDE" "$work/csmith.c"
}

situations()
{
	local program level
	for program in alloca asm-goto asm-jumps cold computed-goto exit-deep getcontext-loop longjmp nested-goto setjmp-loop \
		switch-table tail-call recursion-deep-longjmp; do
		for level in -O2 -O0 -Os; do
			marks "$program$level" 0.1 5 events gcc "" gcc $level -I"$top/tests/situations" "$top/tests/situations/$program.c"
		done
	done
}

all_marks()
{
	local seed seeds="7 12" times=1
	[ -z "$long" ] || seeds=$(seq 200) times=10
	gcc -O2 -D_GNU_SOURCE -o "$work/truth" "$here/truth.c" || { fail marks; return; }
	marks ways-gcc-O2 0.1 1 events gcc "$times" gcc -O2 "$here/ways.c"
	marks ways-clang-O0 0.1 2 edges,events gcc "$times" clang -O0 "$here/ways.c"
	marks ways-calls-O1 0.1 3 calls gcc "$times" gcc -O1 "$here/ways.c"
	marks throws-O2 0.1 4 events g++ "$times" g++ -O2 "$here/throws.cc"
	if command -v csmith >/dev/null; then
		for seed in $seeds; do random_program "$seed"; done
	else
		skip "marks/csmith: no csmith"
	fi
	if [ -n "$long" ]; then
		situations
		lua_texts "$work/lua.marks" 0.01 && lua_built "$work/lua.marks" events &&
			compared lua "$work/lua.marks" "$here/short.lua"
	fi
	echo "   $queries queries"
}

long='' stops='' keep='' failed='' queries=0 steps=3000000 parts=()
while [ $# -gt 0 ]; do
	case $1 in
	--long) long=yes stops=${stops:-1000} ;;
	--stops) stops=$2; shift ;;
	--keep) keep=$2; shift ;;
	-*) echo "run.sh: $1: no such option" >&2; exit 2 ;;
	*) parts+=("$1") ;;
	esac
	shift
done
if [ -n "$keep" ]; then
	mkdir -p "$keep" && work=$(realpath "$keep")
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/chord-events.XXXXXX")
	trap 'rm -rf "$work"' EXIT
fi
chmod 755 "$work"
cd "$work" || exit 1
[ ${#parts[@]} -gt 0 ] || parts=(bad plain relaxed unseen stops marks)
may trace fixed || { skip "all: $why"; exit 0; }
for part in "${parts[@]}"; do
	case $part in
	bad | plain | relaxed | unseen) $part ;;
	stops | marks) "all_$part" ;;
	*) echo "run.sh: $part: no such part" >&2; exit 2 ;;
	esac
done
[ -z "$failed" ]
