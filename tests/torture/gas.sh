#!/bin/bash
# SPDX-License-Identifier: MIT
# Random texts in the assembler's language (gas/), plain and measured.
#
#	gas.sh [--texts N] [--seed BASE] [--measures "edges paths ..."] [--seconds N] [--work DIR] [--try FILE.s]
#
# Tries the texts of the seeds BASE ... BASE + N - 1, and begins no other after that many seconds. What is built with Chord must build
# where the plain text builds, in a few seconds, print and return what the plain one does, and have the assembler's messages only; and
# where the assembler rejects the text, so must Chord, with the same messages. Counts of edges are compared with callgrind's,
# instruction by instruction, those of the other measures with the ones of edges. Procedures that are refused by name, and texts
# left alone with a warning, are counted. Without --measures each text has edges and two others, in turn. Prints "FAIL SEED MEASURE: WHY"
# for every difference, and keeps that text as DIR/SEED.s; then totals. Status 1 if there was a difference. --try tries
# a text of somebody's in place of random ones, such as a kept one that was cut down.
set -u
torture=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$torture/../../build/chord}"
CHORD=$(realpath "$CHORD")
. "$torture/../registry.sh"
export LC_ALL=C
texts=100 seed=1 chosen='' seconds=1000000 work= try=
while [ $# -gt 0 ]; do
	case $1 in
	--texts) texts=$2 ;;
	--seed) seed=$2 ;;
	--measures) chosen=$2 ;;
	--seconds) seconds=$2 ;;
	--work) work=$2 ;;
	--try) try=$(realpath "$2") texts=1 ;;
	*) echo "gas.sh: $1: no such option" >&2; exit 2 ;;
	esac
	shift 2
done
own=
[ -n "$work" ] || own=1 work=$(mktemp -d "${TMPDIR:-/tmp}/chord-gas.XXXXXX")
mkdir -p "$work/room"
work=$(cd "$work" && pwd)
cd "$work/room" || exit 2
gcc -O1 -D_GNU_SOURCE -o "$work/gas" "$torture"/gas/*.c && gcc -O2 -c -o "$work/main.o" "$torture/gas-main.c" &&
	gcc -O2 -D_GNU_SOURCE -o "$work/compare" "$torture/../oracle/compare.c" || exit 2
read -ra all <<<"$(measures) registers path-registers"
tried=0 rejected=0 failing=0 alone=0 refused=0 unknown=0 measured=0 compared=0 differences=0

# option_of MEASURE: registers is edges with registers that count in loops, path-registers the same with paths.
option_of() {
	case $1 in
	registers) echo -fchord-loops=registers ;;
	path-registers) echo "-fchord=paths -fchord-loops=registers" ;;
	*) echo "-fchord=$1" ;;
	esac
}

# differs MEASURE WHY...
differs() {
	echo "FAIL $i $1: ${*:2}" | head -c 400 | tr '\n' ' '
	echo
	differences=$((differences + 1))
	cp t.s "$work/$i.s"
}

# ran PROGRAM SECONDS: its output, and its status at the end.
ran() {
	{
		timeout "$2" "./$1" >"$1.out" 2>&1
		echo "status $?" >>"$1.out"
	} 2>/dev/null # what this shell says of signals
}

# Messages of the assembler, without Chord's own warnings.
messages() { grep -v '^chord: warning: ' "$1"; }

# around FILE: functions amid which one of the file's begins: callgrind counts all that their sizes cover as theirs.
around() {
	nm -S -t d plain | awk 'FILENAME != "-" { inner[$1]; next } $NF in inner { at[$1 + 0] } NF == 4 { begin[$4] = $1; size[$4] = $2 }
		END { for (f in begin) for (a in at) if (a > begin[f] + 0 && a < begin[f] + size[f]) { print f; break } }' "$1" -
}

# What callgrind says of the same text, for edges; for others what edges say.
exact() {
	local names
	"$CHORD" verify "$1" 2>/dev/null | sed -nE '/^main: |measured,/d; s/^ *([^ :]+): .*/\1/p' >"$1.refused"
	refused=$((refused + $(wc -l <"$1.refused")))
	if ! [ -e "$1.chord" ] && "$CHORD" verify "$1" 2>&1 | grep -q ' 0 procedures measured'; then return; fi
	"$CHORD" report --insns "$1" "$1.chord" >"$1.insns" 2>"$1.report" || { differs "$1" "report: $(head -n 1 "$1.report")"; return; }
	# Procedures with counts that are not known are left aside, and those that are refused, or have one amid their code.
	names=$({ awk '$4 == "?" { print $1 }' "$1.insns"; around "$1.refused"; } | sort -u)
	unknown=$((unknown + $(echo "$names" | grep -c .)))
	if [ "$1" = edges ]; then
		valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-strings=no --compress-pos=no \
			--skip-plt=no --callgrind-out-file=calls ./plain >/dev/null 2>&1
		sed 's/^ob=.*/ob=plain/' calls >callgrind # code in sections of other names is nobody's there
		# Code behind a function's .size is nobody's there, too.
		nm -S -t d plain | awk -v unknown=" ${names//$'\n'/ } " 'FILENAME == "-" { if (NF == 4) size[$4] = $2 + 0; next }
			!index(unknown, " " $1 " ") && !($2 == 0 && $1 in size && $3 >= size[$1])' - edges.insns >known.insns
		awk '{ print $1 }' known.insns | sort -u >names
		# What ran has to be in the table. An alias may be named there in its place.
		readelf -Ws plain | awk -v out=" $(tr '\n' ' ' <edges.refused) ${names//$'\n'/ } " '$4 != "FUNC" { next } index(out, " " $8 " ") { gone[$2] }
			$8 ~ /^(f[0-9]*|g\.[0-9]|p\$[0-9]|\303\274[0-9]|_h[0-9]|\.k[0-9]|q[0-9])$/ { at[$8] = $2 }
			END { for (name in at) if (!(at[name] in gone)) print name }' >>names
		[ -s known.insns ] || return
		"$work/compare" --names names plain callgrind known.insns >result || { differs edges "$(tail -n 1 result) $(head -n 1 result)"; return; }
		compared=$((compared + 1))
	elif [ -s edges.insns ]; then
		cat edges.refused "$1.refused" <(awk '$4 == "?" { print $1 }' edges.insns "$1.insns") | sort -u >out
		for file in edges "$1"; do
			awk 'FILENAME == "out" { out[$1]; next } !($1 in out)' out "$file.insns" >"$file.both"
		done
		cmp -s edges.both "$1.both" || differs "$1" "counts differ from edges: $(diff edges.both "$1.both" | head -n 3)"
	fi
}

