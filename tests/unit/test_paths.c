/* SPDX-License-Identifier: MIT */
/* Path numbers and the sums of selective path profiling against enumeration and
 * random walks, on every small graph and many random ones. */
#include "graph/graph.h"

#include <math.h>
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

static void
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

static double *
random_weights(const struct graph *g)
{
	double *w = pool_array(g->pool, g->nedge, sizeof *w);

	for (uint32_t e = 0; e < g->nedge; e++)
		w[e] = 1 + rnd(100);
	return w;
}

static void
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

static void
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
static struct enumeration *
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
static int64_t
run_path(const struct probes *p, const struct one *one)
{
	int64_t r = p->start[one->begin];

	for (uint32_t i = 0; i < one->n; i++)
		r += p->add[one->edge[i]];
	return r;
}

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

/* The edges of a DAG on n vertices are bits of `set`: (0,1), (0,2), ... Vertices that have no way
 * from root or to EXIT stay alone, and get phantoms. The order of edges is random: it matters to
 * selective path profiling as printed. */
static struct graph *
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

/* Some edges fixed, but no back edges, and no cycle of them. */
static void
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

/* n two-way branches in a row, the first arm with the weight given. */
static struct graph *
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

/* ---- selective path profiling ---- */

struct tally {
	uint64_t sets, collide, collide13, collide12, dense;
	uint64_t probes[5];      /* printed; phases 1 and 3; sound; sound and dense; all paths */
	double cost[5];
	bool exhaustive;         /* look for the least cost, too: small DAGs without fixed edges */
	double least;
};

static bool
is_pure(const struct dag *d, const bool *ei, const struct one *one)
{
	if (d->begin[one->begin] != GRAPH_NONE && !ei[d->begin[one->begin]])
		return false;
	for (uint32_t i = 0; i < one->n; i++)
		if (!ei[one->edge[i]])
			return false;
	return true;
}

/* Has some path marked the sum of another? sum by path. */
static bool
collides(const struct enumeration *en, const bool *of_interest, const int64_t *sum)
{
	for (uint32_t i = 0; i < en->n; i++)
		for (uint32_t k = 0; k < en->n && of_interest[i]; k++)
			if (k != i && sum[k] == sum[i])
				return true;
	return false;
}

static bool
values_collide(const struct enumeration *en, const bool *of_interest, const int64_t *val)
{
	int64_t sum[MOST];

	for (uint32_t i = 0; i < en->n; i++)
		sum[i] = dag_sum(en->d, val, en->path[i].begin, en->path[i].edge, en->path[i].n);
	return collides(en, of_interest, sum);
}

static void
tally_values(struct tally *t, int what, const struct dag *d, const int64_t *val)
{
	for (uint32_t e = 0; e < d->graph->nedge; e++)
		if (e != d->close && d->w[e] > 0 && val[e]) {
			t->probes[what]++;
			t->cost[what] += d->w[e];
		}
}

static void
check_printed(struct tally *t, const struct enumeration *en, const bool *ei, const bool *of_interest)
{
	int64_t *val = spp_printed(en->d, ei, SPP_PHASE2 | SPP_PHASE3), *val13 = spp_printed(en->d, ei, SPP_PHASE3);

	t->collide += values_collide(en, of_interest, val);
	t->collide13 += values_collide(en, of_interest, val13);
	t->collide12 += values_collide(en, of_interest, spp_printed(en->d, ei, SPP_PHASE2));
	tally_values(t, 0, en->d, val);
	tally_values(t, 1, en->d, val13);
}

/* The same by a weaver that uses known[]. A path with phantoms never runs. */
static int64_t
run_lazily(const struct dag *d, const struct probes *p, const struct one *one, int64_t otherwise)
{
	int64_t r = p->known[one->begin] ? 777777 : p->start[one->begin];

	for (uint32_t i = 0; i < one->n; i++) {
		const struct edge *e = &d->graph->edge[one->edge[i]];

		if (e->phantom)
			return otherwise;
		if (p->known[e->from] && (e->to == d->g->exit || !p->known[e->to])) {
			check(d->g, !e->fixed || e->to == d->g->exit);
			r = p->value[e->from];
		}
		r += p->add[one->edge[i]];
	}
	return r;
}

/* What the woven code records, for every path: right sums, those of interest unlike all others,
 * and dense if it says so. */
