#!/bin/bash
# SPDX-License-Identifier: MIT
# figures.sh [TREE [BUILD]]: prints a table of the figures by which a change of structure is judged: lines of each folder, lengths
# of functions, circles between files, files that know a processor or a measure (by this tree's knows.sh), and the cost of a small
# object. TREE is built in BUILD (TREE/build). To compare two trees: diff <(figures.sh OLD) <(figures.sh).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "${1:-$here/..}" && pwd)
build=$(cd "${2:-$tree/build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CHORD_CC CHORD_AS
cd "$tree"

sources() { find "$@" -name '*.[ch]' -o -name '*.s' | sort; }

# Lines of each folder of src, and of what is beside it. Tests: all but woven texts that are kept.
lines()
{
	local folder
	for folder in src/*/ runtime format include tests tools bench docs; do
		[ -d "$folder" ] || continue
		find "$folder" -type f ! -path '*/golden/*' \( -name '*.[chs]' -o -name '*.cc' -o -name '*.sh' -o -name '*.md' -o -name '*.test' \) -print0 |
			xargs -0 cat | wc -l | sed "s|^|lines, ${folder%/}\t|"
	done
	find src runtime format -name '*.[chs]' -print0 | xargs -0 cat | wc -l | sed 's|^|lines, src, runtime and format\t|'
	find src runtime format -name '*.[chs]' | wc -l | sed 's|^|files, src, runtime and format\t|'
}

# From the brace that begins a line to the one that ends it, both not counted.
functions()
{
	sources src runtime | grep '\.c$' | xargs awk '
		FNR == 1 { start = 0 }
		/^\{/ { start = FNR }
		/^\}/ && start { print FNR - start - 1; start = 0 }' | sort -n | awk '
		{ n[NR] = $1 }
		END { printf "functions\t%d\nlines of a function, median\t%d\nlines of a function, nine of ten\t%d\nlines of a function, longest\t%d\n",
			NR, n[int((NR + 1) / 2)], n[int((9 * NR + 9) / 10)], n[NR] }'
}

# Pairs FROM TO on standard input: how many there are of them in circles, and how large the largest is.
circles()
{
	awk -v what="$1" '
		$1 != $2 { to[$1] = to[$1] " " $2; node[$1]; node[$2] }
		function visit(from, set,   i, n, next_one) {
			n = split(to[from], next_one, " ")
			for (i = 1; i <= n; i++)
				if (!((set, next_one[i]) in seen)) {
					seen[set, next_one[i]]
					visit(next_one[i], set)
				}
		}
		END {
			for (a in node)
				visit(a, a)
			for (a in node)
				if ((a, a) in seen) {
					all++
					size = 0
					for (b in node)
						size += (a, b) in seen && (b, a) in seen
					if (size > most)
						most = size
				}
			printf "%s in circles\t%d\n%s in the largest circle\t%d\n", what, all, what, most
		}'
}

# Headers that include one another; files of which one uses what another defines.
all_circles()
{
	local file object
	for file in $(find src -name '*.h'); do
		sed -nE "s|^#include \"([^\"]+)\".*|${file#src/} \1|p" "$file"
	done | circles "headers"
	for object in $(find "$build/src" -name '*.o' | sort); do
		nm "$object" | awk -v file="${object#"$build/src/"}" 'NF == 3 && $2 ~ /[A-TV-Z]/ { print "D", $3, file } $1 == "U" { print "U", $2, file }'
	done >"$work/symbols"
	awk 'NR == FNR { if ($1 == "D") by[$2] = $3; next } $1 == "U" && $2 in by { print $3, by[$2] }' "$work/symbols" "$work/symbols" |
		sort -u | circles "files that use each other"
}

known()
{
	mkdir -p "$work/known/tools"
	cp -r src format runtime "$work/known"
	cp "$here/knows.sh" "$work/known/tools"
	"$work/known/tools/knows.sh" count | sed -E 's|^(.*): ([0-9]+) files|files outside its own that know a \1\t\2|'
}

# An object of one small function, plain and measured; what the assembler does for it, in milliseconds (the mean of ten runs, the
# least of five such) and instructions (callgrind).
small_object()
{
	printf 'long sum(const long *a, long n)\n{\n\tlong s = 0;\n\n\twhile (n--)\n\t\ts += *a++;\n\treturn s;\n}\n' >"$work/small.c"
	cd "$work"
	gcc -O2 -c -o plain.o small.c
	gcc -O2 -S -o plain.s small.c
	"$build/chord" cc -O2 -c -o measured.o small.c
	printf '#!/bin/sh\ncase "$*" in *-o*) cat >"%s/woven.s"; exec as "$@" "%s/woven.s";; *) exec as "$@";; esac\n' "$work" "$work" >spy
	chmod +x spy
	CHORD_AS=$work/spy "$build/chord" cc -O2 -c -o again.o small.c
	printf 'bytes of text of a small object, plain\t%s\n' "$(size plain.o | awk 'NR == 2 { print $1 }')"
	printf 'bytes of text of a small object, measured\t%s\n' "$(size measured.o | awk 'NR == 2 { print $1 }')"
	printf 'bytes of the file, measured\t%s\n' "$(wc -c <measured.o)"
	printf 'bytes of woven text\t%s\n' "$(wc -c <woven.s)"
	local file
	for file in plain woven; do
		printf 'milliseconds to assemble it, %s\t%s\n' $file "$(for _ in 1 2 3 4 5; do
			TIMEFORMAT='%U %S'
			{ time for _ in 1 2 3 4 5 6 7 8 9 10; do as -o x.o $file.s; done; } 2>&1 | awk '{ print ($1 + $2) * 100 }'
		done | sort -n | head -n 1)"
		command -v valgrind >/dev/null || continue
		printf 'million instructions to assemble it, %s\t%s\n' $file \
			"$(valgrind --tool=callgrind --callgrind-out-file=/dev/null as -o x.o $file.s 2>&1 | awk '/Collected/ { printf "%.1f", $NF / 1e6 }')"
	done
}

{
	lines
	functions
	all_circles
	known
	small_object
} | awk -F'\t' '{ printf "%-56s %12s\n", $1, $2 }'
