# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The list of measures, from Chord's registry: a new measure is tested wherever this list is used. To be sourced; $CHORD is set.

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
