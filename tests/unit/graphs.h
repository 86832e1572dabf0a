/* SPDX-License-Identifier: MIT */
/* What the tests of graph algorithms share: random numbers, reports of failures, all small graphs, and many random ones. */
#ifndef CHORD_TEST_GRAPHS_H
#define CHORD_TEST_GRAPHS_H

#include "graph/graph.h"
#include "tests/unit/quick.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static inline uint32_t
rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* What failed, with the graph, as a file for `chord graph`. */
static inline void
show(const struct graph *g)
{
	if (g->nedge > 100)
		return;
	fprintf(stderr, "root %u\nexit %u\n", g->root, g->exit);
	for (uint32_t e = 0; e < g->nedge; e++)
		fprintf(stderr, "%sedge %u %u%s%s\n", e == g->close ? "# " : "", g->edge[e].from, g->edge[e].to,
		        g->edge[e].fixed ? " fixed" : "", g->edge[e].phantom ? " # phantom" : "");
}

#define check(g, cond) \
	do { \
		if (!(cond)) { \
			show(g); \
			fail_msg("%s:%d: %s", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

/* Everything known about one graph. */
struct all {
	struct graph *g;
	struct order *o;
	struct loops *l;
	double *w;
	bool *tree;
	uint32_t nphantom;
};

static inline bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- everything on one graph ---- */

static inline struct all
solve(struct graph *g)
{
	struct all a = {.g = g};

	graph_close(g);
	a.nphantom = graph_complete(g);
	a.o = order_dfs(g);
	a.l = loops_find(g, a.o);
	a.w = weight_heuristic(g, a.o, a.l);
	a.tree = span_max(g, a.w, NULL);
	return a;
}

static inline void
check_conserved(const struct all *a)
{
	const struct graph *g = a->g;

	check(a->g, a->w[g->close] == 1.0);
	for (uint32_t v = 0; v < g->nvert; v++) {
		double in = 0, out = 0;

		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
			in += a->w[g->in[i]];
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			out += a->w[g->out[i]];
		check(a->g, close_to(in, out));
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		check(a->g, a->w[e] > 0 && isfinite(a->w[e]));
}

/* ---- graphs ---- */

/* Checks one; small: it has few edges. */
typedef void check_fn(const struct all *a, bool small);

static inline void
check_solved(struct graph *g, bool small, check_fn *fn)
{
	struct all a = solve(g);

	fn(&a, small);
}

enum { SMALL = 7 };

/* Edges by number: source * n + target; EXIT, the last vertex, has none. */
static inline void
try_edges(uint32_t n, const uint32_t *kind, uint32_t nkind, check_fn *fn)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, n, 0, n - 1);
	uint32_t shuffled[SMALL];

	memcpy(shuffled, kind, nkind * sizeof *kind);
	for (uint32_t i = nkind; i > 1; i--) {
		uint32_t k = rnd(i), t = shuffled[k];

		shuffled[k] = shuffled[i - 1];
		shuffled[i - 1] = t;
	}
	for (uint32_t i = 0; i < nkind; i++)
		graph_edge(g, shuffled[i] / n, shuffled[i] % n);
	check_solved(g, true, fn);
	pool_free(p);
}

/* All multisets of up to SMALL kinds: rising sequences. */
static inline void
try_all(uint32_t n, check_fn *fn)
{
	uint32_t kind[SMALL] = {0}, kinds = (n - 1) * n;

	for (uint32_t len = 0; len <= size_of(SMALL, SMALL - 1); len++) {
		memset(kind, 0, sizeof kind);
		for (;;) {
			uint32_t i = len;

			try_edges(n, kind, len, fn);
			while (i > 0 && kind[i - 1] == kinds - 1)
				i--;
			if (!i)
				break;
			kind[i - 1]++;
			for (; i < len; i++)
				kind[i] = kind[i - 1];
		}
	}
}

static inline void
try_random(check_fn *fn)
{
	for (int i = 0; i < (int)size_of(6000, 1500); i++) {
		struct pool *p = pool_new();
		uint32_t n = 2 + rnd(i % 10 ? 12 : 40), m = rnd(3 * n);
		struct graph *g = graph_new(p, n, rnd(2) ? 0 : n - 2, n - 1);

		for (uint32_t k = 0; k < m; k++) {
			uint32_t v = rnd(n - 1), e = graph_edge(g, v, rnd(3) ? v + rnd(n - v) : rnd(n));

			g->edge[e].cost = rnd(4) ? 1 : 1 + rnd(8);
		}
		check_solved(g, false, fn);
		pool_free(p);
	}
}

#endif
