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
	unsigned discriminator;
	unsigned seq; /* where the table had it */
};

/* From addr up to the next one code is of that scope, or of none. */
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

	Dwarf_CFI *cfi;            /* NULL: not read */

	bool lines_read;
	Dwarf *dwarf;
	VEC(struct row) row;
	bool functions_read;
	VEC(struct image_function) function; /* by address */

	bool scopes_read;
	VEC(struct image_scope) scope;
	VEC(struct scope_at) scope_at; /* by address */

	struct strmap file;        /* names as debug information has them, to clean ones */
	const char *last_file, *last_dir, *last_clean;
	struct buf joined;
	VEC(const char *) folder;  /* in which compilers were run */
};

/* The section of that name, or NULL. */
Elf_Scn *image_section_named(Elf *elf, size_t shstrndx, const char *name, GElf_Shdr *header);
/* Is the address in an executable section? */
bool image_is_code(const struct image *im, uint64_t addr);

/* debug.c: the file with the debug information that was stripped off, by build id or debug link;
 * NULL if there is none. */
Elf *image_debug_elf(struct image *im);

/* lines.c: the first of several places that an address has: a function's own, where what it begins with is another's. */
bool image_opening(struct image *im, uint64_t addr, struct image_place *place);

/* The discriminator that the line table has for an address; 0: none. */
unsigned image_discriminator(struct image *im, uint64_t addr);

/* files.c: the one name of a file, however the debug information spells it, from the folder of its unit (or NULL). */
const char *image_file_name(struct image *im, const char *dir, const char *name);
/* The folder that a unit was compiled in, of which it takes note; NULL: not said. */
const char *image_unit_folder(struct image *im, Dwarf_Die *unit);

/* functions.c: where something is declared; of an instance, what it is an instance of. dir: of its unit. */
struct image_place image_declaration(struct image *im, const char *dir, Dwarf_Die *die);
/* The file whose number an attribute has; NULL: it has none. */
const char *image_attr_file(Dwarf_Die *die, unsigned attr);

#endif
