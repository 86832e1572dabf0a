#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces as the runtime writes them. The programs do by hand what woven code does, and say what must be in the trace. slots.c reads
# the traces by the format alone. Prints ok, FAIL or skip for each test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
w=${CHORD_TEST_DIR:-$(mktemp -d)}
[ -n "${CHORD_TEST_DIR-}" ] || trap 'rm -rf "$w"' EXIT
export LC_ALL=C
: "${CHORD:=$root/build/chord}"
CHORD=$(realpath "$CHORD")
cd "$w" || exit 1
failed=0

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; failed=1; }
skip() { echo "skip $1: $2"; }

# obj OUT SOURCE [arguments]: an object with traces, as the driver makes it
obj() {
	local out=$1 src=$2
	shift 2
	gcc -Wall -Wextra -O2 -g -I"$root" "$@" -S -o "$out.s" "$src" && cat runtime.s trace.s >>"$out.s" && as -o "$out" "$out.s"
}

"$root/runtime/pack.sh" -o runtime.s && "$root/runtime/pack.sh" --trace -o packed.s || exit 1
# The driver puts the directive there that the text's own section needs.
sed 's|^@eh_frame@$|	.section .eh_frame,"a",@progbits|' packed.s >trace.s
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -I"$root" -o slots "$here/slots.c" -lzstd || exit 1
obj cases.o "$here/cases.c" -fPIE && gcc -o cases cases.o && obj cases-nopie.o "$here/cases.c" -fno-pie &&
	gcc -no-pie -o cases-nopie cases-nopie.o && gcc -static -o cases-static cases-nopie.o || exit 1

# run NAME PROGRAM ARGUMENT...: in an empty folder, with LIMIT; then $w/slots.* has the slots of each trace
run() {
	name=$1
	prog=$2
	shift 2
	dir=$w/run/$name
	rm -rf "$dir" slots.*
	mkdir -p "$dir"
	# shellcheck disable=SC2086 # an option and its value
	(ulimit -c 0; [ -z "${LIMIT-}" ] || ulimit $LIMIT; cd "$dir" && timeout 60 ${BY-} "$w/$prog" "$@"; exit $?) >out 2>err
	status=$?
	[ $status = "${WANT:-0}" ] || { fail "$name" "status $status: $(head -c 300 err)"; return 1; }
	[ -z "${SAYS-}" ] || { grep -q "$SAYS" err && [ "$(wc -l <err)" = 1 ]; } || { fail "$name" "said only $(head -c 300 err)"; return 1; }
	[ "${WANT:-0}" != 0 ] || [ -n "${SAYS-}" ] || [ ! -s err ] || { fail "$name" "said $(head -c 300 err)"; return 1; }
	slots
}

