# shellcheck shell=bash disable=SC2154 # w, dir, status, ...: of run.sh, which reads this
# SPDX-License-Identifier: MIT
# Path registers in the shadow of stacks, and hash tables of paths: the programs say what must be counted.

obj paths.o "$here/paths.c" -I"$root" -fPIE && obj paths-nopie.o "$here/paths.c" -I"$root" -fno-pie || failed=1
gcc -o paths paths.o
gcc -no-pie -o paths-nopie paths-nopie.o
gcc -static -o paths-static paths-nopie.o

# added: lines of the same kind and number, added up
added() {
	awk '/^(counter|path|unfinished|resumed) / { n[$1 " " $2] += $3 } END { for (k in n) if (n[k]) print k, n[k] }' | sort
}

# counted PROGRAM PROFILE: what is in it, in the words of the program
counted() {
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
	shift 2
	run "$name" "$prog" "$@" || return
	[ "$(head -1 "$w/out")" != skip ] || { skip "$name" "not permitted"; return; }
	set -- "$dir"/*.chord
	[ $# = 1 ] && counted "$prog" "$1" >"$w/counted" && same "$name" && return
	[ $# = 1 ] || fail "$name" "$# profiles"
}

for p in paths paths-nopie paths-static; do
	for c in one deep threads short fibres altstack exit pthread_exit few path_signals vfork spawn; do
		held $p-$c "$w/$p" $c
	done
	WANT=134 held $p-abort "$w/$p" abort
	[ $p = paths-static ] && continue # there woven code calls the hooks
	for c in longjmp fibre_left; do
		held $p-$c "$w/$p" $c
	done
done
held paths-paths "$w/paths" paths
