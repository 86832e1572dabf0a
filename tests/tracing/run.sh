#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: traces. The instructions that a trace gives are those that single steps saw, thread by thread; counts from traces are
# those of edges; what is shown, selected and compared; other encodings; damage. STEPS is the program that steps. REGENERATE is the
# program that computes blocks from witnesses.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
: "${CHORD:=$top/build/chord}"
CHORD=$(realpath "$CHORD")
: "${STEPS:=$(dirname "$CHORD")/steps}"
: "${REGENERATE:=$(dirname "$CHORD")/regenerate}"
. "$here/../may.sh"
. "$here/../registry.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-tracing.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
encoding=
turn_at=0
builds="gcc/-O2 clang/-O2 gcc/-O0 clang/-O0"
pass() { echo "ok tracing/$1"; }
fail() { echo "FAIL tracing/$1: $2"; failed=1; }
# check NAME WHAT: what the command before said.
check() { if [ "$2" = 0 ]; then pass "$1"; else fail "$1" "$3"; fi; }

# build COMPILER SOURCE OPTIONS...: ./program, traced with the encoding $encoding.
build()
{
	local compiler=$1 source=$2 front=cc
	shift 2
	case $source in *.cc) front=c++ ;; esac
	[ "$front" = cc ] || compiler=${compiler/gcc/g++}
	[ "$front" = cc ] || compiler=${compiler/clang/clang++}
	rm -f program ./*.chord ./*.trace steps.*
	CHORD_CC=$compiler CHORD_CXX=$compiler "$CHORD" "$front" "$@" -g -fchord=trace ${encoding:+-fchord-trace=$encoding} -o program "$here/$source" -lpthread >log 2>&1
}

# The addresses of the instructions of a thread.
addresses() { "$CHORD" trace --insns --thread="$1" ./program 2>err | awk '$2 ~ /^[0-9a-f]+$/ && NF > 2 { print $2 }'; }

# stepped LABEL COMPILER SOURCE OPTIONS... By breakpoints up to the first thread. What the C library loads for threads that end is
# there from the beginning: to load it takes a third of the steps.
stepped()
{
	local label=$1 n
	shift
	build "$@" -no-pie || { fail "$label" "$(head -n 1 log)"; return; }
	BREAKS=1 LD_BIND_NOW=1 LD_PRELOAD=libgcc_s.so.1 "$STEPS" ./program >log 2>&1 || { fail "$label" "$(head -n 1 log)"; return; }
	for n in steps.*; do
		addresses "${n#steps.}" >got
		cmp -s "$n" got && [ -s got ] && continue
		fail "$label" "thread ${n#steps.}: $(wc -l <"$n") instructions were stepped through, the trace has $(wc -l <got); $(cmp "$n" got 2>&1); $(head -n 1 err)"
		return
	done
	pass "$label, $(cat steps.* | wc -l) instructions"
}

# strike SEED ARGUMENT...: signals come anywhere, also in what is woven in and in handlers
strike()
{
	local seed=$1
	shift
	rm -f ./*.chord ./*.trace steps.*
	STRIKE=$seed LD_BIND_NOW=1 "$STEPS" ./program "$@" >log 2>&1
}

# placed: where it is told what a handler interrupted, the instruction before the handler is the one that ran before it. Of a handler that
# was struck at its entry that is not asked. The others' number is printed.
placed()
{
	"$CHORD" trace --insns --thread=1 ./program >all 2>err
	awk '/on_(first|second|third)[(][)] {/ { begins = 1; next } begins && $2 ~ /^[0-9a-f]+$/ && NF > 2 { print $2 } { begins = 0 }' all | sort -u >handlers
	awk 'FILENAME == "handlers" { handler[$1]; next }
		FILENAME == "steps.1" { if ($1 in handler) before[++n] = last; last = $1; next }
		/{.*interrupts/ { told = /block/ && !/interrupts on_[a-z]* block 0,/; next }
		$2 ~ /^[0-9a-f]+$/ && NF > 2 {
			if ($2 in handler) { k++; if (told) { all++; bad += at != before[k] }; told = 0 }
			at = $2
		}
		END { print all + 0; exit bad || k != n || !k }' handlers steps.1 all
}

# struck SEED LABEL [bits | nested-bits]: of these it is not known where in a word of several paths a signal struck, so handlers stand
# elsewhere, also one that struck another at its entry, which is then not told
struck()
{
	local seed=$1 label=$2
	strike $seed || { fail "$label" "$(head -n 1 log)"; return; }
	addresses 1 >got
	[ "${3-}" = nested-bits ] || placed >log || fail "$label/placed" "$(cat log)"
	case ${3-} in bits | nested-bits) for list in got steps.1; do sort -o $list $list; done ;; esac
	"$CHORD" trace ./program >calls 2>&1
	if ! cmp -s steps.1 got || [ ! -s got ]; then
		fail "$label" "$(wc -l <steps.1) instructions were stepped through, the trace has $(wc -l <got); $(cmp steps.1 got 2>&1)"
	elif ! grep -q 'interrupts .* block' calls; then
		fail "$label" "no place is told"
	else
		pass "$label, $(grep -c '[/]\* interrupts' calls) signals"
	fi
}

# undisturbed FILE: entries and ends of activations in it, without those of handlers
undisturbed()
{
	awk '{ sub(/^ *[0-9,]+/, ""); match($0, /^ */); depth = RLENGTH; sub(/^ */, "") }
		handler && depth > handler { next }
		handler { handler = 0; next }
		/interrupts/ { if (/{/) handler = depth; next }
		/[(][)];/ { sub(/[(][)];.*/, ""); print depth, $0; print depth, "} " $0; next }
		/[(][)] {/ { sub(/[(][)].*/, ""); print depth, $0; next }
		/^}/ { gsub(/[^a-z_ }]/, ""); print depth, "}", substr($0, 4) }' "$1" | sed 's/ *$//; s/  */ /g'
}

if may trace; then
	in_turn $builds
	for way in $turn; do
		compiler=${way%/*} level=${way#*/}
		build $compiler struck.c $level -no-pie || { fail "struck/$compiler/$level" "$(head -n 1 log)"; continue; }
		for seed in 1 2; do
			struck $seed "struck/$compiler/$level/$seed"
		done
	done
	# Handlers end with a jump to code that is not traced, or to a function to which they pass their arguments.
	for program in lasts passes; do
		for compiler in gcc clang; do
			build $compiler $program.c -O2 -no-pie || fail "$program/$compiler" "$(head -n 1 log)"
			in_turn 1 2 3
			for seed in $turn; do
				struck $seed "$program/$compiler/$seed"
			done
		done
	done
	# Most come where the runtime does something for longjmp.
	for compiler in gcc clang; do
		if [ $compiler = gcc ]; then level=-O0; else level=-O2; fi
		build $compiler leaps.c $level -no-pie || fail "leaps/$compiler" "$(head -n 1 log)"
		struck 1 "leaps/$compiler/$level"
		# Without the handlers, the same calls and jumps as in a run without signals.
		undisturbed calls >struck.calls
		strike 0 && "$CHORD" trace ./program >calls 2>&1 && undisturbed calls >plain.calls
		[ -s plain.calls ] && cmp -s plain.calls struck.calls
		check "leaps-calls/$compiler/$level" $? "$(diff plain.calls struck.calls | head -n 3)"
	done
	# Where handlers jump out, what was interrupted is not told. All else is, in the order in which it ran, and nothing more. Where a
	# handler was struck at its entry, before it could say what it had interrupted, and never goes on, that is said; some run has such a place.
	broken=0 seeds=0
	for seed in 7 1 $(seq 100 128); do
		[ $seeds -lt 2 ] || [ $broken = 0 ] || break
		seeds=$((seeds + 1))
		strike $seed jump-out || fail leaps/out "$(head -n 1 log)"
		"$CHORD" trace --insns --thread=1 ./program >all 2>err
		awk '$2 ~ /^[0-9a-f]+$/ && NF > 2 { print $2 }' all >got
		[ "$(diff steps.1 got | grep -c '^>')" = 0 ] && [ "$(wc -l <got)" -gt $(($(wc -l <steps.1) * 9 / 10)) ]
		check leaps/out/$seed $? "$(wc -l <steps.1) were stepped through, the trace has $(wc -l <got); $(diff steps.1 got | grep -m 1 '^>')"
		broken=$((broken + $(grep -c 'a signal struck here or further on: what ran up to there is not known' all)))
		# All views say so, and tell no more.
		for view in --insns --blocks; do
			"$CHORD" trace $view --json --thread=1 ./program >json 2>err
			[ "$(grep -c '"event": *"broken"' json)" = "$(grep -c 'what ran up to there is not known' all)" ] &&
				[ "$(tail -n 1 json | jq .instructions)" = "$(grep -cE '^ *[0-9,]+ +([0-9a-f]{6} |nop)' all)" ]
			check leaps/out/$seed$view $? "$(grep -c '"event": *"broken"' json) $(tail -n 1 json)"
		done
	done
	[ $broken -gt 0 ]
	check leaps/out/broken $? "no handler was struck at its entry in $seeds runs"
	for source in flow.c throws.cc threads.c; do
		in_turn $builds
		for way in $turn; do
			stepped "steps/$source/$way" "${way%/*}" $source "${way#*/}"
		done
	done
	# Breakpoints and steps are met by the same instructions.
	build gcc flow.c -O2 -no-pie && "$STEPS" ./program >log 2>&1 && mv steps.1 by-steps && BREAKS=1 "$STEPS" ./program >>log 2>&1
	cmp -s by-steps steps.1 && [ "$(wc -l <steps.1)" -gt 1000 ]
	check steps/breakpoints $? "$(head -n 1 log) $(wc -l <by-steps) steps, $(wc -l <steps.1) breakpoints"
	for source in stacks.c jumps.c; do
		stepped "steps/$source/gcc/-O0" gcc $source -O0
		stepped "steps/$source/clang/-O2" clang $source -O2
	done
	stepped "steps/cancelled.c/gcc/-O2" gcc cancelled.c -O2
