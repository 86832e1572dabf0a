# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The list of measures, from Chord's registry: a new measure is tested wherever this list is used. To be sourced; $CHORD is set.

# measures [TRAIT]: all, or those with a trait (as `chord cc --measures` names it).
measures() {
	"$CHORD" cc --measures | awk -F'\t' -v trait="${1-}" '!trait || "," $2 "," ~ "," trait "," { printf "%s%s", n++ ? " " : "", $1 }'
}
