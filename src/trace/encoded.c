/* SPDX-License-Identifier: MIT */
/* What one path writes with each encoding other than paths. It is computed once, and written as often as the path runs. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <string.h>

enum { BYTE = 8, WIDE = 32, MOST_BITS = 32 };

struct writing {
	struct encoding_piece *piece;
	struct pool *pool;
	const struct writes *w;
};

static void
put(struct writing *o, enum encoding which, uint32_t value, uint32_t bits)
{
	struct encoding_form *f = &o->piece->form[which];

	for (uint32_t i = 0; i < bits; i++, f->bits++)
		f->at[f->bits / BYTE] |= (uint8_t)((value >> i & 1) << f->bits % BYTE);
	f->writes++;
}

/* The bits of a number below n in an encoding of whole bytes. */
static uint32_t
whole(uint32_t n)
{
	return n <= 1 << BYTE ? BYTE : 2 * BYTE;
}

static void
put_arc(struct writing *o, uint32_t e)
{
	const struct writes *w = o->w;
	struct encoding_piece *x = o->piece;

	if (w->ways[e] > 1) {
		put(o, ENCODING_BRANCHES, w->first + e, WIDE);
		put(o, ENCODING_BRANCH_BYTES, w->outcome[e], whole(w->ways[e]));
		put(o, ENCODING_BRANCH_BITS, w->outcome[e], writes_bits(w->ways[e]));
	}
	if (w->written[e]) {
		x->value[x->form[ENCODING_WITNESS_BITS].writes] = w->values->value[e];
		put(o, ENCODING_WITNESS_BYTES, w->own[e], whole(w->nwitness));
		put(o, ENCODING_WITNESS_BITS, w->values->value[e], writes_bits(w->values->n));
	}
}

static void
put_arcs(struct pool *pool, struct encoding_piece *piece, const struct writes *w, const uint32_t *arc, uint32_t n)
{
	struct writing o = {piece, pool, w};

	for (int i = 0; i < ENCODING_MARKS; i++)
		piece->form[i].at = pool_alloc(pool, (size_t)n * MOST_BITS / BYTE + 1);
	piece->value = pool_array(pool, n + 1u, sizeof *piece->value);
	for (uint32_t i = 0; i < n; i++)
		put_arc(&o, arc[i]);
}

static uint32_t
branches_on(const struct replay_path *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct block *b = &p->proc->block[p->block[i]];

		for (uint32_t k = 0; k < b->ninsn; k++)
			n += b->insn[k] >> 4 == CHORD_INSN_BRANCH;
	}
	return n;
}

void
encode_path(struct pool *pool, struct encoded_path *x, const struct replay_path *p, struct writes *w)
{
	uint32_t first = p->begin == REPLAY_LANDS, behind = p->end == REPLAY_CALLS;

	if (first + behind > p->narc)
		behind = 0;
	x->writes = w;
	x->path = p;
	x->branches = branches_on(p);
	put_arcs(pool, &x->body, w, p->arc + first, p->narc - first - behind);
	put_arcs(pool, &x->behind, w, p->arc + p->narc - behind, behind);
}
