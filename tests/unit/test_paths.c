/* SPDX-License-Identifier: MIT */
/* Path numbers against enumeration and random walks, on every small graph and many random ones. */
#include "tests/unit/paths.h"

static void
check_numbers(const struct paths *p)
{
	const struct graph *g = p->dag->g;
	struct enumeration *en = all_paths(p->dag);
	bool seen[MOST] = {false};

	check(g, en->n == p->n);
	for (uint32_t i = 0; i < en->n; i++) {
		const struct one *one = &en->path[i];
		uint64_t number = (uint64_t)run_path(p->probes, one);
		uint32_t edge[64], n;

		check(g, number < p->n && !seen[number]);
		seen[number] = true;
		check(g, paths_edges(p, number, edge, &n) == one->begin);
		check(g, n == one->n && !memcmp(edge, one->edge, n * sizeof *edge));
		check(g, paths_find(p, one->begin, one->edge, one->n) == number);
	}
}

/* ---- a weaver's code, run ---- */

/* One activation at a time. `lazy`: with known[]. */
struct machine {
	const struct paths *p;
	bool lazy, held;
	int64_t r;
	uint32_t begin, n, edge[64]; /* the truth: the path so far */
};

static void
begin_path(struct machine *m, uint32_t v)
{
	m->held = !m->lazy || !m->p->probes->known[v];
	m->r = m->held ? m->p->probes->start[v] : 777777;
	m->begin = v;
	m->n = 0;
}

static int64_t
value_at(const struct machine *m, uint32_t v)
{
	const struct probes *p = m->p->probes;

	if (!m->lazy)
		return m->r;
	check(m->p->dag->g, p->known[v] || m->held);
	return p->known[v] ? p->value[v] : m->r;
}

static void
check_record(struct machine *m, uint64_t number)
{
	const struct graph *g = m->p->dag->g;
	uint32_t edge[64], n;

	check(g, number < m->p->n);
	check(g, paths_edges(m->p, number, edge, &n) == m->begin);
	check(g, n == m->n && !memcmp(edge, m->edge, n * sizeof *edge));
}

static void
check_unfinished(struct machine *m, uint32_t v)
{
	const struct graph *g = m->p->dag->g;
	uint64_t number = (uint64_t)(value_at(m, v) + m->p->probes->query[v]);
	uint32_t edge[64], n;

	check(g, number < m->p->n);
	check(g, paths_edges(m->p, number, edge, &n) == m->begin);
	check(g, n >= m->n && !memcmp(edge, m->edge, m->n * sizeof *edge));
}

static void
take(struct machine *m, uint32_t e)
{
	const struct graph *g = m->p->dag->g;
	const struct probes *p = m->p->probes;
	uint32_t u = g->edge[e].from, v = g->edge[e].to;
	int64_t old = value_at(m, u);

	m->edge[m->n++] = e;
	check(g, !g->edge[e].fixed || g->edge[e].phantom || !p->add[e]);
	if (m->p->dag->cut[e]) {
		check_record(m, (uint64_t)(old + p->add[e]));
		begin_path(m, v);
		return;
	}
	if (v == g->exit) {
		check_record(m, (uint64_t)(old + p->add[e]));
		return;
	}
	if (m->lazy && p->known[u] && !p->known[v]) {
		check(g, !g->edge[e].fixed || g->edge[e].phantom);
		m->held = true;
	}
	if (!m->lazy || !p->known[v])
		m->r = old + p->add[e];
}

/* Phantoms never run. False: v leads nowhere else. */
static bool
step(const struct graph *g, uint32_t v, uint32_t *e)
{
	uint32_t n = g->out_at[v + 1] - g->out_at[v], first = rnd(n);

	for (uint32_t i = 0; i < n; i++) {
		*e = g->out[g->out_at[v] + (first + i) % n];
		if (!g->edge[*e].phantom)
			return true;
	}
	return false;
}

static void
check_walk(const struct paths *p, bool lazy)
{
	const struct graph *g = p->dag->g;
	struct machine m = {.p = p, .lazy = lazy};
	uint32_t v = g->root, e;

	begin_path(&m, v);
	for (uint32_t i = 0; i < 60; i++) {
		if (v != g->exit)
			check_unfinished(&m, v);
		if (!step(g, v, &e))
			break;
		if (e == g->close)
			begin_path(&m, g->root);
		else
			take(&m, e);
		v = g->edge[e].to;
	}
}

static void
check_paths(const struct dag *d)
{
	const char *why = NULL;
	struct paths *p = paths_number(d, &why);

	check(d->g, p);
	check_numbers(p);
	check_walk(p, false);
	check_walk(p, true);
}

static uint32_t limits_kept, limits_not;

/* With random cold edges, then under a random limit. */
static void
check_cuts(const struct graph *g, const struct order *o, const double *w)
{
	bool *cold = pool_array(g->pool, g->nedge, sizeof *cold);
	const char *why = "";
	uint64_t limit = 1 + rnd(2 * g->nedge);
	struct dag *d;

	for (uint32_t e = 0; e < g->nedge; e++)
		cold[e] = !rnd(3) && !g->edge[e].fixed;
	d = dag_new(g, o, w, cold, 0, &why);
	check(g, d);
	for (uint32_t e = 0; e < g->nedge; e++)
		check(g, d->cut[e] == (o->back[e] || (cold[e] && g->edge[e].to != g->exit)));
	check_paths(d);
	d = dag_new(g, o, w, NULL, limit, &why);
	if (d) {
		limits_kept++;
		check(g, all_paths(d)->n <= limit);
		check_paths(d);
		return;
	}
	limits_not++;
	check(g, strstr(why, "no cuts were found"));
}

