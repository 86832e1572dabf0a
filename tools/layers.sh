#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh: checks that no folder includes a header of a folder that it may not know. Each line below has a folder, and then the
# folders that it may use. Then tools/knows.sh lists machines and measures that are known by name.
set -eu
cd "$(dirname "$0")/.."

export allowed="
base:
measure: base
graph: base
selection: base
cfg: base
machine: base graph
image: base machine
asm: base cfg machine graph image
weave: base cfg measure machine graph selection image asm
profile: base cfg measure graph
trace: base cfg graph machine profile
run: base cfg measure machine selection image asm profile trace
process: base cfg measure machine image asm profile trace run
view: base cfg measure machine graph image asm profile run
compare: base cfg measure profile run view
choice: base cfg measure graph selection profile run view
study: base graph
launch: base driver
collect: base machine driver
tracee: base machine
log: base tracee
clock: base run process tracee
replay: base image tracee log clock
export: base cfg measure machine image asm profile run view
html: base cfg measure machine image asm profile run view compare
driver: base cfg measure selection asm machine weave image profile run
tool: base cfg measure graph selection image asm machine weave profile trace run process view compare choice study launch collect replay export html driver
"
bad=0
# files PATTERN FOLDER NAMES: of the repository, or of a folder that is none.
files()
{
	git ls-files "$1" 2>/dev/null | grep . || find "$2" -name "$3"
}

files 'src/*.[ch]' src '*.[ch]' | xargs awk '
	BEGIN {
		n = split(ENVIRON["allowed"], line, "\n")
		for (i = 1; i <= n; i++) {
			room = line[i]
			sub(/:.*/, "", room)
			sub(/^[a-z]*:/, "", line[i])
			if (room != "") may[room] = line[i] " " room " format "
		}
	}
	FNR == 1 { split(FILENAME, part, "/"); room = part[2] }
	FNR == 1 && !(room in may) { print FILENAME ": no rule for src/" room; bad = 1 }
	room in may && /^#include "[a-z]+\// {
		used = $0
		sub(/^#include "/, "", used)
		sub(/\/.*/, "", used)
		if (!index(may[room], " " used " ")) { print FILENAME ": includes " used "/, which " room " must not know"; bad = 1 }
	}
	END { exit bad }' || bad=1
# The runtime knows the format and itself.
rooms=$(echo "$allowed" | sed -n 's/^\([a-z]*\):.*/\1/p' | paste -sd '|' -)
files 'runtime/*.[chs]' runtime '*.[chs]' | xargs grep -HnE "^#include \"(\\.\\./)*(src|$rooms)/" && bad=1
# A machine is passed, not named: only the registry names it.
for machine in src/machine/*/; do
	name=$(basename "$machine")
	grep -rnE "machine_$name\b|machine/$name/" src --include='*.[ch]' | grep -vE "^src/machine/($name/|registry\.c:)" && bad=1
done
tools/knows.sh check || bad=1
exit $bad
