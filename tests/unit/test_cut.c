/* SPDX-License-Identifier: MIT */
/* Cheapest cuts of random networks, compared with all cuts there are. The smallest of the cheapest cuts is the right answer. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 8, ARCS = 24, NETWORKS = 5000 };

static double
price_of(const struct cut_arc *arc, uint32_t n, uint32_t set)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (set >> arc[i].from & 1 && !(set >> arc[i].to & 1))
			sum += arc[i].price;
	return sum;
}

/* With a limit there is the same cut, or it is said that there is none for less, or no step is left. */
static void
check_limits(struct pool *pool, const struct cut_arc *arc, uint32_t narc, uint32_t nnode, double least)
{
	for (uint64_t steps = 1; steps < 40; steps++) {
		struct cut_limit limit = {steps & 1 ? least + 1 : least, steps};
		double price;

		graph_cut(pool, nnode, arc, narc, 0, 1, &limit, &price);
		assert_true(!limit.steps || (steps & 1 ? price == least : price >= least));
	}
}

/* The source is node 0, the sink node 1. */
static void
check_network(struct pool *pool, const struct cut_arc *arc, uint32_t narc, uint32_t nnode)
{
	double least = GRAPH_NEVER, price;
	uint32_t smallest = UINT32_MAX, found = 0;
	bool *in = graph_cut(pool, nnode, arc, narc, 0, 1, NULL, &price);

	for (uint32_t set = 1; set < 1u << nnode; set++) {
		double p = price_of(arc, narc, set);

		if (!(set & 1) || set & 2 || p > least)
			continue;
		/* The smallest one is in all others that are as cheap. */
		smallest = p < least ? set : smallest & set;
		least = p;
	}
	if (least >= GRAPH_NEVER) {
		assert_true(price >= GRAPH_NEVER);
		return;
	}
	for (uint32_t v = 0; v < nnode; v++)
		found |= in[v] ? 1u << v : 0;
	assert_true(price == least);
	assert_int_equal(found, smallest);
	check_limits(pool, arc, narc, nnode, price);
}

static void
cut_random(void **state)
{
	(void)state;
	srand(1);
	for (int k = 0; k < NETWORKS; k++) {
		struct pool *pool = pool_new();
		uint32_t nnode = 2 + (uint32_t)rand() % (NODES - 1), narc = (uint32_t)rand() % ARCS;
		struct cut_arc arc[ARCS];

		for (uint32_t i = 0; i < narc; i++)
			arc[i] = (struct cut_arc){(uint32_t)rand() % nnode, (uint32_t)rand() % nnode,
				rand() % 8 ? rand() % 10 : GRAPH_NEVER};
		check_network(pool, arc, narc, nnode);
		pool_free(pool);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cut_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
