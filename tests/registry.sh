# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The measures that there are, from Chord's registry: a new one is tested wherever these are used. Sourced; $CHORD is set.

# measures [TRAIT]: all, or those with a trait (as `chord cc --measures` names it).
measures() {
	"$CHORD" cc --measures | awk -F'\t' -v trait="${1-}" '!trait || "," $2 "," ~ "," trait "," { printf "%s%s", n++ ? " " : "", $1 }'
}
