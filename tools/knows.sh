#!/bin/bash
# SPDX-License-Identifier: MIT
# knows.sh: lists the files that know what only few files should know.
#   knows.sh machine   files outside of machine folders that know a processor, with the words that show it
#   knows.sh measure   files outside of a measure's own that know the measure by its name
#   knows.sh count     the number of each
#   knows.sh check     status 1 if such a file is not in tools/knows.list, or if a file is in that list without need
# Comments do not count as knowledge. tools/knows.list has a line for each file that may know: what, file, why, with tabs between.
set -eu
cd "$(dirname "$0")/.."
tab=$'\t'
newline=$'\n'

# Where a processor is at home, and where a measure is: one file in each layer, which has the measure's name.
machine_home='^(src/machine/[a-z0-9_]+|runtime/[a-z0-9]+_[a-z0-9]+)/|^src/machine/registry\.c$'
measure_home='^format/measures\.h$|^src/measure/|/measure_[a-z_]+\.[ch]$'

# Names of registers, also DWARF's and ptrace's; instructions in text that is written or read; their bytes; relocations; pages;
# masks with room for 16 registers.
sixty='(r([abcd]x|[sd]i|[sb]p|ip)|r1[0-5]|e([abcd]x|[sd]i|[sb]p)|xmm)'
machine='[%(" ,.]'$sixty'[0-9bwd]?\b|->(r([abcd]x|[sd]i|[sb]p|ip)|r1[0-5]|orig_rax|eflags|gs|fs)\b|%%?[gf]s\b
\b(gs|fs)_base\b|\b[gf]s;|user_regs|REG_R[A-Z0-9]|REG_EFL|arch_prctl|ARCH_SET_|\b[A-Za-z_]*_?R(SP|IP|BP|AX)\b
[xX]86|EM_[A-Z0-9_]*64|R_X86|Zydis
\\t(mov|lea|add|sub|inc|dec|jmp|call|push|pop|cmp|imul|xchg|test)[bwlq]?(\\t|[ "])|"(mov|lea|jmp|push|pop)[bwlq]?"|"callq"
0xe8\b|0x0f, ?0x|0xcc\b|0x48, |att_syntax|intel_syntax|@GOTPCREL
\bCHORD_PAGE\b|SYS_VFORK = |uint16_t \*?[a-z_]*(regs|kill|dead|gone|landing)'
# The names of measures come from their registry. Fields of what else is called paths or calls are told by hand.
ids=$(sed -nE 's/^\tX\(([A-Z_]+), [a-z_]+, "[a-z-]+".*/\1/p' format/measures.h | paste -sd '|')
names=$(sed -nE 's/^\tX\([A-Z_]+, [a-z_]+, "([a-z-]+)".*/\1/p' format/measures.h | paste -sd '|')
[ -n "$ids" ] && [ -n "$names" ] || { echo "knows.sh: no measures in format/measures.h" >&2; exit 1; }
measure='\bCHORD_('$ids')\b|\bCHORD_SET\(
"('$names')"
(->|\.)(paths|calls)\b'

files()
{
	git ls-files 'src/*.[ch]' 'format/*.h' 'runtime/*.[chs]' 2>/dev/null | grep . ||
		find src format runtime -name '*.[chs]' | sort
}

# Files on standard input: their text without comments, each line behind its file's name and a tab.
bare()
{
	xargs awk '
	FNR == 1 { inside = 0 }
	FILENAME ~ /\.s$/ { sub(/#.*/, ""); print FILENAME "\t" $0; next }
	{
		out = ""
		for (rest = $0; rest != "";) {
			if (inside) {
				at = index(rest, "*/")
				rest = at ? substr(rest, at + 2) : ""
				inside = !at
			} else if (match(rest, /"([^"\\]|\\.)*"|\/\*|\/\/.*/)) {
				what = substr(rest, RSTART, RLENGTH)
				out = out substr(rest, 1, RSTART - 1) (what ~ /^"/ ? what : " ")
				inside = what == "/*"
				rest = substr(rest, RSTART + RLENGTH)
			} else {
				out = out rest
				rest = ""
			}
		}
		print FILENAME "\t" out
	}'
}

# WHAT: `FILE: words`, a line for each file that knows.
who()
{
	local home=$1_home
	files | grep -vE "${!home}" | bare | grep -aoE "^[^$tab]+$tab$newline${!1}" | awk '
		/\t$/ { file = substr($0, 1, length($0) - 1); next }
		{ gsub(/\t/, " ") }
		!seen[file, $0]++ && n[file]++ < 6 { words[file] = words[file] "  " $0 }
		END { for (file in words) print file ":" words[file] }' | sort
}

check()
{
	local what bad=0 now known
	for what in machine measure; do
		now=$(who "$what")
		known=$(sed -n "s/^$what	//p" tools/knows.list | cut -f1 | sort)
		for file in $(comm -23 <(echo "$now" | cut -d: -f1 | sort) <(echo "$known")); do
			echo "$file: knows a $what, which it must not: $(echo "$now" | sed -n "s|^$file: *||p")"
			bad=1
		done
		for file in $(comm -13 <(echo "$now" | cut -d: -f1 | sort) <(echo "$known")); do
			echo "tools/knows.list: $file knows no $what (any more)"
		done
	done
	return $bad
}

case ${1:-count} in
machine | measure) who "$1" ;;
check) check ;;
count)
	for what in machine measure; do echo "$what: $(who $what | wc -l) files"; done ;;
*) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
