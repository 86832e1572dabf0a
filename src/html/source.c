/* SPDX-License-Identifier: MIT */
/* data/source/FILE-CHUNK.js: the text of source files with the counts of each line; each script has CHUNK lines. */
#include "html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK in share/html/source.js has to be the same. */
enum { CHUNK = 2000 };

/* A function that has code of a line; both by their numbers. */
struct owner {
	uint32_t file, function;
	unsigned line;
};
struct owners { struct owner *at; size_t n, cap; };

static int
by_place(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static struct owners
find_owners(const struct pages *p)
{
	struct owners all = {0};
	struct owner last = {.file = VIEW_NO_FILE};
	size_t n = 0;

	for (size_t i = 0; i < p->list.insn.n; i++) {
		const struct view_insn *in = &p->list.insn.at[i];
		struct owner o = {in->file, pages_function(p, in->binary, in->proc_number), in->line};

		if (in->file != VIEW_NO_FILE && by_place(&o, &last))
			VEC_PUSH(all, o);
		last = o;
	}
	if (all.n)
		qsort(all.at, all.n, sizeof *all.at, by_place);
	for (size_t i = 0; i < all.n; i++)
		if (!n || by_place(&all.at[n - 1], &all.at[i]))
			all.at[n++] = all.at[i];
	all.n = n;
	return all;
}

/* The position in all lists, which are in the order of files and lines. */
struct cursor {
	struct pages *p;
	uint32_t file;
	size_t line;             /* in the listing's lines of the file */
	size_t counted;          /* in the table of all lines */
	const struct owners *owners;
	size_t owner;
};

/* The line in the table, which only has functions whose counts are known. */
static const struct view_line *
counted_line(struct cursor *c, unsigned line)
{
	const struct view_lines *t = &c->p->table.line;
	const char *name = c->p->file.at[c->file];
	int before = -1;

	for (; c->counted < t->n; c->counted++) {
		before = strcmp(t->at[c->counted].file, name);
		if (before > 0 || (!before && t->at[c->counted].line >= line))
			break;
	}
	return c->counted < t->n && !before && t->at[c->counted].line == line ? &t->at[c->counted] : NULL;
}

static void
put_owners(struct cursor *c, struct buf *out, unsigned line)
{
	const struct owner key = {.file = c->file, .line = line};
	const struct owners *o = c->owners;

	buf_char(out, '[');
	while (c->owner < o->n && by_place(&o->at[c->owner], &key) < 0)
		c->owner++;
	for (; c->owner < o->n && o->at[c->owner].file == c->file && o->at[c->owner].line == line; c->owner++) {
		script_next(out);
		buf_printf(out, "%u", o->at[c->owner].function);
	}
	buf_char(out, ']');
}

static void
put_branches(struct cursor *c, struct buf *out, unsigned line)
{
	size_t n;
	const struct view_branch *b = view_branches(&c->p->list, c->file, line, &n);

	buf_char(out, '[');
	for (; n; n--, b++) {
		script_next(out);
		buf_char(out, '[');
		script_known(out, b->taken, b->known);
		buf_char(out, ',');
		script_known(out, b->fell, b->known);
		buf_char(out, ']');
	}
	buf_char(out, ']');
}

/* [LINE, instructions, most, instructions of code, those that never ran, unknown, functions, branches] */
static void
put_row(struct cursor *c, struct buf *out, const struct view_line *l)
{
	const struct view_line *counted = counted_line(c, l->line);

	script_next(out);
	buf_printf(out, "[%u,", l->line);
	script_bounds(out, &(counted ? counted : l)->insns, counted);
	buf_char(out, ',');
	script_bounds(out, &(counted ? counted : l)->most, counted);
	buf_printf(out, ",%u,%u,%d,", l->code, l->never, counted && l->unknown && bounds_exact(&counted->insns));
	put_owners(c, out, l->line);
	buf_char(out, ',');
	put_branches(c, out, l->line);
	buf_char(out, ']');
}

static void
put_text(struct buf *out, const char *file, unsigned from, unsigned to)
{
	struct str text;

	script_key(out, "text");
	buf_char(out, '[');
	for (unsigned line = from; line <= to && view_source_line(file, line, &text); line++) {
		script_next(out);
		script_text(out, text);
	}
	buf_char(out, ']');
}

/* Writes lines CHUNK * number + 1 to CHUNK * (number + 1); the last script has all remaining ones. */
static void
write_chunk(struct cursor *c, unsigned number, bool last)
{
	const struct view_file *f = &c->p->list.file.at[c->file];
	struct buf out = {0};
	char name[64];

	snprintf(name, sizeof name, "source/%" PRIu32 "-%u", c->file, number);
	script_begin(&out, name);
	buf_char(&out, '{');
	put_text(&out, f->name, number * CHUNK + 1, (number + 1) * CHUNK);
	script_key(&out, "rows");
	buf_char(&out, '[');
	for (; c->line < f->line.n && (last || f->line.at[c->line].line <= (number + 1) * CHUNK); c->line++)
		put_row(c, &out, &f->line.at[c->line]);
	buf_str(&out, "]}");
	script_end(&out);
	snprintf(name, sizeof name, "data/source/%" PRIu32 "-%u.js", c->file, number);
	folder_write(c->p->to, name, &out);
	buf_free(&out);
}

/* Lines with code but without text are in the last script. They exist if the file cannot be read, or is not the one that was
 * compiled. */
void
pages_sources(struct pages *p)
{
	struct owners owners = find_owners(p);
	struct cursor c = {.p = p, .owners = &owners};

	for (uint32_t i = 0; i < p->list.file.n; i++) {
		size_t chunks = (view_source_lines(p->list.file.at[i].name) + CHUNK - 1) / CHUNK;

		c.file = i;
		c.line = 0;
		for (unsigned k = 0; !k || k < chunks; k++)
			write_chunk(&c, k, k + 1 >= chunks);
		progress("writing sources", i + 1, p->list.file.n);
	}
	free(owners.at);
}
