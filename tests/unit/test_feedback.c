/* SPDX-License-Identifier: MIT */
/* Edges that break all cycles, compared with all sets of edges there are, in every small multigraph and many random ones. */
#include "tests/unit/graphs.h"

enum { CHOICES = 11 };

static struct {
	uint64_t graphs, theorem, dearer;
	double worst;            /* price found : least price */
} seen;

/* The least price of a set that breaks all cycles; GRAPH_NEVER: there is none. */
static double
least_price(const struct graph *g, const double *price)
{
	uint32_t list[CHOICES], n = 0;
	bool chosen[g->nedge];
	double least = GRAPH_NEVER;

	for (uint32_t e = 0; e < g->nedge; e++)
		if (!g->edge[e].phantom && price[e] >= 0 && price[e] < GRAPH_NEVER)
			list[n++] = e;
	for (uint32_t set = 0; set < 1u << n; set++) {
		double sum = 0;

		memset(chosen, 0, sizeof chosen);
		for (uint32_t i = 0; i < n; i++)
			if (set >> i & 1) {
				chosen[list[i]] = true;
				sum += price[list[i]];
			}
		if (sum < least && feedback_check(g, price, chosen))
			least = sum;
	}
	return least;
}

/* By marking, to check the check: is v on a cycle without an edge chosen? */
static bool
on_cycle(const struct graph *g, const double *price, const bool *chosen, uint32_t v)
{
	bool reached[g->nvert], grown = true;

	memset(reached, 0, sizeof reached);
	while (grown) {
		grown = false;
		for (uint32_t e = 0; e < g->nedge; e++) {
			const struct edge *d = &g->edge[e];

			if (d->phantom || price[e] < 0 || chosen[e] || reached[d->to] || !(d->from == v || reached[d->from]))
				continue;
			reached[d->to] = grown = true;
		}
	}
	return reached[v];
}

static double
check_set(const struct graph *g, const double *price, const bool *chosen)
{
	double sum = 0;

	for (uint32_t e = 0; e < g->nedge; e++)
		if (chosen[e]) {
			check(g, price[e] >= 0 && price[e] < GRAPH_NEVER && !g->edge[e].phantom);
			sum += price[e];
		}
	for (uint32_t v = 0; v < g->nvert; v++)
		check(g, !on_cycle(g, price, chosen, v));
	check(g, feedback_check(g, price, chosen));
	return sum;
}

/* Nothing can be taken away. */
static void
check_needed(const struct graph *g, const double *price, bool *chosen)
{
	for (uint32_t e = 0; e < g->nedge; e++)
		if (chosen[e]) {
			chosen[e] = false;
			check(g, !feedback_check(g, price, chosen));
			chosen[e] = true;
		}
}

static bool
is_reducible(const struct all *a)
{
	for (uint32_t i = 0; i < a->l->nloop; i++)
		if (a->l->irreducible[i])
			return false;
	return true;
}

/* `exact`: by the proof in feedback.c nothing cheaper exists. */
static void
check_prices(const struct all *a, const double *price, bool exact)
{
	const struct graph *g = a->g;
	uint32_t bad = GRAPH_NONE, n = 0;
	bool *chosen = feedback_place(g, price, &bad);
	double sum, least;

	for (uint32_t e = 0; e < g->nedge; e++)
		n += !g->edge[e].phantom && price[e] >= 0 && price[e] < GRAPH_NEVER;
	if (!chosen) {
		bool all[g->nedge];

		for (uint32_t e = 0; e < g->nedge; e++)
			all[e] = price[e] < GRAPH_NEVER;
		check(g, !feedback_check(g, price, all));
		return;
	}
	sum = check_set(g, price, chosen);
	check_needed(g, price, chosen);
	seen.graphs++;
	if (n > CHOICES)
		return;
	least = least_price(g, price);
	check(g, sum >= least * (1 - 1e-9));
	if (exact) {
		seen.theorem++;
		check(g, close_to(sum, least));
	}
	seen.dearer += sum > least * (1 + 1e-9);
	if (least > 0 && sum / least > seen.worst)
		seen.worst = sum / least;
}

static void
check_graph(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	double price[g->nedge];
	bool proved = is_reducible(a) && !a->nphantom;

	/* Executions: of loops alone, then with each execution of the procedure; then by what they cost. */
	for (uint32_t e = 0; e < g->nedge; e++)
		price[e] = e == g->close ? -1 : a->w[e];
	check_prices(a, price, proved);
	price[g->close] = GRAPH_NEVER;
	check_prices(a, price, proved);
	for (uint32_t e = 0; e < g->nedge; e++)
		price[e] = e == g->close ? GRAPH_NEVER : a->w[e] * g->edge[e].cost;
	check_prices(a, price, false);
	if (small)
		return;
	for (uint32_t e = 0; e < g->nedge; e++)
		price[e] = rnd(8) ? 1 + rnd(9) : rnd(2) ? GRAPH_NEVER : -1;
	check_prices(a, price, false);
}

static void
feedback_small(void **ignored)
{
	(void)ignored;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n, check_graph);
	assert_true(seen.theorem > size_of(3000, 300));
	assert_int_equal(seen.dearer, 0);
}

static void
feedback_random(void **ignored)
{
	(void)ignored;
	try_random(check_graph);
	print_message("%ju graphs; proved to be cheapest %ju; dearer than need be %ju, by %.2f at most\n", (uintmax_t)seen.graphs,
	              (uintmax_t)seen.theorem, (uintmax_t)seen.dearer, seen.worst);
}

/* A loop whose only edge cannot be chosen. */
static void
feedback_limits(void **ignored)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	uint32_t bad = GRAPH_NONE;
	double price[4] = {1, GRAPH_NEVER, 1, -1};

	(void)ignored;
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_index(g);
	assert_null(feedback_place(g, price, &bad));
	assert_int_equal(bad, 1);
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(feedback_small), cmocka_unit_test(feedback_random),
		cmocka_unit_test(feedback_limits)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
