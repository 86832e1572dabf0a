/* SPDX-License-Identifier: MIT */
/* Event counting against its definition: sums along random walks, with a query at
 * every vertex, on every small multigraph; and against Fig. 4 of Ball 1994 as printed. */
#include "graph/graph.h"
#include "tests/unit/quick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static uint32_t
rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* How often Fig. 4 as printed was right and wrong: [with self-loops]. */
static uint32_t agreed[2], differed[2];

static void
show(const struct graph *g, const bool *tree, const int64_t *events)
{
	fprintf(stderr, "root %u\nexit %u\n", g->root, g->exit);
	for (uint32_t e = 0; e < g->nedge; e++)
		fprintf(stderr, "%sedge %u %u events %lld%s\n", e == g->close ? "# " : "", g->edge[e].from, g->edge[e].to,
		        (long long)events[e], tree[e] ? " tree" : "");
}

/* One walk from root, of a few executions: the counter and the query give the events at every
 * step. */
static bool
walk_holds(const struct graph *g, const struct events *ev, const int64_t *events, uint32_t steps)
{
	int64_t truth = 0, counter = 0;
	uint32_t v = g->root;

	for (uint32_t i = 0; i < steps; i++) {
		uint32_t n = g->out_at[v + 1] - g->out_at[v];
		uint32_t e = g->out[g->out_at[v] + rnd(n)];

		truth += events[e];
		counter += ev->increment[e];
		v = g->edge[e].to;
		if (counter + ev->query[v] != truth)
			return false;
		if (v == g->exit && !events[g->close] && counter != truth)
			return false;
	}
	return true;
}

static bool
zero_on_tree(const struct graph *g, const bool *tree, const struct events *ev)
{
	for (uint32_t e = 0; e < g->nedge; e++)
		if (tree[e] && ev->increment[e])
			return false;
	return true;
}

static bool
same(const struct graph *g, const struct events *a, const struct events *b)
{
	return !memcmp(a->increment, b->increment, g->nedge * sizeof *a->increment) &&
	       !memcmp(a->query, b->query, g->nvert * sizeof *a->query);
}

static bool
has_self_loop(const struct graph *g)
{
	for (uint32_t e = 0; e < g->nedge; e++)
		if (g->edge[e].from == g->edge[e].to)
			return true;
	return false;
}

