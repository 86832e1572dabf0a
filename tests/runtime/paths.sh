# shellcheck shell=bash disable=SC2154 # w, dir, status, ...: of run.sh, which reads this
# SPDX-License-Identifier: MIT
# Path registers in the shadow of stacks, and hash tables of paths. The programs print what must be counted.

# held_obj SUFFIX [arguments]: pathsSUFFIX.o, of two sources
held_obj() {
	local to=$1
	shift
	obj "paths1$to.o" "$here/paths.c" -I"$root" "$@" && obj "paths2$to.o" "$here/tables.c" -I"$root" "$@" &&
		ld -r -o "paths$to.o" "paths1$to.o" "paths2$to.o"
}
held_obj "" -fPIE && held_obj -nopie -fno-pie || failed=1
obj shadow.o "$here/shadow.c" -I"$root" -fPIC || failed=1
gcc -o paths paths.o shadow.o
gcc -no-pie -o paths-nopie paths-nopie.o shadow.o
gcc -static -o paths-static paths-nopie.o shadow.o 2>/dev/null

# added: lines of the same kind and number, added up
added() {
	awk '/^(counter|path|unfinished|resumed) / { n[$1 " " $2] += $3 } END { for (k in n) if (n[k]) print k, n[k] }' | sort
}

# counted PROGRAM PROFILE: what is in it, in the words of the program
counted() {
	set -- "${1%-ulimit}" "$2"
	"$w/sums" "$2" "$(nm "$1" | sed -n 's/ . dense$//p')" "$(nm "$1" | sed -n 's/ . hold_behind$//p')" | added
}

# same NAME: is what was counted, in file counted, what standard output says, without lines of processes of their own?
same() {
	added <"$w/out" >"$w/wanted"
	[ -s "$w/wanted" ] && diff "$w/wanted" "$w/counted" >"$w/diff" && ok "$1" ||
		fail "$1" "$(wc -l <"$w/wanted") wanted, different: $(head -5 "$w/diff" | tr '\n' ';')"
}

