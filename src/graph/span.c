/* SPDX-License-Identifier: MIT */
/* Maximum and minimum spanning trees: Kruskal's algorithm (Ball & Larus 1994, section 3.2).
 *
 * The tree begins with EXIT -> root, which cannot be counted, and then takes the other fixed edges. Weights are compared to 32
 * bits: a smaller difference comes from the rounding of some sum. Of two edges that weigh the same, the one with the lower number
 * comes first. So the order in which a graph is built says which of the two is believed to be hotter. */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>

struct key {
	uint32_t edge;
	int rank;
	double weight;
};

/* Phantoms come after real fixed edges: they alone may be left out. */
static int
rank(const struct graph *g, uint32_t e)
{
	if (e == g->close)
		return 0;
	if (!g->edge[e].fixed)
		return 3;
	return g->edge[e].phantom ? 2 : 1;
}

static int
heavier(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->weight > b->weight || a->weight < b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

static double
coarse(double x)
{
	int exponent;
	double mantissa = frexp(x, &exponent);

	return ldexp(rint(ldexp(mantissa, 32)), exponent - 32);
}

static struct key *
by_weight(const struct graph *g, const double *w, bool lightest, struct pool *tmp)
{
	double sign = lightest ? -1 : 1;
	struct key *k = pool_array(tmp, g->nedge, sizeof *k);

	for (uint32_t e = 0; e < g->nedge; e++)
		k[e] = (struct key){e, rank(g, e), g->edge[e].fixed ? 0 : sign * coarse(w[e] * g->edge[e].cost)};
	qsort(k, g->nedge, sizeof *k, heavier);
	return k;
}

/* Joins the ends of an edge; false if they were joined before. */
static bool
join(uint32_t *set, const struct edge *d)
{
	uint32_t a = graph_root(set, d->from), b = graph_root(set, d->to);

	set[a] = b;
	return a != b;
}

/* Joins vertices by the heaviest or lightest edges that are not left out. left_out may be NULL. */
static bool *
kruskal(const struct graph *g, const double *w, bool lightest, const bool *left_out, uint32_t *bad)
{
	struct pool *tmp = pool_new();
	struct key *sorted = by_weight(g, w, lightest, tmp);
	uint32_t *set = pool_array(tmp, g->nvert, sizeof *set);
	bool *tree = pool_array(g->pool, g->nedge, sizeof *tree), *result = tree;

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t i = 0; i < g->nedge && result; i++) {
		uint32_t e = sorted[i].edge;

		if (left_out && left_out[e])
			continue;
		tree[e] = join(set, &g->edge[e]);
		if (tree[e] || !g->edge[e].fixed || g->edge[e].phantom)
			continue;
		if (bad)
			*bad = e;
		result = NULL;
	}
	pool_free(tmp);
	return result;
}

bool *
span_max(const struct graph *g, const double *w, uint32_t *bad)
{
	return kruskal(g, w, false, NULL, bad);
}

bool *
span_min(const struct graph *g, const double *w, uint32_t *bad)
{
	return kruskal(g, w, true, NULL, bad);
}

bool *
span_forest(const struct graph *g, const double *w, const bool *left_out, uint32_t *bad)
{
	return kruskal(g, w, false, left_out, bad);
}
