/* SPDX-License-Identifier: MIT */
/* Resolvers of ifuncs. From glibc 2.41 on, the dynamic linker tells nobody of a library that is opened before it has called the
 * library's resolvers. A resolver itself is not measured, but it may call code that is, and that code needs its counters. So the
 * symbol of an ifunc leads to a stub, which calls the runtime and goes on in the resolver. */
#include "asm/sum.h"
#include "weave/internal.h"

#define L LABEL_PREFIX

/* An ifunc of that name whose resolver is in the text; NULL: there is none. */
static const struct obj_symbol *
ifunc_named(const struct unit *u, struct str name)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->ifunc && s->section && u->code[s->section] && str_is(name, s->name))
			return s;
	}
	return NULL;
}

/* Behind all other code of the section. */
enum { LAST_SUBSECTION = 8192 };

/* The stub has to be in the group that its resolver is in: the linker may leave out the whole group. A symbol says that the stub is
 * Chord's: otherwise it would look like a function with the ifunc's name that was not built with Chord. */
static void
make_stub(const struct unit *u, const struct obj_symbol *ifunc, uint32_t number, struct buf *out)
{
	const struct obj_section *in = &u->object->sections[ifunc->section];

	if (in->comdat)
		buf_printf(out, "\t.pushsection \"%s\",%d,\"ax%sG\",@progbits,\"%s\",comdat\n", in->name, LAST_SUBSECTION,
		           in->write ? "w" : "", in->comdat);
	else
		buf_printf(out, "\t.pushsection .text,%d\n", LAST_SUBSECTION);
	buf_printf(out, "\t.type\t__chord_ifunc%u, @function\n__chord_ifunc%u:\n" L "J%u:\n", number, number, number);
	u->machine->text->before_resolver(out, pool_printf(u->pool, L "I%u", number));
	buf_printf(out, "\t.size\t__chord_ifunc%u, .-__chord_ifunc%u\n\t.popsection\n", number, number);
}

/* Gives the resolver a name and the ifunc the stub's address. The stub has to stand before: the assembler takes a name that is
 * defined by one defined later for that other one where it reads Intel syntax, and calls would lead to the stub. */
static void
turn(const struct unit *u, const struct obj_symbol *ifunc, const struct stmt *s, uint32_t number, struct edits *e)
{
	const struct text *t = u->text;
	const char *syntax = stmt_syntax(t, s);
	struct str value = definition_value(t, s);
	struct buf b = {0};

	buf_printf(&b, ".set " L "I%u,", number);
	buf_add(&b, value.at, value.n);
	buf_str(&b, "\n");
	if (syntax)
		buf_str(&b, u->machine->text->own);
	make_stub(u, ifunc, number, &b);
	if (syntax)
		buf_str(&b, syntax);
	edit_add(e, s->at, 0, RANK_BEFORE, &b);
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
emit_resolvers(const struct unit *u, struct edits *e)
{
	const struct text *t = u->text;
	uint32_t number = 0;

	if (!has_resolvers(u))
		return;
	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		const struct obj_symbol *ifunc = defines_name(t, s) ? ifunc_named(u, defined_name(t, s)) : NULL;

		if (ifunc)
			turn(u, ifunc, s, number++, e);
	}
}
