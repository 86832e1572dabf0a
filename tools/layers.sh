#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh: checks that no folder includes a header of a folder that it may not know. Each line below has a folder, and then the
# folders that it may use. Then tools/knows.sh lists machines and measures that are known by name.
set -eu
cd "$(dirname "$0")/.."

allowed="
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
for file in $(git ls-files 'src/*.[ch]' 2>/dev/null || find src -name '*.[ch]'); do
	room=$(echo "$file" | cut -d/ -f2)
	may=$(echo "$allowed" | sed -n "s/^$room:/ /p")
	[ -n "$may" ] || { echo "$file: no rule for src/$room"; bad=1; continue; }
	for used in $(sed -nE 's|^#include "([a-z]+)/.*|\1|p' "$file" | sort -u); do
		case " $may $room format " in
		*" $used "*) ;;
		*) echo "$file: includes $used/, which $room must not know"; bad=1 ;;
		esac
	done
done
# The runtime knows the format and itself.
for file in $(git ls-files 'runtime/*.[chs]' 2>/dev/null || find runtime -name '*.[chs]'); do
	grep -HnE '^#include "(\.\./)*(src|base|graph|selection|image|asm|machine|measure|weave|profile|trace|run|process|view|compare|choice|study|launch|collect|tracee|log|clock|replay|export|html|driver|tool)/' "$file" && bad=1
done
# A machine is passed, not named: only the registry names it.
for machine in src/machine/*/; do
	name=$(basename "$machine")
	grep -rnE "machine_$name\b|machine/$name/" src --include='*.[ch]' | grep -vE "^src/machine/($name/|registry\.c:)" && bad=1
done
tools/knows.sh check || bad=1
exit $bad
