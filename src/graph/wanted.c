/* SPDX-License-Identifier: MIT */
/* Counters if the counts of only some edges are asked for: Vprof (Ball & Larus 1994, section 3) in a graph in which each block is
 * an edge of its own, so that it can have a counter, too. The wanted counts follow if their edges are bridges among the edges
 * without counters (bridge.c). */
#include "graph/graph.h"

#include <string.h>

uint32_t
wanted_thin(const struct graph *g, const bool *tree, const bool *wanted, bool *counted)
{
	struct pool *tmp = pool_new();
	uint32_t *set = pool_array(tmp, g->nvert, sizeof *set), removed = 0;

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (tree[e] && !wanted[e])
			set[graph_root(set, g->edge[e].from)] = graph_root(set, g->edge[e].to);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (counted[e] && !wanted[e] && graph_root(set, g->edge[e].from) == graph_root(set, g->edge[e].to)) {
			counted[e] = false;
			removed++;
		}
	pool_free(tmp);
	return removed;
}

/* The graph of the wanted edges, between what all other edges join. edge[i]: the number of its edge i in the whole graph. */
static struct graph *
join_others(const struct graph *g, const bool *wanted, uint32_t *edge)
{
	struct pool *tmp = pool_new();
	uint32_t *set = pool_array(tmp, g->nvert, sizeof *set);
	struct graph *joined = graph_new(g->pool, g->nvert, g->root, g->exit);

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!wanted[e])
			set[graph_root(set, g->edge[e].from)] = graph_root(set, g->edge[e].to);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (wanted[e]) {
			uint32_t i = graph_edge(joined, graph_root(set, g->edge[e].from), graph_root(set, g->edge[e].to));

			edge[i] = e;
			joined->edge[i].fixed = g->edge[e].fixed;
			joined->edge[i].cost = g->edge[e].cost;
		}
	pool_free(tmp);
	return joined;
}

bool
wanted_place(const struct graph *g, const double *w, const bool *wanted, bool *counted, uint32_t *bad)
{
	struct pool *tmp = pool_new();
	uint32_t *edge = pool_array(tmp, g->nedge, sizeof *edge), at;
	struct graph *joined = join_others(g, wanted, edge);
	double *weight = pool_array(tmp, joined->nedge, sizeof *weight);
	bool *tree;

	for (uint32_t i = 0; i < joined->nedge; i++)
		weight[i] = w[edge[i]];
	tree = span_forest(joined, weight, NULL, &at);
	memset(counted, 0, g->nedge * sizeof *counted);
	for (uint32_t i = 0; tree && i < joined->nedge; i++)
		counted[edge[i]] = !tree[i];
	if (!tree)
		*bad = edge[at];
	pool_free(tmp);
	return tree;
}