static void
check_sound(struct tally *t, const struct enumeration *en, const bool *ei, const bool *pure, bool dense)
{
	const struct dag *d = en->d;
	const char *why = "";
	struct spp *spp = spp_place(d, ei, dense, &why);
	int64_t sum[MOST];
	uint32_t npure = 0;

	check(d->g, spp);
	for (uint32_t i = 0; i < en->n; i++) {
		const struct one *one = &en->path[i];

		sum[i] = run_path(spp->probes, one);
		check(d->g, sum[i] == dag_sum(d, spp->val, one->begin, one->edge, one->n));
		check(d->g, sum[i] == run_lazily(d, spp->probes, one, sum[i]));
		check(d->g, !spp->dense || (sum[i] >= 0 && pure[i] == ((uint64_t)sum[i] < spp->dense)));
		npure += pure[i];
	}
	check(d->g, !collides(en, pure, sum));
	check(d->g, spp->dense ? spp->dense == npure : !dense);
	for (uint32_t e = 0; e < d->g->nedge; e++)
		check(d->g, e == d->close || !d->g->edge[e].fixed || d->g->edge[e].phantom || !spp->probes->add[e]);
	t->dense += !dense && spp->dense;
	t->probes[2 + dense] += spp->probes->n;
	t->cost[2 + dense] += spp->probes->cost;
}

/* The price of the cheapest edges that tell pure paths from all others, whatever their values
 * are: paths that differ in none of them nor in edges without a price have one sum. */
static double
least_cost(const struct enumeration *en, const bool *pure)
{
	const struct dag *d = en->d;
	uint32_t mask[16] = {0}, dear = 0;
	double best = HUGE_VAL;

	for (uint32_t e = 0; e < d->g->nedge; e++)
		dear |= (uint32_t)(d->w[e] > 0) << e;
	for (uint32_t i = 0; i < en->n; i++)
		for (uint32_t k = 0; k < en->path[i].n; k++)
			mask[i] |= 1u << en->path[i].edge[k];
	for (uint32_t silent = dear;; silent = (silent - 1) & dear) {
		double cost = 0;
		bool told = true;

		for (uint32_t e = 0; e < d->g->nedge; e++)
			cost += dear & ~silent & 1u << e ? d->w[e] : 0;
		for (uint32_t i = 0; i < en->n && cost < best; i++)
			for (uint32_t k = 0; k < en->n && pure[i]; k++)
				told &= k == i || (mask[i] & ~silent) != (mask[k] & ~silent);
		if (told && cost < best)
			best = cost;
		if (!silent)
			return best;
	}
}

/* Runs the code of spp_weave() along a path: what it records, or -1. A register that was not set, or was of no use on the
 * way, must not be used. */
static int64_t
run_code(const struct dag *d, const struct spp_code *c, const struct one *one, const bool *sure)
{
	bool held = !c->probes->known[one->begin];
	int64_t r = held ? c->probes->start[one->begin] : 0, cell = -1;

	for (uint32_t i = 0; i < one->n; i++) {
		const struct path_act *a = &c->act[one->edge[i]];
		const struct edge *e = &d->g->edge[one->edge[i]];
		bool ends = i + 1 == one->n;

		if (e->phantom)
			return -1;
		check(d->g, cell < 0 || (!a->record && sure && sure[e->from]));
		if (a->record)
			cell = a->sum + (a->record == PATH_RECORD_HELD ? r : 0);
		check(d->g, (a->record != PATH_RECORD_HELD && a->next != PATH_ADD) || held);
		check(d->g, !e->fixed || !a->next || (a->next == PATH_ADD && !a->n));
		check(d->g, !e->fixed || !a->record || e->to == d->g->exit);
		if (ends)
			check(d->g, e->to == d->g->exit ? !a->next : (a->next == PATH_SET) == !c->probes->known[e->to]);
		if (ends && a->next)
			check(d->g, a->n == c->probes->start[e->to]);
		held = a->next != PATH_NOTHING;
		r = a->next == PATH_SET ? a->n : r + a->n;
		check(d->g, ends || held == !c->probes->known[e->to]);
	}
	return cell;
}

/* Every pure path is counted where no other one is, and readers find it by its sum. */
static void
check_code(const struct enumeration *en, const bool *ei, const bool *pure, const bool *sure)
{
	const struct dag *d = en->d;
	const char *why = "";
	struct spp_code *c = spp_weave(d, ei, sure, &why);
	int64_t cell[MOST], sum[MOST];

	check(d->g, c);
	for (uint32_t i = 0; i < en->n; i++) {
		const struct one *one = &en->path[i];
		bool runs = true;

		for (uint32_t k = 0; k < one->n; k++)
			runs &= !d->g->edge[one->edge[k]].phantom;
		cell[i] = run_code(d, c, one, sure);
		sum[i] = dag_sum(d, c->val, one->begin, one->edge, one->n);
		check(d->g, cell[i] < (int64_t)c->size && sum[i] >= 0);
		check(d->g, !pure[i] || !runs || (cell[i] == sum[i] && (uint64_t)sum[i] < c->n));
		cell[i] = runs && cell[i] >= 0 ? cell[i] : -1 - (int64_t)i;
	}
	check(d->g, !collides(en, pure, cell) && !collides(en, pure, sum));
}

