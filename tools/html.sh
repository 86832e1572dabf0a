#!/bin/sh
# SPDX-License-Identifier: MIT
# html.sh NODE TO: puts the pages of `chord html` together in the folder TO. They are share/html and the libraries that it needs,
# with their licences. The libraries come from the folder NODE, where the distribution's packages have them. If one is missing, or
# is not of the version for which the pages were written, the script says so and leaves the pages out. Then `chord html` refuses,
# and all else works. TO/.made is there only if the pages are, so make tries again the next time.
set -eu
node=$1 to=$2
here=$(cd "$(dirname "$0")/.." && pwd)

# leave WHY...
leave()
{
	echo "html.sh: chord html is left out: $*" >&2
	echo "$*" >"$to/.left-out"
	exit 0
}

# take FILE PACKAGE PATTERN: the library's file, which says what version it is.
take()
{
	[ -r "$node/$1" ] || leave "$node/$1 is not there (Debian: $2)"
	grep -qE "$3" "$node/$1" || leave "$node/$1 is not of the version that it was written for ($3)"
	[ -r "$node/../doc/$2/copyright" ] || leave "$node/../doc/$2/copyright is not there, the licence of $2"
	cp "$node/$1" "$to/lib/"
	cp "$node/../doc/$2/copyright" "$to/lib/$2.copyright"
}

rm -rf "$to"
mkdir -p "$to/lib"
take d3/dist/d3.min.js node-d3 'd3js\.org v5\.'
take dagre/dist/dagre.min.js node-dagre-layout '"0\.8\.[0-9]+"'
cp "$here"/share/html/* "$to/"
chmod -R u=rwX,go=rX "$to"
echo "pages and libraries" >"$to/.made"