else
	echo "skip tracing/steps: $why"
fi

# With other encodings than paths the same is told.
if may trace; then
	in_turn bits witness branches
	for encoding in $turn; do
		build gcc struck.c -O0 -no-pie && struck 1 "struck/$encoding/gcc/-O0" $encoding || fail "struck/$encoding" "$(head -n 1 log)"
		build clang struck.c -O2 -no-pie && struck 2 "struck/$encoding/clang/-O2" $encoding || fail "struck/$encoding" "$(head -n 1 log)"
		# Two signals strike in one path, and of the first it is not known where: then it is not of the second either.
		[ $encoding != bits ] || struck 14 "struck/$encoding/clang/-O2/twice" $encoding
		stepped "steps/$encoding/throws.cc/gcc/-O2" gcc throws.cc -O2
		stepped "steps/$encoding/threads.c/clang/-O2" clang threads.c -O2
		stepped "steps/$encoding/jumps.c/gcc/-O0" gcc jumps.c -O0
	done
fi
if may trace; then
	. "$here/nested.sh"
fi
# An indirect jump may be one through a table or a tail call: each activation is entered as it was.
tails()
{
	stepped "steps/tails/$*" "$1" tails.c "$2"
	"$CHORD" trace ./program >got 2>err
	[ "$(grep -c '/\* tail call \*/' got)" = 70 ] && ! grep -qE 'interrupts|left by a jump' got
	check "tails/$*" $? "$(grep -cE 'tail call' got) tail calls; $(grep -m 1 -E 'interrupts|left by' got)"
	"$CHORD" report --json ./program >json 2>err && ! grep -q 'do not begin' json
	check "tails/counts/$*" $? "$(grep -m 1 'do not begin' json err)"
}

if may trace; then
	for encoding in '' witness bits branches; do
		in_turn gcc/-O2 clang/-O2 gcc/-Os clang/-Os
		for way in $turn; do
			tails "${way%/*}" "${way#*/}" $encoding
		done
	done
	encoding=
fi

# told SOURCE ARGUMENTS...: blocks and counts of a run, without what differs from run to run, and without bounds: how much a killed
# process had not written yet is another thing for each encoding. If there is a text of that name beside it, that is in the program.
told()
{
	local source=$1 text="$here/${1%.*}.s"
	shift
	[ -e "$text" ] || text=
	build gcc "$source" -O1 ${text:+"$text"} || return 1
	(ulimit -c 0; ./program "$@"; :) >/dev/null 2>&1
	"$CHORD" trace --blocks ./program | sed 's|^[^ ]* process [0-9]*, thread|thread|'
	"$CHORD" report --json ./program | jq -S '[(.totals | with_entries(select(.key | test("_at_(least|most)$") | not))), (.functions | map([.name, .calls, .blocks, .instructions]) | sort)]'
}
for how in flow.c throws.cc stacks.c words.c crowded.c "killed.c x" killed.c; do
	encoding=
	told $how >paths.told 2>err
	for encoding in witness bits branches; do
		told $how >told 2>err
		cmp -s paths.told told && [ "$(wc -l <told)" -gt 10 ]
		check "encodings/$encoding/$how" $? "$(wc -l <told) lines; $(diff paths.told told | head -n 3) $(head -n 1 err)"
	done
done
encoding=
printf 'int main(void) { return 0; }\n' >plain.c
"$CHORD" cc -fchord-trace=bytes -c plain.c 2>err
[ $? = 2 ] && grep -q "unknown encoding 'bytes'; there are paths, witness, bits and branches" err
check encodings/unknown $? "$(cat err)"
"$CHORD" cc -fchord=data -fchord-trace=witness -c plain.c 2>err
[ $? = 2 ] && grep -q 'does not go with -fchord=data' err
check encodings/data $? "$(cat err)"

# A child that a handler forks goes on amid a way of which its trace does not have the beginning: that is said.
cat >forks.c <<'EOF'
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sum, pid = -1;
static char *page;
static void on(int sig) { (void)sig; mprotect(page, 4096, PROT_READ | PROT_WRITE); pid = fork(); }
__attribute__((noinline)) static void loop(volatile char *at)
{
	for (int i = 0; i < 20; i++) {
		if (i == 7)
			*at = 1;
		sum += i & 1 ? 3 : i & 2 ? 5 : 7;
	}
}
int main(void)
{
	page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, on);
	loop(page);
	if (pid > 0)
		wait(NULL);
	return 0;
}
EOF
encoding=witness
"$CHORD" cc -O1 -fchord=trace -fchord-trace=witness -o forks forks.c && ./forks
"$CHORD" report ./forks >out 2>err
grep -q 'of [1-9] of its ways the beginning is not in it: what ran is not known from it' err && ! grep -q 'loop  ' out
check encodings/forks-amid $? "$(cat err) $(head -n 12 out)"
# A word of outcomes whose beginning was not kept is missing, and is said to be.
cat >lost.c <<'EOF'
static volatile int sum;
__attribute__((noinline)) static int odd(unsigned n)
{
	int k = 0;
	for (; n; n >>= 1) {
		if (n & 1)
			k++;
		else if (n % 3 == 0)
			k += 2;
	}
	return k;
}
int main(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum += odd(i * 2654435761u);
	return 0;
}
EOF
rm -f ./*.chord ./*.trace
"$CHORD" cc -O2 -fchord=trace -fchord-trace=bits -o lost lost.c && CHORD_TRACE=last:256K ./lost
"$CHORD" trace --last=1 ./lost >out 2>err
grep -q 'what thread 1 did is not known in [12] places: words of outcomes are not in the trace' err
check encodings/lost $? "$(cat err)"
rm -f ./*.chord ./*.trace
# Where the function goes on that forks all is known.
cat >forks.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
static volatile int sum;
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 5 + argc; i++) {
		int pid = i % 3 ? 1 : fork();
		if (pid < 0)
			return 1;
		if (!pid) {
			sum += 3;
			continue;
		}
		sum += i & 1 ? 5 : 7;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
EOF
for encoding in paths witness bits branches; do
	rm -f ./*.chord ./*.trace
	"$CHORD" cc -O1 -fchord=trace -fchord-trace=$encoding -o forks forks.c && ./forks
	"$CHORD" trace --blocks ./forks 2>&1 | sed 's|^[^ ]* process [0-9]*, thread|thread|' | sort >$encoding.forked
	"$CHORD" report --json ./forks 2>&1 | jq -S .totals >>$encoding.forked
done
cmp -s paths.forked witness.forked && cmp -s paths.forked bits.forked && cmp -s paths.forked branches.forked && [ "$(wc -l <paths.forked)" -gt 20 ]
check encodings/forks $? "$(diff paths.forked witness.forked | head -n 5)"
encoding=
rm -f ./*.chord ./*.trace

# Where a handler jumps over several activations of one procedure, out of one that has written nothing, the right one goes on.
for encoding in '' witness bits branches; do
	in_turn gcc/-O1 clang/-O1 gcc/-O0 clang/-O0
	for way in $turn; do
		build "${way%/*}" leaves.c "${way#*/}" && ./program >want && "$CHORD" trace --json ./program >json 2>err &&
			[ "$(grep -c '"how": *"found"' json)" = 0 ] &&
			jq 'select(.event == "enter" and .function == "landed").depth - 3' json | cmp -s - want && [ "$(wc -l <want)" = 18 ]
		check "leaves/$way${encoding:+/$encoding}" $? "$(head -n 1 log) $(jq -c 'select(.how == "found")' json | head -n 1)"
	done
