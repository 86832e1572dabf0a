/* SPDX-License-Identifier: MIT */
/* Graphs that deserve a test of their own: fixed edges, vertices that nothing reaches, input that is no graph, and a few graphs
 * with a million vertices. */
#include "tests/unit/graphs.h"

/* ---- fixed edges ---- */

static void
test_fixed(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	uint32_t a = graph_edge(g, 0, 1), b = graph_edge(g, 0, 1), bad = 99;
	double w[] = {1, 2, 3, 4, 5};
	bool *tree;

	(void)unused;
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	g->edge[a].fixed = true;
	tree = span_max(g, w, &bad);
	assert_non_null(tree);
	assert_true(tree[a] && !tree[b]);
	g->edge[b].fixed = true;
	assert_null(span_max(g, w, &bad));
	assert_int_equal(bad, b);
	assert_null(span_max(g, w, NULL));
	g->edge[a].fixed = g->edge[b].fixed = false;
	g->edge[a].cost = 3;
	tree = span_max(g, w, NULL);
	assert_true(tree[a] && !tree[b]);
	pool_free(p);
}

/* ---- completion ---- */

static void
test_complete(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 6, 0, 5);
	bool *tree;

	(void)unused;
	/* 0 runs 1 <-> 2 for ever; 3 <-> 4 is not reached and does not end either. */
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_edge(g, 2, 1);
	graph_edge(g, 3, 4);
	graph_edge(g, 4, 3);
	graph_close(g);
	assert_int_equal(graph_complete(g), 3);
	assert_int_equal(graph_complete(g), 0);
	tree = span_max(g, weight_heuristic(g, order_dfs(g), loops_find(g, order_dfs(g))), NULL);
	assert_non_null(tree);
	pool_free(p);
}

/* A vertex with no edges needs two phantoms, which with the closing edge are a
 * cycle: one of them is a chord, and needs no counter. */
static void
test_lonely(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 1);
	struct all a;
	uint32_t left = 0;

	(void)unused;
	graph_edge(g, 0, 1);
	a = solve(g);
	assert_int_equal(a.nphantom, 2);
	assert_non_null(a.tree);
	for (uint32_t e = 0; e < g->nedge; e++)
		left += !a.tree[e] && g->edge[e].phantom;
	assert_int_equal(left, 1);
	pool_free(p);
}

static void
test_check(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 2, 0, 1);
	uint32_t e = graph_edge(g, 0, 1), v;

	(void)unused;
	assert_null(graph_check(g));
	graph_index(g);
	assert_null(graph_check(g));
	g->edge[e].to = 0;
	assert_non_null(graph_check(g));
	g->edge[e].to = 2;
	assert_non_null(graph_check(g));
	g->edge[e].to = 1;
	v = graph_vertex(g);
	assert_int_equal(v, 2);
	assert_null(g->out_at);
	graph_edge(g, g->exit, v);
	assert_non_null(graph_check(g));
	g->edge[1].from = 0;
	assert_null(graph_check(g));
	g->edge[1].cost = 0;
	assert_non_null(graph_check(g));
	g->edge[1].cost = NAN;
	assert_non_null(graph_check(g));
	assert_non_null(graph_check(graph_new(p, 1, 0, 0)));
	assert_non_null(graph_check(graph_new(p, 1, 0, 1)));
	pool_free(p);
}

/* ---- very large graphs ---- */

/* Vertices of one. */
static uint32_t
large(void)
{
	return size_of(1000000, 100000);
}

static void
check_large(struct graph *g)
{
	struct all a = solve(g);
	uint64_t *count = calloc(g->nedge, sizeof *count);
	bool *known = calloc(g->nedge, sizeof *known);
	const char *why = "";

	assert_null(graph_check(g));
	assert_non_null(a.tree);
	check_conserved(&a);
	for (uint32_t e = 0; e < g->nedge; e++)
		known[e] = !a.tree[e];
	if (!flow_propagate(g, known, count, NULL, &why))
		fail_msg("%s", why);
	assert_null(flow_check(g, count, NULL));
	free(count);
	free(known);
}

static void
test_chain(void **unused)
{
	struct pool *p = pool_new();
	const uint32_t n = large();
	struct graph *g = graph_new(p, n, 0, n - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < n; v++)
		graph_edge(g, v, v + 1);
	check_large(g);
	pool_free(p);
}

/* A ladder of returns: weights would fall below the smallest double. */
static void
test_returns(void **unused)
{
	struct pool *p = pool_new();
	const uint32_t n = large();
	struct graph *g = graph_new(p, n, 0, n - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < n; v++) {
		graph_edge(g, v, n - 1);
		if (v + 2 < n)
			graph_edge(g, v, v + 1);
	}
	check_large(g);
	pool_free(p);
}

/* Half a million loops, each inside the one before, each with a return. */
static void
test_nest(void **unused)
{
	const uint32_t n = large() / 4;
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 2 * n + 1, 0, 2 * n);

	(void)unused;
	for (uint32_t v = 0; v < n; v++) {
		if (v + 1 < n)
			graph_edge(g, v, v + 1);
		graph_edge(g, v, 2 * n - 1 - v);
		graph_edge(g, v, 2 * n);
		graph_edge(g, 2 * n - 1 - v, v);
		if (v)
			graph_edge(g, 2 * n - 1 - v, 2 * n - v);
	}
	check_large(g);
	pool_free(p);
}

/* Random jumps back and forth: a few huge irreducible loops. */
static void
test_tangle(void **unused)
{
	struct pool *p = pool_new();
	const uint32_t n = large() / 2;
	struct graph *g = graph_new(p, n, 0, n - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < n; v++) {
		graph_edge(g, v, v + 1);
		if (!rnd(2))
			graph_edge(g, v, rnd(n));
	}
	check_large(g);
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_lonely),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_nest),
		cmocka_unit_test(test_tangle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
