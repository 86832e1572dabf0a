#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--all] [--keep DIR] [PART...]: tests of the clock.
#   names   a thread is never twice at one instruction with the same stack pointer and count, by single steps; with --all gcc and
#           clang at all levels
#   counts  programs whose counts follow from their source
#   shown   chord_clock(), chord query, chord stat, core files
# CHORD is the program to test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${CHORD:=$top/build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
export CHORD LC_ALL=C
unset CHORD_FILE CHORD_CC CHORD_CXX CHORD_THREADS
. "$top/tests/may.sh"

ok() { echo "ok clock/$*"; }
skip() { echo "skip clock/$*"; }
fail() { echo "FAIL clock/$*"; failed=1; }

# ---- names ----

# measured COMPILER LEVEL SOURCE PROGRAM: symbols are bound before main, or each step of that would be taken
measured()
{
	local driver=cc
	[ "${3%.cc}" = "$3" ] || driver=c++
	CHORD_CC=$1 CHORD_CXX=${1/gcc/g++} CHORD_CXX=${CHORD_CXX/clang/clang++} \
		"$CHORD" $driver "$2" -fchord=clock -Wl,-z,now -pthread -o "$4" "$3" >"$4.log" 2>&1
}

address() { nm "$1" | awk -v name="$2" '$3 == name { print $1 }'; }

# steps PROGRAM [OPTION...]: its own procedures, woven code in them and all their parts
steps()
{
	local program=$1
	shift
	nm -S "$program" | awk 'NF == 4 && $3 ~ /^[tTwW]$/ && $4 !~ /^_*chord_|^_start|^_init|^_fini/ { print $1, $2 }' >"$program.ranges"
	CHORD_FILE=/dev/null timeout 900 "$work/names" "$@" "$(address "$program" __chord_numbers_clock)" "$(address "$program" main)" \
		"$program.ranges" "$program" >"$program.out" 2>&1
}

# unique COMPILER LEVEL SOURCE
unique()
{
	local name=names/${3##*/}/$1$2
	measured "$1" "$2" "$3" "$work/program" || { fail "$name: does not build: $(head -n 1 "$work/program.log")"; return; }
	if steps "$work/program"; then
		ok "$name: $(tail -n 1 "$work/program.out")"
	else
		fail "$name: $(head -n 1 "$work/program.out")"
	fi
}

# repeated WHAT OPTION: without what the option leaves out of them names are not unique, and that is seen
repeated()
{
	measured gcc -O0 "$here/loops.c" "$work/program" || { fail "names/$1: does not build"; return; }
	steps "$work/program" "$2"
	if [ $? = 1 ] && grep -q '^a second time at' "$work/program.out"; then
		ok "names/$1: $(head -n 1 "$work/program.out")"
	else
		fail "names/$1: names are unique without it: $(tail -n 1 "$work/program.out")"
	fi
}

all_names()
{
	local source compiler level
	may trace || { skip "names: $why"; return; }
	gcc -O2 -D_GNU_SOURCE -o "$work/names" "$here/names.c" || { fail names; return; }
	repeated without-count --no-count
	repeated without-stack-pointer --no-sp
	if [ "$every" ]; then
		for source in "$here"/{loops.c,jumps.c,throws.cc,threads.c}; do
			for compiler in gcc clang; do
				for level in -O0 -O1 -O2 -O3 -Os; do
					unique $compiler $level "$source"
				done
			done
		done
		return
	fi
	unique gcc -O0 "$here/loops.c"
	unique gcc -O2 "$here/loops.c"
	unique clang -O2 "$here/loops.c"
	unique gcc -O2 "$here/jumps.c"
	unique gcc -O0 "$here/throws.cc"
	unique gcc -O2 "$here/threads.c"
}

# ---- counts ----

# counted COMPILER LEVEL
counted()
{
	local name=counts/$1$2
	if CHORD_CC=$1 "$CHORD" cc "$2" -fchord=clock -o "$work/program" "$here/counts.c" >"$work/log" 2>&1 &&
		CHORD_FILE=/dev/null "$work/program" >"$work/said" && diff "$work/said" - >"$work/log" <<-END
		100 rounds: 100
		10 times 10 rounds: 110
		no round: 1
		three calls: 4
		three rounds with a call: 3
		recursion 7 deep: 8
		seven rounds in recursion 2 deep: 21
		END
	then
		ok "$name"
	else
		fail "$name: $(sed -n '/^[<>]/p' "$work/log" | head -n 4 | tr '\n' ' ')"
	fi
}

all_counts()
{
	counted gcc -O1
	counted gcc -O2
	counted clang -O1
}

# ---- shown ----

query_of()
{
	may trace || { skip "shown/query: $why"; return; }
	CHORD_FILE=$work/profile "$work/waits" >"$work/ready" &
	local pid=$! said
	for _ in $(seq 500); do
		[ -s "$work/ready" ] && break
		sleep 0.01
	done
	said=$("$CHORD" query "$pid" 2>&1 | tr -d ,)
	# shellcheck disable=SC2086
	set -- $said
	if [ "${1-} ${2-}" = "$(cat "$work/ready") clock" ]; then
		ok "shown/query: $1"
	else
		fail "shown/query: $said, the program says $(cat "$work/ready")"
	fi
	kill -ABRT "$pid"
	{ wait "$pid"; } 2>/dev/null
	said=$("$CHORD" report "$work/waits" "$work/profile" | tr -d , | awk '$2 == "clock" { print $1 }')
	if [ "$said" = "$(cat "$work/ready")" ]; then
		ok "shown/killed: $said"
	else
		fail "shown/killed: $said, the program said $(cat "$work/ready")"
	fi
}

all_shown()
{
	"$CHORD" cc -O1 -fchord=clock -o "$work/waits" "$here/waits.c" 2>"$work/log" || { fail "shown: $(head -n 1 "$work/log")"; return; }
	query_of
	if (cd "$work" && "$CHORD" cc -O1 -fchord=edges -o edges "$here/waits.c" 2>log && grep -q 'chord_clock() or chord_events(clock): not counted' log &&
		"$CHORD" stat -e clock ./edges x 2>&1 | grep -q 'not counted'); then
		ok shown/without
	else
		fail "shown/without: a build without a clock has one"
	fi
}

# ----

every='' keep='' failed='' parts=()
while [ $# -gt 0 ]; do
	case $1 in
	--all) every=yes ;;
	--keep) keep=$2; shift ;;
	names | counts | shown) parts+=("$1") ;;
	*)
		echo "usage: $0 [--all] [--keep DIR] [names | counts | shown]..." >&2
		exit 2
		;;
	esac
	shift
done
if [ "$keep" ]; then
	work=$keep
	mkdir -p "$work"
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/chord-clock.XXXXXX")
	trap 'rm -rf "$work"' EXIT
fi
[ ${#parts[@]} -gt 0 ] || parts=(counts shown names)
for part in "${parts[@]}"; do
	"all_$part"
done
exit ${failed:-0}
