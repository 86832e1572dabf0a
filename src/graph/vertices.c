/* SPDX-License-Identifier: MIT */
/* Profiles of vertices only: Vprof(Vcnt), Vprof(Ecnt), and counters on both (Ball & Larus 1994, section 3).
 *
 * A vertex has two ends: control comes in at one and goes out at the other. An edge without a counter joins the two ends that it
 * connects, since its own count is not asked for. What is left is a graph whose edges are the vertices, each from its one end to
 * its other, and the edges that have counters. Flow is conserved at each joined end. So the counts of vertices are determined if
 * and only if the vertices without counters form a forest there, and propagation (Fig. 6) finds them. The paper says it in other
 * words: no simple cycle of edges without counters has a pipe; a pipe at v makes v an edge of a cycle here. If no edge has a
 * counter, this is Knuth and Stevenson's reduction (1973), and a maximum spanning tree leaves the cheapest vertices to count. */
#include "graph/graph.h"

#include <stdlib.h>

/* ---- the joined graph ---- */

/* By end: the number of the joined end that it belongs to. End 2v is where control comes in at v, 2v+1 where it goes out. */
static uint32_t *
join_ends(const struct graph *g, const bool *counted, struct pool *tmp, uint32_t *n)
{
	uint32_t nend = 2 * g->nvert;
	uint32_t *set = pool_array(tmp, nend, sizeof *set), *number = pool_array(tmp, nend, sizeof *number);

	for (uint32_t i = 0; i < nend; i++)
		set[i] = i;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!counted[e] && !g->edge[e].phantom)
			set[graph_root(set, 2 * g->edge[e].from + 1)] = graph_root(set, 2 * g->edge[e].to);
	*n = 0;
	for (uint32_t i = 0; i < nend; i++)
		if (graph_root(set, i) == i)
			number[i] = (*n)++;
	for (uint32_t i = 0; i < nend; i++)
		number[i] = number[graph_root(set, i)];
	return number;
}

/* Phantoms never run: their counts are known. */
struct graph *
vertices_join(const struct graph *g, const bool *counted)
{
	struct pool *tmp = pool_new();
	uint32_t n, *number = join_ends(g, counted, tmp, &n);
	struct graph *joined = graph_new(g->pool, n, number[2 * g->root], number[2 * g->exit]);

	for (uint32_t v = 0; v < g->nvert; v++)
		graph_edge(joined, number[2 * v], number[2 * v + 1]);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (counted[e] || g->edge[e].phantom)
			graph_edge(joined, number[2 * g->edge[e].from + 1], number[2 * g->edge[e].to]);
	graph_index(joined);
	pool_free(tmp);
	return joined;
}

/* ---- placement ---- */

static double
vertex_weight(const struct graph *g, const double *w, uint32_t v)
{
	double sum = 0;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
		sum += w[g->in[i]];
	return sum;
}

void
vertices_place(const struct graph *g, const double *w, bool *counted)
{
	struct pool *tmp = pool_new();
	bool *none = pool_array(tmp, g->nedge, sizeof *none), *tree;
	struct graph *joined = vertices_join(g, none);
	double *weight = pool_array(tmp, joined->nedge, sizeof *weight);
	bool *left_out = pool_array(tmp, joined->nedge, sizeof *left_out);

	for (uint32_t e = 0; e < joined->nedge; e++)
		left_out[e] = e >= g->nvert;
	for (uint32_t v = 0; v < g->nvert; v++)
		weight[v] = vertex_weight(g, w, v);
	tree = span_forest(joined, weight, left_out, NULL);
	for (uint32_t v = 0; v < g->nvert; v++)
		counted[v] = !tree[v];
	pool_free(tmp);
}

/* The first vertex without a counter that closes a cycle of such vertices; GRAPH_NONE: they form a forest. */
static uint32_t
closes_cycle(const struct graph *joined, uint32_t nvert, const bool *counted)
{
	struct pool *tmp = pool_new();
	uint32_t *set = pool_array(tmp, joined->nvert, sizeof *set), found = GRAPH_NONE;

	for (uint32_t i = 0; i < joined->nvert; i++)
		set[i] = i;
	for (uint32_t v = 0; v < nvert && found == GRAPH_NONE; v++) {
		uint32_t a = graph_root(set, joined->edge[v].from), b = graph_root(set, joined->edge[v].to);

		if (counted && counted[v])
			continue;
		if (a == b)
			found = v;
		set[a] = b;
	}
	pool_free(tmp);
	return found;
}

uint32_t
vertices_check(const struct graph *g, const bool *edge_counted, const bool *vertex_counted)
{
	return closes_cycle(vertices_join(g, edge_counted), g->nvert, vertex_counted);
}

/* ---- edge counters that vertices can do without ---- */

struct priced {
	double price;
	uint32_t edge;
};

