/* SPDX-License-Identifier: MIT */
/* Counts that follow from conservation of flow where it does not determine all of them. Counts that are on no cycle of unknown ones
 * follow by linear algebra. No count is negative, so if nothing is left for unknown counts, they are 0. Both steps are repeated
 * until nothing more follows. */
#include "profile/internal.h"

#include <stdlib.h>

/* The edges of a vertex on one side. */
struct side {
	uint64_t sum;            /* of the known edges */
	uint32_t nunknown, unknown;
	bool fits;
};

static struct side
look(const struct system *s, uint32_t v, bool in)
{
	const struct graph *g = s->graph;
	const uint32_t *at = in ? g->in_at : g->out_at, *edge = in ? g->in : g->out;
	struct side r = {.fits = true};

	for (uint32_t i = at[v]; i < at[v + 1]; i++) {
		if (!s->known[edge[i]]) {
			r.nunknown++;
			r.unknown = edge[i];
		} else if (!checked_add(&r.sum, s->count[edge[i]])) {
			r.fits = false;
		}
	}
	return r;
}

bool
solve_vertex(const struct system *s, uint32_t v, uint64_t *count)
{
	struct side r = look(s, v, true);

	*count = r.sum;
	return r.fits && !r.nunknown;
}

/* Adds a signed number; false if the result is negative or does not fit. */
static bool
shift(uint64_t *n, int64_t by)
{
	return by < 0 ? !__builtin_sub_overflow(*n, -(uint64_t)by, n) : checked_add(n, (uint64_t)by);
}

struct work {
	VEC(uint32_t) vertex;
	bool *waiting;
};

static void
put(struct work *w, uint32_t v)
{
	if (w->waiting[v])
		return;
	w->waiting[v] = true;
	VEC_PUSH(w->vertex, v);
}

static void
settle(struct system *s, struct work *w, uint32_t e, uint64_t count)
{
	s->known[e] = true;
	s->count[e] = count;
	put(w, s->graph->edge[e].from);
	put(w, s->graph->edge[e].to);
}

/* The flow on one side has to be `total`. The last unknown edge takes the rest; if nothing is left, all unknown edges are 0. */
static bool
settle_side(struct system *s, struct work *w, uint32_t v, bool in, const struct side *r, uint64_t total)
{
	const struct graph *g = s->graph;
	const uint32_t *at = in ? g->in_at : g->out_at, *edge = in ? g->in : g->out;

	if (r->sum > total || (!r->nunknown && r->sum != total))
		return false;
	if (r->nunknown == 1) {
		settle(s, w, r->unknown, total - r->sum);
	} else if (r->sum == total) {
		for (uint32_t i = at[v]; i < at[v + 1]; i++)
			if (!s->known[edge[i]])
				settle(s, w, edge[i], 0);
	}
	return true;
}

/* out(v) = in(v) + source(v). False: that cannot hold. */
static bool
visit(struct system *s, struct work *w, uint32_t v)
{
	struct side in = look(s, v, true), out = look(s, v, false);
	uint64_t total;

	if (!in.fits || !out.fits)
		return false;
	if (!in.nunknown) {
		total = in.sum;
		return shift(&total, s->source[v]) && settle_side(s, w, v, false, &out, total);
	}
	if (!out.nunknown) {
		total = out.sum;
		if (s->source[v] == INT64_MIN)
			return false;
		return shift(&total, -s->source[v]) && settle_side(s, w, v, true, &in, total);
	}
	return true;
}

/* Deduces vertex by vertex. */
static bool
deduce_locally(struct system *s)
{
	struct work w = {.waiting = pool_array(s->pool, s->graph->nvert, sizeof *w.waiting)};
	bool sound = true;

	for (uint32_t v = 0; v < s->graph->nvert; v++)
		put(&w, v);
	while (w.vertex.n && sound) {
		uint32_t v = w.vertex.at[--w.vertex.n];

		w.waiting[v] = false;
		sound = visit(s, &w, v);
	}
	free(w.vertex.at);
	return sound;
}

static uint32_t
count_known(const struct system *s)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < s->graph->nedge; e++)
		n += s->known[e];
	return n;
}

const char *
solve_deduce(struct system *s)
{
	const char *why = "flow is not conserved";
	uint32_t before;

	do {
		before = count_known(s);
		if (!bridge_propagate(s->graph, s->known, s->count, s->source, &why))
			return why;
		if (!deduce_locally(s))
			return "flow is not conserved";
	} while (count_known(s) != before);
	return NULL;
}
