# SPDX-License-Identifier: MIT
# One program, built plain and built with "chord cc": the same status and output, no
# procedure without counts, and all measures of one opinion. To be sourced by bash.
#
# FAIL lines go to standard output. Lines "+ KEY NUMBER" (to be summed) and "refused
# NAME: REASON" go to the file $notes; a skipped program is named there, too.

: "${CHORD:=$(cd "$torture/../.." && pwd)/build/chord}"
: "${CHORD_TIMEOUT:=20}" # seconds; a quarter of it unmeasured
export LC_ALL=C

note()
{
	echo "$*" >>"$notes"
}

# fail WHAT WHY
fail()
{
	echo "FAIL $1: $2"
	note "+ differences 1"
}

# The first line of a file that is an error, or the first line.
why()
{
	{ grep -aiE -m 1 'error|chord:|refused' "$1" || head -n 1 "$1"; } | cut -c 1-200
}

# run DIR PROGRAM: output into DIR/PROGRAM.out, profiles to DIR/PROGRAM.chord*; prints
# the status. Measured or not, name and environment are the same, so that the stack is
# where it was; files are made in a folder that is thrown away.
run()
(
	mkdir "$1/cwd"
	ln -f "$1/$2" "$1/program"
	cd "$1/cwd"
	limit=$CHORD_TIMEOUT status=0
	[ "$2" != plain ] || limit=$((limit / 4))
	{ CHORD_FILE=$1/profile timeout -k 1 "$limit" setarch -R "$1/program" \
		</dev/null >"$1/$2.out" 2>&1; } 2>/dev/null || status=$?
	rm -rf "$1/cwd"
	for profile in "$1"/profile*; do
		[ ! -f "$profile" ] || mv "$profile" "$1/$2.chord${profile#"$1/profile"}"
	done
	echo "$status"
)

# plain WHAT DIR COMPILER ARGUMENT...: false if there is nothing to compare with.
plain()
{
	local what=$1 dir=$2 status
	shift 2
	if ! "$@" -o "$dir/plain" >"$dir/plain.log" 2>&1; then
		note "skip $what: does not compile"
		note "+ uncompilable 1"
		return 1
	fi
	status=$(run "$dir" plain)
	[ "$status" = 0 ] && return 0
	note "skip $what: exits with $status when not measured"
	note "+ failing 1"
	return 1
}

# opinion WHAT DIR MEASURE STATUS: what chord says about a run.
opinion()
{
	local what=$1 dir=$2 measure=$3 status=$4
	if ! "$CHORD" report --json "$dir/$measure" "$dir/$measure.chord"* >"$dir/json" 2>"$dir/log"; then
		fail "$what" "report: $(why "$dir/log")"
		return 1
	fi
	"$CHORD" report --insns "$dir/$measure" "$dir/$measure.chord"* >"$dir/$measure.insns" 2>/dev/null ||
		fail "$what" "report --insns: status $?"
	jq -r '"+ procedures \(.totals.procedures)", "+ refused \(.totals.refused)", "+ unknown \(.unknown | length)",
		(.refused[] | "refused \(.name): \(.reason)")' "$dir/json" >"$dir/summary"
	cat "$dir/summary" >>"$notes"
	jq -r '.unknown[].name' "$dir/json" >>"$dir/unknown"
	# A walk that ends at a function without unwind tables (__clang_call_terminate) is said, and counted here.
	if jq -e '.notes | any(test("could not be finished"))' "$dir/json" >/dev/null; then
		note "+ unfinished 1"
		touch "$dir/unfinished"
	fi
	"$CHORD" verify "$dir/$measure" >"$dir/log" 2>&1 ||
		fail "$what" "verify: $(sort -u "$dir/log" | paste -s -d ' ' | cut -c 1-300)"
	jq -r '.notes[] | select(test("into (another activation|other activations)"))' "$dir/json" | while read -r line; do
		fail "$what" "$line"
	done
	# A program that is killed leaves its activations open.
	[ "$status" -lt 124 ] && [ ! -e "$dir/unfinished" ] || return 0
	jq -r '.totals as $t | select(.events and .unknown == [] and .notes == []) | .events | to_entries[] |
		select(.value != $t[.key]) | "\(.value) \(.key), and edges say \($t[.key])"' "$dir/json" | while read -r line; do
		fail "$what" "$line"
	done
	jq -r '.unknown[] | "unknown \(.name): \(.reason)"' "$dir/json" | head -n 3 | while read -r line; do
		fail "$what" "$line"
	done
}

