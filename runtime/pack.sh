#!/bin/sh
# SPDX-License-Identifier: MIT
# pack.sh [--text | --beside FILE | --timers | --trace] [-o OUT]: writes the runtime as assembly text that can
# follow any compiler's output in the same assembler input. Every section is a member of the group
# __chord_runtime_VERSION; every symbol is local, except a few hidden ones. The code is assembled
# here and written as numbers, because every object pays for its text.
# --beside FILE.bin: the numbers go into that file, and those of the unwind table into FILE.frames. The text includes these files;
# the driver fills in their folder, and the directive for the section of unwind tables.
# --timers, --trace: writes what objects with timers or traces have in addition, unchanged.
# --text: writes instructions with all names and without unwind table, for finding faults in the runtime.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=/dev/stdout text= more= beside=
while [ $# -gt 0 ]; do
	case $1 in
	--text) text=1 ;;
	--timers | --trace) more=${1#--} ;;
	--beside) beside=$2; shift ;;
	-o) out=$2; shift ;;
	*) echo "pack.sh: $1: no such argument" >&2; exit 2 ;;
	esac
	shift
done
machine=$here/x86_64
cc=${CHORD_RT_CC:-gcc}
version=${CHORD_RT_VERSION:-$(sed -n 's/^#define CHORD_FORMAT_VERSION //p' "$here/../format/format.h")}
[ -z "$more" ] || { sed -e '/^#/d' -e '/^$/d' -e "s/@version@/$version/" "$machine/$more.s" >"$out"; exit; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# shellcheck disable=SC2086 # flags for tests: several words
"$cc" ${CHORD_RT_FLAGS-} -std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes \
	-Wimplicit-fallthrough -Wformat=2 ${STRICT-} \
	-Os -fPIC -fvisibility=hidden -ffreestanding -fno-builtin -mgeneral-regs-only -mno-red-zone -fcf-protection=none \
	-fno-stack-protector -fno-stack-clash-protection -fno-jump-tables -fno-tree-loop-distribute-patterns \
	-fno-strict-aliasing -fasynchronous-unwind-tables -fno-merge-constants -fno-zero-initialized-in-bss \
	-fno-reorder-functions -fno-reorder-blocks-and-partition -fno-ident -fno-common \
	-fomit-frame-pointer -U_FORTIFY_SOURCE -g0 -Werror=stack-usage=1200 \
	-DCHORD_FORMAT_VERSION="$version" -I"$here/.." -I"$machine" -S -o "$tmp/rt.s" "$here/all.c"

# A section that the rules below do not know would be outside of the group.
bad=$(grep -E '^[[:space:]]*\.(section|data|bss|comm|lcomm|local)' "$tmp/rt.s" |
	grep -Ev '\.section[[:space:]]+\.(rodata|note\.GNU-stack|text\.startup|text\.unlikely)[,]?' || true)
[ -z "$bad" ] || { echo "pack.sh: sections that are not expected: $bad" >&2; exit 1; }

# The compiler may call memcpy and the like, which the runtime does not have.
bad=$(grep -E '^[[:space:]]*(call|jmp)[[:space:]]+[^*.]' "$tmp/rt.s" | grep -Ev 'chord_(rt|pack)_' || true)
[ -z "$bad" ] || { echo "pack.sh: calls of others: $bad" >&2; exit 1; }

hooks=$(sed -n 's/^\t[XP](\([A-Za-z0-9_]*\)).*/\1/p' "$here/runtime.h")
private=$(sed -n 's/^\tP(\([A-Za-z0-9_]*\)).*/\1/p' "$here/runtime.h")
section='.section .text.chord_rt,"axG",@progbits,__chord_runtime_'$version',comdat'
code() {
	echo "	$section"
	echo "chord_rt_first:"
	sed -E \
		-e '/^[[:space:]]*\.(file|ident|globl|hidden|size|type)[[:space:]]/d' \
		-e '/\.note\.GNU-stack/d' -e '/^#/d' \
		-e 's/\.L([A-Za-z0-9_])/.Lchord_rt_\1/g' \
		-e "s/^[[:space:]]*(\.text|\.section[[:space:]]+\.text\..*)\$/\t$section/" \
		-e "s/^[[:space:]]*\.section[[:space:]]+\.rodata.*/\t$section\n\t.subsection 1/" \
		"$tmp/rt.s"
	echo "	$section"
	number=0
	for name in $hooks; do
		echo "	chord_rt_hook $number, $name"
		number=$((number + 1))
	done >"$tmp/hooks"
	sed -e '/^#/d' -e '/^$/d' -e "/@hooks@/{r $tmp/hooks" -e 'd}' "$machine/entry.s"
	echo "chord_rt_last:"
}
module() {
	for name in $hooks; do
		echo "	.long .Lchord_rt_table_$name-."
	done >"$tmp/hooks"
	echo "	.long $(echo $hooks | wc -w)" >>"$tmp/hooks"
	for name in $hooks; do
		case " $(echo $private) " in
		*" $name "*) echo "	.quad 0" ;;
		*) printf '\t.weakref chord_rt_link_%s, %s\n\t.quad chord_rt_link_%s\n' "$name" "$name" "$name" ;;
		esac
	done >"$tmp/links"
	sed -e '/^#/d' -e '/^$/d' -e "s/@version@/$version/" -e "/@hooks@/{r $tmp/hooks" -e 'd}' \
		-e "/@links@/{r $tmp/links" -e 'd}' "$machine/module.s"
}

{
	echo '	.att_syntax prefix'
	echo "	.pushsection .text"
	module
	if [ "$text" ]; then
		code | sed '/^[[:space:]]*\.cfi_/d'
	else
		{ module; code; } | as --keep-locals -o "$tmp/rt.o" -
		"$cc" -std=gnu11 -O1 -Wall -Wextra ${STRICT-} -o "$tmp/pack" "$machine/pack.c"
		echo "	$section"
		# the symbols at the end of the line are those that module.s refers to
		"$tmp/pack" "$tmp/rt.o" .text.chord_rt chord_rt_text ${beside:+-b "$beside"} chord_rt_entry_construct chord_rt_entry_destruct chord_rt_entry_mapped chord_rt_entry_resolving chord_rt_pointer_end chord_rt_called_end chord_rt_first chord_rt_last $(printf ".Lchord_rt_table_%s " $hooks)
		"$cc" -std=gnu11 -O1 -Wall -Wextra ${STRICT-} -o "$tmp/frames" "$machine/frames.c"
		# Not written with .cfi directives, because the compiler's text may have sent their output to another section.
		if [ "$beside" ]; then echo "@eh_frame@"; else echo '	.section .eh_frame,"a",@progbits'; fi
		"$tmp/frames" "$tmp/rt.o" .text.chord_rt chord_rt_text ${beside:+-b "${beside%.bin}.frames"}
	fi
	echo '	.popsection'
} >"$tmp/out.s"
cat "$tmp/out.s" >"$out"
