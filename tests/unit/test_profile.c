/* SPDX-License-Identifier: MIT */
/* The reader of profiles: what it accepts, and damaged profiles. */
#include "tests/unit/profile_bytes.h"
#include "tests/unit/reasons.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static void
profile_regions_are_summed(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p;

	(void)state;
	put_head(&b, CHORD_STATE_THREADS);
	put_module(&b, 0, "id1", "/bin/prog");
	put_module(&b, 1, "id2", "/lib/lib.so");
	put_counts(&b, 0, (uint64_t[8]){1, 2, 3});
	put_counts(&b, 1, (uint64_t[8]){7});
	put_counts(&b, 0, (uint64_t[8]){10, 20, 30});
	/* dlopened again: the third module of the file is the second */
	put_module(&b, 2, "id2", "/lib/lib.so");
	put_counts(&b, 2, (uint64_t[8]){70});
	put_text(&b, "hello");
	finish(&b);
	put_counts(&b, 0, (uint64_t[8]){99}); /* not complete yet */
	p = parse_profile(pool, &b);
	assert_int_equal(p->module.n, 2);
	assert_int_equal(p->module.at[0].count[2], 33);
	assert_int_equal(p->module.at[1].count[0], 77);
	assert_string_equal(p->module.at[1].path, "/lib/lib.so");
	assert_int_equal(p->text.n, 1);
	assert_string_equal(p->text.at[0], "hello");
	assert_int_equal(p->nthreads, 1);
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

static void
regions_per_thread(void **state)
{
	const struct chord_exit first[] = {exit_at(CODE + BACK1, 3, false)}, second[] = {exit_at(CODE + BACK1, 4, false)};
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p;
	const char *why;

	(void)state;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_region(&b, 0, 0, (uint64_t[8]){1, 2, 3});
	put_region(&b, 0, 1, (uint64_t[8]){10, 20, 30});
	put_exits_of(&b, 1, first, 1);
	put_exits_of(&b, 2, second, 1);
	put_exits_of(&b, 1, first, 1);
	finish(&b);
	for (uint32_t i = 0; i < 3; i++) {
		p = profile_parse_region(pool, bytes_of(&b), i, &why);
		assert_non_null(p);
		assert_int_equal(p->nregion, 2);
		assert_int_equal(p->module.at[0].count ? p->module.at[0].count[2] : 0, i == 0 ? 3 : i == 1 ? 30 : 0);
		assert_int_equal(p->exit.n, i == 0 ? 2 : i == 1 ? 1 : 0);
		assert_int_equal(p->exit.n ? p->exit.at[0].count : 0, i == 0 ? 3 : i == 1 ? 4 : 0);
		profile_free(p);
	}
	p = parse_profile(pool, &b);
	assert_int_equal(p->module.at[0].count[2], 33);
	assert_int_equal(p->exit.n, 3);
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

static void
merged_is_summed(void **state)
{
	const struct chord_exit e1[] = {exit_at(CODE + BACK1, 3, false)};
	const struct chord_exit e2[] = {exit_at(CODE + BACK1, 4, false), exit_at(CODE + BACK0, 1, true)};
	struct pool *pool = pool_new();
	struct buf b1 = {0}, b2 = {0}, out = {0}, again = {0};
	struct profile *p1, *p2, *sum = profile_new(), *back;
	const char *why;

	(void)state;
	put_simple(&b1, (uint64_t[8]){1, 2, 3}, e1, 1);
	put_simple(&b2, (uint64_t[8]){10, 20, 30}, e2, 2);
	p1 = parse_profile(pool, &b1);
	p2 = parse_profile(pool, &b2);
	assert_true(profile_add(sum, p1, pool, &why));
	assert_true(profile_add(sum, p2, pool, &why));
	profile_write(sum, &out);
	back = parse_profile(pool, &out);
	assert_int_equal(back->flags & CHORD_PROFILE_MERGED, CHORD_PROFILE_MERGED);
	assert_int_equal(back->state, CHORD_STATE_ENDED);
	assert_int_equal(back->threads, 2);
	assert_int_equal(back->pid, 0);
	assert_int_equal(back->module.n, 1);
	assert_int_equal(back->module.at[0].count[2], 33);
	assert_int_equal(back->exit.n, 2);
	assert_int_equal(back->exit.at[0].addr, CODE + BACK1);
	assert_int_equal(back->exit.at[0].count, 7);
	assert_true(back->exit.at[1].reentry);
	/* What is merged once more comes out the same. */
	profile_write(back, &again);
	assert_int_equal(again.n, out.n);
	assert_memory_equal(again.at, out.at, out.n);
	profile_free(p1);
	profile_free(p2);
	profile_free(back);
	profile_free(sum);
	buf_free(&b1);
	buf_free(&b2);
	buf_free(&out);
	buf_free(&again);
	pool_free(pool);
}

/* Callees of one site add up, in one profile and in sums; the site's number is no count. */
static void
callees_are_summed(void **state)
{
	const uint64_t one = 1ull << 48, two = 2ull << 48;
	const struct chord_callee c[] = {
		{two | (COUNTERS + 8), one | CODE, 3, 99}, {0}, {one | COUNTERS, 0, 5, 1}, {one | COUNTERS, two | CODE, 0, 2},
		{two | (COUNTERS + 8), one | CODE, 4, 98}, {one | COUNTERS, one | CODE, 6, CODE},
	};
	struct pool *pool = pool_new();
	struct proc proc = {.counters = COUNTERS, .nevent = 1, .call = &(struct call){.sum = 1}};
	struct buf b = {0}, out = {0};
	struct profile *p, *sum = profile_new();
	const struct callees *found;
	const char *why;
	size_t n;

	(void)state;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_module(&b, 1, "id2", "/lib/lib.so");
	put_counts(&b, 1, (uint64_t[8]){7, 1ull << 46, 8});
	put_callees(&b, c, 6);
	finish(&b);
	p = parse_profile(pool, &b);
	assert_int_equal(p->callee.n, 3);
	assert_true(profile_add(sum, p, pool, &why));
	assert_true(profile_add(sum, p, pool, &why));
	profile_free(p);
	profile_write(sum, &out);
	profile_free(sum);
	p = parse_profile(pool, &out);
	assert_int_equal(p->callee.n, 3);
	assert_int_equal(p->module.at[1].count[0], 14);
	assert_int_equal(p->module.at[1].count[1], 0);
	found = call_callees(p, &p->module.at[1], &proc, 0, &n);
	assert_int_equal(n, 1);
	assert_int_equal(found->to_module, 0);
	assert_int_equal(found->to, CODE);
	assert_int_equal(found->count, 14);
	assert_null(call_callees(p, &p->module.at[0], &proc, 0, &n));
	proc.counters -= 8;
	found = call_callees(p, &p->module.at[0], &proc, 0, &n);
	assert_int_equal(n, 2);
	assert_int_equal(found[0].to_module, 0);
	assert_int_equal(found[1].to_module, UINT32_MAX);
	assert_int_equal(found[1].count, 10);
	profile_free(p);
	buf_free(&b);
	buf_free(&out);
	pool_free(pool);
}

/* The second profile lists the modules the other way round; its exit belongs to its first. */
static void
merge_joins_modules_by_build_id(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false)};
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p1, *p2, *sum = profile_new();
	const char *why;

	(void)state;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	finish(&b);
	p1 = parse_profile(pool, &b);
	b.n = 0;
	put_head(&b, CHORD_STATE_RUNNING);
	put_module(&b, 0, "id2", "/lib/lib.so");
	put_module(&b, 1, "id1", "/bin/prog");
	put_counts(&b, 1, (uint64_t[8]){5});
	put_exits(&b, e, 1);
	finish(&b);
	p2 = parse_profile(pool, &b);
	assert_true(profile_add(sum, p1, pool, &why));
	assert_true(profile_add(sum, p2, pool, &why));
	assert_int_equal(sum->module.n, 2);
	assert_int_equal(profile_module(sum, STR("id1"))->count[0], 5);
	assert_int_equal(sum->exit.at[0].module, 1);
	assert_string_equal(sum->module.at[1].path, "/lib/lib.so");
	assert_int_equal(sum->state, CHORD_STATE_RUNNING);
	assert_int_equal(sum->nrunning, 1);
	profile_free(p1);
	profile_free(p2);
	profile_free(sum);
	buf_free(&b);
	pool_free(pool);
}

