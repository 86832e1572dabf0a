#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--rewrite] [NAME...]: small assembly texts, and beside each of them the woven text, as somebody last read it. So a change
# of the woven code shows as a difference, and a change that nobody intended shows as a failure. Other suites check that counters
# are right. The first lines of NAME.s say what it is for, for which measures, and how it was made. NAME.MEASURE is the woven text.
# --rewrite (make golden) writes woven texts anew: read the difference before you commit it.
#
# The kept text is the part after the input's first lines. A line that differs from the input has each of its statements on a line
# that begins with |. The map's records are only named: they say the same in numbers, and have tests of their own.
set -u
here=$(cd "$(dirname "$0")" && pwd)
CHORD=$(realpath "${CHORD:-$here/../../build/chord}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
rewrite=
failed=0
[ "${1-}" = --rewrite ] && { rewrite=1; shift; }

# readable INPUT WOVEN: the woven text as it is kept.
readable()
{
	awk '
		NR == FNR { plain[FNR] = $0; next }
		!begun && /^#/ { next }
		{ begun = 1 }
		FNR in plain && $0 == plain[FNR] { print; next }
		{
			n = split($0, piece, ";")
			for (i = 1; i <= n; i++) {
				if (piece[i] ~ /\.pushsection \.pdr\.chord\.map/)
					inside = 1
				if (!inside && piece[i] !~ /^[ \t]*$/)
					print "|" piece[i]
				if (inside && piece[i] ~ /^[ \t]*\.popsection/) {
					inside = 0
					print "|\t[map]"
				}
			}
		}' "$1" "$2" | expand | sed 's/ *$//'
}

# options_of MEASURE: registers is edges with registers that count in loops, path-registers the same with paths.
options_of()
{
	case $1 in
	registers) echo --loops=registers ;;
	path-registers) echo "--measure=paths --loops=registers" ;;
	*) echo "--measure=$1" ;;
	esac
}

# differs NAME MEASURE: says how; or writes what is woven.
differs()
{
	local input=$here/$1.s kept=$here/$1.$2
	"$CHORD" show --pass=text $(options_of "$2") "$input" >"$work/woven" 2>"$work/err" || { echo "chord show: $(cat "$work/err")"; return; }
	cmp -s "$work/woven" "$input" && { echo "nothing is woven into it"; return; }
	[ "$(wc -l <"$work/woven")" = "$(wc -l <"$input")" ] || echo "lines are not where they were"
	as -o "$work/woven.o" "$work/woven" 2>"$work/err" || echo "the assembler rejects it: $(head -n 2 "$work/err")"
	readable "$input" "$work/woven" >"$work/now"
	[ -s "$work/now" ] || echo "no text is left of it"
	[ -z "$rewrite" ] || cp "$work/now" "$kept"
	[ -e "$kept" ] || { echo "there is no such file: make golden writes it"; return; }
	diff -u --label "$1.$2" --label "woven now" "$kept" "$work/now" >"$work/diff" ||
		{ echo "it differs; if that is meant: make golden, then read git diff"; cat "$work/diff"; }
}

[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.s | sed 's/\.s$//')
for name in "$@"; do
	measures=$(sed -n 's/^# measures: //p' "$here/$name.s")
	[ -n "$measures" ] || { echo "FAIL golden/$name.s: it does not say for which measures"; failed=1; }
	for kept in "$here/$name".*; do
		measure=${kept##*.}
		case " s $measures " in
		*" $measure "*) ;;
		*) echo "FAIL golden/$name.$measure: $name.s does not ask for it"; failed=1 ;;
		esac
	done
	for measure in $measures; do
		why=$(differs "$name" "$measure")
		if [ -z "$why" ]; then echo "ok golden/$name.$measure"; else echo "FAIL golden/$name.$measure: $why"; failed=1; fi
	done
done
exit $failed
