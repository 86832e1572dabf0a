/* SPDX-License-Identifier: MIT */
/* Sums over binaries, copies and calls that do not fit 64 bits: none of them is shown as a number. */
#include "export/coverage.h"
#include "run/replaced.c" /* bounds, and */
#include "view/above.c" /* how calls are summed and judged, which no header has */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HUGE_COUNT (UINT64_MAX - 1)

static void
events_of_binaries(void **state)
{
	struct event_total one[] = {{.name = "loads", .n = 7, .most = 9}};
	struct event_total two[] = {{.name = "loads", .n = HUGE_COUNT, .most = UINT64_MAX}};
	struct run run = {.pool = pool_new()};
	struct event_totals sum;

	(void)state;
	VEC_PUSH(run.binary, (struct binary){.events = {.at = one, .n = 1}});
	sum = run_events(&run);
	assert_null(sum.why);
	assert_int_equal(sum.at[0].n, 7);
	assert_int_equal(sum.at[0].most, 9);
	VEC_PUSH(run.binary, (struct binary){.events = {.at = two, .n = 1}});
	sum = run_events(&run);
	assert_non_null(sum.why);
	assert_true(sum.at[0].most == UINT64_MAX);
	free(run.binary.at);
	pool_free(run.pool);
}

/* A bound that is unknown makes the sum's unknown. */
static void
bounds_of_binaries(void **state)
{
	static const char *const name[] = {"loads"};
	struct event_total one[] = {{.name = name[0], .n = 7, .most = 9}}, two[] = {{.name = name[0], .n = 5, .most = UINT64_MAX}};
	struct run run = {.pool = pool_new()};
	struct event_list events;
	struct tally t;
	const char *why;

	(void)state;
	assert_true(event_list_read(run.pool, name[0], &events, &why));
	VEC_PUSH(run.binary, (struct binary){.events = {.at = one, .n = 1}});
	VEC_PUSH(run.binary, (struct binary){.events = {.at = two, .n = 1}});
	tally_run(&t, run.pool, &run, &events, false);
	assert_null(t.at[0].why);
	assert_int_equal(t.at[0].n, 12);
	assert_true(t.at[0].most == COUNT_NO_BOUND);
	free(run.binary.at);
	pool_free(run.pool);
}

/* Where linkers replaced instructions the counts become bounds, perhaps without one. */
static void
bounds_of_replaced(void **state)
{
	static const struct { struct replaced x; uint64_t n, least, most; } known[] = {
		{{.blocks = 1, .over = 1, .over_per = 4, .under = 1, .under_per = 2}, 100, 75, 150},
		{{.blocks = 1, .over = 2, .under = 1, .under_per = 1}, 100, 0, 200},
		{{.blocks = 1, .under = 2}, 100, 100, COUNT_NO_BOUND},
		{{.blocks = 1, .under = 4, .under_per = 1}, UINT64_MAX / 2, UINT64_MAX / 2, COUNT_NO_BOUND},
	};
	struct binary bin = {.path = "/x"};
	struct run run = {.pool = pool_new()};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct event_total t = {.name = "loads", .n = known[i].n, .most = known[i].n};

		bound(&run, &bin, &known[i].x, &t);
		assert_true(t.n == known[i].least);
		assert_true(t.most == known[i].most);
	}
	free(run.replaced.at);
	pool_free(run.pool);
}

static void
calls_of_copies(void **state)
{
	struct counts counts = {.activations = HUGE_COUNT, .activations_known = true};
	struct proc proc = {.name = "f"};
	struct view_function row[] = {
		{.proc = &proc, .counts = &counts, .file = "x.c", .line = 3},
		{.proc = &proc, .counts = &counts, .file = "x.c", .line = 3},
	};
	struct view_functions functions = {.at = row, .n = 1};
	struct view_listing list = {0};
	struct covered_list all = covered_functions(&(struct export){.list = &list, .function = &functions});

	(void)state;
	assert_true(all.fits);
	free(all.at);
	functions.n = 2;
	all = covered_functions(&(struct export){.list = &list, .function = &functions});
	assert_false(all.fits);
	free(all.at);
}

/* Function 0 was called calls times, by 1 a times from one place and b times from another. */
static struct view_above
above(uint64_t calls, uint64_t a, uint64_t b, bool other)
{
	struct counts counts = {.activations = calls, .activations_known = true, .insns = calls};
	struct view_function row[] = {{.counts = &counts}, {.counts = &counts}, {.counts = &counts}};
	struct view_functions all = {.at = row, .n = 3};
	bool caller[3] = {false};
	struct view_call_graph g = {.calls = caller};
	struct finder f = {.all = &all, .graph = &g};
	struct pool *pool = pool_new();
	struct view_above up;

	VEC_PUSH(g.edge, (struct view_call_edge){1, 0, a, a, true, true});
	VEC_PUSH(g.edge, (struct view_call_edge){other ? 2 : 1, 0, b, b, true, true});
	sum_edges(&f);
	judge(&g, &all, pool, 0, g.edge.at, g.edge.n, &up);
	pool_free(pool);
	free(g.edge.at);
	return up;
}

static void
calls_of_one_function(void **state)
{
	struct view_above up = above(5, 2, 3, false);

	(void)state;
	assert_false(up.several);
	assert_int_equal(up.caller, 1);
	up = above(5, 2, 3, true);
	assert_true(up.several);
	assert_int_equal(up.nshare, 2);
	/* Modulo 2^64 these would do. */
	up = above(5, HUGE_COUNT, 7, false);
	assert_true(up.several);
	assert_int_equal(up.caller, VIEW_NO_CALLER);
	up = above(5, HUGE_COUNT, 7, true);
	assert_true(up.several);
	assert_int_equal(up.nshare, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_binaries),
		cmocka_unit_test(bounds_of_binaries),
		cmocka_unit_test(bounds_of_replaced),
		cmocka_unit_test(calls_of_copies),
		cmocka_unit_test(calls_of_one_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
