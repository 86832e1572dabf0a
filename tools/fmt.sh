#!/bin/sh
# SPDX-License-Identifier: MIT
# fmt.sh: checks the house rules that a script can check: no trailing blanks, a licence line, the file's purpose in a comment after
# that, lines of at most 132 columns, functions of at most 60 lines (in tests of any length), no marks of a merge.
set -eu
cd "$(dirname "$0")/.."
bad=0
say()
{
	echo "$1"
	bad=1
}
git ls-files '*.c' '*.h' '*.sh' | xargs awk '
	function say(what) { print what; bad = 1 }
	function finish() {
		if (file == "") return
		if (!licence) say(file ": no licence line")
		if (!purpose) say(file ": does not say what it is for")
		if (blanks) say(file ": trailing blanks")
	}
	FNR == 1 { finish(); file = FILENAME; licence = purpose = blanks = start = 0 }
	FNR <= 2 && /SPDX-License-Identifier: MIT/ { licence = 1 }
	(FNR == 2 || FNR == 3) && /^(\/\*|\/\/| \*|#$|# |#: )/ { purpose = 1 }
	/[ \t]$/ { blanks = 1 }
	file !~ /\.[ch]$/ { next }
	{ gsub(/\t/, "        ") }
	length($0) > 132 { say(file ":" FNR ": longer than 132 columns") }
	/^\{/ { start = FNR }
	/^\}/ && file !~ /^tests/ && start && FNR - start > 61 { say(file ":" start ": a function of " FNR - start " lines") }
	/^\}/ { start = 0 }
	END { finish(); exit bad }' || bad=1
version=$(sed -n 's/^#define CHORD_FORMAT_VERSION \([0-9]*\).*/\1/p' format/format.h)
grep -q "^# .*, version $version\$" docs/format.md || say "docs/format.md: not of version $version"
grep -E '^\| 4 \| `version` \| [0-9]' docs/format.md | grep -qvE "version\` \\| $version\>" && say "docs/format.md: a table of another version than $version"
for file in $(git grep -lE '^(<<<<<<<|>>>>>>>) ' 2>/dev/null); do
	say "$file: marks of a merge"
done
exit $bad
