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
for file in $(git ls-files '*.c' '*.h' '*.sh'); do
	head -2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || say "$file: no licence line"
	head -3 "$file" | tail -2 | grep -qE '^(/\*|//| \*|#$|# |#: )' || say "$file: does not say what it is for"
	grep -nE '[ 	]+$' "$file" >/dev/null && say "$file: trailing blanks"
	case $file in
	*.c | *.h)
		awk -v f="$file" '{ gsub(/\t/, "        "); if (length($0) > 132) { print f ":" NR ": longer than 132 columns"; e = 1 } }
			/^\{/ { start = NR } /^\}/ { if (f !~ /^tests/ && start && NR - start > 61) { print f ":" start ": a function of " NR - start " lines"; e = 1 } start = 0 }
			END { exit e }' "$file" || bad=1
		;;
	esac
done
version=$(sed -n 's/^#define CHORD_FORMAT_VERSION \([0-9]*\).*/\1/p' format/format.h)
grep -q "^# .*, version $version\$" docs/format.md || say "docs/format.md: not of version $version"
grep -E '^\| 4 \| `version` \| [0-9]' docs/format.md | grep -qvE "version\` \\| $version\>" && say "docs/format.md: a table of another version than $version"
for file in $(git grep -lE '^(<<<<<<<|>>>>>>>) ' 2>/dev/null); do
	say "$file: marks of a merge"
done
exit $bad