done
encoding=
rm -f ./*.chord ./*.trace

# What only looks like a signal's handler runs as ever.
build gcc coroutine.c -O2 && [ "$(./program)" = 7 ] && "$CHORD" trace ./program >calls 2>err && grep -q ' body() {' calls
check looks-like-handler $? "$(head -n 1 log) $(head -n 1 err)"

# ---- what is shown ----

build gcc flow.c -O2 || fail build "$(head -n 1 log)"
./program >/dev/null
"$CHORD" trace ./program >all 2>err
check whole $? "$(head -n 1 err)"
[ "$(grep -c 'fib' all)" -gt 20 ] && [ "$(grep -c '} /\* main \*/' all)" = 1 ]
check calls $? "$(tail -n 1 all)"
[ "$("$CHORD" trace --grep=sorted ./program | grep -c by_value)" = "$(grep -c by_value all)" ] &&
	! "$CHORD" trace --grep=sorted ./program | grep -q fib
check grep $? "$("$CHORD" trace --grep=sorted ./program | head -n 3)"
"$CHORD" trace --last=3 ./program >last && cmp -s <(head -n 1 all; tail -n 3 all) last
check last $? "$(cat last)"
# Room is taken for the lines that there are.
(ulimit -v 4000000 && timeout 20 "$CHORD" trace --last=1000000000 ./program) >last 2>err && cmp -s all last
check last-of-few $? "$(head -n 1 err) $(wc -l <last)"
[ "$("$CHORD" trace --from=even:2 --to=even:2 ./program | grep -cE '(even|odd)')" -gt 0 ] &&
	[ "$("$CHORD" trace --from=fib:3 --to=fib:3 ./program | grep -c 'process')" = 1 ]
check from-function $? "$("$CHORD" trace --from=fib:3 --to=fib:3 ./program | head -n 3)"
"$CHORD" trace --insns ./program >insns
[ "$(awk '($2 ~ /^[0-9a-f]+$/ && NF > 2) || $2 == "nop"' insns | wc -l)" = "$("$CHORD" report --json ./program | jq .totals.instructions)" ]
check totals $? "$("$CHORD" report --json ./program | jq -c .totals)"
"$CHORD" trace --json ./program | jq -s -e '(map(select(.event == "enter")) | length) as $n |
	$n > 50 and $n == (map(select(.event == "leave")) | length)' >/dev/null
check json $? "$("$CHORD" trace --json ./program | head -n 1)"
"$CHORD" trace --chrome ./program | jq -e '.traceEvents | map(.ph) | (map(select(. == "B")) | length) == (map(select(. == "E")) | length)' >/dev/null
check chrome $? "$("$CHORD" trace --chrome ./program | head -n 2)"

# Perfetto's format, decoded by its schema, has the same activations at the same instructions as Chrome's.
spans() { "$CHORD" trace --chrome ./program | jq -r '.traceEvents[] | select(.ph != "M") | "\(.ph) \(.tid) \(.ts) \(if .ph == "B" then .name else "" end)"'; }
perfetto_spans()
{
	"$CHORD" trace --perfetto ./program | protoc --decode=PerfettoTrace -I "$top/src/tool/trace" perfetto.proto 2>err | awk '
		$1 == "timestamp:" { ts = $2 }
		$1 == "type:" { begins = $2 ~ /BEGIN/ }
		$1 == "name_iid:" { iid = $2 }
		$1 == "track_uuid:" { thread = $2 % 4294967296; event = 1 }
		$1 == "iid:" { new = $2 }
		$1 == "name:" { text = $0; sub(/^ *name: "/, "", text); sub(/"$/, "", text); if (new) name[new] = text; new = 0 }
		/^}/ && event { print begins ? "B" : "E", thread, ts, begins ? name[iid] : ""; event = 0 }'
}
if command -v protoc >/dev/null; then
	spans >chrome
	perfetto_spans >perfetto
	cmp -s chrome perfetto && [ -s perfetto ]
	check perfetto $? "$(diff chrome perfetto | head -n 3) $(head -n 1 err)"
	# By the numbers of Perfetto's schema: packets (1), events in them (11) with type (9) and track (11), names (12, 2).
	"$CHORD" trace --perfetto ./program | protoc --decode_raw >raw 2>err && grep -q '^1 {' raw && ! grep -qE '^[02-9]' raw &&
		[ "$(awk '/^  11 \{/ { event = 1 } /^  }/ { event = 0 } event && /^    9: 1$/' raw | wc -l)" = "$(grep -c ^B perfetto)" ] &&
		grep -qE '^    2 \{' raw && grep -q '"main"' raw
	check perfetto-numbers $? "$(head -n 5 raw) $(head -n 1 err)"
else
	echo "skip tracing/perfetto: no protoc"
fi

# Each round of three jumps out of the activations of deep, 3, 4 and 5 of them.
[ "$(grep -c 'deep: left by a jump' all)" = 12 ]
check longjmp $? "$(grep deep all | head -n 5)"

[ "$("$CHORD" trace --from=fib --to=fib ./program | head -n 3)" = "$("$CHORD" trace --from=fib:1 --to=fib:1 ./program | head -n 3)" ] &&
	[ "$("$CHORD" trace --from=fib --to=fib ./program | grep -c 'fib')" -gt 0 ]
check from-first $? "$("$CHORD" trace --from=fib --to=fib ./program 2>&1 | head -n 3)"
for option in --from=none --from=fib:9999999 --from=99999999999 --to=none --grep=none --thread=99; do
	"$CHORD" trace $option ./program >/dev/null 2>found.err
	[ $? = 1 ] && grep -Eq 'no thread|no procedure has such a name' found.err
	check "not-there $option" $? "$(cat found.err)"
done
for option in --from=:3 --to=fib: --last=0 --thread=x --diff "--last=3 --json" "--encodings --lines" "--together --last=3"; do
	# shellcheck disable=SC2086
	"$CHORD" trace $option ./program >log 2>&1
	[ $? = 2 ]
	check "usage $option" $? "$(head -n 1 log)"
done
"$CHORD" trace --last=2 "$CHORD" >log 2>&1
[ $? = 1 ]
check not-traced $? "$(head -n 1 log)"

# ---- two runs ----