/* What is in a sum is known by identities, after it was written and read, too; a profile without one by its bytes. */
static void
origins(void **state)
{
	struct pool *pool = pool_new();
	struct buf a = {0}, b = {0}, ab = {0};
	struct profile *pa, *pb, *sum = profile_new(), *back, *other;
	const char *why;

	(void)state;
	put_simple(&a, (uint64_t[8]){1}, NULL, 0);
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	((struct chord_profile_head *)a.at)->id = 7;
	((struct chord_profile_head *)a.at)->processes = 3;
	pa = parse_profile(pool, &a);
	pb = parse_profile(pool, &b);
	assert_int_equal(pa->nsummed, 3);
	assert_int_equal(profile_overlap(pa, pb), PROFILE_PER_THREAD);
	other = parse_profile(pool, &b);
	assert_int_equal(profile_overlap(pb, other), PROFILE_INSIDE);
	profile_free(other);
	assert_true(profile_add(sum, pa, pool, &why));
	assert_true(profile_add(sum, pb, pool, &why));
	profile_write(sum, &ab);
	back = parse_profile(pool, &ab);
	assert_int_equal(back->nsummed, 4);
	assert_int_equal(back->origin.n, 2);
	assert_int_equal(profile_overlap(back, pa), PROFILE_INSIDE);
	assert_int_equal(profile_overlap(back, pb), PROFILE_INSIDE);
	assert_int_equal(profile_overlap(pa, back), PROFILE_OVERLAPS);
	((struct chord_profile_head *)a.at)->id = 8;
	((struct chord_profile_head *)a.at)->of = 7;
	((struct chord_profile_head *)a.at)->flags = CHORD_PROFILE_SNAPSHOT;
	other = parse_profile(pool, &a);
	assert_int_equal(profile_overlap(back, other), PROFILE_PER_THREAD);
	assert_int_equal(profile_snapshot_of(back, other)->id, 7);
	assert_null(profile_snapshot_of(pb, other));
	profile_free(pa);
	profile_free(pb);
	profile_free(sum);
	profile_free(back);
	profile_free(other);
	buf_free(&a);
	buf_free(&b);
	buf_free(&ab);
	pool_free(pool);
}

