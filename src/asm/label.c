/* SPDX-License-Identifier: MIT */
/* Labels before each statement that makes bytes, and the places that the assembled object gives them. */
#include "asm/asm.h"

#include <stdlib.h>
#include <string.h>

#define MARK LABEL_PREFIX "S"

/* Statements whose place has to be known. */
static bool
is_marked(const struct text *t, const struct stmt *s)
{
	if (s->kind == STMT_CODE || s->kind == STMT_OPAQUE)
		return true;
	if (s->kind == STMT_LABEL && t->at[s->at] >= '0' && t->at[s->at] <= '9')
		return true;
	return s->kind == STMT_DIRECTIVE && (s->flags & STMT_BYTES) && !(s->flags & STMT_OTHER);
}

static bool
is_startproc(const struct text *t, const struct stmt *s)
{
	return s->kind == STMT_DIRECTIVE && word_is(stmt_word(t, s), ".cfi_startproc");
}

bool
label_text(const struct text *t, struct buf *out)
{
	uint32_t done = 0;

	for (size_t i = 0; i < t->stmts.n; i++)
		if (t->stmts.at[i].kind <= STMT_ASSIGN && str_starts(stmt_word(t, &t->stmts.at[i]), LABEL_PREFIX))
			return false;
	buf_reserve(out, t->n + t->stmts.n * 16);
	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];

		if (!is_marked(t, s) && !is_startproc(t, s))
			continue;
		buf_add(out, t->at + done, s->at - done);
		buf_str(out, MARK);
		buf_number(out, i);
		buf_char(out, ':');
		done = s->at;
	}
	buf_add(out, t->at + done, t->n - done);
	return true;
}

struct place *
label_places(const struct text *t, const struct object *o, struct pool *pool)
{
	struct place *place = pool_array(pool, t->stmts.n ? t->stmts.n : 1, sizeof *place);

	for (uint32_t i = 0; i < o->nsymbol; i++) {
		const struct obj_symbol *s = &o->symbols[i];
		unsigned long n;

		if (strncmp(s->name, MARK, sizeof MARK - 1) || !s->section)
			continue;
		n = strtoul(s->name + sizeof MARK - 1, NULL, 10);
		if (n < t->stmts.n && s->value <= o->sections[s->section].size)
			place[n] = (struct place){s->section, (uint32_t)s->value};
	}
	return place;
}