static void
check_graph(struct graph *g)
{
	struct order *o = order_dfs(g);
	double *w = random_weights(g);
	const char *why = "";
	struct dag *d = dag_new(g, o, w, NULL, 0, &why);

	check(g, d);
	check_paths(d);
	check_cuts(g, o, w);
}

/* ---- graphs ---- */

static void
test_dags(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 5; n++)
		for (uint32_t set = 0; set < 1u << n * (n - 1) / 2; set++) {
			struct pool *p = pool_new();

			check_graph(dag_of(p, n, set));
			pool_free(p);
		}
}

/* All multisets of up to `max` edges among `n` vertices, from any but EXIT. */
static void
all_small(uint32_t n, uint32_t max)
{
	uint32_t kinds = (n - 1) * n, pick[8];

	for (uint32_t m = 1; m <= max; m++) {
		uint32_t i;

		memset(pick, 0, sizeof pick);
		do {
			struct pool *p = pool_new();
			struct graph *g = graph_new(p, n, 0, n - 1);

			for (uint32_t k = 0; k < m; k++)
				graph_edge(g, pick[k] / n, pick[k] % n);
			finish(g);
			check_graph(g);
			pool_free(p);
			for (i = m; i && pick[i - 1] == kinds - 1; i--)
				;
			if (i)
				pick[i - 1]++;
			for (uint32_t k = i; i && k < m; k++)
				pick[k] = pick[i - 1];
		} while (i);
	}
}

static void
test_small(void **unused)
{
	(void)unused;
	all_small(2, 5);
	all_small(3, 5);
	all_small(4, 4);
}

static void
test_random(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < 5000; i++) {
		struct pool *p = pool_new();
		uint32_t n = 2 + rnd(9), m = 1 + rnd(2 * n);
		struct graph *g = graph_new(p, n, 0, n - 1);

		for (uint32_t k = 0; k < m; k++)
			graph_edge(g, rnd(n - 1), rnd(n));
		finish(g);
		fix_some(g);
		check_graph(g);
		pool_free(p);
	}
	print_message("limits kept %u times, too small %u times\n", limits_kept, limits_not);
}

static void
check_ladder(uint32_t n, double arm, uint64_t limit, uint32_t most, double cost)
{
	struct pool *pool = pool_new();
	const char *why = "";
	uint32_t cuts = 0;
	double price = 0, *w;
	struct graph *g = ladder(pool, n, arm, &w);
	struct order *o = order_dfs(g);
	struct paths *p;
	struct dag *d;

	assert_null(paths_number(dag_new(g, o, w, NULL, 0, &why), &why));
	assert_non_null(strstr(why, "more than 2^32"));
	d = dag_new(g, o, w, NULL, limit, &why);
	assert_non_null(d);
	p = paths_number(d, &why);
	assert_non_null(p);
	assert_true(p->n <= limit);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (d->cut[e]) {
			cuts++;
			price += w[e];
		}
	print_message("%u branches, arm %g: %u cuts of weight %g, %llu paths, %u probes of weight %g\n", n, arm, cuts,
	              price, (unsigned long long)p->n, p->probes->n, p->probes->cost);
	assert_true(cuts <= most && price <= cost);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t number = p->n < 1000 ? i % p->n : p->n / 1000 * i;
		uint32_t edge[3 * n + 1], count, begin = paths_edges(p, number, edge, &count);

		assert_true(paths_find(p, begin, edge, count) == number);
	}
	pool_free(pool);
}

static void
test_too_many(void **unused)
{
	(void)unused;
	check_ladder(40, 0.5, (uint64_t)1 << 31, 4, 2);
	check_ladder(120, 0.5, (uint64_t)1 << 31, 20, 8);
	check_ladder(120, 0.01, (uint64_t)1 << 31, 120, 1.2);
	check_ladder(1000, 0.1, 1000000, 1000, 100);
	check_ladder(40, 0.5, 200, 60, 40);
}

/* ---- what cannot be ---- */

static void
test_refused(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	const char *why = "";
	double w[] = {1, 1, 1, 1, 1};
	bool cold[] = {true, false, true, false, false};
	struct order *o;
	struct paths *paths;
	uint32_t edge[3];

	(void)unused;
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 1);
	graph_edge(g, 1, 2);
	finish(g);
	o = order_dfs(g);
	paths = paths_number(dag_new(g, o, w, NULL, 0, &why), &why);
	assert_int_equal(paths->n, 4);
	edge[0] = 0;
	edge[1] = 1;
	assert_true(paths_find(paths, 0, edge, 2) < 4);
	assert_true(paths_find(paths, 0, edge, 1) == UINT64_MAX);
	edge[0] = 1;
	assert_true(paths_find(paths, 1, edge, 1) < 4);
	assert_true(paths_find(paths, 1, edge, 2) == UINT64_MAX);
	assert_true(paths_find(paths, 2, edge, 0) == UINT64_MAX);
	assert_null(dag_new(g, o, w, NULL, 2, &why));
	assert_non_null(strstr(why, "no cuts were found that leave 2 paths"));
	g->edge[0].fixed = true;
	assert_null(dag_new(g, o, w, cold, 0, &why));
	assert_non_null(strstr(why, "0 -> 1 is to be cut and is fixed"));
	g->edge[1].fixed = true;
	assert_null(dag_new(g, o, w, NULL, 0, &why));
	assert_non_null(strstr(why, "1 -> 1 closes a loop and is fixed"));
	g->edge[1].fixed = false;
	graph_edge(g, 0, 1);
	g->edge[4].fixed = true;
	graph_index(g);
	assert_null(paths_number(dag_new(g, order_dfs(g), w, NULL, 0, &why), &why));
	assert_non_null(strstr(why, "cycle of fixed edges"));
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dags),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
