/* SPDX-License-Identifier: MIT */
/* What the tests of paths share: graphs, and all paths of a graph, by definition. */
#ifndef CHORD_TEST_PATHS_H
#define CHORD_TEST_PATHS_H

#include "tests/unit/graphs.h"

static inline double *
random_weights(const struct graph *g)
{
	double *w = pool_array(g->pool, g->nedge, sizeof *w);

	for (uint32_t e = 0; e < g->nedge; e++)
		w[e] = 1 + rnd(100);
	return w;
}

static inline void
finish(struct graph *g)
{
	graph_close(g);
	graph_complete(g);
}

/* ---- enumeration ---- */

enum { MOST = 4096 };

struct enumeration {
	const struct dag *d;
	uint32_t n, edge[64], depth;
	struct one { uint32_t begin, n, edge[32]; } path[MOST];
};

static inline void
enumerate(struct enumeration *en, uint32_t begin, uint32_t v)
{
	const struct graph *g = en->d->g;
	struct one *one = &en->path[en->n];

	if (v == g->exit) {
		check(g, en->n < MOST);
		one->begin = begin;
		one->n = en->depth;
		memcpy(one->edge, en->edge, en->depth * sizeof *en->edge);
		en->n++;
		return;
	}
	for (uint32_t e = 0; e < g->nedge; e++) {
		if (g->edge[e].from != v || e == g->close)
			continue;
		en->edge[en->depth++] = e;
		enumerate(en, begin, en->d->cut[e] ? g->exit : g->edge[e].to);
		en->depth--;
	}
}

/* All paths of the DAG, by definition: root and what cut edges lead to, and on from there. */
static inline struct enumeration *
all_paths(const struct dag *d)
{
	static struct enumeration en;
	bool begin[d->g->nvert];

	memset(begin, 0, sizeof begin);
	en.d = d;
	en.n = en.depth = 0;
	for (uint32_t e = 0; e < d->g->nedge; e++)
		if (d->cut[e])
			begin[d->g->edge[e].to] = true;
	begin[d->g->root] = true;
	for (uint32_t v = 0; v < d->g->nvert; v++)
		if (begin[v])
			enumerate(&en, v, v);
	return &en;
}

/* What the code of `probes` makes of a path. */
static inline int64_t
run_path(const struct probes *p, const struct one *one)
{
	int64_t r = p->start[one->begin];

	for (uint32_t i = 0; i < one->n; i++)
		r += p->add[one->edge[i]];
	return r;
}

/* ---- graphs ---- */

/* The edges of a DAG on n vertices are bits of `set`: (0,1), (0,2), ... Vertices that have no way
 * from root or to EXIT stay alone, and get phantoms. The order of edges is random: it matters to
 * selective path profiling as printed. */
static inline struct graph *
dag_of(struct pool *p, uint32_t n, uint32_t set)
{
	struct graph *g = graph_new(p, n, 0, n - 1);

	for (uint32_t u = 0, bit = 0; u < n; u++)
		for (uint32_t v = u + 1; v < n; v++, bit++)
			if (set >> bit & 1)
				graph_edge(g, u, v);
	for (uint32_t e = g->nedge; e-- > 1;) {
		uint32_t other = rnd(e + 1);
		struct edge d = g->edge[e];

		g->edge[e] = g->edge[other];
		g->edge[other] = d;
	}
	finish(g);
	return g;
}

/* Some edges fixed, but no back edges, and no cycle of them. */
static inline void
fix_some(struct graph *g)
{
	const struct order *o = order_dfs(g);

	for (uint32_t e = 0; e < g->nedge; e++) {
		struct edge *d = &g->edge[e];
		double w[g->nedge];

		memset(w, 0, sizeof w);
		if (o->back[e] || d->fixed || rnd(4))
			continue;
		d->fixed = true;
		d->fixed = span_max(g, w, NULL) != NULL;
	}
}

/* n two-way branches in a row, the first arm with the weight given. */
static inline struct graph *
ladder(struct pool *p, uint32_t n, double arm, double **w)
{
	struct graph *g = graph_new(p, 3 * n + 1, 0, 3 * n);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 1; k <= 2; k++) {
			graph_edge(g, 3 * i, 3 * i + k);
			graph_edge(g, 3 * i + k, 3 * i + 3);
		}
	finish(g);
	*w = pool_array(p, g->nedge, sizeof **w);
	for (uint32_t e = 0; e < g->nedge; e++)
		(*w)[e] = e % 4 < 2 ? arm : 1 - arm;
	return g;
}

#endif
