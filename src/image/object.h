/* SPDX-License-Identifier: MIT */
/* object: what the weaver needs of a relocatable object. */
#ifndef CHORD_OBJECT_H
#define CHORD_OBJECT_H

#include "base/base.h"
#include "machine/machine.h"

struct obj_section {
	const char *name;
	uint32_t type;           /* SHT_ */
	bool alloc, exec, write;
	const uint8_t *data;     /* NULL without contents */
	uint64_t size;
	uint32_t reloc, nreloc;  /* slice of object.relocs, ascending offsets */
	const char *comdat;      /* name of its group, of which a program has one; or NULL */
};

struct obj_symbol {
	const char *name;        /* "" for a section symbol */
	uint64_t value, size;
	uint32_t section;        /* 0: undefined, absolute or common */
	bool global, func, is_section;
	bool object;             /* its type says that it is data */
	bool ifunc;              /* its value is where its resolver begins; func is set too */
};

struct obj_reloc {
	uint64_t off;
	int64_t addend;          /* of a PC-relative field: relative to the field itself */
	uint32_t sym;
	bool pcrel;
	bool distance;           /* RELOC_DISTANCE */
};

struct object {
	const struct machine *machine;
	void *elf;                     /* libelf's; names and bytes are its own */
	uint32_t nsection;
	struct obj_section *sections;  /* by ELF index; 0 is unused */
	uint32_t nsymbol;
	struct obj_symbol *symbols;    /* by ELF index */
	uint32_t nreloc;
	struct obj_reloc *relocs;
	size_t reloc_room;
};

/* Closes it; the pool keeps the rest. NULL is fine. */
void object_free(struct object *o);
/* Reads a relocatable object, ELF of 64 bits, that stays in memory as long as the result,
 * which lives in the pool. NULL with *why set if it is not one. */
struct object *object_read(struct pool *pool, char *data, size_t n, const char **why);

#endif
