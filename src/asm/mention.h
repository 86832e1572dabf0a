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

/* The names that operands may have: symbols and numeric labels. */
struct names {
	struct strmap symbols;            /* from name to symbol index, of places in code */
	struct strmap absolute;           /* from name to value */
	struct strmap defined;            /* from name to the statement that defines it; UINT32_MAX: several do */
	VEC(struct numeric) numeric;      /* definitions, by number, then in text order */
};

/* Reads the names of a unit's text; names_free() frees them. */
void names_read(struct names *n, const struct unit *u);
void names_free(struct names *n);

/* A name in the operands of a statement, and the place in code that it names, if any. */
struct mention {
	struct str word;
	struct dest dest;
	bool minus;      /* it is subtracted */
};

/* The place that a name stands for in a statement: what a numeric label means depends on where it is used. section 0: no place in
 * code. */
struct dest mention_dest(const struct unit *u, const struct names *n, struct str word, uint32_t stmt);
/* True if the name is a numeric label's, as in `1b` or `1f`, whatever section that is in. */
bool mention_is_numeric(struct str word);
/* What mention_dest() says of a symbol, whatever its name looks like. */
struct dest mention_symbol(const struct unit *u, const struct names *n, struct str name);
/* Where the name at the start of s ends; a quoted one before its second quotation mark. */
size_t mention_end(struct str s, bool quoted);
/* True if the statement defines a name, by `.set`, `=` and the like. */
bool defines_name(const struct text *t, const struct stmt *s);
/* That name, without quotation marks. */
struct str defined_name(const struct text *t, const struct stmt *s);
/* The next name in the operands of a statement. *at is 0 before the first call. False: there are no more. */
bool mention_next(const struct unit *u, const struct names *n, uint32_t stmt, size_t *at, struct mention *m);
/* True if a directive of this name puts its operands into a section as numbers. */
bool holds_addresses(struct str word);

#endif