static void
check_codes(const struct enumeration *en, const bool *ei, const bool *pure)
{
	bool sure[en->d->g->nvert];

	check_code(en, ei, pure, NULL);
	memset(sure, true, sizeof sure);
	check_code(en, ei, pure, sure);
	for (uint32_t v = 0; v < en->d->g->nvert; v++)
		sure[v] = rnd(2);
	check_code(en, ei, pure, sure);
}

/* Some paths of interest. Every set that has the same edges of interest is checked with it: all
 * paths of such edges only count as of interest. */
static void
check_set(struct tally *t, const struct enumeration *en, const bool *ei)
{
	bool pure[MOST];

	for (uint32_t i = 0; i < en->n; i++)
		pure[i] = is_pure(en->d, ei, &en->path[i]);
	t->sets++;
	check_sound(t, en, ei, pure, false);
	if (t->exhaustive)
		t->least += least_cost(en, pure);
	check_sound(t, en, ei, pure, true);
	check_codes(en, ei, pure);
	check_printed(t, en, ei, pure);
}

static void
tally_all(struct tally *t, const struct dag *d, uint64_t sets)
{
	const char *why = "";
	struct paths *p = paths_number(d, &why);

	t->probes[4] += sets * p->probes->n;
	t->cost[4] += (double)sets * p->probes->cost;
}

/* Every set of paths of a DAG of up to 16 edges and 16 paths, but only once for the same edges. */
static void
check_all_sets(struct tally *t, const struct dag *d)
{
	static uint8_t seen[1 << 16];
	struct enumeration *en = all_paths(d);
	uint32_t mask[16] = {0};
	uint64_t before = t->sets;

	assert_true(en->n <= 16 && d->graph->nedge <= 17);
	memset(seen, 0, sizeof seen);
	for (uint32_t i = 0; i < en->n; i++)
		for (uint32_t k = 0; k < en->path[i].n; k++)
			mask[i] |= 1u << en->path[i].edge[k];
	for (uint32_t set = 1; set < 1u << en->n; set++) {
		uint32_t edges = 0;
		bool ei[17] = {false};

		for (uint32_t i = 0; i < en->n; i++)
			edges |= set >> i & 1 ? mask[i] : 0;
		if (seen[edges]++)
			continue;
		for (uint32_t e = 0; e < d->g->nedge; e++)
			ei[e] = edges >> e & 1;
		check_set(t, en, ei);
	}
	tally_all(t, d, t->sets - before);
}

static void
print_tally(const char *what, const struct tally *t)
{
	double n = (double)t->sets;

	print_message("%s: %llu sets; as printed %llu collide, phases 1 and 3 %llu, 1 and 2 %llu; sound: %llu dense\n", what,
	              (unsigned long long)t->sets, (unsigned long long)t->collide, (unsigned long long)t->collide13,
	              (unsigned long long)t->collide12, (unsigned long long)t->dense);
	print_message("  probes (weight) a set: printed %.3f (%.2f), 1 and 3 %.3f (%.2f), sound %.3f (%.2f), "
	              "dense %.3f (%.2f), all paths %.3f (%.2f)\n",
	              (double)t->probes[0] / n, t->cost[0] / n, (double)t->probes[1] / n, t->cost[1] / n,
	              (double)t->probes[2] / n, t->cost[2] / n, (double)t->probes[3] / n, t->cost[3] / n,
	              (double)t->probes[4] / n, t->cost[4] / n);
}

static void
check_dag_sets(struct tally *t, uint32_t n, uint32_t set)
{
	struct pool *p = pool_new();
	struct graph *g = dag_of(p, n, set);
	const char *why = "";
	bool phantoms = false;

	for (uint32_t e = 0; e < g->nedge; e++)
		phantoms |= g->edge[e].phantom;
	if (!phantoms)
		check_all_sets(t, dag_new(g, order_dfs(g), random_weights(g), NULL, 0, &why));
	pool_free(p);
}

static void
test_spp_dags(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 6; n++) {
		struct tally t = {.exhaustive = n < 6};
		char what[32];

		for (uint32_t set = 0; set < 1u << n * (n - 1) / 2; set++)
			check_dag_sets(&t, n, set);
		snprintf(what, sizeof what, "%u vertices", n);
		print_tally(what, &t);
		assert_int_equal(t.collide13, 0);
		assert_int_equal(t.collide12, 0);
		if (t.exhaustive) {
			print_message("  least weight %.2f\n", t.least / (double)t.sets);
			assert_true(t.cost[2] >= t.least - 1e-6 && t.cost[2] <= 1.05 * t.least);
		}
		assert_true(n < 6 || t.collide > 0);
	}
}