# slots: of each trace in $dir
slots() {
	local address f n=0
	address=$(nm "$prog" | sed -n 's/ . tokens$//p')
	for f in "$dir"/*.trace; do
		[ -f "$f" ] || { fail "$name" "no trace"; return 1; }
		n=$((n + 1))
		./slots "$f" "$address" >slots.$n || { fail "$name" "$(cat slots.$n)"; return 1; }
	done
}

# same NAME: how often each token is there is what the program said
same() {
	cat slots.* | awk '$2 ~ /^[0-9]+$/ && $1 != "flags" { n[$2]++ } END { for (k in n) print k, n[k] }' | sort >got
	sort out >wanted
	[ -s wanted ] && diff wanted got >difference && ok "$1" || fail "$1" "$(head -4 difference | tr '\n' ';')"
}

# sequence NAME [CUT]: without the tokens of handlers, those of stream 0 are the sequence of cases.c; CUT: or its beginning, which is
# not empty
sequence() {
	cat slots.* | awk -v cut="${2-}" '$1 != 0 || $2 !~ /^[0-9]+$/ || $2 == 40 || $2 == 50 { next }
		$2 == 63 { end++; next }
		$2 != i % 7 + (i % 11 == 0 ? 10 : 0) + (i % 1009 == 0 ? 20 : 0) { print "token " i " is " $2; bad = 1; exit }
		{ i++ }
		END { if (!bad && (i == 0 || (!cut && end != 1))) print i " tokens, " end " ends" }' >difference
	[ ! -s difference ] && ok "$1" || fail "$1" "$(cat difference)"
}

for p in cases cases-nopie cases-static; do
	for n in 1 16381 16382 16383 300000; do
		run $p-sequence-$n $p sequence $n && same $p-sequence-$n && sequence $p-order-$n
	done
	run $p-threads $p threads 200000 && same $p-threads
	run $p-fork $p fork 50000 && same $p-fork
done

# Each thread's tokens are in a stream of its own.
run own cases threads 20000 && {
	awk '$2 == "thread" { delete seen[$1] }
		NF == 2 && $2 ~ /^[1-8]$/ { if ($1 in seen && seen[$1] != $2) print; seen[$1] = $2 }' slots.1 >difference
	[ ! -s difference ] && [ "$(grep -c thread slots.1)" = 9 ] && ok own || fail own "$(head -1 difference), $(grep -c thread slots.1) threads"
}
run short_threads cases short_threads 100 && same short_threads && {
	[ "$(grep -c thread slots.1)" = 1001 ] && [ "$(awk 'NF == 3 { print $1 }' slots.1 | sort -u | wc -l)" -lt 20 ] && ok reused ||
		fail reused "$(grep -c thread slots.1) threads"
}

# Handlers come between any two instructions, and write too.
run signals cases signals 4000000 && same signals && sequence signals-order
run long_handlers cases long_handlers 4000000 && same long_handlers && sequence long_handlers-order
run stacks cases stacks 2000000 && same stacks
# A context stands amid a record, and so many where a segment begins: if two do, the trace says so.
edges() { # [PREFIX]
	local p=${1-}edges
	for n in 0 1; do
		run "$p-$n" cases edges $n && same "$p-$n" && said "$p-$n-said" 0
	done
	run "$p-2" cases edges 2 && said "$p-2" 32
}
# said NAME FLAGS: the trace has just these
said() { grep -q "^flags $2 " slots.1 && ok "$1" || fail "$1" "$(head -1 slots.1)"; }
edges
run fork_in_handler cases fork_in_handler 6000000 && same fork_in_handler

run fork_amid cases fork_amid 300000 && same fork_amid && {
	[ "$(grep -h '^flags' slots.* | sort | uniq -c | sed 's/^ *//' | tr '\n' ' ')" = "8 flags 0 error 0 1 flags 8 error 0 " ] && ok fork_amid-said ||
		fail fork_amid-said "$(grep -h '^flags' slots.*)"
}

run vfork cases vfork 50000 && same vfork
WANT=134 run abort cases abort 50000 && same abort
run exec cases exec 50000 && same exec

# Where nothing more can be kept, the program goes on, and what came before is there.
stopped() {
	name=$1
	head -1 slots.1 | grep -q "^flags 1 error $2\$" || { fail "$name" "$(head -1 slots.1)"; return; }
	sequence "$name" cut
}
run confined cases confined 100000 && { grep -q here out && stopped confined 1 || fail confined-lives "it did not say so"; }
(run truncated cases truncated 1000000) >run.said && ok truncated || { grep -q 'no trace$\|FAIL truncated: wrong' run.said && ok truncated || cat run.said; }
LIMIT="-f 400" run limit cases sequence 3000000 && stopped limit 27
LIMIT="-f 100" run limit-small cases sequence 3000000 && {
	head -1 slots.1 | grep -q '^flags 1 error 27$' && ok limit-small || fail limit-small "$(head -1 slots.1)"
}
for v in 5000 8000 20000; do
	LIMIT="-v $v" run memory-$v cases sequence 100000 && sequence memory-$v cut