static void
sums_that_do_not_fit(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p, *sum = profile_new();
	const char *why;

	(void)state;
	put_simple(&b, (uint64_t[8]){1ull << 63}, NULL, 0);
	p = parse_profile(pool, &b);
	assert_true(profile_add(sum, p, pool, &why));
	assert_false(profile_add(sum, p, pool, &why));
	assert_non_null(strstr(why, "64 bits"));
	b.n = 0;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_counts(&b, 0, (uint64_t[8]){UINT64_MAX}); /* -1: an event's counter on its way */
	put_counts(&b, 0, (uint64_t[8]){1});
	finish(&b);
	profile_free(parse_profile(pool, &b));
	b.n = 0;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_counts(&b, 0, (uint64_t[8]){1ull << 63});
	put_counts(&b, 0, (uint64_t[8]){1ull << 63});
	finish(&b);
	assert_null(profile_parse(pool, bytes_of(&b), &why));
	assert_non_null(strstr(why, "64 bits"));
	profile_free(p);
	profile_free(sum);
	buf_free(&b);
	pool_free(pool);
}

/* ---- what this version does not know ---- */

enum { SUMMED = 77 | CHORD_MERGE_SUM << 16, KEPT = 78 | CHORD_MERGE_KEEP << 16, OWN = 79 };