static int
dearer(const void *pa, const void *pb)
{
	const struct priced *a = pa, *b = pb;

	if (a->price > b->price || a->price < b->price)
		return a->price > b->price ? -1 : 1;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

static struct priced *
by_price(const struct graph *g, const double *w, const bool *counted, struct pool *tmp, uint32_t *n)
{
	struct priced *p = pool_array(tmp, g->nedge, sizeof *p);

	*n = 0;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (counted[e])
			p[(*n)++] = (struct priced){w[e] * g->edge[e].cost, e};
	qsort(p, *n, sizeof *p, dearer);
	return p;
}

/* A search of the tree: the cycle that an edge closes is the edge and the tree path between its ends. */
struct tree_walk {
	const struct graph *g;
	const bool *tree;
	uint32_t *by, *stack;    /* by vertex: the edge that the search came by */
};

/* Searches the tree from v, and sets by[] of all vertices that are reached. */
static void
walk_tree(struct tree_walk *t, uint32_t v)
{
	const struct graph *g = t->g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nvert; i++)
		t->by[i] = GRAPH_NONE;
	t->stack[n++] = v;
	while (n) {
		uint32_t u = t->stack[--n];

		for (uint32_t k = g->out_at[u]; k < g->out_at[u + 1]; k++) {
			uint32_t e = g->out[k], to = g->edge[e].to;

			if (t->tree[e] && to != v && t->by[to] == GRAPH_NONE && e != t->by[u])
				t->by[to] = e, t->stack[n++] = to;
		}
		for (uint32_t k = g->in_at[u]; k < g->in_at[u + 1]; k++) {
			uint32_t e = g->in[k], from = g->edge[e].from;

			if (t->tree[e] && from != v && t->by[from] == GRAPH_NONE && e != t->by[u])
				t->by[from] = e, t->stack[n++] = from;
		}
	}
}

/* Is the cycle that e closes with the tree pipeless, and is none of its vertices marked? If `mark` is set, marks its vertices
 * instead. */
static bool
cycle_of(struct tree_walk *t, uint32_t e, bool *marked, bool mark)
{
	const struct graph *g = t->g;
	uint32_t v = g->edge[e].to, last = e;

	if (!mark)
		walk_tree(t, g->edge[e].from);
	/* From the target of e back to its source. A pipe: one edge comes in at v, the other goes out. */
	for (;; v = g->edge[last].from == v ? g->edge[last].to : g->edge[last].from) {
		uint32_t next = v == g->edge[e].from ? e : t->by[v];
		bool last_in = g->edge[last].to == v, next_in = g->edge[next].to == v;

		if (mark)
			marked[v] = true;
		else if (marked[v] || last_in != next_in || g->edge[e].from == g->edge[e].to)
			return false;
		if (next == e)
			return true;
		last = next;
	}
}

uint32_t
vertices_thin_printed(const struct graph *g, const double *w, const bool *tree, bool *counted)
{
	struct pool *tmp = pool_new();
	struct tree_walk t = {
		.g = g,
		.tree = tree,
		.by = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.stack = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};
	bool *marked = pool_array(tmp, g->nvert, sizeof *marked);
	uint32_t n, removed = 0;
	struct priced *p = by_price(g, w, counted, tmp, &n);

	for (uint32_t i = 0; i < n; i++)
		if (cycle_of(&t, p[i].edge, marked, false)) {
			cycle_of(&t, p[i].edge, marked, true);
			counted[p[i].edge] = false;
			removed++;
		}
	pool_free(tmp);
	return removed;
}

uint32_t
vertices_thin(const struct graph *g, const double *w, bool *counted)
{
	struct pool *tmp = pool_new();
	uint32_t n, removed = 0;
	struct priced *p = by_price(g, w, counted, tmp, &n);

	for (uint32_t i = 0; i < n; i++) {
		counted[p[i].edge] = false;
		if (vertices_check(g, counted, NULL) == GRAPH_NONE)
			removed++;
		else
			counted[p[i].edge] = true;
	}
	pool_free(tmp);
	return removed;
}

/* ---- propagation ---- */

bool
vertices_propagate(const struct graph *g, const bool *edge_counted, const uint64_t *edge_count, const bool *vertex_counted,
                   uint64_t *vertex_count, const char **why)
{
	struct graph *joined = vertices_join(g, edge_counted);
	struct pool *tmp = pool_new();
	bool *known = pool_array(tmp, joined->nedge, sizeof *known), ok;
	uint64_t *count = pool_array(tmp, joined->nedge, sizeof *count);
	uint32_t n = g->nvert;

	for (uint32_t v = 0; v < g->nvert; v++) {
		known[v] = vertex_counted && vertex_counted[v];
		count[v] = known[v] ? vertex_count[v] : 0;
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		if (edge_counted[e] || g->edge[e].phantom) {
			known[n] = true;
			count[n++] = g->edge[e].phantom ? 0 : edge_count[e];
		}
	ok = flow_propagate(joined, known, count, NULL, why);
	for (uint32_t v = 0; ok && v < g->nvert; v++)
		vertex_count[v] = count[v];
	pool_free(tmp);
	return ok;
}
