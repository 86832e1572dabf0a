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
	const uint8_t *data;     /* NULL: no contents */
	uint64_t size;
	uint32_t reloc, nreloc;  /* slice of object.relocs, by offset */
	const char *comdat;      /* name of its group, of which a program keeps one; NULL: in no group */
};

struct obj_symbol {
	const char *name;        /* "" for a section symbol */
	uint64_t value, size;
	uint32_t section;        /* 0: undefined, absolute or common */
	bool global, func, is_section;
	bool absolute;           /* its value is a number */
	bool object;             /* its type is that of data */
	bool ifunc;              /* its value is the address of its resolver; func is set too */
};

struct obj_reloc {
	uint64_t off;
	int64_t addend;          /* for a PC-relative field: relative to the field itself */
	uint32_t sym;
	bool pcrel;
	bool distance;           /* RELOC_DISTANCE */
};

struct object {
	const struct machine *machine;
	void *elf;                     /* libelf's handle; names and bytes belong to it */
	uint32_t nsection;
	struct obj_section *sections;  /* by ELF index; 0 is unused */
	uint32_t nsymbol;
	struct obj_symbol *symbols;    /* by ELF index */
	uint32_t nreloc;
	struct obj_reloc *relocs;
	size_t reloc_room;
};

/* Closes libelf's handle; the pool keeps the rest, but names and bytes are gone. NULL is allowed. */
void object_free(struct object *o);
/* Reads a relocatable 64-bit ELF object (pool). `data` has to stay as long as the result. NULL with *why: it is not such an
 * object. */
struct object *object_read(struct pool *pool, char *data, size_t n, const char **why);

#endif