one() {
	local plain measure status
	timeout 10 gcc -c -o plain.o t.s >plain.said 2>plain.log
	plain=$?
	if [ $plain = 0 ]; then
		gcc -static -o plain "$work/main.o" plain.o 2>link.log && ran plain 2 || { failing=$((failing + 1)); return; }
		[[ $(tail -n 1 plain.out) != "status 1"[0-9][0-9] ]] || { failing=$((failing + 1)); return; }
	else
		rejected=$((rejected + 1))
	fi
	for measure in ${chosen:-edges ${all[i % ${#all[@]}]} ${all[i * 7 / 3 % ${#all[@]}]}}; do
		[ ! -e "$measure.log" ] || continue
		timeout 20 "$CHORD" cc $(option_of "$measure") -c -o "$measure.o" t.s >"$measure.said" 2>"$measure.log"
		status=$?
		[ $status = $plain ] || { differs "$measure" "status $status of the build, not $plain: $(grep -m 1 . "$measure.log")"; continue; }
		cmp -s "$measure.said" plain.said || differs "$measure" "printed: $(diff "$measure.said" plain.said | head -n 3)"
		cmp -s <(messages "$measure.log") plain.log || differs "$measure" "messages: $(diff <(messages "$measure.log") plain.log | head -n 2)"
		[ $status = 0 ] || continue
		"$CHORD" cc $(option_of "$measure") -o "$measure" "$work/main.o" "$measure.o" >link.log 2>&1 || { differs "$measure" "link: $(tail -n 1 link.log)"; continue; }
		export CHORD_FILE=$measure.chord
		ran "$measure" 10
		cmp -s plain.out "$measure.out" || { differs "$measure" "output: $(diff plain.out "$measure.out" | head -n 3)"; continue; }
		if grep -q 'not measured' "$measure.log"; then
			alone=$((alone + 1))
		else
			measured=$((measured + 1))
			[[ $measure = @(events|clock) ]] || exact "$measure"
		fi
	done
}

for ((i = seed; i < seed + texts && SECONDS < seconds; i++)); do
	rm -rf ./*
	if [ -n "$try" ]; then cp "$try" t.s; else "$work/gas" "$i" >t.s; fi
	one
	tried=$((tried + 1))
done
echo "$tried texts ($rejected are wrong, $failing fail plain), $measured measured builds, $compared compared with callgrind, $alone left alone," \
	"$refused procedures refused, $unknown with unknown counts, $differences differences"
cd /
rm -rf "$work/room"
[ -z "$own" ] || [ $differences != 0 ] || rm -rf "$work"
[ $differences = 0 ] && [ $compared -gt 0 ]
