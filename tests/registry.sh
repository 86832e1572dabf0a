# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What suites share: the list of measures, from Chord's registry (a new measure is tested wherever it is used), and times. To be sourced;
# $CHORD is set.

# measures [TRAIT]: all, or those with a trait (as `chord cc --measures` names it).
measures() {
	"$CHORD" cc --measures | awk -F'\t' -v trait="${1-}" '!trait || "," $2 "," ~ "," trait "," { printf "%s%s", n++ ? " " : "", $1 }'
}

# in_turn WORD...: sets $turn to all the words if FULL is set (make check-torture). Otherwise to the first one and a third of the others,
# or one of two: the next third each time. The suite sets $turn_at, where that begins.
in_turn() {
	local word k=$turn_at parts=3
	turn=$1
	shift
	[ $# -ge $parts ] || parts=$#
	for word; do
		[ -z "${FULL-}" ] && [ $((k % parts)) != 0 ] || turn="$turn $word"
		k=$((k + 1))
	done
	turn_at=$((turn_at + 1))
}

# cpu_time FILE: sets $cpu to the seconds of processors' time that this shell and what it has waited for took. FILE is overwritten.
cpu_time() {
	times >"$1"
	cpu=$(awk '{ n = split($1 " " $2, t, /[ms ]+/); for (i = 1; i < n; i += 2) s += 60 * t[i] + t[i + 1] } END { printf "%.2f", s }' "$1")
}
