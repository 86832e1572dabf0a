#!/bin/bash
# SPDX-License-Identifier: MIT
# core.sh: traces of processes that could make no file. The trace in a core file is the end of what the same run writes to a file.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD")
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-core.XXXXXX")
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
# check NAME WHAT: what the command before said.
check() { if [ "$2" = 0 ]; then echo "ok tracing/$1"; else echo "FAIL tracing/$1: $3"; failed=1; fi; }
skip() { echo "skip tracing/core: $1"; exit 0; }

grep -q '^core' /proc/sys/kernel/core_pattern || skip "no core files are written here"
for compiler in gcc clang; do
	CHORD_CC=$compiler "$CHORD" cc -O1 -g -fchord=trace -o died-$compiler "$here/died.c" -lpthread >log 2>&1 || check "core/build/$compiler" 1 "$(head -n 1 log)"
done
[ -x died-gcc ] || exit 1
ln -f died-gcc died

# dies FILE COMMAND...: runs it with that profile; its output is in `out`, its core in `core`.
dies()
{
	local file=$1
	shift
	rm -f core*
	{ (ulimit -c unlimited; CHORD_FILE=$file exec "$@" >out 2>err); } 2>/dev/null
	set -- core*
	[ "$1" = core ] || [ ! -f "$1" ] || mv "$1" core
}
# told PROGRAM FILE OPTION...: all but the line that begins a thread, which names the file
told() { local p=$1 f=$2; shift 2; "$CHORD" trace "$@" "$p" "$f" 2>>warned | sed 's/^.* process [0-9]*, thread/thread/'; }
dies none ./died abort 1 0
[ -f core ] || skip "no core file was written"

