/* SPDX-License-Identifier: MIT */
/* What measures have in profiles beside counters: to whom extents belong, to which region records, what is summed, what is
 * refused. */
#include "tests/unit/profile_bytes.h"

#include "profile/measure.h"

#define ROW(id, lower, ...) [CHORD_##id] = &profile_measure_##lower,
static const struct profile_measure *const all[CHORD_MEASURES] = {CHORD_MEASURE_LIST(ROW)};

static void
put_records(struct buf *b, uint32_t type, uint64_t of, const void *at, size_t n, size_t size)
{
	struct chord_extent_head h = {.type = type, .size = CHORD_PAGE, .a = n, .b = of};
	struct buf page = {0};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, at, n * size);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

/* Of two measures that had one type the second would never be asked. Who does not know a type has to know how it is merged. */
static void
extents_have_one_owner(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		for (const struct profile_extent *x = all[m]->extents; x && x->type; x++, n++) {
			assert_ptr_equal(measures_extent(x->type), x);
			assert_non_null(x->read);
			/* What is kept in a module goes with it. */
			assert_true(all[m]->write ? all[m]->settle && all[m]->forget : all[m]->write_module != NULL);
		}
	assert_true(n >= 4);
	assert_null(measures_extent(CHORD_EXTENT_MODULE));
	assert_null(measures_extent(CHORD_EXTENT_COUNTS));
	assert_null(measures_extent(CHORD_EXTENT_EXITS));
	assert_null(measures_extent(CHORD_EXTENT_FLIGHT));
	assert_null(measures_extent(0));
}

static void
put_tables(struct buf *b, uint64_t addr)
{
	const struct chord_path_at at = {addr, 1};
	const struct chord_path_count path = {1ull << 48 | addr, 5, 7, 0};

	put_head(b, CHORD_STATE_ENDED);
	put_module(b, 0, "id1", "/bin/prog");
	put_records(b, CHORD_EXTENT_TABLES, 0, &at, 1, sizeof at);
	put_counts(b, 0, (uint64_t[8]){0});
	put_records(b, CHORD_EXTENT_PATHS, 0, &path, 1, sizeof path);
	finish(b);
}

/* Numbers of one build are of the same meaning only if its tables are where they were. */
static void
other_tables_are_refused(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0}, c = {0};
	struct profile *p, *other, *sum = profile_new();
	const char *why = NULL;

	(void)state;
	put_tables(&b, COUNTERS);
	put_tables(&c, COUNTERS + 32);
	p = parse_profile(pool, &b);
	other = parse_profile(pool, &c);
	assert_true(profile_add(sum, p, pool, &why));
	assert_true(profile_add(sum, p, pool, &why));
	assert_int_equal(sum->module.n, 1);
	assert_int_equal(sum->module.at[0].ntable, 1);
	assert_int_equal(sum->hashed.n, 1);
	assert_int_equal(sum->hashed.at[0].count, 14);
	assert_false(profile_add(sum, other, pool, &why));
	assert_non_null(strstr(why, "other counters"));
	profile_free(p);
	profile_free(other);
	profile_free(sum);
	buf_free(&b);
	buf_free(&c);
	pool_free(pool);
}

/* Where each thread has a region of its own its records are told from those of others. */
static void
records_are_of_their_region(void **state)
{
	const uint64_t one = 1ull << 48;
	const struct chord_callee callee[] = {{one | COUNTERS, one | CODE, 3, 0}, {one | COUNTERS, one | CODE, 40, 0}};
	const struct chord_unfinished path[] = {{one | (CODE + BACK1), 9, 2, 0}, {one | (CODE + BACK1), 9, 50, 0}};
	struct pool *pool = pool_new();
	struct buf b = {0};
	const char *why;

	(void)state;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	for (uint32_t i = 0; i < 2; i++) {
		put_region(&b, 0, i, (uint64_t[8]){1});
		put_records(&b, CHORD_EXTENT_CALLEES, i + 1, &callee[i], 1, sizeof *callee);
		put_records(&b, CHORD_EXTENT_UNFINISHED, i + 1, &path[i], 1, sizeof *path);
	}
	finish(&b);
	for (uint32_t i = 0; i < 3; i++) {
		struct profile *p = i < 2 ? profile_parse_region(pool, bytes_of(&b), i, &why) : parse_profile(pool, &b);

		assert_non_null(p);
		assert_int_equal(p->callee.n, 1);
		assert_int_equal(p->callee.at[0].count, i == 0 ? 3 : i == 1 ? 40 : 43);
		assert_int_equal(p->unfinished.n, 1);
		assert_int_equal(p->unfinished.at[0].count, i == 0 ? 2 : i == 1 ? 50 : 52);
		profile_free(p);
	}
	buf_free(&b);
	pool_free(pool);
}

/* The address of a counter is as it is in memory, a sum is a sum. */
static void
slots_hold_addresses_or_sums(void **state)
{
	const uint64_t bias = 0x7f0000000000;
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p;

	(void)state;
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	p = parse_profile(pool, &b);
	profile_add_slot(p, 0, CODE + BACK1, bias, bias + COUNTERS + 16);
	profile_add_slot(p, 0, CODE + BACK1, bias, 16);
	assert_int_equal(p->unfinished.n, 2);
	assert_int_equal(p->unfinished.at[0].path, COUNTERS + 16);
	assert_int_equal(p->unfinished.at[1].path, 16);
	assert_int_equal(p->unfinished.at[1].addr, CODE + BACK1);
	assert_int_equal(p->unfinished.at[1].count, 1);
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

/* Of two profiles that do not know how many paths had no room, the sum does not know it either. */
static void
unknown_paths_stay_unknown(void **state)
{
	static const struct { uint64_t one, two, sum; } known[] = {
		{3, 4, 7}, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {UINT64_MAX, 4, UINT64_MAX}, {3, UINT64_MAX, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct profile *p = profile_new();

		VEC_PUSH(p->hashed, (struct hashed){0, COUNTERS, UINT64_MAX, known[i].one});
		VEC_PUSH(p->hashed, (struct hashed){0, COUNTERS, UINT64_MAX, known[i].two});
		assert_true(paths_join(p));
		assert_int_equal(p->hashed.n, 1);
		assert_true(p->hashed.at[0].count == known[i].sum);
		profile_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_have_one_owner),
		cmocka_unit_test(other_tables_are_refused),
		cmocka_unit_test(records_are_of_their_region),
		cmocka_unit_test(slots_hold_addresses_or_sums),
		cmocka_unit_test(unknown_paths_stay_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
