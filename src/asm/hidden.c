/* SPDX-License-Identifier: MIT */
/* Labels that macros, .rept and the like define before their first instruction. Code that is woven in before such a statement
 * stands before the label: whoever jumps there passes it by. */
#include "asm/mention.h"

#include <string.h>

/* Is the place where a statement begins that may define labels? */
static bool
may_hide(const struct unit *u, const struct code *c, uint32_t off)
{
	uint32_t i = off < c->nbyte ? c->at[off] : UINT32_MAX;

	return i != UINT32_MAX && c->insns.at[i].stmt != UINT32_MAX &&
	       u->text->stmts.at[c->insns.at[i].stmt].kind == STMT_OPAQUE;
}

static void
keep_first(struct code *c, uint32_t off)
{
	c->insns.at[c->at[off]].attr |= INSN_ALONE;
}

static struct str
label_name(const struct text *t, const struct stmt *s)
{
	struct str name = stmt_str(t, s);
	bool quoted = name.n && *name.at == '"';

	return (struct str){name.at + quoted, mention_end(name, quoted) - quoted};
}

/* The names that the text defines itself, and not in a macro. */
static void
find_shown(const struct unit *u, struct strmap *shown)
{
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];

		if (s->kind == STMT_LABEL)
			strmap_put(shown, label_name(u->text, s), 1);
		else if (defines_name(u->text, s))
			strmap_put(shown, defined_name(u->text, s), 1);
	}
}

/* Names that only the object has. Numeric labels are not in it. */
static void
keep_named(struct unit *u, const struct strmap *shown)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];
		struct code *c = s->section ? u->code[s->section] : NULL;

		if (c && !s->is_section && s->value < c->nbyte && may_hide(u, c, (uint32_t)s->value) &&
		    !str_starts(str_of(s->name), LABEL_PREFIX) && !strmap_get(shown, str_of(s->name), &(uint64_t){0}))
			keep_first(c, (uint32_t)s->value);
	}
}

/* Does the instruction's statement name the place by a label that the text shows? */
static bool
names_shown(const struct unit *u, const struct strmap *shown, const struct insn *in, struct dest d)
{
	struct mention m;

	if (in->stmt == UINT32_MAX || u->text->stmts.at[in->stmt].kind != STMT_CODE)
		return false;
	for (size_t at = 0; mention_next(u, u->names, in->stmt, &at, &m);)
		if (m.dest.section == d.section && m.dest.off == d.off &&
		    (mention_is_numeric(m.word) || strmap_get(shown, m.word, &(uint64_t){0})))
			return true;
	return false;
}

/* Places that instructions lead to, or whose address they take. */
static void
keep_used(struct unit *u, const struct code *c, const struct strmap *shown)
{
	for (size_t i = 0; i < c->insns.n; i++) {
		const struct insn *in = &c->insns.at[i];
		struct dest d = {0};

		if (in->attr & (INSN_REL | INSN_MENTIONS | INSN_RELOC))
			d = dest_of(u, c, in);
		if (d.section && may_hide(u, u->code[d.section], d.off) && !names_shown(u, shown, in, d))
			keep_first(u->code[d.section], d.off);
	}
}

/* Places that are entered in other ways, and where the text shows no label. */
static void
keep_entered(const struct unit *u, struct code *c)
{
	enum { SEEN = LEADER_JUMP | LEADER_START | LEADER_AFTER };

	for (size_t i = 0; i < c->insns.n; i++)
		if (c->insns.at[i].leader & ~(unsigned)SEEN && !c->labelled[c->insns.at[i].off] &&
		    may_hide(u, c, c->insns.at[i].off))
			keep_first(c, c->insns.at[i].off);
}

static bool
has_opaque(const struct text *t)
{
	for (size_t i = 0; i < t->stmts.n; i++)
		if (t->stmts.at[i].kind == STMT_OPAQUE)
			return true;
	return false;
}

void
hidden_find(struct unit *u)
{
	struct strmap shown = {0};

	if (!has_opaque(u->text))
		return;
	find_shown(u, &shown);
	keep_named(u, &shown);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i]) {
			keep_used(u, u->code[i], &shown);
			keep_entered(u, u->code[i]);
		}
	strmap_free(&shown);
}