done
mkdir -p small
if unshare -m mount -t tmpfs -o size=400k none small 2>/dev/null; then
	unshare -m sh -c "mount -t tmpfs -o size=400k none $w/small && cd $w/small && $w/cases sequence 3000000 >$w/out && cp *.trace $w/full.trace"
	status=$? name=full-disk dir=$w/full prog=cases
	rm -rf full slots.* && mkdir full && mv full.trace full/ && [ $status = 0 ] && slots && stopped full-disk 28 || fail full-disk "status $status"
else
	skip full-disk "no mount here"
fi
name=null
mkdir -p run/null && (cd run/null && CHORD_FILE=/dev/null "$w/cases" sequence 100000 >"$w/out") && [ -z "$(ls run/null)" ] && ok null || fail null "$(ls run/null)"

# A library that is closed and opened again, in a program that is not measured and has a thread from before.
obj lib.o "$here/lib.c" -fPIC && gcc -shared -o libone.so lib.o && cp libone.so libtwo.so && gcc -O2 -o host "$here/host.c" || failed=1
name=host dir=$w/run/host prog=libone.so
rm -rf "$dir" slots.* && mkdir -p "$dir"
(cd "$dir" && timeout 60 "$w/host" "$w/libone.so" "$w/libtwo.so") >out 2>err && slots && {
	n=$(grep -c '^0 5$\|^0 other$' slots.1)
	[ "$n" = 51000 ] && [ "$(grep -c '^1 5$' slots.1)" = 50000 ] && grep -q '^flags [26] ' slots.1 && ok host || fail host "$n, $(head -1 slots.1)"
} || fail host-lives "$(cat err out)"

# A traced library that is opened late runs before its constructor, in threads of all ages: each token is in its thread's stream.
# However the linker writes the relocation of what its code reads.
name=opening prog=libone.so
gcc -shared -fPIC -DAMID -o libamid.so "$here/opening.c" && gcc -O2 -rdynamic -o opening "$here/opening.c" || failed=1
obj late.o "$here/lib.c" -DLATE -fPIC && gcc -c -fPIC -g0 -x c -o many.o - <<-'END' || failed=1
	#define F(x) (void *)&x, (void *)&x, (void *)&x, (void *)&x
	static int a;
	void *many[] = {F(a), F(a), F(a), F(a)};
END
for how in bfd,-z,separate-code bfd,-z,noseparate-code bfd,-z,pack-relative-relocs,-z,noseparate-code gold lld; do
	name=opening-$how dir=$w/run/opening
	gcc -shared -fuse-ld="${how%%,*}" "-Wl,-init,at_init,--no-as-needed${how#"${how%%,*}"}" -o liblate.so late.o many.o \
		-L. -lamid -Wl,-rpath,"$w" 2>err || { skip $name "this linker is not here"; continue; }
	rm -rf "$dir" slots.* && mkdir -p "$dir"
	(ulimit -c 0; cd "$dir" && timeout 60 "$w/opening" "$w/libone.so" "$w/liblate.so") >out 2>err && slots && {
		got=$(awk 'NF == 2 && ($2 == 5 || $2 == "other") { n[$1 " " $2]++ } END { for (k in n) print k, n[k] }' slots.1 | sort | tr '\n' ' ')
		# The new thread may have the older one's stream.
		got=${got/1 other 1000 2 other 1000/1 other 2000}
		[ "$got" = "0 5 1000 0 other 3000 1 other 2000 " ] && grep -q '^flags 0 ' slots.1 && ok $name ||
			fail $name "$got, $(head -1 slots.1)"
	} || fail $name-lives "$(head -c 300 err out)"
done