first=$(echo ./*.chord)
"$CHORD" trace --diff ./program "$first" "$first" >log 2>&1
[ $? = 1 ] && grep -q 'two processes' log
check diff-same-file $? "$(cat log)"
cp "$first" a.chord && cp "$first.trace" a.chord.trace && rm -f "$first" "$first.trace"
./program >/dev/null
"$CHORD" trace --diff ./program a.chord ./program.*.chord >log 2>&1 && grep -q 'No difference' log
check diff-none $? "$(head -n 3 log)"

# Without the code of a library nothing is known of what comes behind.
mkdir apart && cd apart || exit 1
printf 'int lib(int a) { return a * 3; }\n' >lib.c
printf 'int lib(int); volatile int s; int main(int n, char **v) { s = lib(n); if (n > 1) s += **v; return 0; }\n' >main.c
"$CHORD" cc -O2 -fPIC -shared -fchord=trace -o lib.so lib.c && "$CHORD" cc -O2 -fchord=trace -o main main.c ./lib.so &&
	CHORD_FILE=a.chord ./main && CHORD_FILE=b.chord ./main more && "$CHORD" trace --diff ./main a.chord b.chord >log 2>&1
[ $? = 1 ] && grep -q 'first difference' log && rm lib.so && ! "$CHORD" trace --diff ./main a.chord b.chord >log 2>&1 &&
	grep -q 'is not known: its code is not at hand' log && ! grep -q 'difference' log
check diff-unknown $? "$(head -n 3 log)"
cd ..

# Threads that have had one stream, and handlers: where the first lines part that are printed of a thread is where it is said that they do.
# parted THREAD: "INSTRUCTIONS FUNCTION BLOCK" of a.chord's line
parted()
{
	local p
	for p in a b; do "$CHORD" trace --blocks --thread="$1" ./program $p.chord 2>err | sed 1d >$p.lines; done
	diff a.lines b.lines | sed -n 's/^< *\([0-9,]*\) *\([a-z]*\) block \([0-9]*\) .*/\1 \2 \3/p' | head -n 1
}
mkdir parted && cd parted || exit 1
for encoding in paths witness branches bits; do
	build gcc parts.c -O1 && CHORD_FILE=a.chord ./program 4 9 0 && CHORD_FILE=b.chord ./program 4 4 6 && CHORD_FILE=c.chord ./program 3 9 0
	"$CHORD" trace --diff ./program a.chord b.chord >log 2>&1
	[ $? = 1 ] && [ "$(grep -c '^Thread' log)" = 1 ] && grep -q '^Thread 4: the first difference' log && grep -q 'interrupted work' log &&
		[ -n "$(parted 4)" ] && [ "$(sed -n '/a.chord/s/.*after \(.*\) instructions:/\1/p; /then/s/.*then \([a-z]*\) block \([0-9]*\) .*/\1 \2/p' log |
			head -n 2 | xargs)" = "$(parted 4)" ]
	check "diff-thread/$encoding" $? "$(parted 4) $(head -n 3 log | xargs)"
	"$CHORD" trace --diff --thread=3 ./program a.chord b.chord >log 2>&1 && grep -q 'No difference' log &&
		! "$CHORD" trace --diff --thread=4 ./program a.chord b.chord >log 2>&1 && grep -q '^Thread 4: the first' log &&
		! "$CHORD" trace --diff --thread=6 ./program a.chord b.chord >log 2>&1 && grep -q 'there is no thread 6' log && ! grep -q 'No diff' log &&
		! "$CHORD" trace --diff ./program a.chord c.chord >log 2>&1 && [ "$(grep -c '^Thread' log)" = 2 ] && grep -q '^Thread 5: only a.chord has it' log
	check "diff-thread/$encoding/which" $? "$(head -n 3 log | xargs)"
done
encoding=
cd ..

# ---- without the whole trace nothing is known, and a file that was merged needs none ----

totals() { "$CHORD" report --json ./program "$@" 2>err | jq -c '[.totals.instructions, .totals.unknown]'; }
whole=$(totals a.chord)
second=$(echo ./program.*.chord)
"$CHORD" merge -o sum.chord a.chord "$second" 2>err && [ "$(totals sum.chord)" = "$(totals a.chord "$second")" ] &&
	[ "$(totals sum.chord | jq '.[1]')" = 0 ]
check merged $? "$(totals sum.chord) $(head -n 1 err)"
cp a.chord none.chord
[ "$(totals none.chord | jq -c '.[0], .[1] > 0' | xargs)" = "0 true" ]
check missing $? "$(totals none.chord)"
"$CHORD" report ./program none.chord 2>&1 | grep -q 'its process, which is not beside the profile'
check missing-is-said $? "$("$CHORD" report ./program none.chord 2>&1 | tail -n 3)"
for i in $(seq 30); do echo "__attribute__((noinline)) int f$i(int n) { return n * $i; }"; done >many.c
echo "int main(int n, char **v) { (void)v; return $(printf 'f%d(n) + ' $(seq 30))0 == 0; }" >>many.c
"$CHORD" cc -g -O2 -fchord=trace -o many many.c && CHORD_FILE=many.chord ./many && rm many.chord.trace &&
	"$CHORD" report ./many many.chord >log 2>&1 && [ "$(grep -c 'is not beside the profile' log)" = 10 ] &&
	grep -q '^  and 21 more, for the same reason (--json names all)$' log &&
	"$CHORD" coverage --format=markdown ./many many.chord 2>err | grep -q '^- and 21 more, for the same reason' &&
	[ "$("$CHORD" report --json ./many many.chord 2>err | jq '.unknown | length')" = 31 ]
check missing-is-said-once $? "$(tail -n 30 log)"
cp "$second.trace" none.chord.trace
[ "$(totals none.chord | jq '.[1] > 0')" = true ] && grep -q 'belongs to another profile' err &&
	! "$CHORD" trace ./program none.chord >log 2>&1 && grep -q 'belongs to another profile' log
check foreign $? "$(cat log)"
head -c 20000 a.chord.trace >none.chord.trace
[ "$(totals none.chord | jq '.[1] > 0')" = true ] && grep -q truncated err &&
	! "$CHORD" trace ./program none.chord >log 2>&1 && grep -q truncated log
check truncated $? "$(cat log)"
# A process that runs: the trace beside its profile is read.
cat >rounds.c <<'END'
static volatile long x;
__attribute__((noinline)) static void f(void) { x++; }
int main(void) { for (;;) f(); }
END
"$CHORD" cc -O1 -fchord=trace -o rounds rounds.c || fail build/rounds "does not compile"
CHORD_FILE=rounds.chord ./rounds & rounds=$!
for i in $(seq 100); do [ ! -s rounds.chord.trace ] || break; sleep 0.1; done
sleep 0.3
"$CHORD" report --json --pid $rounds >out 2>err
jq -e '.totals.instructions_at_least > 1000 and .unknown == []' out >/dev/null
check pid $? "$(head -n 1 err) $(jq -c '[.totals, .unknown]' out)"
kill $rounds
# In a folder: the others are shown, and it is said which is not.
mkdir folder && cp "$second" "$second.trace" none.chord folder && printf 'no trace' >folder/none.chord.trace
! "$CHORD" trace ./program folder >out 2>err && [ -s out ] && grep -q 'folder/none.chord: its trace .*not a trace' err
check damaged-in-folder $? "$(head -n 1 err)"
rm folder/none.chord.trace
"$CHORD" trace ./program folder >out 2>err && [ -s out ] && grep -q 'warning: folder/none.chord: left out: its trace .*No such file' err
check none-in-folder $? "$(head -n 1 err)"
rm -r folder
# Profiles whose traces are gone are named once, in whichever places they are found. A program that never traces has none to miss.
mkdir gone && cp program gone && (cd gone && ./program >/dev/null && rm ./*.trace; ! "$CHORD" trace ./program >../out 2>../err)
[ $? = 0 ] && [ "$(grep -c 'left out: its trace .*No such file' err)" = "$(ls gone/*.chord | wc -l)" ] && grep -q 'has it been run' err
check traces-gone $? "$(cat err)"
echo 'int main(void) { return 0; }' >plain.c
mkdir untraced && "$CHORD" cc -o untraced/program plain.c && (cd untraced && ./program >/dev/null; "$CHORD" trace ./program >../out 2>../err)
[ $? = 1 ] && [ "$(cat err)" = "chord: ./program: no trace of this build was found: it was not built with -fchord=trace" ]
check never-traced $? "$(cat err)"
(cd untraced && "$CHORD" trace ./program ./*.chord >../out 2>../err)
[ $? = 1 ] && grep -q 'No such file or directory (the program was not built with -fchord=trace)$' err
check never-traced-named $? "$(cat err)"
rm -r gone untraced
"$CHORD" merge -o sum.chord none.chord "$second" 2>err && [ "$(totals sum.chord | jq '.[1] > 0')" = true ]
check merged-without $? "$(totals sum.chord)"
rm -f none.chord none.chord.trace
! "$CHORD" report ./program a.chord.trace >log 2>&1 && grep -q 'a trace, no profile' log
check trace-is-no-profile $? "$(cat log)"

# ---- counts as with edges, of each function ----

# counts MEASURE: of ./program, which is run
counts()
{
	rm -f ./*.chord ./*.trace
	./program >out 2>&1
	"$CHORD" report --json ./program | jq -c '.functions | map([.name, .instructions]) | sort'
}
# Exceptions end 4, 1, 2 and 3 activations of the recursion; those between the throw and the handler rethrow.
build gcc throws.cc -O2 && ./program >/dev/null && "$CHORD" trace ./program >all 2>err
[ "$(grep -c 'deep.*left by a jump' all)" = 10 ] && [ "$(grep -c 'deep' all)" = 32 ]
check exceptions $? "$(grep -c 'deep.*left by a jump' all), $(grep -c deep all)"
for source in flow.c throws.cc threads.c; do
	build gcc $source -O2 || fail "build/$source" "$(head -n 1 log)"
	counts >traced
	if [ $source = throws.cc ]; then front=c++; else front=cc; fi
	"$CHORD" $front -O2 -g -fchord=edges -o program "$here/$source" -lpthread >log 2>&1 && counts >counted
	cmp -s traced counted && [ -s traced ]
	check "counts/$source" $? "$(head -c 200 traced) $(head -c 200 counted)"
done

# ---- other encodings: blocks are regenerated from witnesses; what is counted of them ----

for source in flow.c throws.cc threads.c; do
	in_turn $builds
	for way in $turn; do
		build "${way%/*}" $source "${way#*/}" && ./program >/dev/null
		"$REGENERATE" ./program >log 2>&1 && grep -q ' 0 of [1-9][0-9]* outermost' log
		check "regenerated/$source/$way" $? "$(head -n 1 log)"
	done
	! "$REGENERATE" --damage ./program >log 2>&1 && grep -q 'were regenerated' log
	check "regenerated/damaged/$source" $? "$(head -n 1 log)"
