/* SPDX-License-Identifier: MIT */
/* Profiles of BOLT in its fdata form: one line for each branch edge,
 *   1 FROM_FUNCTION OFFSET 1 TO_FUNCTION OFFSET MISPREDICTED COUNT
 *   0 [unknown] 0 1 TO_FUNCTION 0 MISPREDICTED COUNT
 * with hexadecimal offsets in the functions of the program that was built without Chord by the same commands: the map has the
 * offsets before weaving. */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

struct writer {
	struct binary *bin;
	const struct image_symbol *symbol;
	uint32_t *number;        /* by symbol: for local ones, their number among those of the same name, by address */
	uint64_t *called;        /* by symbol: calls that were written with their origin */
	struct buf *out;
};

struct spot {
	const struct image_symbol *symbol; /* NULL: it has no name */
	uint64_t offset;
};

/* BOLT identifies a local symbol by its number among those of its name. The source file, which comes before it in the symbol table,
 * may be a temporary one. */
static void
number_locals(struct writer *w)
{
	size_t n = image_symbols(w->bin->image, &w->symbol);
	struct strmap count = {0};

	w->number = xcalloc(n + 1, sizeof *w->number);
	w->called = xcalloc(n + 1, sizeof *w->called);
	for (size_t i = 0; i < n; i++) {
		uint64_t before = 0;

		if (!w->symbol[i].file)
			continue;
		strmap_get(&count, str_of(w->symbol[i].name), &before);
		w->number[i] = (uint32_t)before + 1;
		strmap_put(&count, str_of(w->symbol[i].name), before + 1);
	}
	strmap_free(&count);
}

static struct spot
spot_of(struct writer *w, const struct proc *p, uint32_t part, uint64_t offset)
{
	struct callee c = callee_at(w->bin, p->part[part].addr);

	return (struct spot){c.n && !c.one ? c.symbol : NULL, offset};
}

/* Fields end at blanks, so blanks in names get a backslash. */
static void
put_spot(struct writer *w, struct spot s)
{
	uint32_t number = w->number[s.symbol - w->symbol];

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

/* Writes edges of jumps, and of conditional jumps that were not taken. */
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
	struct spot from;

	/* The runtime's stand-ins for imported functions are not in the other program. */
	if (!c.n || c.one || str_starts(str_of(c.symbol->name), "__chord_"))
		return;
	from = spot_of(w, in->proc, in->part, in->offset);
	put(w, from, (struct spot){c.symbol, 0}, in->count);
	if (from.symbol)
		w->called[c.symbol - w->symbol] = saturating_add(w->called[c.symbol - w->symbol], in->count);
}

/* Writes how often a function was entered in other ways: through pointers, by jumps, from other objects. */
static void
put_entered(struct writer *w, const struct view_function *f)
{
	struct spot to = spot_of(w, f->proc, 0, 0);
	uint64_t n = f->counts->activations, called = to.symbol ? w->called[to.symbol - w->symbol] : 0;

	if (!to.symbol || !f->counts->activations_known || n <= called)
		return;
	buf_str(w->out, "0 [unknown] 0 ");
	put_spot(w, to);
	buf_printf(w->out, " 0 %" PRIu64 "\n", n - called);
}

static bool
is_told(const struct writer *w, const struct view_function *f)
{
	return f->binary == w->bin && view_is_exact(f->counts) && !f->proc->refused;
}

bool
export_bolt(const struct export *x, struct buf *out)
{
	struct writer w = {.bin = &x->run->binary.at[0], .out = out};

	number_locals(&w);
	for (size_t i = 0; i < x->function->n; i++)
		if (is_told(&w, &x->function->at[i]))
			put_edges(&w, &x->function->at[i]);
	for (size_t i = 0; i < x->list->insn.n; i++)
		if (x->list->insn.at[i].binary == w.bin && x->list->insn.at[i].known && x->list->insn.at[i].count)
			put_call(&w, &x->list->insn.at[i]);
	for (size_t i = 0; i < x->function->n; i++)
		if (is_told(&w, &x->function->at[i]))
			put_entered(&w, &x->function->at[i]);
	free(w.number);
	free(w.called);
	return true;
}
