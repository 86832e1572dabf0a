/* SPDX-License-Identifier: MIT */
/* Resolvers of ifuncs. From glibc 2.41 on, the dynamic linker tells nobody of a library that is opened before it has called the
 * library's resolvers. A resolver itself is not measured, but it may call code that is, and that code needs its counters. So the
 * symbol of an ifunc leads to a stub, which calls the runtime and goes on in the resolver. */
#include "weave/internal.h"

#include <string.h>

#define L LABEL_PREFIX

/* What a definition (`.set NAME, VALUE`, `NAME = VALUE`) consists of. False: it is none. */
static bool
read_definition(const struct text *t, const struct stmt *s, struct str *name, struct str *value)
{
	static const char *const words[] = {".set", ".equ", ".equiv"};
	struct str word = stmt_word(t, s), rest = stmt_rest(t, s);
	const char *comma = rest.n ? memchr(rest.at, ',', rest.n) : NULL;

	if (s->kind != STMT_DIRECTIVE || !comma)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (word_is(word, words[i])) {
			*name = (struct str){rest.at, (size_t)(comma - rest.at)};
			*value = (struct str){comma + 1, rest.n - name->n - 1};
			return true;
		}
	return false;
}

static bool
is_named(struct str name, const char *symbol)
{
	while (name.n && strchr(" \t", name.at[name.n - 1]))
		name.n--;
	if (name.n > 1 && *name.at == '"' && name.at[name.n - 1] == '"')
		name = (struct str){name.at + 1, name.n - 2};
	return str_is(name, symbol);
}

/* An ifunc of that name whose resolver is in the text; NULL: there is none. */
static const struct obj_symbol *
ifunc_named(const struct unit *u, struct str name)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->ifunc && s->section && u->code[s->section] && is_named(name, s->name))
			return s;
	}
	return NULL;
}

/* The stub has to be in the group that its resolver is in: the linker may leave out the whole group. */
static void
make_stub(const struct unit *u, const struct obj_symbol *ifunc, uint32_t number, struct buf *tail)
{
	const struct obj_section *in = &u->object->sections[ifunc->section];

	if (in->comdat)
		buf_printf(tail, "\t.section \"%s\",\"ax%sG\",@progbits,\"%s\",comdat\n", in->name, in->write ? "w" : "",
		           in->comdat);
	else
		buf_str(tail, "\t.text\n");
	buf_printf(tail, L "J%u:\n", number);
	u->machine->text->before_resolver(tail, pool_printf(u->pool, L "I%u", number));
}

/* Gives the resolver a name and the ifunc the stub's address. */
static void
turn(const struct text *t, const struct stmt *s, struct str value, uint32_t number, struct edits *e)
{
	struct buf b = {0};

	buf_printf(&b, ".set " L "I%u,", number);
	buf_add(&b, value.at, value.n);
	buf_str(&b, "; ");
	edit_add(e, s->at, 0, RANK_OPERAND, &b);
	buf_printf(&b, L "J%u", number);
	edit_add(e, (uint32_t)(value.at - t->at), (uint32_t)value.n, RANK_OPERAND, &b);
	buf_free(&b);
}

bool
has_resolvers(const struct unit *u)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++)
		if (u->object->symbols[i].ifunc && u->object->symbols[i].section)
			return true;
	return false;
}

void
emit_resolvers(const struct unit *u, struct edits *e, struct buf *tail)
{
	const struct text *t = u->text;
	uint32_t number = 0;

	for (size_t i = 0; has_resolvers(u) && i < t->stmts.n; i++) {
		const struct obj_symbol *ifunc;
		struct str name, value;

		if (!read_definition(t, &t->stmts.at[i], &name, &value) || !(ifunc = ifunc_named(u, name)))
			continue;
		make_stub(u, ifunc, number, tail);
		turn(t, &t->stmts.at[i], value, number++, e);
	}
}