done
# One loop of a million rounds with a branch that is taken every third time, in a function of two paths a round.
build gcc branches.c -O1 && ./program >/dev/null
"$CHORD" trace --encodings --json ./program >json 2>err
[ "$(jq -c '.functions[] | select(.name == "thirds") | [.branches, .branch_bits.writes, .branch_bits.bits, .witness_bits.writes]' json)" \
	= "[2000001,2000001,2000001,1000001]" ]
check encodings $? "$(jq -c '.functions[]' json) $(head -n 1 err)"
"$CHORD" stat --json -e branches -o stat.json ./program >/dev/null 2>err
[ "$(jq .branches json)" = "$(jq .events.branches stat.json)" ]
check encodings-branches $? "$(jq .branches json) $(jq -c .events stat.json) $(head -n 1 err)"
rm -f ./*.chord ./*.trace && ./program >/dev/null
"$CHORD" trace --encodings ./program >log 2>err && grep -q '^fewest writes: ' log
check encodings-text $? "$(tail -n 1 log) $(head -n 1 err)"

# ---- CHORD_TRACE=last:SIZE, chord trace --run ----

build gcc long.c -O2 || fail build/long "$(head -n 1 log)"
last_insns() { "$CHORD" trace --insns --last=20000 ./program "$@" 2>err | awk '$2 ~ /^[0-9a-f]+$/ && NF > 2 { print $2 }' | tail -n 10000; }
./program >plain && last_insns >all && [ "$(wc -l <all)" = 10000 ] && counted=$("$CHORD" report --json ./program | jq -c .totals)
rm -f ./*.chord ./*.trace
CHORD_TRACE=last:256K ./program >out && cmp -s plain out && last_insns >end && cmp -s all end &&
	grep -q 'only its end was kept: the beginning, [0-9]* segments of 16384 paths, is missing' err
check last-end $? "$(head -n 1 err) $(tail -n 1 all) $(tail -n 1 end)"
"$CHORD" report ./program >log 2>&1 && grep -q 'only its end was kept' log && [ "$("$CHORD" report --json ./program 2>err | jq '.totals.unknown > 0')" = true ]
check last-counts $? "$(tail -n 3 log)"
rm -f ./*.chord ./*.trace
CHORD_TRACE=last:1G ./program >out && [ "$("$CHORD" report --json ./program | jq -c .totals)" = "$counted" ]
check last-whole $? "$("$CHORD" report --json ./program 2>&1 | jq -c .totals)"
rm -f ./*.chord ./*.trace
# Forked children take the room that they need.
blocks() { for p in ./*.chord; do "$CHORD" trace --json --blocks ./forks "$p" 2>err | grep -c '"block"'; done | sort -n | xargs; }
cat >forks.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
static volatile int v;
__attribute__((noinline)) static void f(int n) { for (int i = 0; i < n; i++) if (i % 3) v += i; }
int main(void) { f(300); for (int i = 0; i < 12; i++) if (!fork()) { f(200 * i); _exit(0); } while (wait(0) > 0); f(5); return 0; }
EOF
"$CHORD" cc -O1 -fchord=trace -o forks forks.c && ./forks && blocks >whole && rm -f ./*.chord ./*.trace &&
	CHORD_TRACE=last:64M ./forks && [ "$(blocks)" = "$(cat whole)" ] && [ "$(wc -w <whole)" = 13 ] && [ "$(du -kc ./*.trace | tail -n 1 | cut -f1)" -lt 20000 ]
check last-forks $? "$(cat whole) $(du -kc ./*.trace | tail -n 1)"
# The ring goes round where its room grows, and every slot of it is there.
rm -f ./*.chord ./*.trace
CHORD_TRACE=last:4M ./program >out && cmp -s plain out && last_insns >end && cmp -s all end
check last-grows $? "$(head -n 1 err)"
rm -f ./*.chord ./*.trace
"$CHORD" trace --run -o one.chord ./program >out 2>err && [ ! -s err ] && cmp -s plain out && [ -f one.chord.trace ] &&
	[ "$("$CHORD" report --json ./program one.chord | jq -c .totals)" = "$counted" ]
check run $? "$(head -n 1 err) $(ls)"
last_insns one.chord >end && cmp -s all end
check run-order $? "$(tail -n 1 end)"
rm -f one.chord*
"$CHORD" trace -o one.chord --run true >out 2>err && grep -q 'true: no process of it has left a trace' err
check run-behind-output $? "$(head -n 1 err)"
"$CHORD" trace --run sh -c 'echo said; echo wrong >&2; exit 7' >out 2>err
[ $? = 7 ] && [ "$(cat out)" = said ] && grep -q wrong err
check run-status $? "$(cat out err)"
("$CHORD" trace --run sh -c 'kill -SEGV $$'; echo $?) >out 2>err
[ "$(cat out)" = 139 ]
check run-signal $? "$(cat out err)"
"$CHORD" trace --run ./none >out 2>err
[ $? = 1 ] && grep -q 'none: No such file' err
check run-none $? "$(cat err)"
CHORD_TRACE=last:1M "$CHORD" trace --run ./program >out 2>err
[ $? = 2 ] && grep -q 'CHORD_TRACE' err
check run-with-last $? "$(cat err)"
rm -f ./*.chord ./*.trace
# What is sent can be written to: it goes to sockets of one's own only.
if [ "$(id -u)" = 0 ]; then
	"$CHORD" trace --run sh -c 'chown 65534 "/${CHORD_TRACE#*:/}" && exec ./program' >out 2>err
	cmp -s plain out && grep -q 'no process of it has left a trace' err && [ "$("$CHORD" report --json ./program | jq -c .totals)" = "$counted" ]
	check run-foreign $? "$(head -n 2 err)"
else
	echo "skip tracing/run-foreign: not root"
fi
rm -f ./*.chord ./*.trace
gcc -O1 -o filter "$here/filter.c" && ./filter /bin/true
if [ $? = 77 ] || [ "$(sed -n 's/^Seccomp:\t*//p' /proc/self/status)" != 0 ]; then
	echo "skip tracing/run-filter: no filter can be had, or there is one"
else
	"$CHORD" trace --run ./filter ./program >out 2>err
	status=$?
	[ $status = 0 ] && cmp -s plain out && [ "$("$CHORD" report --json ./program | jq -c .totals)" = "$counted" ]
	check run-filter $? "status $status, $(head -n 1 err)"
fi

# A process that was gone when the collector came has left a trace that is packed all the same: its room is given back.
build gcc killed.c -O1 || fail build/gone "$(head -n 1 log)"
"$CHORD" trace --run sh -c 'read -r taker more </proc/$PPID/task/$PPID/children; kill -STOP $taker; ./program x; kill -CONT $taker' >out 2>err &&
	[ ! -s err ] && [ "$(du -k ./*.trace | cut -f1)" -lt 1500 ] && [ "$("$CHORD" trace ./program 2>&1 | grep -c 'down();')" = 1 ]
