#!/bin/bash
# SPDX-License-Identifier: MIT
# What other recorders of whole runs cost in relation to a trace: processor time (user and system) by instruction of the plain
# program, which valgrind counts. The size of the run depends on how slow the recorder is: bzip2 of 1 MB, of 20 KB, or decompressing
# 300 bytes.
#
#	recorders.sh [--work DIR]
#
# Recorders that are not installed are left out. The figures are rough if the machine has other work.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$bench/../tests/real
real=$(cd "$real" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$real/lib.sh"
. "$bench/processor.sh"
export CHORD_SMALL=1
work=$CHORD_CACHE/work/recorders
[ "${1-}" != --work ] || work=$2
mkdir -p "$work"
cd "$work"
recipe() { "$real/recipe.sh" bzip2 "$@"; }
recipe fetch >fetch.log 2>&1 || die "bzip2 cannot be fetched"
for kind in plain trace uftrace; do
	case $kind in
	plain) cc="gcc" ;;
	trace) cc="$CHORD cc -fchord=trace" ;;
	uftrace) cc="gcc -pg" ;;
	esac
	recipe build "$work/$kind" "$cc" "$cc" "" "-O2 -g" "" >"$kind.log" 2>&1 || die "bzip2 cannot be built (see $work/$kind.log)"
done
(. "$real/recipes/bzip2.sh" && corpus bzip2 1 large)
head -c 20000 large >small
head -c 300 large | bzip2 >tiny
large="-9 -c large" small="-9 -c small" tiny="-d -c tiny"

# insns INPUT: the instructions of the plain program.
insns()
{
	valgrind --tool=none --log-file=/dev/null true >/dev/null 2>&1 || return 1
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=insns.log plain/bzip2-static $1 >/dev/null
	sed -n 's/.*Collected : //p' insns.log
}

# row NAME INSTRUCTIONS COMMAND...: processor time of a command, by instruction. Instructions 0: gdb says how many it recorded.
row()
{
	local name=$1 n=$2 time
	shift 2
	TIMEFORMAT='%U %S'
	time=$({ time "$@" >output 2>error </dev/null; } 2>&1) || { echo "$name: failed"; return; }
	[ "$n" != 0 ] || n=$(sed -n 's/^Log contains \([0-9]*\) instructions.*/\1/p' output)
	[ -n "$n" ] || { echo "$name: failed"; return; }
	echo "$time" | awk -v name="$name" -v n="$n" '{ t = $1 + $2; printf "%-34s %14d %10.2f %14.2f\n", name, n, t, 1e9 * t / n }'
}

processor
printf '%-34s %14s %10s %14s\n' recorder instructions seconds ns/instruction
at_large=$(insns "$large") at_small=$(insns "$small")
export CHORD_FILE=$work/bzip2.chord
row "plain" "$at_large" plain/bzip2-static $large
row "chord, -fchord=trace" "$at_large" trace/bzip2-static $large
! command -v uftrace >/dev/null || row "uftrace (functions only)" "$at_large" uftrace record -d uftrace.data uftrace/bzip2-static $large
! command -v qemu-x86_64 >/dev/null ||
	row "qemu-user -d exec,nochain" "$at_small" qemu-x86_64 -d exec,nochain -D /dev/null plain/bzip2-static $small
row "valgrind --tool=lackey --trace-mem" "$at_small" valgrind --tool=lackey --trace-mem=yes --log-file=/dev/null plain/bzip2-static $small
# gdb knows no AVX, and no xsavec, with which symbols are bound late.
! command -v gdb >/dev/null || row "gdb, record full, from main on" 0 gdb -q -batch -nx -ex "set width 0" \
	-ex "set environment LD_BIND_NOW=1" \
	-ex "set environment GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX_Fast_Unaligned_Load,-ERMS" \
	-ex "set record full insn-number-max unlimited" -ex "break main" -ex "run $tiny >output.gdb" -ex record -ex "break _exit" \
	-ex continue -ex "info record" plain/bzip2-static
grep -h '^Process record' output error || :
