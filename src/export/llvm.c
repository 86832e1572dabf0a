/* SPDX-License-Identifier: MIT */
/* LLVM's sample profiles in their text form. The counts are not samples, but the format only asks for numbers. */
#include "export/fdo.h"

#include <inttypes.h>
#include <string.h>

/* The reader distinguishes lines by their first character, and a target ends at a number before a blank. */
static bool
can_be_read(const char *name)
{
	if (!*name || strchr("0123456789#![ ", *name))
		return false;
	for (const char *c = name; *c; c++) {
		size_t digits = *c == ':' ? strspn(c + 1, "0123456789") : 0;

		if ((unsigned char)*c < ' ' || *c == 127 || (digits && c[digits + 1] == ' '))
			return false;
	}
	return true;
}

static void
put_place(struct buf *out, struct fdo_place at, int depth)
{
	buf_printf(out, "%*s%" PRIu32, depth, "", at.line);
	if (at.discriminator)
		buf_printf(out, ".%" PRIu32, at.discriminator);
	buf_str(out, ": ");
}

/* Inlined functions that never ran are left out, as in profiles of samples. */
static void
put_body(struct buf *out, const struct fdo *s, int depth)
{
	for (size_t i = 0; i < s->count.n; i++) {
		const struct fdo_count *c = &s->count.at[i];

		put_place(out, c->at, depth);
		buf_printf(out, "%" PRIu64, c->n);
		for (size_t k = 0; k < c->target.n; k++)
			if (can_be_read(c->target.at[k].name))
				buf_printf(out, " %s:%" PRIu64, c->target.at[k].name, c->target.at[k].n);
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < s->inlined.n; i++) {
		if (!s->inlined.at[i]->total || !can_be_read(s->inlined.at[i]->name))
			continue;
		put_place(out, s->inlined.at[i]->at, depth);
		buf_printf(out, "%s:%" PRIu64 "\n", s->inlined.at[i]->name, s->inlined.at[i]->total);
		put_body(out, s->inlined.at[i], depth + 1);
	}
}

/* A function that never ran has only its first line. */
bool
export_llvm(const struct export *x, struct buf *out)
{
	size_t at = 0, unreadable = 0;

	for (uint32_t i = 0; i < x->function->n; i++) {
		size_t from = fdo_insns(x, i, &at);
		struct fdo *s = fdo_of(x, i, x->list->insn.at + from, at - from, true);

		if (!s)
			continue;
		if (can_be_read(s->name)) {
			buf_printf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", s->name, s->total, s->entered);
			if (s->total)
				put_body(out, s, 1);
		} else {
			unreadable++;
		}
		fdo_free(s);
	}
	if (unreadable)
		say_warning(x->run->path, "%zu functions are left out, whose names this format has no form for", unreadable);
	return true;
}