static void
put_unknown(struct buf *b, uint32_t type, uint64_t of, uint64_t n)
{
	struct chord_extent_head h = {.type = type, .size = CHORD_PAGE, .a = of};
	struct buf page = {0};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, &n, sizeof n);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static struct profile *
with_unknown(struct pool *pool, struct buf *b, uint64_t id, uint64_t n, bool own)
{
	b->n = 0;
	put_head(b, CHORD_STATE_ENDED);
	memcpy(b->at + offsetof(struct chord_profile_head, id), &id, 8);
	put_module(b, 0, "id1", "/bin/prog");
	put_counts(b, 0, (uint64_t[8]){1, 2, 3});
	put_unknown(b, SUMMED, 0, n);
	put_unknown(b, SUMMED, 1, 100);
	put_unknown(b, KEPT, 0, n);
	if (own)
		put_unknown(b, OWN, 0, n);
	finish(b);
	return parse_profile(pool, b);
}

static uint64_t
first_number(const struct unknown *u)
{
	uint64_t n;

	memcpy(&n, u->at, sizeof n);
	return n;
}

static void
unknown_is_named(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p = with_unknown(pool, &b, 1, 5, true);

	(void)state;
	assert_int_equal(p->module.at[0].count[2], 3);
	assert_int_equal(p->unknown.n, 4);
	assert_string_equal(profile_unknown(pool, p),
	                    "profiles have data of kind 77, 78, 79, which this version of Chord does not know: passed over");
	profile_free(p);
	b.n = 0;
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	p = parse_profile(pool, &b);
	assert_null(profile_unknown(pool, p));
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

/* Of two profiles: numbers are added, what is kept is there twice, what only its own process understands is gone. A file that
 * is written says the same when it is read again. */
static void
unknown_is_merged(void **state)
{
	struct pool *pool = pool_new();
	struct buf a = {0}, b = {0}, c = {0};
	struct profile *p = with_unknown(pool, &a, 1, 5, true), *q = with_unknown(pool, &b, 2, 6, false), *sum = profile_new();
	const char *why;

	(void)state;
	assert_true(profile_add(sum, p, pool, &why) && profile_add(sum, q, pool, &why));
	assert_non_null(strstr(profile_unknown(pool, sum), "kind 79, which this version of Chord does not know and cannot sum"));
	profile_write(sum, &c);
	profile_free(sum);
	sum = parse_profile(pool, &c);
	assert_int_equal(sum->module.at[0].count[2], 6);
	assert_int_equal(sum->unknown.n, 4);
	assert_true(sum->unknown.at[0].type == SUMMED && first_number(&sum->unknown.at[0]) == 11);
	assert_true(sum->unknown.at[1].type == SUMMED && first_number(&sum->unknown.at[1]) == 200 && sum->unknown.at[1].a == 1);
	assert_true(sum->unknown.at[2].type == KEPT && first_number(&sum->unknown.at[2]) == 5);
	assert_true(sum->unknown.at[3].type == KEPT && first_number(&sum->unknown.at[3]) == 6);
	profile_free(p);
	profile_free(q);
	profile_free(sum);
	buf_free(&a);
	buf_free(&b);
	buf_free(&c);
	pool_free(pool);
}

static void
expect_error(struct buf *b, const char *part)
{
	struct pool *pool = pool_new();
	const char *why = NULL;

	assert_null(profile_parse(pool, bytes_of(b), &why));
	if (!strstr(why, part))
		fail_msg("'%s' does not say '%s'", why, part);
	pool_free(pool);
}

static void
profile_errors(void **state)
{
	struct buf b = {0};
	uint32_t version = 99;

	(void)state;
	expect_error(&b, "empty");
	buf_str(&b, "#!/bin/sh\n");
	expect_error(&b, "not a profile");
	b.n = 0;
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	b.n -= CHORD_PAGE;
	expect_error(&b, "truncated");
	b.n = 100;
	expect_error(&b, "truncated");
	b.n = 0;
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	memcpy(b.at + offsetof(struct chord_profile_head, version), &version, 4);
	expect_error(&b, "version 99");
	version = CHORD_FORMAT_VERSION - 1;
	memcpy(b.at + offsetof(struct chord_profile_head, version), &version, 4);
	expect_error(&b, "a profile of format version 10; this is version 11");
	buf_free(&b);
}

static void
set64(struct buf *b, size_t at, uint64_t v)
{
	memcpy(b->at + at, &v, 8);
}

/* One field of one extent wrong. The module is on page 1, counters on 2 and 3, exits on 4. */
static void
extent_errors(void **state)
{
	const struct { unsigned page; size_t field; uint64_t value; const char *why; } cases[] = {
		{1, offsetof(struct chord_extent_head, type), 0, "without a type"},
		{1, offsetof(struct chord_extent_head, size), 0, "size"},
		{1, offsetof(struct chord_extent_head, size), CHORD_PAGE + 1, "size"},
		{2, offsetof(struct chord_extent_head, size), CHORD_PAGE, "fewer counters"},
		{4, offsetof(struct chord_extent_head, size), 2 * CHORD_PAGE, "size"},
		{1, offsetof(struct chord_extent_head, c), 33, "module"},
		{1, offsetof(struct chord_extent_head, b), UINT64_MAX - 7, "module"},
		{1, offsetof(struct chord_extent_head, b), CHORD_PAGE + 8, "fewer counters"},
		{4, offsetof(struct chord_extent_head, a), CHORD_PAGE / 16, "fewer exit records"},
		{4, sizeof(struct chord_extent_head), 3ull << 48 | CODE, "exit from a module"},
	};
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false)};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};

		put_simple(&b, (uint64_t[8]){1}, e, 1);
		set64(&b, cases[i].page * CHORD_PAGE + cases[i].field, cases[i].value);
		expect_error(&b, cases[i].why);
		buf_free(&b);
	}
}

