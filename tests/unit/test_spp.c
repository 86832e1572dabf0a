/* SPDX-License-Identifier: MIT */
/* Selective path profiling, as printed, sound, and as woven: each set of paths against the sums of all others, on every small
 * graph and many random ones. */
#include "tests/unit/paths.h"

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
	/* Of the largest ones every so manyth only, if it has to be quick. */
	const uint32_t step = size_of(1, 37);

	(void)unused;
	for (uint32_t n = 2; n <= 6; n++) {
		struct tally t = {.exhaustive = n < 6};
		char what[32];

		for (uint32_t set = 0; set < 1u << n * (n - 1) / 2; set += n < 6 ? 1 : step)
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
	for (uint32_t i = 0; i < size_of(20000, 4000); i++) {
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
		cmocka_unit_test(test_spp_dags),
		cmocka_unit_test(test_spp_smallest),
		cmocka_unit_test(test_spp_random),
		cmocka_unit_test(test_spp_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
