/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_IMAGE_INTERNAL_H
#define CHORD_IMAGE_INTERNAL_H

#include "image/image.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

/* A row of the line table: valid from addr up to the next row; file NULL: nothing is known from here on. */
struct row {
	uint64_t addr;
	const char *file;
	unsigned line;
	unsigned discriminator;
	unsigned seq; /* its position in the table */
};

/* Code from addr up to the next entry belongs to this scope, or to none. */
struct scope_at {
	uint64_t addr;
	uint32_t scope;
};

struct image {
	struct pool *pool;
	char *path;
	int fd;
	Elf *elf;
	const struct machine *machine;
	size_t shstrndx;
	struct str id;
	VEC(struct image_code) code;
	struct str *bytes; /* by element of `code`, read when first needed */
	VEC(struct image_symbol) symbol;
	bool symbols_read, stripped;
	VEC(struct image_import) import;
	VEC(const char *) needed;
	bool imports_read;

	/* The separate debug file, if it was looked for and found. */
	bool debug_sought;
	int debug_fd;
	Elf *debug_elf;

	Dwarf_CFI *cfi;            /* NULL: not read */

	bool lines_read;
	Dwarf *dwarf;
	VEC(struct row) row;
	struct strmap begun;       /* from the addresses at which sequences of rows begin to the offsets of their tables */
	bool functions_read;
	VEC(struct image_function) function; /* by address */

	bool scopes_read;
	VEC(struct image_scope) scope;
	VEC(struct scope_at) scope_at; /* by address */

	struct strmap file;        /* from names in debug information to clean names */
	const char *last_file, *last_dir, *last_clean;
	struct buf joined;
	VEC(const char *) folder;  /* folders in which compilers were run */
};

/* elf.c: libelf's functions of about these names, for reading. NULL: the file is not like that. Without memory they end the
 * program. */
Elf *image_elf_file(int fd);
Elf *image_elf_memory(char *data, size_t n);
GElf_Shdr *image_elf_header(Elf_Scn *s, GElf_Shdr *header);
Elf_Data *image_elf_data(Elf_Scn *s);
Elf_Data *image_elf_raw(Elf_Scn *s);
const char *image_elf_string(Elf *elf, size_t strings, size_t offset);

/* The first section with that name, whose header goes to *header; NULL: none. */
Elf_Scn *image_section_named(Elf *elf, size_t shstrndx, const char *name, GElf_Shdr *header);
/* True if the address is in an executable section. */
bool image_is_code(const struct image *im, uint64_t addr);

/* extent.c: the frame at an address (to be freed), by .eh_frame; NULL: not known. */
Dwarf_Frame *image_frame(struct image *im, uint64_t addr);

/* debug.c: the file with the debug information that was stripped off, found by build id or debug link; NULL: none. Belongs to the
 * image. */
Elf *image_debug_elf(struct image *im);

/* sequences.c: which of a unit's rows describe code of the program, in libdw's order, in which there are n; elf has the line table.
 * False: not known. */
bool image_kept_rows(struct image *im, Elf *elf, Dwarf_Die *unit, Dwarf_Lines *lines, size_t n, bool *kept);

/* lines.c: if an address has several places, the first one. The beginning of a function then has the function's own place, even if
 * its first instruction comes from an inlined one. False: not known. */
bool image_opening(struct image *im, uint64_t addr, struct image_place *place);

/* The discriminator in the line table for an address; 0: none. */
unsigned image_discriminator(struct image *im, uint64_t addr);

/* files.c: the one name that a file has here, however debug information spells it; dir: the folder of its unit, or NULL. */
const char *image_file_name(struct image *im, const char *dir, const char *name);
/* The folder in which a unit was compiled, which is also noted in im->folder; NULL: not known. */
const char *image_unit_folder(struct image *im, Dwarf_Die *unit);

/* functions.c: where a debugging entry is declared; an instance has the declaration of what it is an instance of. dir: folder of
 * its unit. */
struct image_place image_declaration(struct image *im, const char *dir, Dwarf_Die *die);
/* The file whose number an attribute has; NULL: no such attribute. */
const char *image_attr_file(Dwarf_Die *die, unsigned attr);

#endif
