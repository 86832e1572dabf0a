#!/bin/sh
# SPDX-License-Identifier: MIT
# write.sh DATA PAGE PLOTS: writes the page from the results in DATA. It draws the figures, to DATA, if PLOTS is 1. It measures
# nothing.
set -eu
paper=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$paper/../../build/chord}"
data=$1 page=$2 plots=$3
link=$(realpath --relative-to="$(dirname "$page")" "$data")/
[ "$link" != ./ ] || link=
. "$paper/tables.sh"
export LC_ALL=C

: >"$page.new"
for part in head table1 table2 fig18 fig19 fig20 fig21 fig23 fig24 fig25; do
	. "$paper/tables/$part.sh" >>"$page.new"
	echo >>"$page.new"
done
mv "$page.new" "$page"
echo "paper: $page" >&2