# held NAME PROGRAM CASE [ARG]
held() {
	local prog=$2
	name=$1
	shift
	run "$name" "$@" || return
	[ "$(head -1 "$w/out")" != skip ] || { skip "$name" "not permitted"; return; }
	for f in "$dir"/*.chord; do counted "$prog" "$f"; done | added >"$w/counted"
	same "$name"
}

obj runs.o "$here/runs.c" -I"$root" -fPIC && gcc -shared -o runs.so runs.o shadow.o || failed=1
for p in paths paths-nopie paths-static; do
	for c in one deep threads short fibres altstack exit pthread_exit cancel few path_signals fork fork_paths vfork spawn limit taken; do
		held $p-$c "$w/$p" $c
	done
	WANT=134 held $p-abort "$w/$p" abort
	[ $p = paths-static ] && continue # there woven code calls the hooks
	for c in longjmp fibre_left fibre_jump seccomp; do
		held $p-$c "$w/$p" $c
	done
	name=$p-jump_out
	run $name "$w/$p" jump_out && expect "$dir"/*.chord 'in_flight 0' &&
		counted "$w/$p" "$dir"/*.chord | grep -v '^path' >"$w/counted" && same $name
	held $p-seccomp-kill "$w/$p" seccomp kill
	for v in 8000 40000 60000 500000; do
		printf '#!/bin/sh\nulimit -v %d\nexec "%s" "$@"\n' $v "$w/$p" >$p-ulimit && chmod +x $p-ulimit
		for c in one deep fibres altstack; do
			held $p-$c-ulimit-$v "$w/$p-ulimit" $c
		done
	done
	name=$p-raw
	run $name "$w/$p" raw && ok $name
done
# The same with the weaver's own code around it.
if [ -x "${CHORD:-$root/build/chord}" ]; then
	for how in "-O2 -fPIE -pie" "-O0 -fno-pie -no-pie" "-O2 -static"; do
		p=paths-woven$(echo "$how" | tr -d ' ')
		"${CHORD:-$root/build/chord}" cc -fchord=paths $how -I"$root" -o "$p" "$here/paths.c" "$here/tables.c" shadow.o 2>"$w/err" || fail "$p" "$(head -3 "$w/err")"
		for c in one deep threads short fibres altstack exit pthread_exit cancel longjmp fibre_left fibre_jump seccomp limit taken \
			few path_signals fork fork_paths vfork spawn; do
			held $p-$c "$w/$p" $c
		done
		held $p-seccomp-kill "$w/$p" seccomp kill
	done
else
	skip paths-woven "no chord"
fi
held paths-paths "$w/paths" paths
held paths-reopen "$w/paths" reopen "$w/runs.so"
for c in threads longjmp pthread_exit paths; do
	CHORD_THREADS=per-thread held paths-$c-per-thread "$w/paths" $c
done
CHORD_THREADS=apart held paths-threads-apart "$w/paths" threads # as older versions called it

# Children of a handler that interrupted a path count it too, or not; their own profiles are not compared, but no path has no name.
name=paths-fork_struck
run $name "$w/paths" fork_struck && {
	for f in "$dir"/*.chord; do counted "$w/paths" "$f" | grep '^path -1 '; done >"$w/nameless"
	first=$(ls -S "$dir"/*.chord | head -1)
	[ "$(ls "$dir" | wc -l)" = 41 ] && [ ! -s "$w/nameless" ] && ok $name || fail $name "$(ls "$dir" | wc -l): $(head -3 "$w/nameless")"
}

# Copies at a signal, each since the one before: together they are all.
name=paths-reset
CHORD_SIGNAL=USR1:reset run $name "$w/paths" snapshots && {
	for f in "$dir"/*.[1-5].chord; do counted "$w/paths" "$f"; done | added >"$w/counted"
	same $name
}

# Where the addresses are taken by others.
for san in address thread; do
	if held_obj -$san -fPIE -fsanitize=$san && gcc -fsanitize=$san -o paths-$san paths-$san.o shadow.o 2>/dev/null; then
		for c in one threads altstack; do
			held paths-$c-$san "$w/paths-$san" $c
		done
	else
		skip paths-$san "no such sanitizer"
	fi
done

# Without a base of their own threads share the words.
for flag in NO_FSGSBASE NO_BASE; do
	cp runtime.s keep.s
	CHORD_RT_FLAGS=-DCHORD_RT_$flag "$root/runtime/pack.sh" -o runtime.s || failed=1
	lower=$(echo $flag | tr A-Z_ a-z-)
	held_obj -$lower -fPIE && obj shadow-$lower.o "$here/shadow.c" -I"$root" -fPIE &&
		gcc -o paths-$lower paths-$lower.o shadow-$lower.o || failed=1
	for c in one deep fibres altstack few path_signals fork_paths; do
		held paths-$c-$lower "$w/paths-$lower" $c
	done
	name=paths-threads-$lower
	run $name "$w/paths-$lower" threads && ok $name
	mv keep.s runtime.s
done

# A module without paths pays nothing.
name=paths-none none= some=
if strace -o trace true 2>/dev/null; then
	strace -f -o trace -e trace=madvise "$w/cases" one >/dev/null && none=$(grep -c NOHUGE trace)
	strace -f -o trace -e trace=madvise "$w/paths" one >/dev/null && some=$(grep -c NOHUGE trace)
	[ "$none" = 0 ] && [ "$some" -gt 0 ] && ok $name || fail $name "$none, $some pieces"
else
	skip $name "no strace, or not permitted"
fi

# Killed at any time: all that has ended is there, in the counters and in the tables.
name=paths-kill
dir=$w/run/$name
for i in $(seq 10); do
	rm -rf "$dir" && mkdir -p "$dir"
	(cd "$dir" && exec "$w/paths" forever) &
	pid=$!
	sleep "0.$((RANDOM % 20 + 10))"
	kill -9 $pid
	wait $pid 2>/dev/null
	said=$(od -An -td8 -N8 "$dir/said" | tr -d ' ')
	counted "$w/paths" "$dir"/*.chord | awk '{ n[$1] += $3 } END { print n["path"] + 0, n["counter"] + 0 }' >"$w/facts"
	read -r paths counters <"$w/facts"
	[ "$said" -gt 0 ] && [ "$((paths - said))" -le 1 ] && [ "$((counters - said))" -le 1 ] && [ "$paths" -ge "$counters" ] &&
		[ "$counters" -ge "$said" ] || { fail $name "$said said, $paths paths, $counters counted"; said=; break; }
done
[ -z "$said" ] || ok $name
