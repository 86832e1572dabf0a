/* SPDX-License-Identifier: MIT */
/* Spanning trees against all trees, and counts against walks: every small multigraph, many random ones. Also counts that cannot
 * be. */
#include "tests/unit/graphs.h"

/* ---- spanning trees ---- */

/* What a tree is worth: fixed edges before all others, real ones before phantoms. */
struct worth {
	uint32_t fixed;
	double weight;
};

static struct worth
worth(const struct all *a, uint32_t e)
{
	const struct edge *d = &a->g->edge[e];

	return d->fixed ? (struct worth){d->phantom ? 1 : 1000, 0} : (struct worth){0, a->w[e] * d->cost};
}

static struct worth
plus(struct worth x, struct worth y)
{
	return (struct worth){x.fixed + y.fixed, x.weight + y.weight};
}

static bool
more(struct worth x, struct worth y)
{
	return x.fixed != y.fixed ? x.fixed > y.fixed : x.weight > y.weight;
}

static bool
is_tree(const struct graph *g, uint64_t edges)
{
	uint32_t set[64], joined = 0;

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = set[g->edge[e].from], to = set[g->edge[e].to];

		if (!(edges >> e & 1))
			continue;
		if (from == to)
			return false;
		for (uint32_t v = 0; v < g->nvert; v++)
			set[v] = set[v] == from ? to : set[v];
		joined++;
	}
	return joined == g->nvert - 1;
}

/* The best of all sets of nvert - 1 edges that are trees (Gosper's succession). */
static struct worth
best_tree(const struct all *a)
{
	uint64_t set = (1ull << (a->g->nvert - 1)) - 1, end = 1ull << a->g->nedge;
	struct worth best = {0, -1};

	while (set < end) {
		uint64_t low = set & -set, next = set + low;
		struct worth sum = {0, 0};

		if (is_tree(a->g, set)) {
			for (uint32_t e = 0; e < a->g->nedge; e++)
				if (set >> e & 1)
					sum = plus(sum, worth(a, e));
			best = more(sum, best) ? sum : best;
		}
		set = (((next ^ set) >> 2) / low) | next;
	}
	return best;
}

/* Prim's algorithm, for graphs too large to try all. */
static struct worth
prim(const struct all *a)
{
	const struct graph *g = a->g;
	struct worth sum = {0, 0};
	bool in[g->nvert];

	memset(in, 0, sizeof in);
	in[0] = true;
	for (uint32_t n = 1; n < g->nvert; n++) {
		uint32_t best = GRAPH_NONE;

		for (uint32_t e = 0; e < g->nedge; e++)
			if (in[g->edge[e].from] != in[g->edge[e].to] &&
			    (best == GRAPH_NONE || more(worth(a, e), worth(a, best))))
				best = e;
		check(a->g, best != GRAPH_NONE);
		sum = plus(sum, worth(a, best));
		in[g->edge[best].from] = in[g->edge[best].to] = true;
	}
	return sum;
}

static void
check_span(const struct all *a, bool small)
{
	struct worth sum = {0, 0}, best = small ? best_tree(a) : prim(a);
	uint64_t set = 0;
	uint32_t n = 0;

	for (uint32_t e = 0; e < a->g->nedge; e++) {
		check(a->g, a->tree[e] || !a->g->edge[e].fixed || a->g->edge[e].phantom);
		if (!a->tree[e])
			continue;
		sum = plus(sum, worth(a, e));
		set |= e < 64 ? 1ull << e : 0;
		n++;
	}
	check(a->g, a->tree[a->g->close]);
	check(a->g, n == a->g->nvert - 1);
	check(a->g, a->g->nedge > 64 || is_tree(a->g, set));
	check(a->g, sum.fixed == best.fixed && close_to(sum.weight, best.weight));
}

/* ---- counts ---- */

struct run {
	uint64_t count[512];
	int64_t source[64];
};

/* An activation leaves early at v: an edge v -> EXIT that is not in the graph. */
static void
leave_early(const struct graph *g, struct run *r, uint32_t v)
{
	r->source[v]--;
	r->source[g->exit]++;
}

/* Walks at random from v; at its end it is at EXIT, or leaves early where it is.
 * Returns where it left early, or GRAPH_NONE. */
static uint32_t
walk(const struct graph *g, struct run *r, uint32_t v)
{
	for (uint32_t steps = rnd(40); v != g->exit; steps--) {
		uint32_t n = g->out_at[v + 1] - g->out_at[v], e = n ? g->out[g->out_at[v] + rnd(n)] : GRAPH_NONE;

		if (!steps || !n || g->edge[e].phantom) {
			leave_early(g, r, v);
			return v;
		}
		r->count[e]++;
		v = g->edge[e].to;
	}
	return GRAPH_NONE;
}