# same LABEL PROGRAM ARGUMENT...: the core tells what the file of the same run tells, in each of $views.
views="--lines --blocks --insns" keep=1M
same()
{
	local label=$1 p=$2 view
	shift 2
	rm -rf files && mkdir files
	{ (ulimit -c 0; CHORD_FILE=files/%p.chord CHORD_TRACE=last:$keep exec ./$p "$@" >plain); } 2>/dev/null
	dies "/proc/none/%p" ./$p "$@"
	cmp -s plain out && [ -f core ]
	check "core/$label/output" $? "$(head -n 1 err) $(ls)"
	for view in $views; do
		told $p core --last=4000 $view >got
		for file in files/*.chord; do told $p $file --last=4000 $view >want; [ -s got ] && cmp -s want got && break; done
		[ -s got ] && cmp -s want got
		check "core/$label/$view, $(wc -l <got) lines" $? "$(cmp want got 2>&1 | head -n 1) $(tail -n 1 warned)"
	done
}
same abort died-gcc abort 2000 0
same fault died-clang fault 2000 0
same threads died-gcc abort 3000 3
[ "$(grep -c '^thread' got)" = 7 ] && [ "$(grep -c 'the thread has ended' got)" = 3 ]
check core/threads/all $? "$(grep '^thread\|ended' got)"
views=--insns
same child died-gcc child 2000 1
same parent died-clang parent 2000 1

# A ring that has gone round: CHORD_TRACE says how much of each thread is kept, 256K at least.
missing() { "$CHORD" trace --last=1 ./died-clang core 2>&1 | sed -n 's/.* only its end was kept: the beginning, \([0-9]*\) segments of 16384 paths, is missing/\1/p'; }
keep=256K
export CHORD_TRACE=last:256K
same around died-clang abort 150000 0
unset CHORD_TRACE
more=$(missing)
# Without it 1M is, 12 segments more.
dies /proc/none/%p ./died-clang abort 150000 0
less=$(missing)
[ -n "$more" ] && [ "$more" = $((less + 12)) ]
check core/size $? "$more $less"

# All of a short run is there. Its last paths were under way, so counts are not known.
rm -rf files && mkdir files
{ (ulimit -c 0; CHORD_FILE=files/all.chord exec ./died abort 500 0); } >/dev/null 2>&1
dies /proc/none/%p ./died abort 500 0
told ./died files/all.chord --insns >want && told ./died core --insns >got && [ "$(wc -l <got)" -gt 4000 ] && cmp -s want got
check core/whole $? "$(cmp want got 2>&1)"
grep -q '/\* the process ends by signal 6 \*/' got
check core/ends $? "$(tail -n 1 got)"
"$CHORD" report --core core ./died >log 2>&1 && [ "$(grep -c 'what ran is in the trace of its process, .*or is not counted for a core file' log)" -gt 4 ]
check core/counts $? "$(tail -n 2 log)"
cp core whole.core
# Nobody wanted a profile: nothing is kept.
dies /dev/null ./died abort 500 0
"$CHORD" trace ./died core >log 2>&1
[ $? = 1 ] && grep -q '^chord: core: it holds no trace' log
check core/none $? "$(head -n 1 log)"

# A program that has little room runs as ever.
for room in 60000 30000 20000 14000; do
	(ulimit -v $room -s 256; CHORD_FILE=/dev/null exec ./died child 30000 4 >plain 2>/dev/null)
	want=$?
	(ulimit -v $room -s 256; CHORD_FILE=/proc/none/%p exec ./died child 30000 4 >out 2>/dev/null)
	got=$?
	cmp -s plain out && [ $want = $got ] || break
done
check core/room $? "with $room: status $want $got, $(cat plain) $(cat out)"

# ---- a disk without room for a ring ----

mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
	mounted=$work/small
	dies small/x.chord ./died abort 500 0
	told ./died files/all.chord --insns >want && told ./died core --insns >got && cmp -s want got
	check core/full-disk $? "$(cmp want got 2>&1) $(tail -n 1 warned)"
	"$CHORD" report ./died small/x.chord >log 2>&1
	grep -q 'stopped before the process did: No space left' log && grep -q 'what each thread did last is kept in memory, for a core file' log
	check core/full-disk/report $? "$(tail -n 2 log)"
	umount small && mounted=
else
	echo "skip tracing/core/full-disk: no small file system can be mounted here"
fi

# ---- cores that are no use ----

# refused WHY PROGRAM CORE
refused()
{
	"$CHORD" trace "$2" "$3" >out 2>err
	[ $? = 1 ] && grep -qE "^chord: $3: $1" err && [ "$(wc -l <err)" = 1 ]
	check "core/refused/$3" $? "$(head -n 1 err)"
}
size=$(stat -c %s whole.core)
head -c 5000 whole.core >cut.core
refused 'truncated, and what is left is not enough: ' ./died cut.core
{ (ulimit -c unlimited; exec sh -c 'kill -SEGV $$'); } 2>/dev/null
mv core* foreign.core
refused "it holds nothing of Chord's runtime" ./died foreign.core
sed 's/i % 7/i % 5/' "$here/died.c" >died.c && "$CHORD" cc -O1 -fchord=trace -o other died.c -lpthread >/dev/null 2>&1
refused 'of another (program|build)' ./other whole.core
dies files/x.chord ./died abort 500 0
mv core filed.core
refused 'it holds no trace: what the process traced is in a file beside its profile' ./died filed.core
# Whatever is cut off or changed: what is there is shown, or an error; no crash.
head=$(grep -obUa CHTRACE1 whole.core | head -n 1) && head=${head%%:*}
bad=
for at in $((size / 4)) $((size / 2)) $((size * 3 / 4)) $((size - 1)) $((size - 40000)); do
	head -c $at whole.core >cut.core
	"$CHORD" trace --last=2 ./died cut.core >out 2>err
	[ $? -le 1 ] && ! grep -q 'runtime error\|Sanitizer' err || bad="cut at $at: $(head -n 1 err)"
done
for at in $(seq "$head" 4 $((head + 64))) $((head + 1024)) $((head + 1028)) $(seq $((head - 4096)) 8 $((head - 4060))); do
	cp whole.core bad.core && printf '\377\377\177' | dd of=bad.core bs=1 seek="$at" conv=notrunc status=none
	"$CHORD" trace --last=2 ./died bad.core >out 2>err
	[ $? -le 1 ] && ! grep -q 'runtime error\|Sanitizer' err || bad="damage at $at: $(head -n 1 err)"
done
[ -n "$head" ] && [ -z "$bad" ]
check core/damaged $? "$bad"

exit $failed
