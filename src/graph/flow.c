/* SPDX-License-Identifier: MIT */
/* Propagation (Ball & Larus 1994, section 3.2, Fig. 6) by taking leaves off the
 * forest of unknown edges. Each vertex keeps the number of its unknown edges
 * and their exclusive or: with one left, the latter is that edge. All sums are
 * 128 bits wide: 2^32 edges of 64-bit counts take 96. */
#include "graph/graph.h"

#include <inttypes.h>

typedef __int128 sum;

struct tally {
	const struct graph *g;
	uint64_t *count;
	const char **why;
	sum *surplus;                /* by vertex: what is known to come in minus what is known to go out */
	uint32_t *degree, *mix;      /* by vertex: unknown edges at it, their exclusive or */
	uint32_t *leaf, nleaf;
};

/* Takes edge e's count into the balances of its ends. */
static void
settle(struct tally *t, uint32_t e)
{
	t->surplus[t->g->edge[e].from] -= t->count[e];
	t->surplus[t->g->edge[e].to] += t->count[e];
}

static void
unknown_end(struct tally *t, uint32_t e, uint32_t v)
{
	t->degree[v]++;
	t->mix[v] ^= e;
}

/* Removes unknown edge e at v. */
static void
known_end(struct tally *t, uint32_t e, uint32_t v)
{
	t->mix[v] ^= e;
	if (--t->degree[v] == 1)
		t->leaf[t->nleaf++] = v;
}

static void
start(struct tally *t, const bool *known, const int64_t *source)
{
	const struct graph *g = t->g;

	for (uint32_t v = 0; source && v < g->nvert; v++)
		t->surplus[v] = source[v];
	for (uint32_t e = 0; e < g->nedge; e++)
		if (known[e]) {
			settle(t, e);
		} else {
			unknown_end(t, e, g->edge[e].from);
			unknown_end(t, e, g->edge[e].to);
		}
	for (uint32_t v = 0; v < g->nvert; v++)
		if (t->degree[v] == 1)
			t->leaf[t->nleaf++] = v;
}

static bool
fail(struct tally *t, uint32_t e, const char *what)
{
	const struct edge *d = &t->g->edge[e];

	if (t->why)
		*t->why = pool_printf(t->g->pool, "edge %s -> %s (number %u) %s", graph_name(t->g, d->from),
		                      graph_name(t->g, d->to), e, what);
	return false;
}

/* The one unknown edge at v takes up v's surplus. There may be no such edge any more: the last two vertices of a tree share
 * theirs. */
static bool
take_leaf(struct tally *t, uint32_t v)
{
	uint32_t e = t->mix[v];
	const struct edge *d = &t->g->edge[e];
	sum n = d->from == v ? t->surplus[v] : -t->surplus[v];

	if (!t->degree[v])
		return true;
	if (n < 0)
		return fail(t, e, "would have a negative count");
	if (n > UINT64_MAX)
		return fail(t, e, "would have a count of more than 64 bits");
	t->count[e] = (uint64_t)n;
	settle(t, e);
	known_end(t, e, d->from);
	known_end(t, e, d->to);
	return true;
}

/* Edges without a leaf have a cycle. An edge is still unknown iff both its ends have unknown edges: a settled edge was the last
 * unknown edge of one of its ends. */
static bool
all_settled(struct tally *t, const bool *known)
{
	const struct graph *g = t->g;

	for (uint32_t e = 0; e < g->nedge; e++)
		if (!known[e] && t->degree[g->edge[e].from] && t->degree[g->edge[e].to])
			return fail(t, e, "lies among edges that are not determined by those known");
	return true;
}

/* Why the counts do not fit: a vertex does not conserve flow, or a phantom has run. NULL: they fit. */
static const char *
left_over(const struct graph *g, const sum *surplus, const uint64_t *count)
{
	for (uint32_t v = 0; v < g->nvert; v++)
		if (surplus[v])
			return pool_printf(g->pool, "flow is not conserved at vertex %s: %s goes out than comes in",
			                   graph_name(g, v), surplus[v] > 0 ? "less" : "more");
	for (uint32_t e = 0; e < g->nedge; e++)
		if (g->edge[e].phantom && count[e])
			return pool_printf(g->pool, "edge %s -> %s (number %u) never runs, but has the count %" PRIu64,
			                   graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to), e, count[e]);
	return NULL;
}

static struct tally
tally_new(const struct graph *g, uint64_t *count, const char **why, struct pool *tmp)
{
	return (struct tally){
		.g = g,
		.count = count,
		.why = why,
		.surplus = pool_array(tmp, g->nvert, sizeof(sum)),
		.degree = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.mix = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.leaf = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};
}

bool
flow_propagate(const struct graph *g, const bool *known, uint64_t *count,
               const int64_t *source, const char **why)
{
	struct pool *tmp = pool_new();
	struct tally t = tally_new(g, count, why, tmp);
	const char *left = NULL;
	bool ok = true;

	start(&t, known, source);
	for (uint32_t i = 0; i < t.nleaf && ok; i++)
		ok = take_leaf(&t, t.leaf[i]);
	ok = ok && all_settled(&t, known);
	if (ok)
		left = left_over(g, t.surplus, count);
	if (left && why)
		*why = left;
	pool_free(tmp);
	return ok && !left;
}

const char *
flow_check(const struct graph *g, const uint64_t *count, const int64_t *source)
{
	struct pool *tmp = pool_new();
	sum *surplus = pool_array(tmp, g->nvert, sizeof *surplus);
	const char *why;

	for (uint32_t v = 0; source && v < g->nvert; v++)
		surplus[v] = source[v];
	for (uint32_t e = 0; e < g->nedge; e++) {
		surplus[g->edge[e].from] -= count[e];
		surplus[g->edge[e].to] += count[e];
	}
	why = left_over(g, surplus, count);
	pool_free(tmp);
	return why;
}

/* Saturates: a vertex may run more often than 64 bits tell although no edge does. */
uint64_t
flow_vertex(const struct graph *g, const uint64_t *count, uint32_t v)
{
	uint64_t n = 0;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
		if (!checked_add(&n, count[g->in[i]]))
			return UINT64_MAX;
	return n;
}