static void
callee_errors(void **state)
{
	const uint64_t one = 1ull << 48;
	const struct { struct chord_callee c; const char *why; } cases[] = {
		{{2 * one | COUNTERS, 0, 1, 0}, "callee in a module"},
		{{one | COUNTERS, 3 * one | CODE, 1, 0}, "callee in a module"},
		{{one | (COUNTERS + 4), 0, 1, 0}, "outside"},
		{{one | (COUNTERS + 64), 0, 1, 0}, "outside"},
		{{one | (COUNTERS - 8), 0, 1, 0}, "outside"},
	};
	struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		b.n = 0;
		put_head(&b, CHORD_STATE_ENDED);
		put_module(&b, 0, "id1", "/bin/prog");
		put_callees(&b, &cases[i].c, 1);
		finish(&b);
		expect_error(&b, cases[i].why);
	}
	set64(&b, 2 * CHORD_PAGE + offsetof(struct chord_extent_head, a), CHORD_PAGE / 16);
	expect_error(&b, "fewer records of callees");
	buf_free(&b);
}

/* A path that fills the page has no end. */
static void
texts_end(void **state)
{
	struct buf b = {0};
	size_t head = sizeof(struct chord_extent_head);

	(void)state;
	put_simple(&b, (uint64_t[8]){1}, NULL, 0);
	memset(b.at + CHORD_PAGE + head + 32, 'x', CHORD_PAGE - head - 32);
	expect_error(&b, "module");
	b.n = 0;
	put_head(&b, CHORD_STATE_ENDED);
	put_text(&b, "text");
	finish(&b);
	memset(b.at + CHORD_PAGE + head, 'x', CHORD_PAGE - head);
	expect_error(&b, "without an end");
	buf_free(&b);
}

/* ---- damage ---- */

/* Looks at everything there is. */
static void
use(struct pool *pool, const struct map *map, const struct profile *p)
{
	struct counts *c = profile_solve(pool, map, p, p->module.n ? &p->module.at[0] : NULL, NULL);
	volatile uint64_t sum = 0;
	struct walk w;

	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t b = 0; b < map->proc[i].nblock; b++)
			for (walk_start(&w, &map->proc[i], &c[i], b); walk_next(&w);)
				sum += w.count + w.addr;
	(void)sum;
}

