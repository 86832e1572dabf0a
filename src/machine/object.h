/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's ELF files. */
#ifndef CHORD_MACHINE_OBJECT_H
#define CHORD_MACHINE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* What a relocation does: a set. */
enum reloc_kind {
	RELOC_PCREL = 1,     /* the field is relative to its own address */
	RELOC_DISTANCE = 2,  /* not an address: how far an address is from the GOT, or where the linker's entry for it is */
	RELOC_SYMBOL = 4,    /* the loader stores the address of a symbol in a word */
	RELOC_ADDRESS = 8,   /* the loader stores the addend, adjusted to memory, or what the resolver at that address returns */
};

struct machine_object {
	uint16_t elf;        /* e_machine */
	const char *what;    /* for messages: "x86-64" */
	unsigned (*reloc)(uint32_t type); /* the set for a relocation's type; 0: none of these */
};

#endif
