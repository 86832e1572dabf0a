/* SPDX-License-Identifier: MIT */
/* Solving: counts from counters, on graphs made by hand. */
#include "profile/internal.h"
#include "tests/unit/profile_bytes.h"

#include <time.h>

static void
solve_edges(void **state)
{
	struct solved s;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].activations, 15);
	assert_int_equal(s.counts[0].block[0], 15);
	assert_int_equal(s.counts[0].block[1], 10);
	assert_int_equal(s.counts[0].block[2], 15);
	assert_int_equal(s.counts[0].insns, 15 * 2 + 10 * 4 + 15);
	assert_int_equal(s.counts[0].call_insns, 20);
	assert_int_equal(s.counts[0].blocks, 40);
	assert_true(s.counts[0].jumps_known);
	assert_int_equal(s.counts[0].jumps, 25);
	done(&s);
}

static void
solve_every_edge(void **state)
{
	struct shape shape = plain;
	struct solved s;

	(void)state;
	shape.measure = CHORD_EVERY_EDGE;
	solve_with(&s, &shape, (uint64_t[8]){10, 5, 10, 15}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].activations, 15);
	done(&s);
	/* The counters contradict one another: nothing is known. */
	solve_with(&s, &shape, (uint64_t[8]){10, 5, 9, 15}, NULL, 0);
	assert_non_null(s.counts[0].why);
	done(&s);
}

static void
solve_every_block(void **state)
{
	struct shape shape = plain;
	struct solved s;

	(void)state;
	shape.measure = CHORD_EVERY_BLOCK;
	solve_with(&s, &shape, (uint64_t[8]){15, 10, 15}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].activations, 15);
	assert_int_equal(s.counts[0].insns, 15 * 2 + 10 * 4 + 15);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(s.counts[0].arc_known[i]);
	assert_int_equal(s.counts[0].arc[2], 5);
	done(&s);
	solve_with(&s, &shape, (uint64_t[8]){15, 10, 9}, NULL, 0);
	assert_non_null(s.counts[0].why);
	done(&s);
}

/* Which of two parallel edges was taken cannot be known, all else can. */
static void
solve_what_follows(void **state)
{
	struct shape shape = plain;
	struct solved s;

	(void)state;
	shape.parallel = true;
	solve_with(&s, &shape, (uint64_t[8]){15, 15}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].insns, 30);
	assert_true(s.counts[0].activations_known);
	assert_int_equal(s.counts[0].activations, 15);
	assert_false(s.counts[0].jumps_known);
	assert_true(s.counts[0].arc_known[0]);
	assert_false(s.counts[0].arc_known[1]);
	assert_false(s.counts[0].arc_known[2]);
	assert_true(s.counts[0].arc_known[3]);
	assert_int_equal(s.counts[0].arc[4], 15);
	done(&s);
	/* What never ran took no edge. */
	solve_with(&s, &shape, (uint64_t[8]){0, 0}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_true(s.counts[0].jumps_known);
	done(&s);
	solve_with(&s, &shape, (uint64_t[8]){15, 14}, NULL, 0);
	assert_non_null(s.counts[0].why);
	done(&s);
}

/* Three activations ended at the second call of block 1, one was taken up again there. */
static void
solve_exits(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false), exit_at(CODE + BACK1, 1, true), {0, 0, {0}}};
	struct solved s;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, e, 3);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].activations, 15);
	assert_int_equal(s.counts[0].block[1], 10);
	assert_int_equal(s.counts[0].block[2], 13);
	assert_int_equal(s.counts[0].arc[3], 8);
	CHECK_INSNS(&s, 0, 15, 15);
	CHECK_INSNS(&s, 1, 10, 10, 10, 8);
	CHECK_INSNS(&s, 2, 13);
	assert_int_equal(s.counts[0].insns, 30 + 38 + 13);
	done(&s);
}

/* Exits at both calls of one block, more taken up again than ended. */
static void
solve_exits_in_the_middle(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK0, 4, false), exit_at(CODE + BACK1, 9, true)};
	struct shape shape = plain;
	struct solved s;

	(void)state;
	for (int m = CHORD_EDGES; m <= CHORD_EVERY_BLOCK; m++) {
		shape.measure = (enum chord_measure)m;
		solve_with(&s, &shape, m ? (uint64_t[8]){15, 10, 20} : (uint64_t[8]){10, 5}, e, 2);
		assert_null(s.counts[0].why);
		CHECK_INSNS(&s, 1, 10, 6, 6, 15);
		CHECK_INSNS(&s, 2, 20);
		assert_int_equal(s.counts[0].activations, 15);
		done(&s);
	}
}

static void
solve_noreturn(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false)};
	struct shape shape = plain;
	struct solved s;

	(void)state;
	shape.flags1 = CHORD_CALL_NORETURN;
	solve_with(&s, &shape, (uint64_t[8]){10, 5}, e, 1);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].block[2], 15);
	done(&s);
}

