/* SPDX-License-Identifier: MIT */
/* image: a linked ELF file as the reports need it. Only this folder uses elfutils.
 *
 * Whatever the file holds, nothing here ends the process or reads out of bounds. Failures are given as texts; callers report
 * `chord: PATH: WHY`. */
#ifndef CHORD_IMAGE_H
#define CHORD_IMAGE_H

#include "base/base.h"
#include "machine/machine.h"

struct image;

/* Opens an executable or shared object: 64 bits, little-endian, of a machine that Chord knows. NULL if it cannot be used: *why
 * (pool). Everything that an image hands out lives until image_close(); the pool has to outlive the image. */
struct image *image_open(struct pool *pool, const char *path, const char **why);
void image_close(struct image *im); /* NULL is allowed */

/* The machine of its code. */
const struct machine *image_machine(const struct image *im);

/* The build id, or its first 32 bytes, as in profiles; n is 0 if the file has none. */
struct str image_build_id(const struct image *im);
/* Bytes as lower-case hexadecimal digits (pool). */
char *image_hex(struct pool *pool, struct str id);

/* The bytes of a section. False: there is none (*why NULL), or it cannot be read (*why set). */
bool image_section(struct image *im, const char *name, struct str *bytes, const char **why);
/* The bytes of all sections with that name, or with that name, a dot and more, one after another. False: as above. */
bool image_section_all(struct image *im, const char *name, struct str *bytes, const char **why);
/* The link-time address of a section that is loaded; 0: there is none. */
uint64_t image_section_addr(const struct image *im, const char *name);

/* Executable sections, by address; returns how many. */
struct image_code {
	const char *name;
	uint64_t addr, size;
};
size_t image_code(const struct image *im, const struct image_code **code);
/* The loaded segment that holds an address: its link-time address, its size and its offset in the file. False: none holds it. */
struct image_segment {
	uint64_t addr, size, offset;
};
bool image_segment(const struct image *im, uint64_t addr, struct image_segment *segment);
/* The name of the executable section that holds an address; "": none. */
const char *image_code_name(const struct image *im, uint64_t addr);
/* The bytes of an executable section, from an address to its end; n is 0 if no section holds the address. */
struct str image_bytes(struct image *im, uint64_t addr);
/* The instruction at an address, and what it does, for events. False: there is none. */
bool image_insn(struct image *im, uint64_t addr, struct insn *out);
bool image_facts(struct image *im, uint64_t addr, struct facts *out);

/* Function symbols that are defined in an executable section, by address, aliases next to each other; returns how many. They are
 * from the symbol table of the file or of its separate debug file, or else from the dynamic one. */
struct image_symbol {
	const char *name;
	uint64_t addr, size;
	const char *file;        /* local symbols: the source that the symbol table names before it, or ""; others: NULL */
};
size_t image_symbols(struct image *im, const struct image_symbol **symbol);
/* True if the program was stripped, so that not all its functions can be named. */
bool image_stripped(struct image *im);

/* extent.c: the function [*from, *to) that holds an address: by .eh_frame, by its symbol, or by Go's table, in this order. False:
 * none of these knows it. */
bool image_extent(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to);

/* frame_size.c: at least so many bytes are between the stack pointer and the CFA at an address, by .eh_frame. 0: not known. */
uint64_t image_frame_size(struct image *im, uint64_t addr);

/* imports.c: what the loader stores in a slot of the table of addresses (GOT): the address of the symbol `name`, or, if name is
 * NULL, the address addr or what the resolver there returns. False: not known. */
struct image_import {
	uint64_t slot;
	const char *name;
	uint64_t addr;
};
bool image_import(struct image *im, uint64_t slot, struct image_import *import);
/* True if the loader stores the address of the symbol `name` in some slot. */
bool image_takes(struct image *im, const char *name);
/* The names of the shared objects that the file needs; returns how many. */
size_t image_needed(struct image *im, const char *const **name);

