#!/bin/bash
# SPDX-License-Identifier: MIT
# places.sh: the index of a trace. What is shown from places in it is the same with an index and without, whatever was done to the
# index. With an index, what stands before the place is not decoded. run.sh starts this, in the test's folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../registry.sh"
failed=0 turn_at=0
pass() { echo "ok tracing/$1"; }
fail() { echo "FAIL tracing/$1: $2"; failed=1; }
check() { if [ "$2" = 0 ]; then pass "$1"; else fail "$1" "$3"; fi; }

# print FOLDER OPTIONS...: what chord trace prints there, and its status
print()
{
	local folder=$1
	shift
	(cd "$folder" && "$CHORD" trace "$@" ./program 2>&1; echo "status $?") >"$folder.out"
}

# Places in all threads; some are nowhere.
places='--from=3000000|--to=3002000|--insns
--from=8500000|--to=8500900|--lines
--from=20000000|--to=20000500|--blocks|--thread=1
--from=1900000|--to=1900500|--insns|--thread=3
--from=deep:200|--to=deep:200|--lines
--from=rare:150|--to=rare:150|--blocks|--json
--from=struck:20|--to=20500000
--from=7000000|--to=7400000|--grep=deep
--from=leaf:400000|--to=leaf:400003|--insns
--to=deep:3|--grep=struck
--from=99999999
--from=deep:100000|--thread=2
--last=1
--last=3000|--thread=1
--last=30|--insns|--grep=deep
--last=2000|--lines|--grep=rare
--last=40|--from=8000000'

# Of threads that run at one time, and of their child.
turns='--together|--from=3000000|--to=3001000|--lines
--chrome|--from=3000000|--to=3020000
--together|--from=turn:40|--to=turn:41|--json
--perfetto|--from=turn:60|--to=turn:61'
more='--together|--from=2000000|--to=2000900|--insns|--thread=2
--together|--from=4500000|--to=4500200|--blocks
--together|--from=struck:20|--to=struck:21|--grep=leaf
--together|--from=99999999
--chrome|--thread=2|--from=turn:50|--to=turn:50
--from=2000000|--to=2000300|--lines'
lackey='--lackey|--from=3000000|--to=3002000
--lackey|--from=20000000|--to=20000500|--thread=1
--lackey|--from=struck:20|--to=struck:20
--insns|--from=7000000|--to=7000300'

# compare LABEL [PLACES]: in the folder `with` there is an index, in `without` none can be
compare()
{
	local line option n=0
	while read -r line; do
		IFS='|' read -r -a option <<<"$line"
		print with "${option[@]}"
		print without "${option[@]}"
		n=$((n + $(wc -l <with.out)))
		cmp -s with.out without.out || { fail "$1" "${option[*]}: $(diff -a with.out without.out | head -n 4 | tr '\n' ' ')"; return; }
	done <<<"${2-$places}"
	pass "$1, $n lines"
}

# make_both SOURCE OPTIONS...: the program and its traces in both folders
make_both()
{
	local source=$1 trace
	shift
	rm -rf with without
	mkdir with without
	"$CHORD" cc -O2 -g -fchord=trace "$@" -o with/program "$here/$source" -lpthread >log 2>&1 && (cd with && ./program >../out) &&
		cp -p with/* without/ && for trace in without/*.trace; do mkdir "$trace.index"; done
}

in_turn paths witness bits
for encoding in $turn; do
	make_both places.c -fchord-trace=$encoding || { fail "places/$encoding" "$(head -n 1 log)"; continue; }
	print with --thread=1 --to=20
	[ ! -e "$(echo with/*.trace).index" ]
	check "places/$encoding/not all was read" $? "an index was written by a pass that was not complete"
	print with
	mv with.out whole.out
	print without
	cmp -s whole.out without.out && [ -s "$(echo with/*.trace).index" ]
	check "places/$encoding/whole" $? "$(diff whole.out without.out | head -n 3)"
	compare "places/$encoding"
done

# Streams that are read in turns stand in the order that they have without an index; it is made by whichever pass reads all.
in_turn paths witness bits branches
for encoding in $turn; do
	make_both turns.c -fchord-trace=$encoding '-fchord-trace-stamp=pthread_mutex_*' || { fail "places/turns/$encoding" "$(head -n 1 log)"; continue; }
	print with --together --grep=none
	[ -n "$(find with -name '*.trace.index' -size +0)" ]
	check "places/turns/$encoding/made" $? "$(ls with)"
	compare "places/turns/$encoding" "$turns"
	[ $encoding != paths ] || compare "places/turns/$encoding/more" "$more"
done
# What addresses are computed from is in an index that such a pass has made; another index is not enough.
make_both places.c -fchord=trace,data || fail places/lackey "$(head -n 1 log)"
print with --grep=none
cp with/*.trace.index right
print with --lackey --grep=none
[ "$(stat -c %s right)" -lt "$(stat -c %s with/*.trace.index)" ]
check places/lackey/made $? "$(ls -l right with)"
compare places/lackey "$lackey"
make_both places.c -fchord-trace=bits && print with

# It is an index: damage before the place is not seen, but for the time of the last change.
index=$(echo with/*.trace).index
trace=${index%.index}
cp -p "$trace" good
touch -r "$trace" time
print with --from=20000000 --to=20000300 --insns
mv with.out whole.out
printf x | dd of="$trace" bs=1 seek=600000 conv=notrunc 2>/dev/null
touch -r time "$trace"
print with --from=20000000 --to=20000300 --insns
grep -q '^status 0$' whole.out && cmp -s whole.out with.out
check places/reaches $? "$(tail -n 1 whole.out) $(diff whole.out with.out | head -n 3)"
touch -d @1000000000 "$trace"
print with --from=20000000 --to=20000300 --insns
grep -q '^status 1$' with.out && grep -q damaged with.out
check places/changed $? "$(tail -n 2 with.out)"
cp -p good "$trace"

# What is damaged, cut off, or of another trace, is not used; then it is written again.
cp "$index" right
print with --from=deep:150 --to=deep:150
mv with.out whole.out
n=0
wrong=
for i in $(seq 0 7 "$(stat -c %s right)"); do
	cp right "$index"
	printf '\377' | dd of="$index" bs=1 seek="$i" conv=notrunc 2>/dev/null
	print with --from=deep:150 --to=deep:150
	n=$((n + 1))
	cmp -s whole.out with.out && cmp -s right "$index" || wrong="$wrong $i"
	[ $n -lt 15 ] || break
done
for i in 0 10 100; do
	head -c $i right >"$index"
	print with --from=deep:150 --to=deep:150
	cmp -s whole.out with.out && cmp -s right "$index" || wrong="$wrong cut:$i"
done
[ -z "$wrong" ] && [ $n -ge 10 ]
check "places/damage, $n bytes" $? "bytes$wrong"
(cd with && rm -f ./*.chord ./*.trace && ./program >../out && mv ./*.trace.index "$(echo ./*.trace).index")
print with --from=deep:150 --to=deep:150
sed '/ process /d' whole.out >one && sed '/ process /d' with.out | cmp -s - one
check places/foreign $? "$(diff whole.out with.out | head -n 3)"
rm -rf with without

exit $failed
