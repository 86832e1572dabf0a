/* SPDX-License-Identifier: MIT */
/* mention: names in the operands of statements, and the places in code that they name. */
#ifndef CHORD_MENTION_H
#define CHORD_MENTION_H

#include "asm/dest.h"

/* A definition of a numeric label. */
struct numeric {
	uint32_t stmt;
	uint64_t number;
};

/* Names of places in code. */
struct names {
	struct strmap symbols;            /* to symbol index */
	VEC(struct numeric) numeric;      /* definitions, in text order */
};

void names_read(struct names *n, const struct unit *u);
void names_free(struct names *n);

/* A name in the operands of a statement, and the place in code that it names, if any. */
struct mention {
	struct str word;
	struct dest dest;
	bool minus;      /* it is subtracted */
};

/* The place that a name has in a statement: numeric labels depend on where they are used. */
struct dest mention_dest(const struct unit *u, const struct names *n, struct str word, uint32_t stmt);
/* The next name from *at on, which begins with 0. False: there are no more. */
bool mention_next(const struct unit *u, const struct names *n, uint32_t stmt, size_t *at, struct mention *m);
/* Does a directive put numbers of its operands into a section? */
bool holds_addresses(struct str word);

#endif
