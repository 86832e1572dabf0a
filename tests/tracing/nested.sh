# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# nested.sh: three signal handlers that strike one another (../strikes.h), also in woven code. The instructions of traces are those
# that single steps saw, with each encoding. The same holds for the counts of edges, of events, between calls and their returns, and
# of paths. NESTED=SEED:SWEEPS[:STRIDE] chooses the strikes: 1:1:15 is a sample; NESTED=2:1 strikes each of the three at all of its
# instructions, which takes fifteen times as long. To be sourced by run.sh, whose functions it uses.
: "${NESTED:=1:1:15}"
: "${RECORD:=$(dirname "$CHORD")/record}"

# nested_build MEASURE COMPILER LEVEL: without padding, which steps pass over
nested_build()
{
	local align=
	local measure=$1
	[ "$2" = clang ] || align="-fno-align-loops -fno-align-jumps -fno-align-labels"
	[ "$measure" = paths ] || measure="$measure -fchord-events=instructions,calls,branches,returns"
	rm -f program ./*.chord ./*.trace steps.*
	# shellcheck disable=SC2086
	CHORD_CC=$2 "$CHORD" cc "$3" $align -g -no-pie -fchord=$measure -o program "$here/nested.c" >log 2>&1
}

# Of each instruction in the program: ADDRESS FUNCTION MNEMONIC CALLEE, which is `pointer` in calls through one.
disassembled()
{
	objdump -d --no-show-raw-insn program | awk '/^[0-9a-f]+ <.*>:$/ { f = substr($2, 2, length($2) - 3); next }
		/^ *[0-9a-f]+:/ {
			to = $NF ~ /^<.*>$/ ? substr($NF, 2, length($NF) - 2) : "pointer"
			sub(/@plt.*/, "", to)
			sub(/:/, "", $1)
			print $1, f, $2 == "bnd" || $2 ~ /^rep/ ? $3 : $2, to
		}'
}

# By address, as often as an instruction ran.
nested_counts()
{
	"$CHORD" annotate --asm --json ./program 2>err | jq -r '.functions[].instructions[] | select(.count > 0) | "\(.address) \(.count)"' |
		awk '{ printf "%x %s\n", $1, $2 }' | sort >got
	cut -d ' ' -f 1 steps.1 | sort | uniq -c | awk '{ print $2, $1 }' | sort >want
	[ -s want ] && cmp -s want got
	check "nested/counts/$1" $? "$(diff want got | head -n 4 | tr '\n' ';') $(head -n 1 err)"
}

nested_events()
{
	awk 'FILENAME == "code" { what[$1] = $3; next }
		{ w = what[$1]; n++; calls += w ~ /^call/; branches += w ~ /^j/ && w !~ /^jmp/; returns += w ~ /^ret/ }
		END { print n + 0, calls + 0, branches + 0, returns + 0 }' code steps.1 >want
	"$CHORD" report --json ./program 2>err | jq -r '.events | "\(.instructions) \(.calls) \(.branches) \(.returns)"' >got
	cmp -s want got
	check "nested/events/$1" $? "$(cat got), not $(cat want) $(head -n 1 err)"
}

# CALLER|CALLEE|CALLS|LEAST|MOST: instructions between calls and returns. What a handler ran that struck behind the last instruction before
# a call, or behind a return and before the next instruction, where the counter is read, may be among them.
stepped_calls()
{
	awk 'BEGIN { depth = k = n = 0 }
		FILENAME == "code" { within[$1] = $2; callee[$1] = $3 ~ /^call/ ? $4 : ""; next }
		{
			f = within[$1]
			if (f ~ /^on_/ && !(f in begin)) begin[f] = $1
			while (depth && $2 > entry[depth]) depth--
			if (begin[f] == $1) { entry[++depth] = $2; mine[depth] = n }
			others = n - mine[depth]
			for (; k && level[k] == depth && $2 > sp[k]; k--) { least[site[k]] += n - others - before[k]; most[site[k]] += n - before[k] }
			mine[depth] = ++n
			if (!callee[$1]) next
			site[++k] = f "|" callee[$1]; sp[k] = $2 - 8; level[k] = depth; before[k] = n
			calls[site[k]]++
			most[site[k]] += others
		}
		END { for (s in calls) print s "|" calls[s] "|" least[s] + 0 "|" most[s] + 0 }' code steps.1 | sort
}

nested_calls()
{
	stepped_calls >want
	"$CHORD" report --json --calls ./program 2>err | jq -r '.call_sites[] | "\(.caller)|\(.callee | sub("\\(through a "; "") | sub("\\)"; ""))|\(.calls)|\(.events.instructions)"' |
		awk -F '|' '{ s = $1 "|" $2; calls[s] += $3; sum[s] += $4 } END { for (s in calls) print s "|" calls[s] "|" sum[s] }' | sort >got
	paste -d '|' want got | awk -F '|' '$1 != $6 || $2 != $7 || $3 != $8 || $9 < $4 || $9 > $5 { print; bad = 1 } END { exit bad || NR < 8 }' >bad
	check "nested/calls/$1" $? "$(head -n 1 bad) $(head -n 1 err)"
}

encoding=
in_turn $builds
for way in $turn; do
	build "${way%/*}" nested.c "${way#*/}" -no-pie && struck "$NESTED" "nested/$way" || fail "nested/$way" "$(head -n 1 log)"
done
in_turn bits witness branches
for encoding in $turn; do
	build gcc nested.c -O2 -no-pie && struck "$NESTED" "nested/$encoding" nested-$encoding || fail "nested/$encoding" "$(head -n 1 log)"
done
encoding=
for compiler in gcc clang; do
	if [ $compiler = gcc ]; then level=-O2; else level=-Os; fi
	for measure in edges events calls; do
		label=$measure/$compiler$level
		nested_build $measure $compiler $level && STACK=1 strike "$NESTED" || { fail "nested/$label" "$(head -n 1 log)"; continue; }
		disassembled >code
		nested_events $label
		[ $measure = events ] || nested_counts $label
		[ $measure != calls ] || nested_calls $label
	done
	nested_build paths $compiler $level && STRIKE=$NESTED LD_BIND_NOW=1 "$RECORD" paths.chord ./program >log 2>&1 &&
		grep -q "of a handler's handler" log
	check "nested/paths/$compiler$level" $? "$(tail -n 1 log)"
done