/* An allocation of exactly the size, so that a read behind the end is seen. */
static void
try_map(const char *bytes, size_t n, const struct profile *p, struct reasons *refused)
{
	struct pool *pool = pool_new();
	char *copy = n ? memcpy(malloc(n), bytes, n) : NULL;
	struct map map;
	const char *why = NULL;

	if (map_parse(pool, (struct str){copy, n}, &map, &why))
		use(pool, &map, p);
	else
		reasons_note(refused, why);
	free(copy);
	pool_free(pool);
}

static void
try_profile(const char *bytes, size_t n, const struct map *map, struct reasons *refused)
{
	struct pool *pool = pool_new();
	char *copy = n ? memcpy(malloc(n), bytes, n) : NULL;
	const char *why = NULL;
	struct profile *p = profile_parse(pool, (struct str){copy, n}, &why), *sum = profile_new();
	struct buf out = {0};

	if (p) {
		use(pool, map, p);
		if (profile_add(sum, p, pool, &why))
			profile_write(sum, &out);
	} else {
		reasons_note(refused, why);
	}
	buf_free(&out);
	profile_free(sum);
	profile_free(p);
	free(copy);
	pool_free(pool);
}

static const unsigned char damage[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};

static void
damaged_maps(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false), exit_at(CODE + BACK0, 1, true)};
	struct shape second = plain;
	struct solved s;
	struct reasons refused = {0};
	struct buf b = {0};

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, e, 2);
	second.addr = 0x2000;
	second.measure = CHORD_EVERY_BLOCK;
	put_record(&b, &plain);
	put_record(&b, &second);
	second.refused = "why not";
	put_record(&b, &second);
	for (size_t n = 0; n < b.n; n++)
		try_map(b.at, n, s.profile, &refused);
	for (size_t i = 0; i < b.n; i++)
		for (size_t k = 0; k < sizeof damage; k++) {
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
			try_map(b.at, b.n, s.profile, &refused);
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
		}
	assert_true(refused.n >= 30);
	buf_free(&b);
	done(&s);
}

static void
damaged_profiles(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false), exit_at(CODE + BACK0, 1, true)};
	struct solved s;
	struct reasons refused = {0};
	struct buf b = {0};

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, e, 2);
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_counts(&b, 0, (uint64_t[8]){10, 5});
	put_exits(&b, e, 2);
	put_text(&b, "text");
	finish(&b);
	for (size_t n = 0; n < b.n; n += n % CHORD_PAGE < 128 ? 1 : 61)
		try_profile(b.at, n, &s.map, &refused);
	for (size_t i = 0; i < b.n; i += i % CHORD_PAGE < 160 ? 1 : 61)
		for (size_t k = 0; k < sizeof damage; k++) {
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
			try_profile(b.at, b.n, &s.map, &refused);
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
		}
	assert_true(refused.n >= 8);
	buf_free(&b);
	done(&s);
}

/* Two sums of many profiles are compared in a time that does not grow with the square of their number. */
static void
many_origins(void **state)
{
	enum { N = 80000 };
	struct profile *a = profile_new(), *b = profile_new();
	clock_t before = clock();

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		VEC_PUSH(a->origin, ((struct chord_origin){.id = i, .id2 = 1}));
		VEC_PUSH(b->origin, ((struct chord_origin){.id = i, .id2 = 2}));
	}
	assert_int_equal(profile_overlap(a, b), PROFILE_PER_THREAD);
	assert_null(profile_snapshot_of(a, b));
	b->origin.at[7] = a->origin.at[N - 7];
	assert_int_equal(profile_overlap(a, b), PROFILE_OVERLAPS);
	assert_int_equal(profile_overlap(a, a), PROFILE_INSIDE);
	b->origin.at[8] = (struct chord_origin){.of = 9, .of2 = 1, .flags = CHORD_PROFILE_SNAPSHOT};
	assert_ptr_equal(profile_snapshot_of(a, b), &a->origin.at[9]);
	assert_ptr_equal(profile_snapshot_of(b, a), &b->origin.at[8]);
	assert_in_range(clock() - before, 0, 2 * CLOCKS_PER_SEC);
	profile_free(a);
	profile_free(b);
}

