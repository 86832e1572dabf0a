#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests of the runtime alone: C files in which the weaver's work is done by hand, followed by the packed runtime. Prints ok, FAIL or
# skip for each test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/../may.sh"
w=${CHORD_TEST_DIR:-$(mktemp -d)}
[ -n "${CHORD_TEST_DIR-}" ] || trap 'rm -rf "$w"' EXIT
export LC_ALL=C
may trace || export ASAN_OPTIONS=detect_leaks=0 # the leak sanitizer traces
rm -rf "$w/run"
failed=0

"$root/runtime/pack.sh" -o "$w/runtime.s" || exit 1
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -I"$root" -o "$w/sums" "$here/sums.c" || exit 1

# obj OUT SOURCE [arguments]: one measured object
obj() {
	local out=$1 src=$2
	shift 2
	gcc -Wall -Wextra -O2 -g "$@" -S -o "$out.s" "$src" && cat "$w/runtime.s" >>"$out.s" && as -o "$out" "$out.s"
}

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; failed=1; }
skip() { echo "skip $1: $2"; }

# Runs in an empty folder: run NAME COMMAND...; its output and status are kept.
run() {
	name=$1
	shift
	dir=$w/run/$name
	rm -rf "$dir"
	mkdir -p "$dir"
	(ulimit -c 0; cd "$dir" && timeout 60 "$@"; exit $?) >"$w/out" 2>"$w/err"
	status=$?
	[ $status = ${WANT:-0} ] || { fail "$name" "status $status: $(head -c 300 "$w/err")"; return 1; }
	[ -n "${WANT-}" ] || [ ! -s "$w/err" ] || { fail "$name" "said $(head -c 300 "$w/err")"; return 1; }
}

# expect FILE FACT...: the facts (regular expressions) are lines of the profile
expect() {
	local file=$1 fact
	shift
	if [ ! -f "$file" ]; then
		fail "$name" "no profile $(basename "$file"), but $(ls "$dir")"
		return 1
	fi
	"$w/sums" "$file" >"$w/facts" || { fail "$name" "$(cat "$w/facts")"; return 1; }
	for fact; do
		grep -Eqx "$fact" "$w/facts" || { fail "$name" "not '$fact' but: $(tr '\n' ';' <"$w/facts")"; return 1; }
	done
}