/* lines.c: the source line of the code at an address. Line tables are read by the first call. False: not known. */
struct image_place {
	const char *file;
	unsigned line; /* > 0 */
};
bool image_place(struct image *im, uint64_t addr, struct image_place *place);
/* True if there are any line numbers. */
bool image_has_lines(struct image *im);
/* If there are none: what the user should do about it, as a phrase for a message. */
const char *image_lines_wanted(struct image *im);

/* functions.c: what the debug information says of the function whose code begins at addr. False: nothing. */
struct image_function {
	uint64_t addr;
	struct image_place at;   /* its declaration; file NULL: not known */
	const char *unit_file;   /* the source file that was compiled; NULL: not known */
};
bool image_function(struct image *im, uint64_t addr, struct image_function *function);
/* The declaration of the function whose code begins at addr, or else the place of its first instruction; file NULL: not known. */
struct image_place image_declared(struct image *im, uint64_t addr);

/* scopes.c: the source function of an instruction: the one that has the code, or one that was inlined there. */
struct image_scope {
	const char *name;        /* its symbol, if that differs from its name; else its name, with what it is a member of */
	struct image_place at;   /* its declaration; file NULL: not known */
	struct image_place call; /* the call that it replaces; file NULL: not known, or not inlined */
	unsigned call_discriminator; /* which of several calls on that line */
	uint32_t in;             /* the scope into which it was inlined; IMAGE_NO_SCOPE: it is a function of its own */
};
enum { IMAGE_NO_SCOPE = UINT32_MAX };
/* The innermost scope at an address, and the outermost (IMAGE_NO_SCOPE: nothing is known); the number of scopes; the scope with a
 * number. */
uint32_t image_scope_at(struct image *im, uint64_t addr);
uint32_t image_scope_around(struct image *im, uint64_t addr);
uint32_t image_scopes(struct image *im);
const struct image_scope *image_scope(const struct image *im, uint32_t scope);

/* frames.c: the place of an instruction in each function that contains it by inlining. */
struct image_frame {
	const char *name;        /* of the scope, whose declaration is at file and line */
	const char *file;
	unsigned line;
	struct image_place at;   /* the place in that function; file NULL: not known */
	unsigned discriminator;  /* which of several places on that line, by the compiler's number */
};
/* Fills at most `room` frames, innermost first; the last one is the function itself. Returns how many; 0: nothing is known. */
size_t image_frames(struct image *im, uint64_t addr, struct image_frame *frame, size_t room);

/* demangle.c: the source name of a symbol of C++, Rust or D; with `parameters` it has the types of its parameters and what
 * compilers add after a dot ("[clone .cold]"). The caller frees it. NULL: not such a symbol. */
char *image_demangle(const char *symbol, bool parameters);
/* The source name without parameters (pool); other symbols are returned as they are. */
const char *image_bare(struct pool *pool, const char *symbol);
/* True if a pattern with * and ? matches the symbol or its source name; types of parameters are part of the name only if the
 * pattern has parentheses. */
bool image_name_matches(const char *symbol, const char *pattern);
/* A symbol, or a text with symbols in it, in readable form: the argument itself, or a text that lives as long as the process. */
const char *image_readable(const char *symbol);
const char *image_readable_text(const char *text);
/* From now on both functions return symbols as they are in the program. */
void image_keep_mangled(void);

/* shorten.c: a name in at most `most` characters (at least 12): `...` replaces what is nested deepest in brackets, or everything in
 * brackets, or the middle of the name. Returns the name itself if it is short, else a copy (pool). */
const char *image_shortened(struct pool *pool, const char *name, size_t most);

/* files.c: the name of a source file relative to the folder in which the compiler was run, if it lies below that; else `file`
 * itself. */
const char *image_file_below(struct image *im, const char *file);
/* A path without `.`, `..` and double slashes (pool), except where a symbolic link would make that another file. */
const char *image_clean_path(struct pool *pool, const char *path);

#endif