check run-gone $? "$(du -k ./*.trace) $(head -n 1 err)"
# What others send to the socket does not keep traces that come after it from being packed.
cat >send.c <<'EOF'
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(int argc, char **argv)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_DGRAM, 0);
	snprintf(to.sun_path, sizeof to.sun_path, "%s", argv[argc - 1]);
	return sendto(s, "", 0, 0, (void *)&to, sizeof to) != 0 || sendto(s, "?", 1, 0, (void *)&to, sizeof to) != 1;
}
EOF
rm -f ./*.chord ./*.trace
gcc -o send send.c && "$CHORD" trace --run sh -c 'read -r taker more </proc/$PPID/task/$PPID/children
	kill -STOP $taker; ./send "/${CHORD_TRACE#*:/}" || exit 9; ./program x; { sleep 0.5; kill -CONT $taker; } >/dev/null 2>&1 &' >out 2>err &&
	[ ! -s err ] && [ "$(du -k ./*.trace | cut -f1)" -lt 1500 ]
check run-garbage $? "$(du -k ./*.trace) $(head -n 1 err)"
# No folder is left if there can be no socket.
mkdir tmp && echo 'int bind(int s, void *at, unsigned n) { return -1; }' >bind.c && gcc -shared -fPIC -o bind.so bind.c
TMPDIR=$PWD/tmp LD_PRELOAD=./bind.so "$CHORD" trace --run ./program x >out 2>err
[ $? = 1 ] && [ -s err ] && rmdir tmp 2>/dev/null
check run-no-socket $? "$(ls tmp 2>&1) $(head -n 1 err)"

# ---- libraries that are closed, and others that are opened where they were ----

mkdir opened && cd opened || exit 1
for x in one two; do
	printf 'static volatile int s;\n__attribute__((noinline)) static int %s(int n) { while (n-- > 0) s += n & 3; return s; }\nint enter(int n) { return %s(n) + 1; }\n' \
		$x $x >$x.c
	"$CHORD" cc -O1 -fPIC -shared -fchord=trace -o $x.so $x.c
done
cat >open.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
static void *at[5];
static void use(const char *name, int i)
{
	void *l = dlopen(name, RTLD_NOW);
	at[i] = dlsym(l, "enter");
	((int (*)(int))at[i])(i + 1);
	dlclose(l);
}
int main(void)
{
	use("./one.so", 0); use("./two.so", 1); use("./one.so", 2); use("./one.so", 3); use("./two.so", 4);
	puts(at[0] == at[1] && at[1] == at[4] ? "same" : "others");
	return 0;
}
EOF
"$CHORD" cc -O1 -fchord=trace -o open open.c -ldl && [ "$(./open)" = same ] &&
	[ "$("$CHORD" trace --json ./open | jq -r 'select(.event == "enter" and (.function == "one" or .function == "two")) | .function' | xargs)" = \
		"one two one one two" ]
check opened-again $? "$("$CHORD" trace ./open 2>&1 | head -n 12)"
# A child has nothing of libraries that were closed before the fork: it is known what these did.
sed 's/puts(.*/if (!fork()) _exit(0); wait(NULL);/; s/<stdio.h>/<sys\/wait.h>\n#include <unistd.h>/' open.c >forks.c
rm -f ./*.chord*
"$CHORD" cc -O1 -fchord=trace -o forks forks.c -ldl && ./forks && [ "$(ls ./*.chord | wc -l)" = 2 ] &&
	[ "$("$CHORD" report --json ./forks 2>err | jq -c '[(.functions[] | select(.name == "enter") | .calls), .totals.unknown]' | xargs)" = "[3,2,0]" ]
check closed-before-fork $? "$(head -n 3 err) $("$CHORD" report ./forks 2>&1 | head -n 12)"
cd ..

# ---- how threads and processes end ----

build gcc ends.c -O1 || fail build/ends "$(head -n 1 log)"
# ended HOW MAIN THREAD: how the first and the last thread ended, one that waits; two had ended before, by returning and by pthread_exit.
ended()
{
	rm -f ./*.chord ./*.trace
	(ulimit -c 0; ./program $1; :) >/dev/null 2>&1
	"$CHORD" trace --json ./program 2>err | jq -s -r 'map(select(.event == "end") | "\(.thread) \(.how)\(.signal // "")") | sort | join(", ")' >log
	# Nobody says that a thread has returned if the process does not end by itself, unless another one has its counters.
	[ "$(cat log)" = "1 $2, 2 gone, 3 thread, 4 $3" ] || { [ $1 = fault ] && [ "$(cat log)" = "1 $2, 2 unknown, 3 thread, 4 $3" ]; }
	check "ended/$1" $? "$(cat log) $(head -n 1 err)"
}
ended return exit process
ended exit exit process
ended _exit _exit process
ended abort signal6 process
ended kill signal9 process
ended exec exec process
ended no-exec exit process
ended handled exit process
ended fault unknown unknown
ended cancel exit cancelled
"$CHORD" trace ./program >all && grep -q '/\* the process ends: exit \*/' all && grep -q '/\* the thread is cancelled \*/' all &&
	grep -q '/\* thread 4 begins \*/' all && ! grep -q 'may not' all
check ended-text $? "$(grep '/\*' all)"

# ---- a collector that keeps up ----

# The thread goes around its ring many times, and the runtime settles it only after each half of it.
build gcc slow.c -O2 && "$CHORD" trace --run ./program 2>err && [ ! -s err ] && "$CHORD" report ./program 2>err | grep -qE ' 3,000,000  f  '
check run-slow $? "$(head -n 1 err)"

# A signal's handler strikes where the ring's last slot has been reserved, when the thread has written a whole ring meanwhile.
gcc -O2 -DUNTRACED -c -o look.o "$here/brim.c" && build gcc brim.c -O2 look.o && "$CHORD" trace --run ./program >out 2>err && [ ! -s err ] &&
	[ "$(cat out)" = 100 ] && "$CHORD" report ./program 2>err | grep -qE ' 100  in_handler  '
check run-brim $? "$(cat out) $(head -n 1 err)"

# ---- paths of sources ----

# The current folder is not asked for with each line.
if build gcc slow.c -O2 && ./program && strace -o trace true 2>/dev/null; then
	strace -f -e trace=getcwd -o trace "$CHORD" trace --blocks --to=1000 ./program >all 2>err
	[ "$(grep -c 'slow.c:' all)" -gt 8 ] && [ "$(grep -c getcwd trace)" -lt 8 ]
	check folder-once $? "$(grep -c getcwd trace) calls for $(grep -c 'slow.c:' all) places; $(head -n 1 err)"
else
	echo "skip tracing/folder-once: strace cannot be used here"
fi

# ---- children of vfork that are killed within the runtime ----

