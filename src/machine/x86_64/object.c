/* SPDX-License-Identifier: MIT */
/* Kinds of relocations. */
#include "machine/x86_64/x86_64.h"

#include <elf.h>

/* The kinds (enum reloc_kind) of a type of relocation. */
static unsigned
kind_of(uint32_t type)
{
	switch (type) {
	case R_X86_64_PC32: case R_X86_64_PLT32: case R_X86_64_PC64: case R_X86_64_PC16: case R_X86_64_PC8:
		return RELOC_PCREL;
	case R_X86_64_GOTPCREL: case R_X86_64_GOTPCRELX: case R_X86_64_REX_GOTPCRELX:
		return RELOC_PCREL | RELOC_DISTANCE;
	case R_X86_64_GOT32: case R_X86_64_GOT64: case R_X86_64_GOTOFF64: case R_X86_64_GOTPCREL64: case R_X86_64_GOTPLT64:
	case R_X86_64_PLTOFF64: case R_X86_64_GOTPC32: case R_X86_64_GOTPC64: case R_X86_64_SIZE32: case R_X86_64_SIZE64:
		return RELOC_DISTANCE;
	case R_X86_64_JUMP_SLOT: case R_X86_64_GLOB_DAT: case R_X86_64_64:
		return RELOC_SYMBOL;
	case R_X86_64_IRELATIVE: case R_X86_64_RELATIVE:
		return RELOC_ADDRESS;
	default:
		return 0;
	}
}

const struct machine_object x86_object = {.elf = EM_X86_64, .what = "x86-64", .reloc = kind_of};
