/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's ELF files. */
#ifndef CHORD_MACHINE_OBJECT_H
#define CHORD_MACHINE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* What a relocation does, as a set. */
enum reloc_kind {
	RELOC_PCREL = 1,     /* the field is relative to itself */
	RELOC_DISTANCE = 2,  /* not an address, but how far that is from the GOT, or where the linker's entry for it is */
	RELOC_SYMBOL = 4,    /* the loader puts the address of a symbol into a word */
	RELOC_ADDRESS = 8,   /* the loader puts the addend there, as it is in memory, or what the resolver there gives */
};

struct machine_object {
	uint16_t elf;        /* e_machine */
	const char *what;    /* "x86-64", for messages */
	unsigned (*reloc)(uint32_t type);
};

#endif