# The parent goes on, and what it did is exact.
for encoding in "" bits; do
	build gcc vforks.c -O2 && timeout 60 ./program 60 >out && [ "$(cat out)" = "60 killed" ] &&
		"$CHORD" report ./program 2>err | grep -qE ' 60  own  '
	check "vforks${encoding:+-$encoding}" $? "$(cat out) $(head -n 2 err) $("$CHORD" report ./program 2>&1 | grep own)"
	# Slots that nobody will write: the stream goes on in other rings, and its end is shown.
	rm -f ./*.chord ./*.trace
	CHORD_TRACE=last:256K timeout 60 ./program 60 >out && [ "$(cat out)" = "60 killed" ] &&
		"$CHORD" trace --thread=1 ./program 2>err | grep -q 'the process ends: exit' && ! grep -q 'segment.* missing: read up to' err
	check "vforks-last${encoding:+-$encoding}" $? "$(cat out) $(head -n 3 err)"
	rm -f ./*.chord ./*.trace
	timeout 60 "$CHORD" trace --run ./program 60 >out 2>err && [ "$(cat out)" = "60 killed" ]
	check "vforks-run${encoding:+-$encoding}" $? "$(cat out) $(head -n 1 err)"
done
encoding=

# ---- an order of threads and processes ----

build gcc order.c -O1 && ./program || fail build/order "$(head -n 1 log)"
"$CHORD" trace --together --json ./program >json 2>err
# Nothing of a thread comes before its creation; all are there.
jq -s -e '(map("\(.process) \(.thread)") | unique | length) as $threads | (map(.process) | unique | length) as $processes |
	reduce .[] as $e ({made: {}, ok: true}; if $e.event == "create" then .made["\($e.process) \($e.created)"] = true
		elif $e.thread > 1 then .ok = (.ok and .made["\($e.process) \($e.thread)"] == true) else . end) |
	.ok and (.made | length) == 10 and $threads == 14 and $processes == 4' json >/dev/null
check together-threads $? "$(head -n 1 err) $(jq -c '[.process, .thread]' json | sort | uniq -c | head -n 20)"
# Each child stands behind the fork: whenever a new process comes up, one more fork has been told than there were children. The thread that
# ends the first process is its last. The order of the files does not matter: process ids may be anything.
for files in "$(ls ./*.chord)" "$(ls -r ./*.chord)"; do
	# shellcheck disable=SC2086
	"$CHORD" trace --together --json ./program $files >json 2>err
	jq -s -e '.[0].process as $first | reduce .[] as $e ({seen: {}, forks: 0, ok: true}; (if .seen["\($e.process)"] then . else
			.ok = (.ok and (.seen | length) <= .forks) | .seen["\($e.process)"] = true end) | if $e.event == "fork" then .forks += 1 else . end) |
		.ok and .forks == 3' json >/dev/null && tail -n 1 json | jq -e '.event == "end" and .how == "exit" and .thread == 1' >/dev/null
	check together-forks $? "$(head -n 1 err) $(jq -c 'select(.event == "fork")' json | head -n 4)"
done
# The same lines as without, in another order.
"$CHORD" trace --json ./program | sort >separate && sort json | cmp -s - separate && "$CHORD" trace --together ./program >all 2>err && [ -s all ]
check together-same $? "$(head -n 1 err)"
# Arrows lead from where something begins to what begins there, and not back in time.
arrows()
{
	"$CHORD" trace --chrome ./program | jq -r '.traceEvents | [(map(select(.ph == "s")) | sort_by(.id)), (map(select(.ph == "f")) | sort_by(.id))] |
		transpose | map(if .[0].id == .[1].id and .[0].name == .[1].name and .[0].ts <= .[1].ts and
			(.[0].tid != .[1].tid or .[0].pid != .[1].pid) then .[0].name else "wrong" end) | .[]' | sort | uniq -c | awk '{ print $1, $2 }'
}
[ "$(arrows | tr '\n' ,)" = '13 begins,10 joined,' ]
check arrows $? "$(arrows)"
if command -v protoc >/dev/null; then
	"$CHORD" trace --perfetto ./program | protoc --decode=PerfettoTrace -I "$top/src/tool/trace" perfetto.proto >raw 2>err
	[ "$(sed -n 's/^ *flow_ids: //p' raw | sort)" = "$(sed -n 's/ *terminating_flow_ids: //p' raw | sort)" ] &&
		[ "$(grep -c ' flow_ids' raw)" = 23 ]
	check perfetto-arrows $? "$(head -n 1 err) $(grep -c flow_ids raw)"
fi
rm -f ./*.chord ./*.trace

# More processes than descriptors that the shell gives.
cat >many.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
static volatile int s;
__attribute__((noinline)) static void child(void) { s++; }
int main(void)
{
	for (int i = 0; i < 40; i++) {
		if (!fork()) {
			child();
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
EOF
"$CHORD" cc -O1 -fchord=trace -o program many.c && ./program
(ulimit -S -n 30 && "$CHORD" trace --together ./program) >all 2>err && [ "$(grep -c 'child();' all)" = 40 ]
check many-processes $? "$(head -n 1 err) $(grep -c 'child();' all)"
rm -f ./*.chord ./*.trace

# More processes at one time than descriptors that the shell gives, or may give: each has a collector, or is told that it has none. A word in
# the trace says that; while it is 0, a process waits where its ring is full. Only collectors compress with zstd.
cat >many.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
static volatile int s;
__attribute__((noinline)) static void child(int n) { while (n-- > 0) s += n % 3 ? 1 : 2; }
int main(void)
{
	int go[2];
	char c;

	if (pipe(go))
		return 1;
	for (int i = 0; i < 40; i++)
		if (!fork()) {
			close(go[1]);
			child(40000);
			_exit(read(go[0], &c, 1) < 0);
		}
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
EOF
"$CHORD" cc -O1 -fchord=trace -o program many.c
for limit in -S -SH; do
	(ulimit $limit -n 30 && "$CHORD" trace --run ./program) 2>err
	[ $? = 0 ] && [ "$(ls ./*.trace | wc -l)" = 41 ] && [ "$(cat ./*.chord | wc -c)" -gt 0 ]
	whole=$?
	for trace in ./*.trace; do od -An -tx4 -j512 -N4 $trace; done >words
	collected=$(LC_ALL=C grep -laP '\x28\xb5\x2f\xfd' ./*.trace | wc -l)
	[ $whole = 0 ] && ! grep -q 00000000 words && { [ $limit = -SH ] || [ "$collected" = 40 ]; }
	check many-at-once/$limit $? "$(head -n 1 err) $collected have a collector, $(grep -c 00000000 words) wait for one"
	rm -f ./*.chord ./*.trace
done

# A thread that is joined is named, and by its own number: also one whose region and handle others have had. A join that fails is none.
build gcc joins.c -O1 && ./program >want || fail build/joins "$(head -n 1 log)"
"$CHORD" trace --together --json ./program >json 2>err
jq -r -s '[.[] | select(.event == "enter" and .function == "work") | .thread] as $work | .[] | select(.event == "join").joined as $t |
	[$work[] | select(. == $t)] | length' json >got
[ "$(wc -l <want)" = 15 ] && cmp -s want got
check joins $? "$(head -n 1 err) $(diff want got | head -n 3)"
[ "$("$CHORD" trace ./program | grep -c '/[*] thread [0-9]* has been joined [*]/')" = 15 ]
check joins-text $? "$("$CHORD" trace ./program | grep -c joined)"
# Threads that create and join others, all at the same time: each joins whom it has created last, and nothing of that comes behind.
rm -f ./*.chord ./*.trace
for ((i = 0; i < 20; i++)); do ./program race || fail joins-race "status $?"; done
"$CHORD" trace --together --json ./program >json 2>err
[ "$(jq -n -c 'reduce inputs as $e ({made: {}, joined: {}, n: 0, ok: true}; "\($e.process) \($e.thread)" as $me | .ok = (.ok and .joined[$me] == null) |
	if $e.event == "create" then .made[$me] = $e.created
	elif $e.event == "join" then .n += 1 | .joined["\($e.process) \($e.joined)"] = true | .ok = (.ok and ($e.thread == 1 or .made[$me] == $e.joined))
	else . end) | [.ok, .n]' json)" = '[true,720]' ]
check joins-race $? "$(head -n 1 err) $(grep -c '"join"' json) joins"
# The C++ library's join; and a thread that is cancelled while it waits is unwound.
cat >joins.cc <<'EOF'
#include <cstdio>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
static pthread_t slow;
static sem_t go;
struct leaves { ~leaves() { std::puts("unwound"); } };
static void *waits(void *p) { sem_wait(&go); return p; }
static void *joins(void *p) { leaves here; pthread_join(slow, nullptr); return p; }
int main()
{
	pthread_t joiner;
	sem_init(&go, 0, 0);
	std::thread t([] { sem_post(&go); });
	t.join();
	sem_wait(&go);
	pthread_create(&slow, nullptr, waits, nullptr);
	pthread_create(&joiner, nullptr, joins, nullptr);
	pthread_cancel(joiner);
	pthread_join(joiner, nullptr);
	sem_post(&go);
	pthread_join(slow, nullptr);
}
EOF
for compiler in g++ clang++; do
	rm -f ./*.chord ./*.trace
	CHORD_CXX=$compiler "$CHORD" c++ -O1 -fchord=trace -o program joins.cc -lpthread >log 2>&1 && ./program >out &&
		[ "$("$CHORD" trace --together ./program 2>err | sed -n 's/.*thread \([0-9]*\) has been joined.*/\1/p' | tr '\n' ' ')" = '2 4 3 ' ]
	check "joins-$compiler" $? "$(head -n 1 log) $(cat err) $("$CHORD" trace ./program | grep joined)"