# Killed at any time: what it said before is there.
name=kill prog=cases dir=$w/run/kill
for i in $(seq 20); do
	rm -rf "$dir" slots.* && mkdir -p "$dir"
	every=$((i % 2 ? 1 : 5000))
	(cd "$dir" && exec "$w/cases" forever $every) >told &
	pid=$!
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -9 $pid
	wait $pid 2>/dev/null
	[ -f "$dir"/*.trace ] && [ "$(head -c 8 "$dir"/*.trace | tr -d '\0')" ] || continue # killed before it had a head
	slots || break
	said=$(wc -c <told) has=$(grep -c '^0 [0-9]*$' slots.1)
	[ "$said" = 0 ] || [ "$has" -gt $(((said - 1) * every)) ] || { fail kill "said $said times $every, has $has"; break; }
	(sequence kill-$i cut) >ended
	grep -q '^ok' ended || [ "$has" = 0 ] || { cat ended; break; }
	killed=$has
done
[ "${killed-0}" -gt 0 ] && ok kill || fail kill "nothing is there"

# ---- chord trace --run: other processes pack ----

BY="$CHORD trace --run"
for p in cases cases-static; do
	run $p-collected $p sequence 1500000 && same $p-collected && sequence $p-collected-order
	run $p-collected-threads $p threads 200000 && same $p-collected-threads
	run $p-collected-fork $p fork 50000 && same $p-collected-fork
done
run collected-signals cases signals 1500000 && same collected-signals && sequence collected-signals-order
run collected-handlers cases long_handlers 1500000 && same collected-handlers && sequence collected-handlers-order
edges collected-
# A handler forks at each instruction of the runtime where a segment ends, in two threads: the parent's trace has each token, and the
# child's at most the one that was interrupted.
run collected-fork_at_end cases fork_at_end 300 && {
	for f in slots.*; do
		echo "$(grep -c '^[0-9]* 2$' "$f") $(grep -c '^[0-9]* 40$' "$f") $(grep -c '^[0-9]* 50$' "$f") $(head -n 1 "$f")"
	done | sort | uniq -c | sed 's/^ *//' >got
	awk '$2 == 600 && $3 == 600 && $4 == 0 { parents += $1; next }
		$2 <= 1 && $3 == 0 && $4 == 100 { children += $1; amid += $1 * $2; next }
		{ bad = 1 }
		END { exit bad || parents != 1 || children != 600 || !amid || amid == children }' got
	ok=$?
	grep -q 'flags 0 ' got && ! grep -qv 'flags 0 error 0' got && [ $ok = 0 ] && ok collected-fork_at_end || fail collected-fork_at_end "$(head -n 4 got | tr '\n' ';')"
}
run collected-stacks cases stacks 1000000 && same collected-stacks
run collected-fork_in_handler cases fork_in_handler 2000000 && same collected-fork_in_handler
run collected-vfork cases vfork 50000 && same collected-vfork
run collected-exec cases exec 50000 && same collected-exec
WANT=134 run collected-abort cases abort 50000 && same collected-abort
WANT=0 run collected-confined cases confined 100000 && { grep -q here out && stopped collected-confined 1 || fail collected-confined-lives "it did not say so"; }
LIMIT="-f 1000" run collected-limit cases sequence 6000000 && stopped collected-limit 27
BY=

# family PID: sets taker and packers, the collectors of `chord trace --run` of that id, and program
family() {
	taker=$(pgrep -P "$1" -x chord) || return 1
	packers=$(pgrep -P "$taker" -x chord)
	program=$(pgrep -P "$1" -x cases)
}

