#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: a small program that ends at each of its instructions. STEP is the program that makes it do so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
: "${STEP:=$(dirname "$(realpath "$CHORD")")/step}"
. "$here/../may.sh"
may trace || { echo "skip step: $why"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-step.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
for compiler in gcc clang; do
	for level in -O0 -O2; do
		for measure in edges every-block every-edge blocks blocks-vcnt edges,events; do
			# Where the code has most shapes: they take long.
			case $level$measure in -O0blocks*) continue ;; esac
			label=step/$compiler/$level/$measure
			rm -f "$work"/*
			if ! CHORD_CC=$compiler "$CHORD" cc "$level" -no-pie "-fchord=$measure" -o "$work/prog" "$here/prog.c" >"$work/log" 2>&1 ||
				! "$STEP" "$work/prog" "$work/profile" >"$work/log" 2>&1; then
				echo "FAIL $label: $(head -n 1 "$work/log")"
				failed=1
			else
				echo "ok $label: $(head -n 1 "$work/log")"
			fi
		done
	done
done
exit $failed