# simple NAME PROGRAM CASE FACT...: runs one case, one profile
simple() {
	local label=$1 prog=$2
	name=$1
	shift 2
	[ "$prog" != setarch ] || may fixed || { skip "$name" "$why"; return; }
	run "$label" "$prog" $1 || return
	shift
	set -- "$dir"/*.chord "$@"
	expect "$@" && ok "$label"
}

cd "$w"

# The packed form is the readable one, assembled.
name=packed
"$root/runtime/pack.sh" --text -o text.s && as -o text.o text.s && as -o packed.o runtime.s && for f in text packed; do
	objcopy -O binary -j .text.chord_rt $f.o $f.code
	objdump -r $f.o | awk '/RECORDS FOR/ { s = $4 } /R_X86/ && s !~ /eh_frame/ { print s, $1, $2, $3 }' | sort >$f.relocations
done && cmp text.code packed.code >"$w/err" && cmp text.relocations packed.relocations >"$w/err" &&
	[ "$(wc -l <packed.relocations)" -gt 50 ] && [ "$(readelf -sW packed.o | awk '$3 > 0' | grep -c chord_)" = 1 ] && ok packed || fail packed "$(cat "$w/err")"

# With its code in a file beside it, it is the same object.
name=beside
"$root/runtime/pack.sh" --beside beside.bin -o beside.s && sed "s|@libexec@|$w|; s|^@eh_frame@|.section .eh_frame,\"a\",@progbits|" beside.s >there.s &&
	as -o beside.o there.s &&
	cmp beside.o packed.o >"$w/err" 2>&1 && [ "$(wc -c <beside.s)" -lt $(($(wc -c <runtime.s) / 4)) ] && ok beside || fail beside "$(cat "$w/err")"

# A reader of unwind tables goes through all of a description: none is long, and together they have all functions.
name=frames
readelf --debug-dump=frames packed.o | awk '/ FDE / { n++; rules = 0 } /DW_CFA/ { all++; most = ++rules > most ? rules : most }
	END { print n " descriptions, " all + 0 " rules, at most " most " in one"; exit !(n > 10 && all > 3000 && most < 800) }' >"$w/err" &&
	ok frames || fail frames "$(cat "$w/err")"

obj cases.o "$here/cases.c" -fPIE && obj cases-nopie.o "$here/cases.c" -fno-pie &&
	obj lib.o "$here/lib.c" -fPIC && obj other.o "$here/lib.c" -fPIC -DNAME=lib_other &&
	obj late.o "$here/lib.c" -fPIC -DCONSTRUCTOR && obj late2.o "$here/lib.c" -fPIC -DCONSTRUCTOR || exit 1
gcc -shared -o libone.so lib.o
gcc -shared -o libother.so other.o
gcc -shared -o late.so late.o
gcc -shared -o late2.so late2.o
for ld in bfd gold lld mold; do
	if ! gcc -fuse-ld=$ld -o cases-$ld cases.o 2>"$w/err"; then
		if grep -q 'cannot find' "$w/err"; then skip "$ld" "not installed"; else fail "$ld" "$(head -3 "$w/err")"; fi
		continue
	fi
	gcc -fuse-ld=$ld -Wl,--gc-sections -o cases-gc-$ld cases.o
	gcc -fuse-ld=$ld -no-pie -o cases-nopie-$ld cases-nopie.o
	gcc -fuse-ld=$ld -static -o cases-static-$ld cases-nopie.o 2>/dev/null
	[ $ld = gold ] || gcc -fuse-ld=$ld -static-pie -o cases-static-pie-$ld cases.o 2>/dev/null
	gcc -fuse-ld=$ld -shared -o libone-$ld.so lib.o
	gcc -fuse-ld=$ld -Wl,--no-as-needed -o libs-$ld cases.o libone-$ld.so libother.so -Wl,-rpath,"$w"
	for kind in "" gc- nopie- static- static-pie-; do
		[ -x cases-$kind$ld ] || { skip one-$kind$ld "not linked"; continue; }
		simple one-$kind$ld ./../../cases-$kind$ld one "module cases-$kind$ld 1001" 'threads 1' 'lost 0'
	done
	simple threads-$ld "$w/cases-$ld" threads "module cases-$ld 6400001" 'threads 65' 'lost 0'
	simple libs-$ld "$w/libs-$ld" libs "module libs-$ld 4" "module libone-$ld.so 5" 'module libother.so 7'
done
ln -sf cases-bfd cases
ln -sf cases-nopie-bfd cases-nopie
ln -sf libs-bfd libs
gcc -no-pie -Wl,--no-as-needed -o libs-nopie cases-nopie.o libone.so libother.so -Wl,-rpath,"$w"
gcc -o cases-norelro cases.o -Wl,-z,norelro
gcc -o cases-lazy cases.o -Wl,-z,lazy
gcc -o cases-now cases.o -Wl,-z,now

for p in cases-norelro cases-lazy cases-now cases-nopie-bfd cases-nopie-lld; do
	simple threads-$p "$w/$p" threads "module $p 6400001" 'threads 65' 'lost 0'
done
simple short-threads "$w/cases" short_threads 'module cases-bfd 10001' 'threads 10001' 'regions [0-9]{1,2}' 'lost 0'
simple detached "$w/cases" detached 'module cases-bfd 1001' 'threads 101'
simple pointer "$w/cases" pointer 'module cases-bfd 100001' 'threads 2'
for p in cases-bfd cases-nopie-bfd cases-static-bfd; do
	simple c11-$p "$w/$p" c11 "module $p 200001" 'threads 5' 'flags 0'
done
simple timer "$w/cases" timer 'module cases-bfd 2' 'flags 0'
again() {
	for _ in $(seq 50); do
		simple timer-again "$w/cases" timer 'flags 0' >"$w/said"
		grep -q '^ok' "$w/said" || break
	done
	cat "$w/said"
}
again
simple timer-static "$w/cases-static-bfd" timer 'module cases-static-bfd 2' 'flags 0'
simple address "$w/cases" address 'module cases-bfd 100001' 'threads 2' 'flags 0'
simple address-nopie "$w/cases-nopie" address 'module cases-nopie-bfd 100001' 'threads 2' 'flags 0'
simple local "$w/cases" local 'module cases-bfd 200001' 'threads 5' 'flags 0'
simple pointer-nopie "$w/cases-nopie" pointer 'module cases-nopie-bfd 100001' 'threads 2'
simple libs-nopie "$w/libs-nopie" libs 'module libs-nopie 4' 'module libone.so 5' 'module libother.so 7' 'lost 0'
simple signal "$w/cases" signal 'module cases-bfd 101'
simple first-fd "$w/cases" first_fd 'module cases-bfd 1'
simple closefrom "$w/cases" closefrom 'module cases-bfd 6400001' 'lost 0' 'threads 65'
for p in cases-bfd cases-nopie-bfd; do
	simple dlopen-$p "$w/$p" "dlopen $w/late.so" "module $p 9" 'module late.so 9001' 'lost 0'
	simple dlclose-$p "$w/$p" "dlclose $w/late.so $w/late2.so" "module $p 51" 'module late.so 550' 'module late2.so 34' 'lost 0'
done

# In static programs the hooks are at the functions themselves.
simple threads-static "$w/cases-static-bfd" threads 'module cases-static-bfd 6400001' 'threads 65' 'flags 0'
simple threads-static-pie "$w/cases-static-pie-bfd" threads 'module cases-static-pie-bfd 6400001' 'threads 65' 'flags 0'

# 64 high threads and low ones with a library opened late
simple dlopen-norandom "setarch" "-R $w/cases dlopen $w/late.so" 'module cases-bfd 9' 'module late.so 9001' 'lost 0'
simple dlopen-nopie-norandom "setarch" "-R $w/cases-nopie dlopen $w/late.so" 'module cases-nopie-bfd 9' 'module late.so 9001' 'lost 0'
simple threads-norandom-libs "setarch" "-R $w/libs threads" 'module libs-bfd 6400001' 'lost 0'
simple libs-nopie-norandom "setarch" "-R $w/libs-nopie threads" 'module libs-nopie 6400001' 'lost 0'

# names
name=name
CHORD_FILE=x.%n.%%.chord run name "$w/cases" one && expect "$dir/x.cases-bfd.%.chord" 'module cases-bfd 1001' && ok name
id=$(readelf -n cases | sed -n 's/.*Build ID: //p')
name=name-id
CHORD_FILE=$w/%b.chord run name-id "$w/cases" one && expect "$w/$id.chord" 'module cases-bfd 1001' && ok name-id
name=name-again
cp "$w/$id.chord" old
CHORD_FILE=$w/%b.chord run name-again "$w/cases" threads && expect "$w/$id.chord" 'module cases-bfd 6400001' && ok name-again

# fork
forked() {
	local label=$1 prog=$2 n=$3
	name=$1
	run "$label" "$prog" $4 || return
	set -- "$dir"/*
	[ $# = 2 ] || { fail "$label" "$# profiles: $*"; return; }
	for f; do
		"$w/sums" "$f"
	done | grep '^module' | sort | tr '\n' ';' >"$w/facts"
	[ "$(cat "$w/facts")" = "$n" ] && ok "$label" || fail "$label" "$(cat "$w/facts")"
}
forked fork "$w/cases" 'module cases-bfd 12;module cases-bfd 230;' fork
forked fork-thread "$w/cases" 'module cases-bfd 12;module cases-bfd 230;' fork_thread
CHORD_FILE=prof forked fork-name "$w/cases" 'module cases-bfd 12;module cases-bfd 230;' fork
forked fork-static "$w/cases-static-bfd" 'module cases-static-bfd 12;module cases-static-bfd 230;' fork
forked fork-nopie "$w/cases-nopie" 'module cases-nopie-bfd 12;module cases-nopie-bfd 230;' fork
forked vfork "$w/cases" 'module cases-bfd 1001;module cases-bfd 12;' "vfork $w/cases"
forked spawn "$w/cases" 'module cases-bfd 1001;module cases-bfd 2;' "spawn $w/cases"
forked again "$w/cases" 'module cases-bfd 1001;module cases-bfd 11;' "again $w/cases"
CHORD_FILE=prof forked again-name "$w/cases" 'module cases-bfd 1001;module cases-bfd 11;' "again $w/cases"

# exits NAME PROGRAM CASE WHAT...: exits as function:count, reentries as =function:count
exits() {
	local prog=$2
	name=$1
	shift 2
	run "$name" "$prog" $1 || return
	shift
	ended "$prog" "$dir"/*.chord "$@"
}

# ended PROGRAM PROFILE WHAT...
ended() {
	local prog=$1 what kind module addr n
	expect "$2" || return
	shift 2
	while read -r kind module addr n; do
		case $kind in
		exit) what= ;;
		reentry) what== ;;
		*) continue ;;
		esac
		echo "$what$(addr2line -f -i -e "$prog" "$(printf %x $((0x$addr - 1)))" | tail -2 | head -1):$n"
	done <"$w/facts" | grep -Ev '^=?(_start|gsignal|__pthread_kill.*|__assert_fail.*|__libc.*|__run.*|call_fini|exit|__cxa_throw|__gxx_personality_v0|_Unwind_.*|start_thread|__clone3|execute_native_thread_routine):' | sort | tr '\n' ' ' >"$w/ended"
	grep -E '^(state|in_flight)' "$w/facts" | tr '\n' ' ' >>"$w/ended"
	[ "$(cat "$w/ended")" = "$* " ] && ok "$name" || fail "$name" "$(cat "$w/ended")"
}
obj exits.o "$here/exits.c" -fPIE && obj exits-nopie.o "$here/exits.c" -fno-pie -fomit-frame-pointer &&
	obj throw.o "$here/throw.cc" -x c++ -fPIE || failed=1
gcc -o exits exits.o
gcc -no-pie -o exits-nopie exits-nopie.o
gcc -static -o exits-static exits-nopie.o
gcc -static -Wl,--eh-frame-hdr -o exits-hdr exits-nopie.o
clean='state 1 in_flight 0'
for p in exits exits-nopie exits-static exits-hdr; do
	WANT=134 exits $p-abort "$w/$p" abort call_abort:1 main:1 one:1 three:1 two:1 "$clean"
	WANT=134 exits $p-assert "$w/$p" assert call_assert:1 main:1 one:1 three:1 two:1 "$clean"
	exits $p-exit "$w/$p" exit call_exit:1 main:1 one:1 three:1 two:1 "$clean"
	exits $p-recurse "$w/$p" recurse call_exit:1 main:1 recurse:1 recurse:100000 "$clean"
done
for p in exits exits-nopie; do
	for how in _exit quick_exit execv execl execle execlp; do
		exits $p-$how "$w/$p" $how call_$how:1 main:1 one:1 three:1 two:1 "$clean"
	done
	exits $p-failexec "$w/$p" failexec "$clean"
	exits $p-longjmp "$w/$p" longjmp =jumper:5 call_longjmp:5 jumper:5 one:5 three:5 two:5 "$clean"
	exits $p-siglongjmp "$w/$p" siglongjmp =sigjumper:5 call_siglongjmp:5 one:5 sigjumper:5 three:5 two:5 "$clean"
	exits $p-handler "$w/$p" handler =sigjumper:5 call_siglongjmp:5 on_signal:5 one:5 raise_usr1:5 sigjumper:5 three:5 two:5 "$clean"
	exits $p-altstack "$w/$p" altstack =sigjumper:5 call_siglongjmp:5 on_signal:5 one:5 raise_usr1:5 sigjumper:5 three:5 two:5 "$clean"
	exits $p-thread "$w/$p" thread call_exit:1 one:1 thread:1 three:1 two:1 'state 2 in_flight 0'
	exits $p-pthread-exit "$w/$p" pthread_exit call_pthread_exit:1 one:1 thread:1 three:1 two:1 "$clean"
	for how in raise:143 kill:137; do
		WANT=${how#*:} exits $p-${how%:*} "$w/$p" ${how%:*} call_${how%:*}:1 main:1 one:1 three:1 two:1 "$clean"
	done
	exits $p-abort-jump "$w/$p" abort_jump =sigjumper:5 call_abort:5 call_siglongjmp:5 on_abort:5 one:5 sigjumper:5 three:5 two:5 "$clean"
	exits $p-abort-exit "$w/$p" abort_exit call_abort:1 call_exit:1 main:1 on_abort:1 one:1 sigjumper:1 three:1 two:1 "$clean"
	WANT=134 exits $p-abort-return "$w/$p" abort_return call_abort:1 main:1 one:1 sigjumper:1 three:1 two:1 "$clean"
	exits $p-context "$w/$p" context =contexts:5 call_setcontext:5 contexts:5 one:5 three:5 two:5 "$clean"
	exits $p-fibres "$w/$p" fibres call_swapcontext:6 fibre:6 fibre:6 one:6 three:6 two:6 "$clean"
	exits $p-vfork "$w/$p" vfork =call_vfork:1 call_vfork:1 "$clean"
	exits $p-vforks "$w/$p" vforks =call_vforks:2 'state 1 in_flight 2'
	exits $p-cancel "$w/$p" cancel =cancelled:3 cancelled:3 one:3 sleeper:3 three:3 two:3 "$clean"
	exits $p-signal "$w/$p" signal call_exit:1 main:1 on_exit_signal:1 one:1 three:1 two:1 "$clean"
done
for ld in bfd gold lld mold; do
	g++ -fuse-ld=$ld -o throw-$ld throw.o 2>/dev/null || continue
	# guarded twice: at the call of plain, and at its call of _Unwind_Resume
	thrown='_ZL5plaini:10 _ZL7catcheri:10 _ZL7guardedi:10 _ZL7throweri:10 guarded:10'
	exits throw-$ld "$w/throw-$ld" "" $thrown "$clean"
	exits throw-thread-$ld "$w/throw-$ld" thread $thrown "$clean"
	g++ -fuse-ld=$ld -static -o throw-static-$ld throw.o || continue
	exits throw-static-$ld "$w/throw-static-$ld" "" $thrown "$clean"
	exits throw-thread-static-$ld "$w/throw-static-$ld" thread $thrown "$clean"
done

# What is kept of frames holds for all threads, in handlers, and for one object only.
obj jumps.o "$here/jumps.c" -fPIE && obj jumps-nopie.o "$here/jumps.c" -fno-pie || failed=1
gcc -o jumps jumps.o
gcc -no-pie -o jumps-nopie jumps-nopie.o
for id in 1 2; do
	gcc -O2 -fPIC -shared -DSIZE=$((id * 64)) -Wl,-soname,frame.so -o frame$id.so "$here/frame.c"
	gcc -O2 -fPIC -shared -DSIZE=$((id * 64)) -Wl,-soname,frame.so -Wl,--build-id=none -o frame-no-id$id.so "$here/frame.c"
done
for p in jumps jumps-nopie; do
	exits $p-threads "$w/$p" threads =jump_many:160000 jump_many:160000 one:160000 three:160000 two:160000 "$clean"
	exits $p-deep "$w/$p" "deep 300" =deep:3 deep:3 down:3 down:900 one:3 three:3 two:3 "$clean"
	exits $p-deep-few "$w/$p" "deep 20" =deep:3 deep:3 down:3 down:60 one:3 three:3 two:3 "$clean"
done
exits jumps-reopen "$w/jumps" "reopen $w/frame1.so $w/frame2.so" =through:30 one:30 three:30 through:30 two:30 "$clean"
exits jumps-reopen-no-id "$w/jumps" "reopen $w/frame-no-id1.so $w/frame-no-id2.so" =through:30 one:30 three:30 through:30 two:30 "$clean"
# Each jump leaves what was entered, and all are counted.
name=jumps-signals
run $name "$w/jumps" signals && expect "$dir"/*.chord 'in_flight 0' 'state 1' && {
	n=$(sed -n 's/^module jumps //p' "$w/facts")
	set -- $(sed -n 's/^\(re\)*e[a-z]* [0-9]* [0-9a-f]* //p' "$w/facts" | sort -n)
	[ $# -ge 5 ] && [ "$(printf '%s\n' "$@" | grep -cx "$n")" = 5 ] && ok $name || fail $name "of $n jumps: $*"
}

# Copies at a signal; each with what is active then, and those with reset counted from the last.
for p in exits exits-nopie exits-static; do
	name=$p-snapshots
	CHORD_SIGNAL=USR1 run $name "$w/$p" snapshots || continue
	mv "$dir" "$w/copies"
	for i in 1 2 3; do
		name=$p-snapshot-$i
		ended "$w/$p" "$w/copies"/*.$i.chord main:1 one:1 raise_usr1:1 snapshots:1 three:1 two:1 'state 0 in_flight 0'
		expect "$w/copies"/*.$i.chord "module $p $i" 'flags 20'
		rm "$w/copies"/*.$i.chord
	done
	name=$p-snapshot-end
	ended "$w/$p" "$w/copies"/*.chord "$clean"
	rm -r "$w/copies"

	name=$p-reset
	CHORD_SIGNAL=SIGUSR1:reset run $name "$w/$p" snapshots || continue
	mv "$dir" "$w/copies"
	all='main:1 one:1 raise_usr1:1 snapshots:1 three:1 two:1'
	name=$p-reset-1
	ended "$w/$p" "$w/copies"/*.1.chord $all 'state 0 in_flight 0'
	name=$p-reset-2
	ended "$w/$p" "$w/copies"/*.2.chord $(printf '=%s ' $all) $all 'state 0 in_flight 0'
	name=$p-reset-3
	ended "$w/$p" "$w/copies"/*.3.chord $(printf '=%s ' $all) $all 'state 0 in_flight 0'
	expect "$w/copies"/*.3.chord "module $p 1" 'flags 52'
	rm -r "$w/copies"
done
name=snapshots-own
CHORD_SIGNAL=10 run $name "$w/exits" snapshots_own && expect "$dir"/*.chord 'module exits 6' 'text the program put .*' && ok $name
name=snapshots-while
CHORD_SIGNAL=USR1:reset run $name "$w/exits" snapshots_while && {
	n=0
	for f in "$dir"/*.[0-9]*.[0-9]*.chord; do
		"$w/sums" "$f" >"$w/facts" && n=$((n + $(sed -n 's/^module exits //p' "$w/facts"))) || n=0
	done
	[ "$(ls "$dir" | wc -l)" = 21 ] && [ $n = 18999981 ] && ok $name || fail $name "$n in $(ls "$dir" | wc -l)"
}
name=snapshots-wrong
CHORD_SIGNAL=NONE run $name "$w/exits" longjmp && expect "$dir"/*.chord 'text CHORD_SIGNAL .*' && ok $name

# A forked child takes up what its parent had under way, and its parent goes on.
for p in exits exits-nopie; do
	name=$p-fork dir=$w/run/$name
	run $name "$w/$p" fork || continue
	for f in "$dir"/*; do
		"$w/sums" "$f" | sed -n 's/^\(exit\|reentry\) 0 \([0-9a-f]*\) \([0-9]*\)/\1 \2 \3/p' | while read -r kind addr n; do
			echo "$kind $(addr2line -f -i -e "$w/$p" "$(printf %x $((0x$addr - 1)))" | tail -2 | head -1):$n"
		done | grep -Ev ' (_start|__libc.*)' | sort | tr '\n' ' '
		echo
	done | sort >"$w/forked"
	printf '%s\n' 'exit call_exit:1 exit call_fork:1 exit main:1 exit one:1 exit three:1 exit two:1 ' \
		'reentry call_fork:1 reentry main:1 reentry one:1 reentry three:1 reentry two:1 ' | cmp -s - "$w/forked" &&
		ok $name || fail $name "$(cat "$w/forked")"
done

# Killed: everything that was counted is there.
name=kill
mkdir -p run/kill
for i in $(seq 20); do
	rm -f run/kill/*
	(cd run/kill && exec "$w/cases" forever) >told &
	pid=$!
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -9 $pid
	wait $pid 2>/dev/null
	[ -f run/kill/*.chord ] || continue
	said=$(wc -l <told)
	"$w/sums" run/kill/*.chord >facts || { fail kill "$(cat facts)"; break; }
	has=$(sed -n 's/^module cases-bfd //p' facts)
	# main counts one, and one can have been counted and not yet said; or it was killed before main
	[ "$has" != 0 ] || [ "$said" != 0 ] || continue
	[ "$has" = $((said + 1)) ] || [ "$has" = $((said + 2)) ] || { fail kill "said $said, has $has"; break; }
	counted=$has
done && [ "${counted-}" ] && ok kill || fail kill "${counted-nothing}"

# A name in use is not taken, even if its descriptor has been closed.
name=held
dir=$w/run/held
mkdir -p "$dir"
(cd "$dir" && CHORD_FILE=prof "$w/cases" hold) &
for i in $(seq 500); do [ -e "$dir/held" ] && break; sleep 0.01; done
(cd "$dir" && CHORD_FILE=prof "$w/cases" one)
touch "$dir/go"
wait
expect "$dir/prof" 'module cases-bfd 2' && expect "$dir"/prof.[0-9]* 'module cases-bfd 1001' && ok held

name=orphan
dir=$w/run/orphan
mkdir -p "$dir"
(cd "$dir" && CHORD_FILE=prof "$w/cases" orphan && CHORD_FILE=prof "$w/cases" one)
touch "$dir/go"
for i in $(seq 500); do [ -e "$dir/gone" ] && break; sleep 0.01; done
sleep 0.05
expect "$dir/prof" 'module cases-bfd 1001' && expect "$dir/prof.p1" 'module cases-bfd 100' && ok orphan

# The program goes on when the file cannot be had, and says one line.
quiet() {
	name=$1
	local want=$2
	shift 2
	dir=$w/run/$name
	mkdir -p "$dir"
	(cd "$dir" && "$@") >"$w/out" 2>"$w/err"
	status=$?
	if [ $status = 0 ] && [ "$(wc -l <"$w/err")" = "$want" ] && { [ "$want" = 0 ] || grep -q '^chord: [^:]*: ' "$w/err"; }; then
		ok "$name"
	else
		fail "$name" "status $status: $(head -c 300 "$w/err")"
	fi
}
quiet no-folder 1 env CHORD_FILE=/nowhere/x "$w/cases" threads
quiet no-folder-fork 1 env CHORD_FILE=/nowhere/x "$w/cases" fork
quiet null 0 env CHORD_FILE=/dev/null "$w/cases" threads
quiet too-large 1 bash -c "ulimit -f 20; exec $w/cases threads"
chmod 755 "$w" "$w/run"
if [ "$(id -u)" != 0 ]; then
	mkdir -p run/readonly && chmod 555 run/readonly
	quiet readonly 1 "$w/cases" one
elif setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	quiet readonly 1 setpriv --reuid 65534 --clear-groups "$w/cases" one
else
	skip readonly "root can write everywhere, and there is no setpriv"
fi
mkdir -p small
if unshare -m mount -t tmpfs -o size=32k none small 2>/dev/null; then
	quiet full-disk 1 unshare -m sh -c "mount -t tmpfs -o size=32k none $w/small && cd $w/small && $w/cases threads"
	quiet full-at-once 1 unshare -m sh -c "mount -t tmpfs -o size=32k none $w/small && cd $w/small && cp /bin/true . 2>/dev/null; $w/cases fork"
	simple no-proc unshare "-m sh -c mount\${IFS}-t\${IFS}tmpfs\${IFS}none\${IFS}/proc;exec\${IFS}$w/cases\${IFS}threads" 'module cases 6400001' 'lost 0'
	simple no-proc-static unshare "-m sh -c mount\${IFS}-t\${IFS}tmpfs\${IFS}none\${IFS}/proc;exec\${IFS}$w/cases-static-bfd\${IFS}one" 'module cases-static-bfd 1001' 'lost 0'
else
	skip full-disk "no mount here"
	skip no-proc "no mount here"
fi

# A measured library in a program that is not.
gcc -O2 -o host "$here/host.c"
cp libone.so plug.so
simple host "$w/host" "$w/plug.so" 'module plug.so 800000' 'lost 0' 'flags 0'
simple host-early "$w/host" "$w/plug.so early" 'module plug.so 801000' 'flags 2' 'text 1000 events were counted .*'

# Without libc.
obj bare.o "$here/bare.c" -fno-pie && obj bare-init.o "$here/bare.c" -DINIT -fno-pie || failed=1
gcc -nostdlib -static -o bare bare.o && ./bare && ok bare || fail bare "status $?"
gcc -nostdlib -static -o bare-init bare-init.o && simple bare-init "$w/bare-init" "" 'module bare-init 1000' 'lost 0'

# In name spaces of their own, each as it is mapped.
obj spaces.o "$here/spaces.c" -fPIE && gcc -o spaces spaces.o
simple spaces "$w/spaces" "$w/late.so" 'module spaces 1' 'module late.so 336' 'in_flight 0' 'state 1' 'lost 0'

# The report of a process that runs: of one that waits, with nothing active but main; whose
# profile has lost its name; with a thread that counts all the time.
chord=${CHORD:-$root/build/chord}
live() {
	"$chord" report --json --pid "$pid" >"$w/json" 2>"$w/err" || { fail "$name" "$(cat "$w/err")"; return 1; }
	jq -r '"\(.state) " + ([.functions[] | select(.name != "thread") | "\(.name):\(.calls)"] | sort | join(" "))' "$w/json" >"$w/out"
}
refuses() {
	name=$1
	"$chord" report --pid "$2" >"$w/out" 2>"$w/err"
	status=$?
	[ $status = 1 ] && [ ! -s "$w/out" ] && grep -q "^chord: $2: $3" "$w/err" && ok "$1" || fail "$1" "status $status: $(cat "$w/err")"
}
if [ -x "$chord" ] && command -v jq >/dev/null; then
	mkdir -p live && "$chord" cc -O1 -o waits "$here/waits.c" || failed=1
	name=pid
	(cd live && exec "$w/waits") >up &
	pid=$!
	for i in $(seq 500); do [ -s up ] && break; sleep 0.01; done
	live && [ "$(cat out)" = 'running batch:10 main:1 work:10000' ] && ok pid || fail pid "$(cat out)"
	name=pid-nameless
	rm live/*
	live && [ "$(cat out)" = 'running batch:10 main:1 work:10000' ] && ok $name || fail $name "$(cat out)"
	if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		name=pid-not-permitted
		setpriv --reuid 65534 --clear-groups "$chord" report --pid $pid >"$w/out" 2>"$w/err"
		[ $? = 1 ] && grep -q '^chord: [0-9]*: not permitted' "$w/err" && ok $name || fail $name "$(cat "$w/err")"
	else
		skip pid-not-permitted "not root"
	fi
	kill $pid
	wait $pid 2>/dev/null
	refuses pid-none $pid 'no such process'
	refuses pid-not-measured $$ 'the process has no profile'
	name=pid-threads
	rm -f up
	(cd live && exec "$w/waits" thread) >up &
	pid=$!
	for i in $(seq 500); do [ -s up ] && break; sleep 0.01; done
	n=0
	for i in $(seq 20); do
		# all at one moment: no call of batch but one is between its first and its last
		live && jq -e '[.functions[] | {(.name): .calls}] | add | .work - 1000 * .batch | . <= 1000 and . >= -1000' "$w/json" >/dev/null &&
			n=$((n + 1))
	done
	[ $n = 20 ] && kill -0 $pid && [ "$(awk '/^TracerPid/ { print $2 }' /proc/$pid/status)" = 0 ] && ok $name || fail $name "$n of 20"
	kill $pid
	wait $pid 2>/dev/null
else
	skip pid "no chord or jq"
fi

# Several objects, linked in two steps.
obj own-lib.o "$here/lib.c" -fPIE && obj own-other.o "$here/lib.c" -fPIE -DNAME=lib_other -Dlib_call=lib_call2 || failed=1
for ld in bfd gold lld; do
	ld.$ld -r -o step.o cases.o own-lib.o 2>"$w/err" && gcc -fuse-ld=$ld -Wl,--gc-sections -o step-$ld step.o own-other.o ||
		{ skip step-$ld "$(head -1 "$w/err")"; continue; }
	simple step-$ld "$w/step-$ld" libs "module step-$ld 16"
done

for san in address thread; do
	if obj cases-$san.o "$here/cases.c" -fPIE -fsanitize=$san && gcc -fsanitize=$san -o cases-$san cases-$san.o 2>/dev/null; then
		simple $san "$w/cases-$san" threads "module cases-$san 6400001" 'lost 0'
	else
		skip $san "no such sanitizer"
	fi
done

# 2,000 threads at a time
simple many "$w/cases" many 'module cases-bfd 2001' 'threads 2001' 'lost 0' 'flags 0'
simple many-norandom setarch "-R $w/cases many" 'module cases-bfd 2001' 'threads 2001' 'lost 0'

# Nothing is visible outside of a module.
name=hidden
if nm -D --defined-only libone-gold.so libone-lld.so libone-mold.so | grep -i chord; then fail hidden "see above"; else ok hidden; fi

# What a static program calls is what it has: a function that it does not name may not be there.
if [ -x "$chord" ]; then
	for how in execlp execl execv; do
		name=exits-woven-static-$how
		"$chord" cc -O0 -static -DONLY="$how" -o only "$here/only.c" && run $name "$w/only" && ok $name
	done
fi

# As a guest: a measured program and library define and need what the plain ones do, and otherwise may only want more.
if [ -x "$chord" ]; then
	gcc -O2 -o guest-plain "$here/guest.c" && "$chord" cc -O2 -o guest "$here/guest.c" &&
		"$chord" cc -O2 -fchord=paths -o guest-paths "$here/guest.c" &&
		gcc -O2 -fPIC -shared -o libguest-plain.so "$here/guest.c" &&
		"$chord" cc -O2 -fPIC -shared -o libguest.so "$here/guest.c" || failed=1
	for p in guest libguest.so; do
		for f in $p "${p%.so}-plain${p#"${p%.so}"}"; do
			# ld.bfd lists __start_ and __stop_ as hidden ones: nobody sees them.
			readelf --dyn-syms -W $f | awk '$5 == "GLOBAL" && $6 != "HIDDEN" { print $4, $5, $6, $7 == "UND", $8 }' | sort >$f.symbols
		done
		[ -s $f.symbols ] && diff $f.symbols $p.symbols >"$w/err" && ok symbols-$p || fail symbols-$p "$(grep '^[<>]' "$w/err" | head -3)"
	done
	# While it runs, the kernel is asked for nothing but who and what: the calls that could change something are its own. Signals
	# wait while the runtime walks.
	changes() {
		strace -o trace "./$1" >/dev/null && sed -n '/^write(1, "begin/,/^write(1, "end/p' trace |
			sed '/^rt_sigprocmask(SIG_BLOCK, ~\[ILL TRAP BUS FPE SEGV\]/,/^rt_sigprocmask(SIG_SETMASK, /d' |
			grep -Ev '^(getpid|gettid)\(|^rt_sigaction\([A-Z0-9]+, NULL|^rt_sigprocmask\(SIG_[A-Z]*, NULL' | sed -E 's/[0-9]+/N/g'
	}
	if strace -o trace true 2>/dev/null; then
		changes guest-plain >before && changes guest >after && [ -s before ] && diff before after >"$w/err" && ok strace ||
			fail strace "$(head -3 "$w/err")"
		changes guest-paths >after && diff before after >"$w/err" && ok strace-paths || fail strace-paths "$(head -3 "$w/err")"
		# It takes no signal but SIGBUS (truncated.c), where nobody else does, and leaves no descriptor where the program's own will be.
		for f in guest-plain guest; do
			strace -o trace ./$f >/dev/null
			grep -E '^rt_sigaction\([A-Z0-9]+, \{' trace | grep -v '^rt_sigaction(SIGBUS, ' | sed -E 's/0x[0-9a-f]+//g' >$f.signals
			grep -E '^(brk|clone|fork|kill|alarm|setitimer|timer_create)' trace | sed -E 's/0x[0-9a-f]+//g' >>$f.signals
		done
		[ -s guest-plain.signals ] && diff guest-plain.signals guest.signals >"$w/err" && ok strace-signals || fail strace-signals "$(head -3 "$w/err")"
	else
		skip strace "it is not there, or not permitted"
	fi
else
	skip symbols "no chord"
fi

# shellcheck source=tests/runtime/paths.sh
. "$here/paths.sh"
# shellcheck source=tests/runtime/versions.sh
. "$here/versions.sh"

# Kernels that cannot, and machines that cannot at all.
for flag in NO_FSGSBASE NO_BASE; do
	CHORD_RT_FLAGS=-DCHORD_RT_$flag "$root/runtime/pack.sh" -o runtime.s || failed=1
	lower=$(echo $flag | tr A-Z_ a-z-)
	obj cases.o "$here/cases.c" -fPIE && gcc -o cases-$lower cases.o
	obj cases-nopie.o "$here/cases.c" -fno-pie && gcc -no-pie -o cases-nopie-$lower cases-nopie.o
	if [ $flag = NO_BASE ]; then c=one n=1001; else c=threads n=6400001; fi
	for p in cases-$lower cases-nopie-$lower; do
		simple $p "$w/$p" $c "module $p $n" 'lost 0'
		simple $p-norandom setarch "-R $w/$p $c" "module $p $n" 'lost 0'
	done
	[ $flag = NO_BASE ] && continue
	# Where bases are few, where a region is moved, and where most is done by region.
	p=cases-$lower
	simple many-$lower setarch "-R $w/$p many" "module $p 2001" 'threads 2001' 'lost 0' 'flags 0'
	simple dlopen-$lower setarch "-R $w/$p dlopen $w/late.so" "module $p 9" 'module late.so 9001' 'lost 0'
	forked fork-thread-$lower "$w/$p" "module $p 12;module $p 230;" fork_thread
	obj exits.o "$here/exits.c" -fPIE && gcc -o exits-$lower exits.o
	p=exits-$lower
	exits $p-longjmp "$w/$p" longjmp =jumper:5 call_longjmp:5 jumper:5 one:5 three:5 two:5 "$clean"
	exits $p-handler "$w/$p" handler =sigjumper:5 call_siglongjmp:5 on_signal:5 one:5 raise_usr1:5 sigjumper:5 three:5 two:5 "$clean"
	exits $p-pthread-exit "$w/$p" pthread_exit call_pthread_exit:1 one:1 thread:1 three:1 two:1 "$clean"
done
exit $failed