#define check(cond) \
	do { \
		if (!(cond)) { \
			show(g, tree, events); \
			fail_msg("%s:%d: %s", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

static double *
random_weights(const struct graph *g)
{
	double *w = pool_array(g->pool, g->nedge, sizeof *w);

	for (uint32_t e = 0; e < g->nedge; e++)
		w[e] = 1 + rnd(100);
	return w;
}

static int64_t *
random_events(const struct graph *g)
{
	int64_t *events = pool_array(g->pool, g->nedge, sizeof *events);

	for (uint32_t e = 0; e < g->nedge; e++)
		events[e] = e == g->close && rnd(2) ? 0 : (int64_t)rnd(2001) - 1000;
	return events;
}

static void
check_printed(const struct graph *g, const bool *tree, const int64_t *events, const struct events *ev)
{
	const struct events *fig4 = events_printed(g, tree, events);
	bool loop = has_self_loop(g);

	check(fig4);
	if (same(g, ev, fig4))
		agreed[loop]++;
	else
		differed[loop]++;
	check(loop || same(g, ev, fig4));
	/* The query increments, and all edges but self-loops, are right in any case. */
	check(!memcmp(ev->query, fig4->query, g->nvert * sizeof *ev->query));
	for (uint32_t e = 0; e < g->nedge; e++)
		check(ev->increment[e] == fig4->increment[e] || g->edge[e].from == g->edge[e].to);
}

/* Calls at random vertices: there, nothing has to be added. Weights and events go by
 * edge, and walks of the graph itself are right. */
static void
check_calls(const struct graph *g, const double *w, const int64_t *events)
{
	bool *at = pool_array(g->pool, g->nvert, sizeof *at), *tree;
	struct graph *joined;
	struct events *ev;
	const char *why;

	for (uint32_t v = 0; v < g->nvert; v++)
		at[v] = rnd(2);
	joined = events_join(g, at);
	tree = span_max(joined, w, NULL);
	if (!tree) /* two phantoms, or one and the closing edge, may be a cycle now */
		return;
	ev = events_place(joined, tree, events, &why);
	check(ev);
	check(zero_on_tree(g, tree, ev));
	for (uint32_t v = 0; v < g->nvert; v++)
		check(!at[v] || v == g->exit || !ev->query[v]);
	check(walk_holds(g, ev, events, 40));
}

static void
check_graph(struct graph *g)
{
	double *w;
	int64_t *events;
	const char *why = "";
	struct events *ev;
	bool *tree;

	graph_close(g);
	graph_complete(g);
	w = random_weights(g);
	events = random_events(g);
	tree = span_max(g, w, NULL);
	ev = events_place(g, tree, events, &why);
	check(ev && !why);
	check(zero_on_tree(g, tree, ev));
	check(!ev->query[g->root]);
	check(walk_holds(g, ev, events, 40));
	check_printed(g, tree, events, ev);
	check_calls(g, w, events);
}

/* ---- graphs ---- */

/* All multisets of up to `max` edges among `n` vertices, from any but EXIT. */
static void
all_small(uint32_t n, uint32_t max)
{
	uint32_t kinds = (n - 1) * n, pick[8] = {0}, m;

	for (m = 1; m <= max; m++) {
		memset(pick, 0, sizeof pick);
		for (;;) {
			struct pool *p = pool_new();
			struct graph *g = graph_new(p, n, 0, n - 1);
			uint32_t i = m;

			for (uint32_t k = 0; k < m; k++)
				graph_edge(g, pick[k] / n, pick[k] % n);
			check_graph(g);
			pool_free(p);
			while (i-- > 0 && pick[i] == kinds - 1)
				;
			if (i == UINT32_MAX)
				break;
			pick[i]++;
			for (uint32_t k = i + 1; k < m; k++)
				pick[k] = pick[i];
		}
	}
}

static void
test_small(void **unused)
{
	(void)unused;
	all_small(2, 6);
	all_small(3, 6);
	all_small(4, 5);
	print_message("Fig. 4 as printed: without self-loops %u right, %u wrong; with them %u right, %u wrong\n",
	              agreed[0], differed[0], agreed[1], differed[1]);
	assert_int_equal(differed[0], 0);
	assert_true(differed[1] > 0);
}

static void
test_random(void **unused)
{
	(void)unused;
	memset(agreed, 0, sizeof agreed);
	memset(differed, 0, sizeof differed);
	for (uint32_t i = 0; i < 20000; i++) {
		struct pool *p = pool_new();
		uint32_t n = 2 + rnd(12), m = 1 + rnd(3 * n);
		struct graph *g = graph_new(p, n, 0, n - 1);

		for (uint32_t k = 0; k < m; k++)
			graph_edge(g, rnd(n - 1), rnd(n));
		check_graph(g);
		pool_free(p);
	}
	print_message("Fig. 4 as printed: without self-loops %u right, %u wrong; with them %u right, %u wrong\n",
	              agreed[0], differed[0], agreed[1], differed[1]);
	assert_int_equal(differed[0], 0);
	assert_true(differed[1] > 0);
}

/* A loop of one block, 0 -> 1, 1 -> 1, 1 -> 2. */
static void
test_self_loop(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	bool tree[] = {true, false, false, true};
	int64_t events[] = {5, 7, 1, 0};
	struct events *ev, *fig4;

	(void)unused;
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	ev = events_place(g, tree, events, NULL);
	fig4 = events_printed(g, tree, events);
	assert_int_equal(ev->increment[1], 7);
	assert_int_equal(ev->increment[2], 6);
	assert_int_equal(ev->query[1], 5);
	assert_int_equal(fig4->increment[1], 12);
	assert_int_equal(fig4->increment[2], 6);
	pool_free(p);
}

/* ---- what does not fit, and what is no tree ---- */

static struct events *
chain(struct pool *p, int64_t a, int64_t b, bool first, const char **why)
{
	struct graph *g = graph_new(p, 3, 0, 2);
	bool tree[] = {first, false, true, true};
	int64_t events[] = {a, 1, b, 0};

	graph_edge(g, 0, 1);
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	return events_place(g, tree, events, why);
}

static void
test_overflow(void **unused)
{
	struct pool *p = pool_new();
	const char *why = "";
	struct graph *g = graph_new(p, 3, 0, 2);
	bool tree[] = {true, true, false, false};
	int64_t events[] = {INT64_MAX, 1, 0, 0};

	(void)unused;
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_edge(g, 0, 2);
	graph_close(g);
	graph_complete(g);
	assert_null(events_place(g, tree, events, &why));
	assert_non_null(strstr(why, "64 bits"));
	assert_null(events_printed(g, tree, events));
	events[1] = 0;
	assert_non_null(events_place(g, tree, events, &why));
	assert_null(why);
	/* The potentials fit, an increment does not. */
	events[2] = -2;
	assert_null(events_place(g, tree, events, &why));
	assert_non_null(strstr(why, "increment"));
	assert_null(events_place(g, tree, events, NULL));
	events[0] = INT64_MIN;
	events[2] = INT64_MAX;
	assert_null(events_place(g, tree, events, NULL));
	pool_free(p);
}

static void
test_no_tree(void **unused)
{
	struct pool *p = pool_new();
	const char *why = "";

	(void)unused;
	assert_null(chain(p, INT64_MIN, 0, true, &why));
	assert_non_null(strstr(why, "64 bits"));
	assert_non_null(chain(p, 1, 2, false, &why)); /* 1 -> 2 and the closing edge span as well */
	pool_free(p);
	p = pool_new();
	{
		struct graph *g = graph_new(p, 3, 0, 2);
		bool tree[] = {true, false, false};
		int64_t events[] = {1, 1, 0};

		graph_edge(g, 0, 1);
		graph_edge(g, 1, 2);
		graph_close(g);
		graph_complete(g);
		assert_null(events_place(g, tree, events, &why));
		assert_non_null(strstr(why, "does not reach vertex 2"));
	}
	pool_free(p);
}

/* A call between two branches: P -> C twice, C -> R. Without the join C is accurate by chance of
 * the tree only; with it, both ways to the call count their own, and so does the way behind it. */
static void
test_call(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2), *joined;
	bool at[] = {false, true, false}, *tree;
	double w[] = {9, 1, 10, 10};
	int64_t events[] = {3, 4, 5, 0};
	struct events *ev;

	(void)unused;
	graph_edge(g, 0, 1);
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	ev = events_place(g, span_max(g, w, NULL), events, NULL);
	assert_int_equal(ev->query[1], -5);
	joined = events_join(g, at);
	tree = span_max(joined, w, NULL);
	ev = events_place(joined, tree, events, NULL);
	assert_int_equal(ev->query[1], 0);
	for (uint32_t e = 0; e < 3; e++)
		assert_int_equal(ev->increment[e], events[e]);
	pool_free(p);
}

/* A chain of a million vertices. */
static void
test_large(void **unused)
{
	const uint32_t n = size_of(1000000, 100000), cold = n / 2;
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, n, 0, n - 1);
	int64_t *events;
	double *w;
	bool *tree;
	struct events *ev;

	(void)unused;
	for (uint32_t v = 0; v + 1 < n; v++)
		graph_edge(g, v, v + 1);
	graph_close(g);
	graph_complete(g);
	events = pool_array(p, g->nedge, sizeof *events);
	w = pool_array(p, g->nedge, sizeof *w);
	for (uint32_t e = 0; e + 1 < g->nedge; e++)
		events[e] = 1, w[e] = e == cold ? 1 : 2;
	tree = span_max(g, w, NULL);
	ev = events_place(g, tree, events, NULL);
	assert_int_equal(ev->increment[cold], n - 1);
	assert_int_equal(ev->query[cold], cold);
	assert_int_equal(ev->query[cold + 1], (int64_t)cold + 1 - (n - 1));
	assert_memory_equal(ev->increment, events_printed(g, tree, events)->increment, g->nedge * sizeof *ev->increment);
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),    cmocka_unit_test(test_random),  cmocka_unit_test(test_self_loop),
		cmocka_unit_test(test_overflow), cmocka_unit_test(test_no_tree), cmocka_unit_test(test_call),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