done
rm -f ./*.chord ./*.trace

# Stamps: the order of turns in the trace is that in which the program wrote them, of threads of two processes that have one lock; also
# where signals strike whose handlers have stamps. Who has a turn is known by process and thread.
stamped()
{
	"$CHORD" trace --together --json ./program 2>err | jq -r 'select(.event == "enter" and .function == "turn") | "\(.process) \(.thread)"' >got
	paste -d' ' turns got | awk '{ bad += $1 != $4 || ($1 " " $2 in thread && thread[$1 " " $2] != $5) || ($1 " " $5 in who && who[$1 " " $5] != $2)
		thread[$1 " " $2] = $5; who[$1 " " $5] = $2 } END { exit bad || NR != 112 }'
}
for encoding in '' witness bits branches; do
	build clang stamps.c -O2 "-fchord-trace-stamp=pthread_mutex_*,chos?n" || fail "build/stamps/$encoding" "$(head -n 1 log)"
	for signals in '' x; do
		rm -f ./*.chord ./*.trace
		./program turns $signals && stamped
		check "stamps/${encoding:-paths}${signals:+/signals}" $? "$(head -n 1 err) $(paste -d' ' turns got | head -n 3 | tr '\n' ',')"
	done
done
encoding=
# Twenty runs of many threads; the stamps of a process and its child are all different, and stand in their order.
build gcc stamps.c -O1 "-fchord-trace-stamp=pthread_mutex_*" || fail build/stamps "$(head -n 1 log)"
bad=
for ((i = 0; i < 20; i++)); do
	rm -f ./*.chord ./*.trace
	{ ./program turns && stamped; } || bad="$bad $i"
done
[ -z "$bad" ]
check stamps/race $? "runs$bad"
# An arrow leads from each stamp to the next one of another thread.
[ "$(arrows | awk '$2 == "stamp" { print $1 }')" = "$("$CHORD" trace --json ./program | jq -s 'map(select(.event == "stamp")) | sort_by(.number) |
	[.[:-1], .[1:]] | transpose | map(select(.[0].thread != .[1].thread or .[0].process != .[1].process)) | length')" ] && ! arrows | grep -q wrong
check stamps/arrows $? "$(arrows)"
"$CHORD" trace --together ./program | sed -n 's/.*stamp \([0-9]*\) .*/\1/p' >got
[ "$(wc -l <got)" = 450 ] && sort -n -u got | cmp -s - got
check stamps/numbers $? "$(wc -l <got) stamps"
# What is counted does not change, nor the instructions that are told.
counts() { "$CHORD" report --json ./program | jq -c '[.functions[] | [.name, .calls, .blocks, .instructions]] | sort'; }
counts >with && build gcc stamps.c -O1 && ./program turns && counts | cmp -s - with
check stamps/counts $? "$(counts | cut -c 1-200)"
# A process that executes another program of this build is another one: the children of both are told apart, although the processes have one
# id and as many forks; so are their stamps, and their tracks.
cat >again.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
static volatile int s;
__attribute__((noinline)) static void stamped(void) { s++; }
__attribute__((noinline)) static void child_of_first(void) { stamped(); s++; }
__attribute__((noinline)) static void second(void) { stamped(); s++; }
__attribute__((noinline)) static void child_of_second(void) { stamped(); s++; }
int main(int argc, char **argv)
{
	if (argc > 1)
		second();
	else
		stamped();
	if (!fork()) {
		if (argc > 1)
			child_of_second();
		else
			child_of_first();
		_exit(0);
	}
	wait(NULL);
	if (argc == 1)
		execl(argv[0], argv[0], "x", (char *)0);
	return 0;
}
EOF
rm -f ./*.chord* && "$CHORD" cc -O1 -fchord=trace -fchord-trace-stamp=stamped -o program again.c && ./program &&
	"$CHORD" trace --together --json ./program 2>err | jq -r 'select((.event == "enter" and .function != "main" and .function != "stamped") or
		(.event == "end" and .how == "exec")) | .function // .how' >got
[ "$(wc -l <got)" = 4 ] && [ "$(grep -E '_first|exec' got | tr '\n' ' ')" = 'child_of_first exec ' ] &&
	[ "$(grep second got | tr '\n' ' ')" = 'second child_of_second ' ]
check together-exec $? "$(head -n 1 err) $(tr '\n' ' ' <got)"
"$CHORD" trace --chrome ./program 2>err | jq -e '.traceEvents | (map(select(.name == "process_name")) | length) == 4 and
	(map(select(.name == "stamp" and .ph == "s")) | length) == 2 and (map(select(.ph == "B" or .ph == "E")) | group_by([.pid, .tid]) |
		length == 4 and all(map(.ts) == (map(.ts) | sort)))' >/dev/null
check chrome-exec $? "$(head -n 1 err) $("$CHORD" trace --chrome ./program | jq -c '.traceEvents[] | [.ph, .pid, .name, .ts]' | tail -n 20 | tr '\n' ' ')"
# Two runs have nothing to do with each other.
rm -f ./*.chord* && ./program x && ./program x && "$CHORD" trace --chrome ./program 2>err |
	jq -e '.traceEvents | map(select(.name == "stamp" and .ph == "s")) | length == 2' >/dev/null
check stamps/runs $? "$(head -n 1 err) $("$CHORD" trace --chrome ./program | grep -c '"stamp"')"
rm -f ./*.chord* && build gcc stamps.c -O1 && ./program turns
# Without stamps the order is another one, but where each thread happened to have all of its turns before the next one began.
for ((i = 0; i < 50; i++)); do
	stamped || break
	rm -f ./*.chord ./*.trace
	./program turns
done
[ $i -lt 50 ]
check stamps/needed $?
"$CHORD" cc -fchord-trace-stamp=a,,b -c "$here/stamps.c" >log 2>&1
[ $? = 2 ] && grep -q 'chord: -fchord-trace-stamp: .*without a name' log
check stamps/wrong $? "$(cat log)"
if may trace; then
	stepped stamps/steps gcc joins.c -O2 "-fchord-trace-stamp=work,pthread_*"
fi
rm -f ./*.chord ./*.trace

# ---- a path is written before its last instructions have run ----

build gcc killed.c -O1 || fail build/killed "$(head -n 1 log)"
{ (ulimit -c 0; ./program); } >/dev/null 2>&1
"$CHORD" trace ./program >all 2>err && [ "$(grep -c 'down: may not have ended' all)" = 1 ] && [ "$(grep -c 'down: had not ended' all)" = 3 ] &&
	! grep -q 'down();\|/[*] down [*]/' all
check killed $? "$(cat err all)"
[ "$("$CHORD" trace --insns ./program | sed -n '/may not have run/,$p' | grep -c 'ret')" = 1 ]
check killed-insns $? "$("$CHORD" trace --insns ./program | tail -n 12)"
[ "$("$CHORD" trace --insns --json ./program | jq -s -c 'map(select(.event == "unsure" or .how == "unsure") | .event)')" = '["unsure","leave"]' ]
check killed-json $? "$("$CHORD" trace --insns --json ./program | tail -n 5)"
rm -f ./*.chord ./*.trace && ./program x && "$CHORD" trace ./program >all && [ "$(grep -c 'down();' all)" = 1 ] && ! grep -q ' not ' all
check not-killed $? "$(cat all)"
rm -f ./*.chord ./*.trace
printf '#include <stdio.h>\nint main(void) { return puts("x") < 0; }\nvoid f(void) { puts("y"); }\n__attribute__((destructor)) void g(void) { f(); }\n' >tail.c
"$CHORD" cc -O2 -fchord=trace -o program tail.c >log 2>&1 && ./program >/dev/null && "$CHORD" trace ./program >all 2>err &&
	grep -q 'went on in code that is not traced' all && ! grep -q 'had not ended' all
check tail-call $? "$(cat err all)"
rm -f ./*.chord ./*.trace

# ---- a process that goes on ----

# Calls and returns up to where it is not known what ran.
events()
{
	"$CHORD" trace --json ./program live.chord 2>>err | sed '/"event": *"unsure"/,$d' | grep -E '"event": *"(enter|leave)"' |
		grep -vE '"how": *"end"'
}
cat >running.c <<'EOF'
#include <stdio.h>
static volatile int s;
__attribute__((noinline)) static void work(int n) { while (n-- > 0) if (n % 3) s += n; }
int main(void) { for (int i = 0; i < 300; i++) work(10000); return getchar() == 'x'; }
EOF
n=0 tries=0 same=1
rm -f fifo && mkfifo fifo && "$CHORD" cc -O1 -fchord=trace -o program running.c && {
	CHORD_FILE=live.chord ./program <fifo &
	exec 3>fifo
	: >err
	while [ $n -lt 5 ] && [ $tries -lt 500 ]; do
		if [ -s live.chord.trace ] && events >live.$n; then n=$((n + 1)); else sleep 0.01 && : >err; fi
		tries=$((tries + 1))
	done
	exec 3>&-
	wait $!
	events >whole
}
for i in 0 1 2 3 4; do head -c "$(stat -c %s live.$i)" whole | cmp -s - live.$i || same=; done
[ "$n" = 5 ] && [ -n "$same" ] && [ ! -s err ] && [ "$(wc -l <whole)" = 602 ]
check running $? "$(wc -l live.? whole | xargs) $(head -n 1 err)"
rm -f ./*.chord ./*.trace

# ---- addresses ----

CHORD=$CHORD "$here/data.sh" || failed=1

# ---- core files ----

CHORD=$CHORD "$here/core.sh" || failed=1

# ---- before the runtime is up ----

CHORD=$CHORD "$here/early.sh" || failed=1

# ---- an index ----

CHORD=$CHORD "$here/places.sh" || failed=1

exit $failed
