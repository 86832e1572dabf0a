/* SPDX-License-Identifier: MIT */
/* Damaged maps and profiles of paths: the reader does no harm, and finds most of the damage. */
#include "paths_bytes.h"
#include "reasons.h"

/* Whatever the bytes of the map are, the reader does no harm; most damage it finds. */
static void
damaged(void **unused)
{
	const size_t head = sizeof(struct chord_map_head);
	struct reasons refused = {0};

	(void)unused;
	for (int round = 0; round < 20000; round++) {
		struct fake *f = make();
		struct pool *pool = pool_new();
		struct buf b = {0};
		struct map map;
		const char *why = NULL;

		put_map(&b, f);
		for (uint32_t n = 1 + rnd(3); n; n--)
			b.at[head + rnd((uint32_t)(b.n - head))] ^= (char)(1 << rnd(8));
		if (map_parse(pool, bytes_of(&b), &map, &why)) {
			struct counts *c = profile_solve(pool, &map, NULL, NULL, NULL);

			assert_true(!c->why || *c->why);
		} else {
			reasons_note(&refused, why);
		}
		buf_free(&b);
		pool_free(pool);
		destroy(f);
	}
	assert_true(refused.n >= 100);
}

/* Nor are those of a profile trusted: extents of tables, paths and unfinished paths as well. */
static void
damaged_profile(void **unused)
{
	struct reasons refused = {0};
	uint32_t nrefused = 0, unknown = 0;

	(void)unused;
	for (int round = 0; round < 4000; round++) {
		struct fake *f = make();
		struct pool *pool = pool_new();
		struct buf b = {0}, mapped = {0};
		struct profile *p;
		struct map map;
		const char *why = NULL;

		call_it(f, false);
		call_it(f, false);
		put_map(&mapped, f);
		map = parse_map(pool, &mapped);
		put_profile_of(&b, f, CHORD_STATE_ENDED);
		/* Heads of extents and what follows them, where there is something to damage. */
		for (uint32_t n = 1 + rnd(4); n; n--)
			b.at[CHORD_PAGE * (1 + rnd((uint32_t)(b.n / CHORD_PAGE - 1))) + rnd(rnd(2) ? 48 : 300)] ^=
				(char)(1 << rnd(8));
		p = profile_parse(pool, bytes_of(&b), &why);
		if (p)
			unknown += profile_solve(pool, &map, p, profile_module(p, STR("id1")), NULL)->why != NULL;
		else
			reasons_note(&refused, why), nrefused++;
		profile_free(p);
		buf_free(&b);
		buf_free(&mapped);
		pool_free(pool);
		destroy(f);
	}
	assert_true(nrefused > 500 && unknown > 100 && refused.n >= 12);
}

/* What a profile says of tables has to make sense. */
static void
bad_tables(void **unused)
{
	static const struct {
		uint64_t addr, bits;
		const char *why;
	} bad[] = {
		{COUNTERS + 8 * TABLE_AT + 4, 0, "makes no sense"}, /* not aligned */
		{COUNTERS - 8, 0, "makes no sense"},
		{COUNTERS + 8 * 1000, 0, "makes no sense"},
		{COUNTERS, 20, "makes no sense"},
		{COUNTERS, 64, "makes no sense"},
	};
	struct fake *f = make();

	(void)unused;
	while (f->kind != CHORD_PATH_HASHED || f->bits < 2) {
		destroy(f);
		f = make();
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct chord_path_at at = {bad[i].addr, bad[i].bits};
		struct pool *pool = pool_new();
		struct buf b = {0};
		const char *why = NULL;

		put_profile_of(&b, f, CHORD_STATE_ENDED);
		memcpy(b.at + 2 * CHORD_PAGE + sizeof(struct chord_extent_head), &at, sizeof at);
		assert_null(profile_parse(pool, bytes_of(&b), &why));
		assert_non_null(strstr(why, bad[i].why));
		buf_free(&b);
		pool_free(pool);
	}
	destroy(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged),
		cmocka_unit_test(damaged_profile),
		cmocka_unit_test(bad_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
