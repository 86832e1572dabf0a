/* SPDX-License-Identifier: MIT */
/* sum: what an assembler's expression adds up: places in code, and a number of bytes. */
#ifndef CHORD_SUM_H
#define CHORD_SUM_H

#include "asm/mention.h"

enum { SUM_PLACES = 4 };

/* A place that is added or subtracted. */
struct sum_place {
	struct dest dest;    /* section 0: it is `.`, or in no code */
	bool dot, minus;
};

struct sum {
	struct sum_place place[SUM_PLACES];
	uint32_t nplace;
	int64_t number;
	bool known;          /* number is known; false, too, if there are more places */
};

/* Takes the next operand from the operands of a statement, up to a comma that is in no parentheses. False: there is none. */
bool operand_next(struct str *rest, struct str *operand);
/* The expression that the definition of a name gives. */
struct str definition_value(const struct text *t, const struct stmt *s);
/* Adds up an operand of statement stmt. Names that the text defines stand for what they are defined as. */
struct sum sum_of(const struct unit *u, const struct names *n, struct str operand, uint32_t stmt);

#endif
