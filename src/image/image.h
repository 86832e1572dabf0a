/* SPDX-License-Identifier: MIT */
/* image: a linked ELF file as the reports need it. The only user of elfutils.
 *
 * Whatever the file holds, nothing here ends the process or reads out of
 * bounds. Failures are texts; callers say `chord: PATH: WHY`. */
#ifndef CHORD_IMAGE_H
#define CHORD_IMAGE_H

#include "base/base.h"
#include "machine/machine.h"

struct image;

/* An executable or a shared object, 64 bits, little-endian, of a machine that Chord knows. NULL if it cannot be used:
 * *why says why (in the pool). What an image hands out lives until image_close(); the pool must outlive it. */
struct image *image_open(struct pool *pool, const char *path, const char **why);
void image_close(struct image *im); /* NULL is fine */

/* The machine that its code is for. */
const struct machine *image_machine(const struct image *im);

/* The build id; n is 0 if the file has none. */
struct str image_build_id(const struct image *im);
/* As lower-case hex digits, in the pool. */
char *image_hex(struct pool *pool, struct str id);

/* The bytes of a section. False if there is none (*why NULL) or it cannot be read (*why set). */
bool image_section(struct image *im, const char *name, struct str *bytes, const char **why);
/* The bytes of all sections of that name, and of those that have a dot and something behind it, one after another. */
bool image_section_all(struct image *im, const char *name, struct str *bytes, const char **why);
/* The link-time address of one; 0 if it has none. */
uint64_t image_section_addr(const struct image *im, const char *name);

/* Executable sections, by address. */
struct image_code {
	const char *name;
	uint64_t addr, size;
};
size_t image_code(const struct image *im, const struct image_code **code);
/* The loaded segment that holds an address: its link-time address and size, and where it is in the file. False: none does. */
struct image_segment {
	uint64_t addr, size, offset;
};
bool image_segment(const struct image *im, uint64_t addr, struct image_segment *segment);
/* The name of the one that has an address; "" if none has. */
const char *image_code_name(const struct image *im, uint64_t addr);
/* The bytes from an address in one of them up to its end; n is 0 if there are none. */
struct str image_bytes(struct image *im, uint64_t addr);
/* The instruction at an address; what it does, for events. False: there is none. */
bool image_insn(struct image *im, uint64_t addr, struct insn *out);
bool image_facts(struct image *im, uint64_t addr, struct facts *out);

/* Function symbols that are defined in an executable section, by address; aliases one after
 * another. From the symbol table of the file or of its separate debug file, or else from the dynamic one. */
struct image_symbol {
	const char *name;
	uint64_t addr, size;
	const char *file;        /* of a local one the source that the symbol table names before it, or ""; else NULL */
};
size_t image_symbols(struct image *im, const struct image_symbol **symbol);
/* Was the program stripped, so that not all its functions can be named? */
bool image_stripped(struct image *im);

/* extent.c: the function [*from, *to) around an address, by .eh_frame, or else by its symbol, or by Go's table. False: none of
 * them knows it. */
bool image_extent(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to);

/* imports.c: what the loader puts into a slot of a table of addresses (GOT): the address of a symbol of that name, or, with name
 * NULL, the address addr, or what the resolver there returns. False: not known. */
struct image_import {
	uint64_t slot;
	const char *name;
	uint64_t addr;
};
bool image_import(struct image *im, uint64_t slot, struct image_import *import);
/* The shared objects that it names as needed. */
size_t image_needed(struct image *im, const char *const **name);

/* lines.c: where the code at an address comes from; loaded when first asked. False if not known. */
struct image_place {
	const char *file;
	unsigned line; /* > 0 */
};
bool image_place(struct image *im, uint64_t addr, struct image_place *place);
/* Are there any line numbers at all? */
bool image_has_lines(struct image *im);
/* Where it has none: what to do about it. */
const char *image_lines_wanted(struct image *im);

/* functions.c: what the debug information says of the function whose code begins there. False: nothing. */
struct image_function {
	uint64_t addr;
	struct image_place at;   /* its declaration; file NULL: not said */
	const char *unit_file;   /* the source file that was compiled; NULL: not said */
};
bool image_function(struct image *im, uint64_t addr, struct image_function *function);
/* Where the function whose code begins there is declared, or else where its first instruction comes from; file NULL: not
 * known. */
struct image_place image_declared(struct image *im, uint64_t addr);

/* scopes.c: the function of the source that an instruction comes from: the one that has the code, or one that was inlined there. */
struct image_scope {
	const char *name;        /* its symbol, if it has one that differs from its name; else that, with what it is a member of */
	struct image_place at;   /* its declaration; file NULL: not said */
	struct image_place call; /* what was replaced by it; file NULL: not said, or it was not inlined */
	unsigned call_discriminator; /* which of several on that line */
	uint32_t in;             /* the scope that it was inlined into; IMAGE_NO_SCOPE: it is a function of its own */
};
enum { IMAGE_NO_SCOPE = UINT32_MAX };
/* The innermost at an address; IMAGE_NO_SCOPE: nothing is said. How many there are, and each by its number. */
uint32_t image_scope_at(struct image *im, uint64_t addr);
uint32_t image_scopes(struct image *im);
const struct image_scope *image_scope(const struct image *im, uint32_t scope);

/* frames.c: an instruction's place in each function that it is in by being inlined. */
struct image_frame {
	const char *name;        /* a scope's, with its declaration */
	const char *file;
	unsigned line;
	struct image_place at;   /* where in it; file NULL: not said */
	unsigned discriminator;  /* which of several on that line, as compilers number them */
};
/* Innermost first; the last is the function itself. How many there are, at most `room`; 0: nothing is known. */
size_t image_frames(struct image *im, uint64_t addr, struct image_frame *frame, size_t room);

/* demangle.c: the name that the source has for a symbol of C++, Rust or D, with the types of its parameters and what
 * compilers add behind a dot ("[clone .cold]"), or without both. To be freed. NULL: it is no such symbol. */
char *image_demangle(const char *symbol, bool parameters);
/* The name without parameters, in the pool; of any other symbol itself. */
const char *image_bare(struct pool *pool, const char *symbol);
/* Does a pattern with * and ? match the symbol, or what the source calls it? The types of its parameters are a part of that only if
 * the pattern has parentheses. */
bool image_name_matches(const char *symbol, const char *pattern);
/* A symbol, or a text with symbols in it, as people read it. Lives as long as the process. */
const char *image_readable(const char *symbol);
const char *image_readable_text(const char *text);
/* From now on both are as they stand in the program. */
void image_keep_mangled(void);

/* shorten.c: a name in `most` characters or fewer (12 at least): `...` stands in place of what is nested deepest in brackets, of
 * all that is in brackets, or of its middle. The name itself if it is short, or in the pool. */
const char *image_shortened(struct pool *pool, const char *name, size_t most);

/* files.c: a file of this image as seen from the folder in which the compiler was run, if it lies below. */
const char *image_file_below(struct image *im, const char *file);
/* Without `.`, `..` and double slashes, unless a symbolic link makes another file of that. */
const char *image_clean_path(struct pool *pool, const char *path);

#endif
