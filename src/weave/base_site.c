/* SPDX-License-Identifier: MIT */
/* Sites for code that prepares a register on an edge, or takes from it what it holds. */
#include "weave/base.h"

uint32_t
base_counter(const struct site *s)
{
	if (s->counter)
		return s->counter;
	return s->path ? s->path->one : 0;
}

static bool
is_split_otherwise(const struct bases *b, uint32_t e)
{
	uint32_t to = b->g->edge[e].to;

	for (uint32_t i = b->g->in_at[to]; i < b->g->in_at[to + 1]; i++) {
		uint32_t other = b->g->in[i];

		if (other != e && other < b->w->proc->arcs.n && b->w->edge[other].where == SITE_SPLIT &&
		    (site_used(&b->w->edge[other]) || b->g->edge[e].from >= b->w->proc->blocks.n))
			return true;
	}
	return false;
}

/* The place on an edge that runs with one of its blocks. It is looked for once. */
static struct site
place_in_block(const struct bases *b, uint32_t e)
{
	const struct woven *w = b->w;
	uint32_t block = w->edge[e].block, first = w->proc->block_text.at[block].first;
	struct site *s = &b->place[e];

	if (!b->is_placed[e])
		*s = block == b->g->edge[e].from ? place_at_edge(b->u, w, e) :
		     place_between(b->u, w, block, first, first + !!(woven_insn(w, block, first)->attr & INSN_FIRST));
	b->is_placed[e] = true;
	return *s;
}

struct site
base_load_site(const struct bases *b, uint32_t e, uint8_t base)
{
	const struct woven *w = b->w;
	struct site s = w->edge[e];

	if (s.where == SITE_BLOCK) {
		s = place_in_block(b, e);
	} else if (s.where == SITE_SPLIT && is_split_otherwise(b, e)) {
		s.where = SITE_NONE;
	}
	if (!base) {
		s.where = s.live.no_stack ? SITE_NONE : s.where;
		s.lends = 0;
		return s;
	}
	s.lends = b->lending && s.live.regs_live >> (base - 1) & 1 ? (uint8_t)(1u << b->what) : 0;
	if (s.lends ? s.live.no_stack : s.live.regs_live >> (base - 1) & 1)
		s.where = SITE_NONE;
	return s;
}

double
base_price_at(const struct bases *b, uint32_t e, const struct site *s, double insns)
{
	double jumps = s->where == SITE_STUB || s->where == SITE_SPLIT ? (site_used(&b->w->edge[e]) ? 0 : s->price - 1) : 0;

	return s->where == SITE_NONE ? GRAPH_NEVER : (insns + jumps) * (b->w->weight[e] + 1e-9);
}

/* Does the code of a site run only on the edge? */
static bool
is_on_edge(const struct site *s)
{
	return s->where != SITE_BLOCK;
}

struct site *
base_put(struct bases *b, uint32_t e, const struct site *s, bool last)
{
	struct woven *w = b->w;

	if (is_on_edge(s) && s->where == w->edge[e].where) {
		if (s->where == SITE_SPLIT)
			w->split[s->block] = true;
		return &w->edge[e];
	}
	VEC_PUSH(w->loads, (struct base_load){{.where = s->where, .block = s->block, .insn = s->insn, .live = s->live}, e, last});
	return &w->loads.at[w->loads.n - 1].site;
}
