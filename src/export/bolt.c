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
spot_of(const struct export *x, const struct unit *u, const struct proc *p, uint32_t part, uint64_t offset)
{
	struct callee c = callee_at((struct unit *)(uintptr_t)u, p->part[part].addr);

	return (struct spot){c.n && c.symbol ? name_of(x->run->pool, c.symbol) : NULL, offset};
}

static void
put(struct buf *out, struct spot from, struct spot to, uint64_t count)
{
	if (from.name && to.name && count)
		buf_printf(out, "1 %s %" PRIx64 " 1 %s %" PRIx64 " 0 %" PRIu64 "\n", from.name, from.offset, to.name, to.offset,
		           count);
}

static uint64_t
last_offset(const struct block *b)
{
	uint64_t at = b->offset;

	for (uint32_t i = 0; i + 1 < b->ninsn; i++)
		at += b->insn[i] & 15;
	return at;
}

/* Edges of jumps, and of falling through a conditional one. */
static void
put_arcs(const struct export *x, const struct unit *u, const struct proc *p, const struct counts *c, struct buf *out)
{
	for (uint32_t a = 0; a < p->narc; a++) {
		const struct arc *arc = &p->arc[a];
		const struct block *from = arc->from < p->nblock ? &p->block[arc->from] : NULL, *to;

		if (!from || !from->ninsn || arc->to >= p->nblock || !c->arc_known[a])
			continue;
		to = &p->block[arc->to];
		if (arc->kind == CHORD_EDGE_FALL && from->insn[from->ninsn - 1] >> 4 != CHORD_INSN_BRANCH)
			continue;
		put(out, spot_of(x, u, p, from->part, last_offset(from)), spot_of(x, u, p, to->part, to->offset), c->arc[a]);
	}
}

static void
put_call(const struct export *x, const struct unit *u, const struct view_insn *in, struct buf *out)
{
	struct insn decoded;
	struct callee c;

	if (in->kind != CHORD_INSN_CALL || !in->addr || !image_insn(u->image, in->addr, &decoded))
		return;
	c = callee_of((struct unit *)(uintptr_t)u, in->proc, &decoded, in->addr);
	if (c.n && !c.one)
		put(out, spot_of(x, u, in->proc, in->part, in->offset), (struct spot){name_of(x->run->pool, c.symbol), 0},
		    in->count);
}

bool
export_bolt(const struct export *x, struct buf *out)
{
	const struct unit *u = &x->run->unit.at[0];

	for (uint32_t i = 0; i < u->map.nproc; i++)
		if (export_is_exact(&u->counts[i]) && !u->map.proc[i].refused)
			put_arcs(x, u, &u->map.proc[i], &u->counts[i], out);
	for (size_t i = 0; i < x->list->insn.n; i++)
		if (x->list->insn.at[i].unit == u && x->list->insn.at[i].known && x->list->insn.at[i].count)
			put_call(x, u, &x->list->insn.at[i], out);
	return true;
}
