/* SPDX-License-Identifier: MIT */
/* Labels before each statement that makes bytes, and the places that the assembled object gives them. */
#include "asm/asm.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

void
label_statement(struct buf *out, size_t stmt)
{
	buf_str(out, MARK);
	buf_number(out, stmt);
	buf_char(out, ':');
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
		label_statement(out, i);
		done = s->at;
	}
	buf_add(out, t->at + done, t->n - done);
	return true;
}

/* Is the word the mnemonic of those bytes, with or without a suffix for the operand's size? */
static bool
is_mnemonic(const struct machine *m, const uint8_t *bytes, size_t n, struct str word)
{
	struct buf b = {0};
	bool is = false;

	if (m->print(&b, bytes, n, 0)) {
		size_t end = 0;

		while (end < b.n && b.at[end] != ' ')
			end++;
		is = (word.n == end || word.n + 1 == end || word.n == end + 1) &&
		     !strncasecmp(b.at, word.at, word.n < end ? word.n : end);
	}
	buf_free(&b);
	return is;
}

/* Is the statement, which made bytes at a place, an instruction and no use of a macro? next: the place of what follows. */
static bool
is_instruction(const struct text *t, const struct stmt *s, const struct machine *m, const struct object *o, struct place at,
               uint32_t next)
{
	const struct obj_section *in = &o->sections[at.section];
	struct insn insn;

	if (!in->data || !m->decode(in->data + at.off, in->size - at.off, at.off, &insn) || at.off + insn.len != next)
		return false;
	return insn.attr & INSN_REL || memchr(stmt_rest(t, s).at, '%', stmt_rest(t, s).n) ||
	       is_mnemonic(m, in->data + at.off, insn.len, stmt_word(t, s));
}

void
text_doubt_uses(struct text *t, const struct machine *m, const struct object *o, const struct place *place)
{
	uint32_t *next = xcalloc(o->nsection, sizeof *next);

	for (uint32_t i = 0; i < o->nsection; i++)
		next[i] = (uint32_t)o->sections[i].size;
	for (size_t i = t->unseen ? t->stmts.n : 0; i-- > 0;) {
		struct stmt *s = &t->stmts.at[i];

		if (s->kind == STMT_CODE && !is_instruction(t, s, m, o, place[i], next[place[i].section])) {
			s->kind = STMT_OPAQUE;
			s->flags |= STMT_MIXED | STMT_NUMBERS | STMT_DIFFERS;
		}
		next[place[i].section] = place[i].off;
	}
	free(next);
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
