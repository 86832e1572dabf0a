/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_IMAGE_INTERNAL_H
#define CHORD_IMAGE_INTERNAL_H

#include "image/image.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

/* From addr up to the next row; file NULL: nothing is known from here on. */
struct row {
	uint64_t addr;
	const char *file;
	unsigned line;
	unsigned seq; /* where the table had it */
};

struct image {
	struct pool *pool;
	char *path;
	int fd;
	Elf *elf;
	size_t shstrndx;
	struct str id;
	VEC(struct image_code) code;
	struct str *bytes; /* of these, once they were asked for */
	VEC(struct image_symbol) symbol;
	bool symbols_read, stripped;
	VEC(struct image_import) import;
	VEC(const char *) needed;
	bool imports_read;

	/* The separate debug file, if it was looked for and found. */
	bool debug_sought;
	int debug_fd;
	Elf *debug_elf;

	bool lines_read;
	Dwarf *dwarf;
	VEC(struct row) row;
};

/* The section of that name, or NULL. */
Elf_Scn *image_section_named(Elf *elf, size_t shstrndx, const char *name, GElf_Shdr *header);
/* Is the address in an executable section? */
bool image_is_code(const struct image *im, uint64_t addr);

/* debug.c: the file with the debug information that was stripped off, by build id or debug link;
 * NULL if there is none. */
Elf *image_debug_elf(struct image *im);

#endif