static void
solve_says_what_it_does_not_know(void **state)
{
	const struct chord_exit many[] = {exit_at(CODE + BACK1, 11, false)};
	const struct chord_exit odd[] = {exit_at(CODE + 3, 1, false)};
	const struct chord_exit outside[] = {exit_at(CODE + 0x500, 1, false)};
	struct shape far = plain;
	struct solved s;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, many, 1);
	assert_non_null(s.counts[0].why);
	done(&s);
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, odd, 1);
	assert_non_null(strstr(s.counts[0].why, "0x1003"));
	done(&s);
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, outside, 1);
	assert_null(s.counts[0].why);
	done(&s);
	far.counters = COUNTERS + 64 - 8;
	solve_with(&s, &far, (uint64_t[8]){10, 5}, NULL, 0);
	assert_non_null(strstr(s.counts[0].why, "does not hold"));
	done(&s);
	solve_with(&s, &plain, (uint64_t[8]){UINT64_MAX, 5}, NULL, 0);
	assert_non_null(s.counts[0].why);
	done(&s);
	solve_with(&s, &plain, (uint64_t[8]){UINT64_MAX / 2, 5}, NULL, 0);
	assert_non_null(strstr(s.counts[0].why, "64 bits"));
	done(&s);
}

static void
solve_without_counters(void **state)
{
	struct solved s;
	struct counts *c;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, NULL, 0);
	c = profile_solve(s.pool, &s.map, s.profile, NULL, NULL);
	assert_null(c[0].why);
	assert_int_equal(c[0].insns, 0);
	done(&s);
}

/* Words 0 to 3 are counters; then come two counters of cells, the second of which belongs to the counter in word 1. */
static void
solve_cells(void **state)
{
	uint64_t count[4 + 2 * CHORD_CELLS] = {7, 8, 9, 10}, v;
	struct module m = {.base = COUNTERS, .ncount = 4 + 2 * CHORD_CELLS, .count = count};
	struct proc p = {.counters = COUNTERS, .ncounter = 4 + 2 * CHORD_CELLS, .cells = 4, .ncells = 2,
	                 .cells_of = (struct cells[]){{0, 0}, {2, 1}}};

	(void)state;
	for (uint32_t i = 0; i < CHORD_CELLS; i++) {
		count[4 + i] = 1;
		count[4 + CHORD_CELLS + i] = 100 + i;
	}
	assert_true(proc_counter(&m, &p, 1, &v));
	assert_int_equal(v, 7);
	assert_true(proc_counter(&m, &p, 2, &v));
	assert_int_equal(v, 8 + CHORD_CELLS * 100 + CHORD_CELLS * (CHORD_CELLS - 1) / 2);
	assert_true(proc_counter(&m, &p, 4, &v));
	assert_int_equal(v, 10);
	assert_true(proc_counter(&m, &p, 5, &v));
	assert_int_equal(v, CHORD_CELLS);
	/* The profile has not all of the cells. */
	m.ncount--;
	assert_true(proc_counter(&m, &p, 5, &v));
	assert_false(proc_counter(&m, &p, 2, &v));
}

/* A forged profile may say that there are more activations than there can be. They are not fewer for that. */
static void
solve_more_than_fits(void **state)
{
	const uint64_t half = UINT64_C(1) << 63;
	const struct chord_exit odd[] = {exit_at(CODE + 3, half, false), exit_at(CODE + 4, half, false)};
	struct standing s = {UINT64_MAX / 2, 0};
	struct counts c = {.lost = UINT64_MAX};
	struct solved x;

	(void)state;
	solve_with(&x, &plain, (uint64_t[8]){10, 5}, odd, 2);
	assert_non_null(x.counts[0].why);
	assert_true(x.counts[0].lost == UINT64_MAX);
	x.profile->standing = 1;
	solve_one(x.pool, x.map.proc, x.profile, profile_module(x.profile, STR("id1")), NULL, &c);
	assert_true(c.why || c.most);
	done(&x);
	solve_with(&x, &plain, (uint64_t[8]){10, 5}, NULL, 0);
	flight_around(x.pool, x.map.proc, s, &x.counts[0]);
	assert_int_equal(x.counts[0].insns, 0);
	assert_true(x.counts[0].most->insns == COUNT_NO_BOUND);
	assert_true(x.counts[0].most->blocks == COUNT_NO_BOUND);
	done(&x);
}

/* The time for all counters does not grow with the square of their number. */
static void
solve_many_cells(void **state)
{
	enum { N = 100000 };
	uint64_t *count = calloc(N, (1 + CHORD_CELLS) * sizeof *count), v, sum = 0;
	struct module m = {.base = COUNTERS, .ncount = N * (1 + CHORD_CELLS), .count = count};
	struct proc p = {.counters = COUNTERS, .ncounter = N * (1 + CHORD_CELLS), .cells = N, .ncells = N,
	                 .cells_of = calloc(N, sizeof *p.cells_of)};
	clock_t before = clock();

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		p.cells_of[i] = (struct cells){i + 1, i};
	assert_true(proc_is_zero(&m, &p));
	count[N + CHORD_CELLS * 7 + 3] = 5;
	assert_false(proc_is_zero(&m, &p));
	for (uint32_t i = 1; i <= N; i++) {
		assert_true(proc_counter(&m, &p, i, &v));
		sum += v * i;
	}
	assert_int_equal(sum, 5 * 8);
	m.ncount--;
	assert_false(proc_is_zero(&m, &p));
	assert_in_range(clock() - before, 0, 2 * CLOCKS_PER_SEC);
	free(p.cells_of);
	free(count);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solve_edges),
		cmocka_unit_test(solve_every_edge),
		cmocka_unit_test(solve_every_block),
		cmocka_unit_test(solve_what_follows),
		cmocka_unit_test(solve_exits),
		cmocka_unit_test(solve_exits_in_the_middle),
		cmocka_unit_test(solve_noreturn),
		cmocka_unit_test(solve_says_what_it_does_not_know),
		cmocka_unit_test(solve_without_counters),
		cmocka_unit_test(solve_cells),
		cmocka_unit_test(solve_many_cells),
		cmocka_unit_test(solve_more_than_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