/* The smallest case that the printed algorithm gets wrong. */
static void
test_spp_smallest(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 4, 0, 3);
	static const uint32_t ends[][2] = {{0, 2}, {0, 1}, {1, 2}, {1, 3}, {2, 3}};
	const uint32_t a[] = {1, 3}, b[] = {0, 4}, c[] = {1, 2, 4};
	bool *ei;
	int64_t *val;
	const char *why = "";
	struct spp *spp;
	struct dag *d;

	(void)unused;
	for (uint32_t i = 0; i < 5; i++)
		graph_edge(g, ends[i][0], ends[i][1]);
	finish(g);
	d = dag_new(g, order_dfs(g), random_weights(g), NULL, 0, &why);
	ei = pool_array(p, d->graph->nedge, sizeof *ei);
	assert_true(spp_add(d, ei, 0, a, 2) && spp_add(d, ei, 0, b, 2));
	assert_false(spp_add(d, ei, 0, c, 2));
	assert_false(spp_add(d, ei, 1, c + 1, 2));
	val = spp_printed(d, ei, SPP_PHASE2 | SPP_PHASE3);
	assert_int_equal(dag_sum(d, val, 0, b, 2), dag_sum(d, val, 0, c, 3));
	val = spp_printed(d, ei, SPP_PHASE3);
	assert_int_not_equal(dag_sum(d, val, 0, b, 2), dag_sum(d, val, 0, c, 3));
	spp = spp_place(d, ei, false, &why);
	assert_int_not_equal(dag_sum(d, spp->val, 0, b, 2), dag_sum(d, spp->val, 0, c, 3));
	assert_int_not_equal(dag_sum(d, spp->val, 0, a, 2), dag_sum(d, spp->val, 0, c, 3));
	pool_free(p);
}

/* Some paths of a graph with loops, a cut edge or two, and fixed edges. */
static void
check_some_sets(struct tally *t, struct graph *g)
{
	struct order *o = order_dfs(g);
	const char *why = "";
	struct dag *d = dag_new(g, o, random_weights(g), NULL, 0, &why);
	struct enumeration *en = all_paths(d);
	bool *ei = pool_array(g->pool, d->graph->nedge, sizeof *ei);

	if (en->n > 300)
		return;
	for (uint32_t n = 1 + rnd(4); n; n--) {
		const struct one *one = &en->path[rnd(en->n)];

		check(g, spp_add(d, ei, one->begin, one->edge, one->n));
	}
	check_set(t, en, ei);
	tally_all(t, d, 1);
}

static void
test_spp_random(void **unused)
{
	struct tally t = {0};

	(void)unused;
	for (uint32_t i = 0; i < 20000; i++) {
		struct pool *p = pool_new();
		uint32_t n = 4 + rnd(7), m = n + rnd(n);
		struct graph *g = graph_new(p, n, 0, n - 1);

		for (uint32_t k = 0; k < m; k++) {
			uint32_t u = rnd(n - 1);

			graph_edge(g, u, rnd(8) ? u + 1 + rnd(n - u - 1) : rnd(n));
		}
		finish(g);
		if (rnd(2))
			fix_some(g);
		check_some_sets(&t, g);
		pool_free(p);
	}
	print_tally("random", &t);
	assert_int_equal(t.collide13, 0);
	assert_int_equal(t.collide12, 0);
}

/* A path of interest among 2^1000: sums stay small, and if the path is the hottest nothing is
 * added on it. */
static void
test_spp_ladder(void **unused)
{
	struct pool *p = pool_new();
	const char *why = "";
	double *w;
	struct graph *g = ladder(p, 1000, 0.1, &w);
	struct dag *d = dag_new(g, order_dfs(g), w, NULL, 0, &why);
	bool *ei = pool_array(p, d->graph->nedge, sizeof *ei);
	uint32_t edge[2000];
	struct spp *spp;

	(void)unused;
	for (uint32_t i = 0; i < 1000; i++) {
		edge[2 * i] = 4 * i + 2;
		edge[2 * i + 1] = 4 * i + 3;
	}
	assert_true(spp_add(d, ei, 0, edge, 2000));
	assert_null(spp_printed(d, ei, 0));
	spp = spp_place(d, ei, false, &why);
	assert_non_null(spp);
	assert_int_equal(spp->dense, 1);
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(spp->probes->add[edge[i]] && g->edge[edge[i]].to != g->exit, 0);
	assert_int_equal(spp_place(d, ei, true, &why)->dense, 1);
	memset(ei, 1, d->graph->nedge);
	assert_null(spp_place(d, ei, false, &why));
	assert_non_null(strstr(why, "64 bits"));
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dags),     cmocka_unit_test(test_small),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_refused), cmocka_unit_test(test_spp_dags),
		cmocka_unit_test(test_spp_smallest), cmocka_unit_test(test_spp_random), cmocka_unit_test(test_spp_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
