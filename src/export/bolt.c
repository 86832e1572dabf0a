/* SPDX-License-Identifier: MIT */
/* Profiles of BOLT in its fdata form: one line for each edge that a branch makes,
 *   1 FROM_FUNCTION OFFSET 1 TO_FUNCTION OFFSET MISPREDICTED COUNT
 * with hexadecimal offsets in the functions of the program that was built without Chord by the same commands: the map has
 * them as they were before weaving. */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

struct writer {
	struct binary *bin;
	uint32_t *number;        /* by symbol: of the local ones of one name, by address */
	struct buf *out;
};

struct spot {
	const struct image_symbol *symbol; /* NULL: it cannot be named */
	uint64_t offset;
};

/* A local symbol is known by its number among those of its name. What stands before it in the symbol table, its source, may be
 * a temporary file. */
static void
number_locals(struct writer *w)
{
	const struct image_symbol *s;
	size_t n = image_symbols(w->bin->image, &s);
	struct strmap count = {0};

	w->number = xcalloc(n ? n : 1, sizeof *w->number);
	for (size_t i = 0; i < n; i++) {
		uint64_t before = 0;

		if (!s[i].file)
			continue;
		strmap_get(&count, str_of(s[i].name), &before);
		w->number[i] = (uint32_t)before + 1;
		strmap_put(&count, str_of(s[i].name), before + 1);
	}
	strmap_free(&count);
}

static struct spot
spot_of(struct writer *w, const struct proc *p, uint32_t part, uint64_t offset)
{
	struct callee c = callee_at(w->bin, p->part[part].addr);

	return (struct spot){c.n && !c.one ? c.symbol : NULL, offset};
}

/* Fields end at blanks, so those of names have a backslash. */
static void
put_spot(struct writer *w, struct spot s)
{
	const struct image_symbol *first;
	uint32_t number;

	image_symbols(w->bin->image, &first);
	number = w->number[s.symbol - first];
	buf_str(w->out, "1 ");
	for (const char *c = s.symbol->name; *c; c++) {
		if (*c == ' ' || *c == '\\')
			buf_char(w->out, '\\');
		buf_char(w->out, *c);
	}
	if (number)
		buf_printf(w->out, "/%" PRIu32, number);
	buf_printf(w->out, " %" PRIx64, s.offset);
}

static void
put(struct writer *w, struct spot from, struct spot to, uint64_t count)
{
	if (!from.symbol || !to.symbol || !count)
		return;
	put_spot(w, from);
	buf_char(w->out, ' ');
	put_spot(w, to);
	buf_printf(w->out, " 0 %" PRIu64 "\n", count);
}

/* Edges of jumps, and of falling through a conditional one. */
static void
put_edges(struct writer *w, const struct view_function *f)
{
	const struct proc *p = f->proc;

	for (uint32_t a = 0; a < p->narc; a++) {
		struct view_edge e = view_edge_of(p, f->counts, a);
		struct view_block from;

		if (!e.known || e.arc->from >= p->nblock || e.arc->to >= p->nblock || (e.arc->kind == CHORD_EDGE_FALL && !e.choice))
			continue;
		from = view_block_of(p, f->counts, e.arc->from);
		if (from.block->ninsn)
			put(w, spot_of(w, p, from.block->part, from.last),
			    spot_of(w, p, p->block[e.arc->to].part, p->block[e.arc->to].offset), e.count.least);
	}
}

static void
put_call(struct writer *w, const struct view_insn *in)
{
	struct callee c = in->kind == CHORD_INSN_CALL ? view_insn_callee(in) : (struct callee){0};

	if (c.n && !c.one)
		put(w, spot_of(w, in->proc, in->part, in->offset), (struct spot){c.symbol, 0}, in->count);
}

bool
export_bolt(const struct export *x, struct buf *out)
{
	struct writer w = {.bin = &x->run->binary.at[0], .out = out};

	number_locals(&w);
	for (size_t i = 0; i < x->function->n; i++) {
		const struct view_function *f = &x->function->at[i];

		if (f->binary == w.bin && view_is_exact(f->counts) && !f->proc->refused)
			put_edges(&w, f);
	}
	for (size_t i = 0; i < x->list->insn.n; i++)
		if (x->list->insn.at[i].binary == w.bin && x->list->insn.at[i].known && x->list->insn.at[i].count)
			put_call(&w, &x->list->insn.at[i]);
	free(w.number);
	return true;
}