# Collectors and the program are killed at any time: what the program has said is there, in order. Without
# collectors the program packs by itself.
name=collected-kill has=0 harmed=0
for i in $(seq 8); do
	prog=cases dir=$w/run/harmed
	rm -rf "$dir" slots.* && mkdir -p "$dir"
	(cd "$dir" && exec "$CHORD" trace --run "$w/cases" forever 10) >out 2>err &
	pid=$!
	sleep "0.$((RANDOM % 20 + 10))"
	until family $pid; do sleep 0.1; done
	case $((i % 4)) in
	0) victims= ;;
	1) victims=$taker ;;
	2) victims=$packers ;;
	3) victims="$taker $packers" ;;
	esac
	# shellcheck disable=SC2086 # numbers
	[ -z "$victims" ] || { kill -KILL $victims && harmed=$((harmed + 1)) && sleep "0.$((RANDOM % 20 + 10))"; }
	kill -KILL "$program"
	wait $pid 2>/dev/null
	[ $? = 137 ] || { fail $name "status $?"; break; }
	[ -f "$dir"/*.trace ] && [ "$(head -c 8 "$dir"/*.trace | tr -d '\0')" ] || continue
	slots || break
	said=$(wc -c <out) has=$(grep -c '^0 [0-9]*$' slots.1)
	[ "$said" = 0 ] || [ "$has" -gt $(((said - 1) * 10)) ] || { fail $name "said $said times 10, has $has"; break; }
	(sequence kill-$i cut) >ended
	grep -q '^ok' ended || [ "$has" = 0 ] || { cat ended; break; }
done
[ "$has" -gt 0 ] && [ $harmed -gt 3 ] && ok $name || fail $name "nothing is there, or nothing was done to it"

# ---- CHORD_TRACE=last:SIZE ----

# tail_of NAME LEAST MOST: stream 0 has between so many tokens, which follow each other in the sequence of cases.c
tail_of() {
	cat slots.* | awk '$1 == 0 && $2 ~ /^[0-9]+$/ && $2 != 63 { print $2 }' >tokens
	awk -v least="$2" -v most="$3" 'function number(i) { return i % 7 + (i % 11 == 0 ? 10 : 0) + (i % 1009 == 0 ? 20 : 0) }
		{ token[n++] = $1 }
		END {
			for (from = 0; from < 7 * 11 * 1009; from++) {
				for (i = 0; i < n && token[i] == number(from + i); i++)
					;
				if (i == n) break
				if (i > far) far = i
			}
			if (i < n) print "not in order behind " far " of " n
			else if (n < least || n > most) print n " tokens"
		}' tokens >difference
	[ ! -s difference ] && ok "$1" || fail "$1" "$(cat difference)"
}

export CHORD_TRACE=last:300K
run last cases sequence 1000000 && tail_of last 45000 65536 && {
	# Behind the last token is the mark of the end (it has ended by exit), and what the mark carries.
	grep -q '^flags 16 ' slots.1 && [ "$(tail -n 3 slots.1 | tr '\n' ' ')" = "0 63 0 event 34 0 more 0 " ] && [ "$(stat -c %s "$dir"/*.trace)" -lt 400000 ] && ok last-end ||
		fail last-end "$(head -n 1 slots.1) $(tail -n 1 slots.1) $(stat -c %s "$dir"/*.trace)"
}
run last-all cases sequence 30000 && same last-all && sequence last-all-order
run last-fork cases fork 10000 && same last-fork
export CHORD_TRACE=last:4M
run last-threads cases threads 20000 && same last-threads
run last-handlers cases fork_in_handler 300000 && same last-handlers
export CHORD_TRACE=last:300K
for n in 1 2; do
	run last-edges-$n cases edges $n && said last-edges-$n $((n == 1 ? 16 : 48))
done
export CHORD_TRACE=last:256K
name=last-kill
for i in $(seq 4); do
	prog=cases dir=$w/run/last
	rm -rf "$dir" slots.* && mkdir -p "$dir"
	(cd "$dir" && exec "$w/cases" forever 50) >out 2>err &
	pid=$!
	until [ "$(wc -c <out)" -gt 2000 ]; do sleep 0.01; done
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -KILL $pid
	wait $pid 2>/dev/null
	slots && tail_of last-kill-$i 30000 65536
done
for v in last:0 last:8X last: last:-1 64M; do
	export CHORD_TRACE=$v
	SAYS='CHORD_TRACE: not of the form last:SIZE' run last-wrong cases sequence 100000 && same "wrong $v" &&
		{ grep -qa 'CHORD_TRACE is not of the form' "$dir"/*.chord && ok "said $v" || fail "said $v" "nothing"; }
done
unset CHORD_TRACE
exit $failed