# Events are counted beside edges, and have to agree with what these say.
options_of()
{
	case $1 in
	events) echo "-fchord=edges,events -fchord-events=instructions,blocks,calls" ;;
	calls) echo "-fchord=calls -fchord-events=instructions,blocks" ;;
	*) echo "-fchord=$1" ;;
	esac
}

# measured WHAT DIR MEASURE DRIVER ARGUMENT...: false if there are no counts.
measured()
{
	local what="$1 $3" dir=$2 measure=$3 status
	shift 3
	# shellcheck disable=SC2046
	if ! "$@" $(options_of "$measure") -o "$dir/$measure" >"$dir/$measure.log" 2>&1; then
		fail "$what" "does not compile: $(why "$dir/$measure.log")"
		return 1
	fi
	[ -s "$dir/plain.log" ] || [ ! -s "$dir/$measure.log" ] || fail "$what" "says: $(why "$dir/$measure.log")"
	status=$(run "$dir" "$measure")
	note "+ runs 1"
	if [ "$status" != 0 ]; then
		fail "$what" "exits with $status, not 0"
		return 1
	fi
	cmp -s "$dir/plain.out" "$dir/$measure.out" || fail "$what" "output differs"
	opinion "$what" "$dir" "$measure" "$status"
}

# known DIR MEASURE: counts of the procedures that are known under every measure.
known()
{
	awk -v unknown="$1/unknown" 'BEGIN { while ((getline name <unknown) > 0) skip[name] } !($1 in skip)' "$1/$2.insns"
}

# agree WHAT DIR MEASURE OTHER: OTHER's counts are MEASURE's.
agree()
{
	[ ! -e "$2/unfinished" ] || return 0
	cmp -s "$2/$3.insns" "$2/$4.insns" && return 0
	known "$2" "$3" >"$2/expected"
	known "$2" "$4" >"$2/got"
	cmp -s "$2/expected" "$2/got" && return 0
	fail "$1 $4" "counts differ from $3: $(diff "$2/expected" "$2/got" | grep '^[<>]' | sort -k 2,4 | head -n 2 | paste -s -d ' ')"
}

# check WHAT DIR LANGUAGE COMPILER MEASURES ARGUMENT...: one program, all measures. DIR is
# emptied before and, unless CHORD_KEEP is set, after.
check()
{
	local what=$1 dir=$2 language=$3 compiler=$4 measures=$5 first='' driver
	shift 5
	rm -rf "$dir"
	mkdir -p "$dir"
	driver=cc
	[ "$language" = c ] || driver=c++
	note "+ programs 1"
	plain "$what" "$dir" "$compiler" "$@" || return 0
	: >"$dir/unknown"
	for measure in ${measures//,/ }; do
		measured "$what" "$dir" "$measure" env "CHORD_CC=$compiler" "CHORD_CXX=$compiler" "$CHORD" "$driver" "$@" ||
			continue
		if [ -z "$first" ]; then
			first=$measure
		else
			agree "$what" "$dir" "$first" "$measure"
		fi
	done
	[ -n "${CHORD_KEEP:-}" ] || rm -rf "$dir"
}

# totals NOTES: refused procedures by reason, then sums. False if there were differences, or
# nothing to compare.
totals()
{
	sed -n 's/^refused //p' "$1" | sort | uniq -c | sort -rn | sed 's/^ */refused /'
	awk '$1 == "+" { n[$2] += $3 }
		END {
			printf "%d programs (%d skipped: %d do not compile, %d fail plain), %d runs, ", n["programs"],
				n["uncompilable"] + n["failing"], n["uncompilable"], n["failing"], n["runs"]
			printf "%d procedures measured, %d refused, %d unknown, %d differences\n",
				n["procedures"], n["refused"], n["unknown"], n["differences"]
			if (n["unfinished"])
				printf "%d runs had a stack that could not be walked to its end, as their reports say\n", n["unfinished"]
			exit n["differences"] > 0 || n["runs"] == 0
		}' "$1"
}