/* Runs that leave early may come back somewhere else, as longjmp does. */
static void
execute(const struct graph *g, struct run *r)
{
	memset(r, 0, sizeof *r);
	for (uint32_t n = rnd(6); n; n--) {
		uint32_t left;

		r->count[g->close]++;
		left = walk(g, r, g->root);
		while (left != GRAPH_NONE && !rnd(3)) {
			uint32_t v = rnd(g->nvert);

			if (v == g->exit)
				continue;
			r->source[v]++;
			r->source[g->exit]--;
			left = walk(g, r, v);
		}
	}
}

static void
check_flow(const struct all *a)
{
	struct run r;
	uint64_t count[512];
	bool known[512];
	const char *why = "";

	execute(a->g, &r);
	for (uint32_t e = 0; e < a->g->nedge; e++) {
		known[e] = !a->tree[e];
		count[e] = known[e] ? r.count[e] : 12345;
	}
	if (!flow_propagate(a->g, known, count, r.source, &why))
		print_error("%s\n", why);
	for (uint32_t e = 0; e < a->g->nedge; e++)
		check(a->g, count[e] == r.count[e]);
	check(a->g, !flow_check(a->g, count, r.source));
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		uint64_t n = 0;

		for (uint32_t e = 0; e < a->g->nedge; e++)
			n += a->g->edge[e].to == v ? r.count[e] : 0;
		check(a->g, flow_vertex(a->g, count, v) == n);
	}
}

/* ---- all of it ---- */

static void
check_all(const struct all *a, bool small)
{
	check(a->g, a->tree);
	check_span(a, small);
	for (int i = 0; i < 3; i++)
		check_flow(a);
}

static void
test_small(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n, check_all);
}

static void
test_random(void **unused)
{
	(void)unused;
	try_random(check_all);
}

/* ---- counts that cannot be ---- */

/* 0 -> 1 twice, 1 -> 2; edge 3 closes. Known: the edges given. */
static bool
propagate(uint64_t a, uint64_t b, uint32_t unknown, const int64_t *source, uint64_t *count, const char **why)
{
	static struct pool *p;
	struct graph *g;
	bool known[4];

	pool_free(p);
	p = pool_new();
	g = graph_new(p, 3, 0, 2);
	graph_edge(g, 0, 1);
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	count[0] = a;
	count[1] = b;
	count[2] = count[3] = a;
	for (uint32_t e = 0; e < 4; e++)
		known[e] = !(unknown >> e & 1);
	return flow_propagate(g, known, count, source, why);
}

static void
test_flow_errors(void **unused)
{
	uint64_t count[4];
	const char *why = NULL;
	int64_t early[] = {0, -1, 1}, torn[] = {0, -1, 0}, huge[] = {0, INT64_MAX, -INT64_MAX};

	(void)unused;
	assert_true(propagate(5, 7, 0xc, NULL, count, &why));
	assert_int_equal(count[2], 12);
	assert_int_equal(count[3], 12);
	/* edge 1 = edge 3 - edge 0 = 5 - 5 */
	assert_true(propagate(5, 0, 0x6, NULL, count, &why));
	assert_int_equal(count[1], 0);
	/* 64 bits are just enough, and then they are not */
	assert_true(propagate(UINT64_MAX - 1, 1, 0xc, NULL, count, &why));
	assert_true(count[3] == UINT64_MAX);
	assert_false(propagate(UINT64_MAX, 1, 0xc, NULL, count, &why));
	assert_non_null(strstr(why, "64 bits"));
	assert_false(propagate(UINT64_MAX, UINT64_MAX, 0xc, NULL, count, NULL));
	/* sources */
	assert_true(propagate(5, 7, 0xc, early, count, &why));
	assert_int_equal(count[2], 11);
	assert_int_equal(count[3], 12);
	assert_false(propagate(0, 0, 0xc, early, count, &why));
	assert_non_null(strstr(why, "negative"));
	assert_false(propagate(5, 7, 0xc, torn, count, &why));
	assert_non_null(strstr(why, "not conserved"));
	assert_true(propagate(5, 7, 0xc, huge, count, &why));
	assert_true(count[2] == (uint64_t)INT64_MAX + 12 && count[3] == 12);
	/* not a forest; not conserved although all is known */
	assert_false(propagate(5, 7, 0x3, NULL, count, &why));
	assert_non_null(strstr(why, "not determined"));
	assert_false(propagate(5, 7, 0, NULL, count, &why));
	assert_non_null(strstr(why, "not conserved"));
	assert_true(propagate(5, 0, 0, NULL, count, &why));
}

static void
test_phantom_ran(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	uint32_t seen = graph_edge(g, 0, 2), dead = graph_edge(g, 1, 2);
	uint64_t count[4] = {0};
	bool known[4] = {false};
	const char *why = "";

	(void)unused;
	graph_close(g);
	assert_int_equal(graph_complete(g), 1);
	known[seen] = known[dead] = true;
	count[seen] = 4;
	assert_true(flow_propagate(g, known, count, NULL, &why));
	count[dead] = 1;
	assert_false(flow_propagate(g, known, count, NULL, &why));
	assert_non_null(strstr(why, "never runs"));
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_flow_errors),
		cmocka_unit_test(test_phantom_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