/* The processes of a file that keeps them apart have the same modules, whose paths are kept once. */
static void
many_parts(void **state)
{
	enum { MODULES = 100, PARTS = 1000 };
	struct chord_profile_head h = {.magic = CHORD_PROFILE_MAGIC, .version = CHORD_FORMAT_VERSION, .page = CHORD_PAGE,
	                               .flags = CHORD_PROFILE_MERGED, .processes = PARTS};
	struct chord_extent_head x = {.type = CHORD_EXTENT_FLIGHT, .a = PARTS};
	struct pool *pool = pool_new();
	struct rusage before, after;
	char path[3000] = "", id[16];
	struct buf b = {0}, parts = {0};
	struct profile *p;

	(void)state;
	memset(path, 'p', sizeof path - 1);
	put_page(&b, &h, sizeof h);
	for (uint32_t i = 0; i < MODULES; i++) {
		snprintf(id, sizeof id, "id%u", i);
		put_module(&b, i, id, path);
	}
	x.size = (sizeof x + PARTS * sizeof(struct chord_flight) + CHORD_PAGE - 1) / CHORD_PAGE * CHORD_PAGE;
	buf_add(&parts, &x, sizeof x);
	for (uint64_t i = 1; i <= PARTS; i++)
		buf_add(&parts, &(struct chord_flight){i, 1, CHORD_STATE_THREADS, 0}, sizeof(struct chord_flight));
	put_page(&b, parts.at, parts.n);
	finish(&b);
	getrusage(RUSAGE_SELF, &before);
	p = parse_profile(pool, &b);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(p->flight.n, PARTS);
	assert_string_equal(p->flight.at[PARTS - 1]->module.at[MODULES - 1].path, path);
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 100 * 1024);
	profile_free(p);
	buf_free(&parts);
	buf_free(&b);
	pool_free(pool);
}

/* Whatever a snapshot says of threads without a region, activations may stand somewhere. */
static void
lost_threads_do_not_wrap(void **state)
{
	struct chord_profile_head h = {.magic = CHORD_PROFILE_MAGIC, .version = CHORD_FORMAT_VERSION, .page = CHORD_PAGE,
	                               .flags = CHORD_PROFILE_SNAPSHOT | CHORD_PROFILE_INTERRUPTED, .lost = UINT64_MAX};
	struct pool *pool = pool_new();
	struct profile *p;
	struct buf b = {0};

	(void)state;
	h.state = CHORD_STATE_RUNNING;
	put_page(&b, &h, sizeof h);
	put_module(&b, 0, "id1", "/bin/prog");
	put_region(&b, 0, 0, (uint64_t[8]){1});
	put_region(&b, 0, 1, (uint64_t[8]){1});
	finish(&b);
	p = parse_profile(pool, &b);
	assert_true(p->standing == UINT64_MAX);
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_regions_are_summed),
		cmocka_unit_test(regions_per_thread),
		cmocka_unit_test(merged_is_summed),
		cmocka_unit_test(merge_joins_modules_by_build_id),
		cmocka_unit_test(origins), cmocka_unit_test(sums_that_do_not_fit),
		cmocka_unit_test(profile_errors),
		cmocka_unit_test(many_origins),
		cmocka_unit_test(many_parts),
		cmocka_unit_test(lost_threads_do_not_wrap),
		cmocka_unit_test(unknown_is_named),
		cmocka_unit_test(unknown_is_merged),
		cmocka_unit_test(callees_are_summed),
		cmocka_unit_test(callee_errors),
		cmocka_unit_test(extent_errors),
		cmocka_unit_test(texts_end),
		cmocka_unit_test(damaged_maps),
		cmocka_unit_test(damaged_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
