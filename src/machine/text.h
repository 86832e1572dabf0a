/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's assembler text where bytes do not tell. Everything woven in is in one syntax, the machine's
 * own; parts of the text may be in another one. */
#ifndef CHORD_MACHINE_TEXT_H
#define CHORD_MACHINE_TEXT_H

#include "base/base.h"

/* What a directive changes for the statements after it. */
enum text_mode {
	TEXT_SAME,
	TEXT_OWN,          /* the machine's own syntax */
	TEXT_FOREIGN,      /* another syntax: the first one of machine_text.foreign; the others follow it */
	TEXT_FOREIGN_LAST = TEXT_FOREIGN + 2,
	TEXT_NATIVE,       /* code of the machine's word size */
	TEXT_ALIEN,        /* code of another word size, which is not understood */
};

/* How a call or jump names its function. */
struct text_callee {
	struct str name;
	struct str mark;   /* if the function is reached through a word of the GOT: the suffix of the name that says so; else
	                    * empty */
};

struct machine_text {
	const char *own;              /* a directive, a whole line, that changes to the own syntax */
	const char *foreign[3];       /* the same for other ones, as numbered by enum text_mode */
	enum text_mode (*mode)(struct str word, struct str rest); /* by a directive and its operands */
	const char *pc;               /* in an operand, the text after a number of bytes that is relative to the next instruction */
	/* True if an operand in the text may be a number of bytes that is relative to the next instruction, in any syntax. */
	bool (*counts_from_pc)(struct str text);
	/* True if the first word loads the address that its first operand names. */
	bool (*is_load_address)(struct str word);
	/* The operand that an instruction reads, as written; empty: it is no move. */
	struct str (*moved)(struct str word, struct str rest);
	/* The operand of a call through a pointer, if it can be loaded before the call; else empty. */
	struct str (*pointer)(struct str word, struct str rest);
	const char *callers;          /* the first letters of words that make that call or jump */
	/* True if the word calls or jumps by a name, in any syntax. */
	bool (*callee)(struct str word, struct str rest, struct text_callee *out);
	/* True if the instruction uses a word of the GOT. */
	bool (*by_got)(struct str stmt);
	/* Appends a line: a jump to a function that may be in another object. */
	void (*jump_out)(struct buf *out, const char *name);
	/* Appends lines that let the runtime see the module and go on in the ifunc resolver of that name. */
	void (*before_resolver)(struct buf *out, const char *name);
	/* True if a function of that name is a helper, called by compilers, with its own rules for registers. */
	bool (*is_helper)(const char *name);
	/* The set of the general register that compilers' options call by that name; 0: there is none. */
	uint16_t (*named)(struct str name);
};

#endif
