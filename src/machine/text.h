/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's assembler text where the bytes do not say it. All that is woven in is in one syntax, the
 * machine's own; text may be in another one in places. */
#ifndef CHORD_MACHINE_TEXT_H
#define CHORD_MACHINE_TEXT_H

#include "base/base.h"

/* What a directive changes for the statements behind it. */
enum text_mode {
	TEXT_SAME,
	TEXT_OWN,          /* the machine's own syntax */
	TEXT_FOREIGN,      /* another one */
	TEXT_NATIVE,       /* code that the machine runs */
	TEXT_ALIEN,        /* code of another width, which is not understood */
};

/* How a call or jump names its function. */
struct text_callee {
	struct str name;
	struct str mark;   /* behind the name, if the function is reached through a word of the GOT: what says so; else empty */
};

struct machine_text {
	const char *own, *foreign;    /* directives, whole lines, that change to the one syntax and back to the other */
	enum text_mode (*mode)(struct str word, struct str rest);
	const char *pc;               /* what follows a number of bytes from the next instruction on, in an operand */
	/* Does the word only change the instruction behind it, on the same line? */
	bool (*is_prefix)(struct str word);
	/* Does the first word load the address that its first operand names? */
	bool (*is_load_address)(struct str word);
	/* The operand that an instruction reads, as it is written; empty: it is no move. */
	struct str (*moved)(struct str word, struct str rest);
	/* The operand of a call through a pointer, which can be loaded before the call; empty: it cannot. */
	struct str (*pointer)(struct str word, struct str rest);
	const char *callers;          /* letters with which words begin that call or jump */
	/* Does such a word call or jump by a name? Any syntax. */
	bool (*callee)(struct str word, struct str rest, struct text_callee *out);
	/* Does the instruction go through a word of the GOT? */
	bool (*by_got)(struct str stmt);
	/* A jump to a function that may be in another object: a line. */
	void (*jump_out)(struct buf *out, const char *name);
	/* Has a helper of that name, which compilers call, rules of its own for registers? */
	bool (*is_helper)(const char *name);
};

#endif
