/* SPDX-License-Identifier: MIT */
/* Profiles of BOLT in its fdata form: one line for each edge that a branch makes,
 *   1 FROM_FUNCTION OFFSET 1 TO_FUNCTION OFFSET MISPREDICTED COUNT
 * with hexadecimal offsets in the functions of the program that was built without Chord by the same commands: the map has
 * them as they were before weaving. */
#include "export/export.h"

#include <inttypes.h>
#include <string.h>

struct spot {
	const char *name;        /* NULL: it cannot be named */
	uint64_t offset;
};

/* A local symbol is known by its source and its number among those of one name there: the first is taken. */
static const char *
name_of(struct pool *pool, const struct image_symbol *s)
{
	return s->file ? pool_printf(pool, "%s/%s/1", s->name, s->file) : s->name;
}

static struct spot
spot_of(const struct export *x, const struct binary *bin, const struct proc *p, uint32_t part, uint64_t offset)
{
	struct callee c = callee_at((struct binary *)(uintptr_t)bin, p->part[part].addr);

	return (struct spot){c.n && c.symbol ? name_of(x->run->pool, c.symbol) : NULL, offset};
}

static void
put(struct buf *out, struct spot from, struct spot to, uint64_t count)
{
	if (from.name && to.name && count)
		buf_printf(out, "1 %s %" PRIx64 " 1 %s %" PRIx64 " 0 %" PRIu64 "\n", from.name, from.offset, to.name, to.offset,
		           count);
}

/* Edges of jumps, and of falling through a conditional one. */
static void
put_edges(const struct export *x, const struct view_function *f, struct buf *out)
{
	const struct proc *p = f->proc;

	for (uint32_t a = 0; a < p->narc; a++) {
		struct view_edge e = view_edge_of(p, f->counts, a);
		struct view_block from;

		if (!e.known || e.arc->from >= p->nblock || e.arc->to >= p->nblock || (e.arc->kind == CHORD_EDGE_FALL && !e.choice))
			continue;
		from = view_block_of(p, f->counts, e.arc->from);
		if (from.block->ninsn)
			put(out, spot_of(x, f->binary, p, from.block->part, from.last),
			    spot_of(x, f->binary, p, p->block[e.arc->to].part, p->block[e.arc->to].offset), e.count.least);
	}
}

static void
put_call(const struct export *x, const struct binary *bin, const struct view_insn *in, struct buf *out)
{
	struct callee c = in->kind == CHORD_INSN_CALL ? view_insn_callee(in) : (struct callee){0};

	if (c.n && !c.one)
		put(out, spot_of(x, bin, in->proc, in->part, in->offset), (struct spot){name_of(x->run->pool, c.symbol), 0},
		    in->count);
}

bool
export_bolt(const struct export *x, struct buf *out)
{
	const struct binary *bin = &x->run->binary.at[0];

	for (size_t i = 0; i < x->function->n; i++) {
		const struct view_function *f = &x->function->at[i];

		if (f->binary == bin && view_is_exact(f->counts) && !f->proc->refused)
			put_edges(x, f, out);
	}
	for (size_t i = 0; i < x->list->insn.n; i++)
		if (x->list->insn.at[i].binary == bin && x->list->insn.at[i].known && x->list->insn.at[i].count)
			put_call(x, bin, &x->list->insn.at[i], out);
	return true;
}
