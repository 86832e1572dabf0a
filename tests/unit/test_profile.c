/* SPDX-License-Identifier: MIT */
/* Maps and profiles made in memory. The procedure used throughout, with its
 * edges and their counters:
 *
 *   ENTRY -> 0        block 0: other, branch
 *   0 -> 1  counter 1 block 1: call, other, call, other
 *   0 -> 2  counter 2 block 2: ret
 *   1 -> 2, 2 -> EXIT, EXIT -> ENTRY
 */
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 0x1000, COUNTERS = 0x8000, WOVEN = 40, BACK0 = 12, BACK1 = 22 };

/* ---- maps ---- */

struct shape {
	const char *name;
	uint64_t addr, counters;
	enum chord_measure measure;
	const char *refused;
	uint32_t flags1;         /* of the second call */
};

static uint8_t
insn(unsigned len, enum chord_insn kind)
{
	return (uint8_t)(len | kind << 4);
}

static void
put_string(struct buf *b, const char *s)
{
	buf_uleb(b, strlen(s));
	buf_str(b, s);
}

static void
put_numbers(struct buf *b, const int *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_uleb(b, (uint64_t)v[i]);
}
#define PUT(b, ...) put_numbers(b, (int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))

static void
put_block(struct buf *b, unsigned offset, int count, const uint8_t *code, size_t n)
{
	PUT(b, 0, (int)offset, count, (int)n);
	buf_add(b, code, n);
}

/* Counters: EDGES 1, 2 on the chords; EVERY_BLOCK 1, 2, 3 on the blocks; EVERY_EDGE 1..4 on all but ENTRY and CLOSE. */
static void
put_blob(struct buf *b, const struct shape *s)
{
	const uint8_t b0[] = {insn(3, CHORD_INSN_OTHER), insn(2, CHORD_INSN_BRANCH)};
	const uint8_t b1[] = {insn(5, CHORD_INSN_CALL), insn(1, CHORD_INSN_OTHER), insn(5, CHORD_INSN_ICALL),
	                      insn(2, CHORD_INSN_OTHER)};
	const uint8_t b2[] = {insn(1, CHORD_INSN_RET)};
	int blocks = s->measure == CHORD_EVERY_BLOCK, all = s->measure == CHORD_EVERY_EDGE, edges = !blocks;

	PUT(b, (int)s->measure);
	put_string(b, s->name);
	put_string(b, "f.c");
	put_string(b, s->refused ? s->refused : "");
	if (s->refused)
		return;
	PUT(b, 3);
	put_block(b, 0, blocks ? 1 : 0, b0, sizeof b0);
	put_block(b, 5, blocks ? 2 : 0, b1, sizeof b1);
	put_block(b, 18, blocks ? 3 : 0, b2, sizeof b2);
	PUT(b, 5, 6);
	PUT(b, 3, 0, CHORD_EDGE_ENTRY, 0);
	PUT(b, 0, 1, CHORD_EDGE_FALL, edges ? 1 : 0);
	PUT(b, 0, 2, CHORD_EDGE_TAKEN, edges ? 2 : 0);
	PUT(b, 1, 2, CHORD_EDGE_FALL, all ? 3 : 0);
	PUT(b, 2, 4, CHORD_EDGE_EXIT, all ? 4 : 0);
	PUT(b, 4, 3, CHORD_EDGE_CLOSE, 0);
	PUT(b, 2, 1, 2, (int)s->flags1, 1, 0, 0);
	PUT(b, 4, 0, 0, 1, 0, 2, 0, 1, 2);
}

static void
put_record(struct buf *out, const struct shape *s)
{
	/* Segments as listed above, then the two calls, the second first. */
	const uint32_t woven[] = {0, 7, 30, 16, BACK1, BACK0};
	const struct chord_part part = {s->addr, 19, WOVEN};
	struct buf blob = {0};
	uint32_t nwoven = s->refused ? 0 : 6, nblob;
	struct chord_map_head h = {
		.magic = CHORD_MAP_MAGIC, .version = CHORD_FORMAT_VERSION, .flags = s->refused ? CHORD_MAP_REFUSED : 0,
		.counters = s->refused ? 0 : s->counters, .ncounter = s->refused ? 0 : 4, .npart = 1,
	};

	put_blob(&blob, s);
	nblob = (uint32_t)blob.n;
	h.size = (uint32_t)(sizeof h + sizeof part + 4 + 4 * nwoven + 4 + nblob);
	buf_add(out, &h, sizeof h);
	buf_add(out, &part, sizeof part);
	buf_add(out, &nwoven, 4);
	buf_add(out, woven, 4 * nwoven);
	buf_add(out, &nblob, 4);
	buf_add(out, blob.at, blob.n);
	buf_free(&blob);
}

static const struct shape plain = {.name = "f", .addr = CODE, .counters = COUNTERS};

static struct str
bytes_of(const struct buf *b)
{
	return (struct str){b->at, b->n};
}

static struct map
parse_map(struct pool *pool, const struct buf *b)
{
	struct map m;
	const char *why;

	if (!map_parse(pool, bytes_of(b), &m, &why))
		fail_msg("%s", why);
	return m;
}

/* ---- profiles ---- */

static void
put_page(struct buf *b, const void *head, size_t n)
{
	static const char zero[CHORD_PAGE];

	buf_add(b, head, n);
	buf_add(b, zero, (CHORD_PAGE - n % CHORD_PAGE) % CHORD_PAGE);
}

static void
put_head(struct buf *b, uint64_t state)
{
	struct chord_profile_head h = {.magic = CHORD_PROFILE_MAGIC, .version = CHORD_FORMAT_VERSION, .pid = 7,
	                               .state = state, .threads = 1};

	put_page(b, &h, sizeof h);
}

static void
put_module(struct buf *b, uint32_t index, const char *id, const char *path)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_MODULE, .module = index, .size = CHORD_PAGE, .a = COUNTERS,
	                              .b = 64, .c = strlen(id)};
	char padded[32] = {0};

	memcpy(padded, id, strlen(id));
	buf_add(&page, &h, sizeof h);
	buf_add(&page, padded, sizeof padded);
	buf_add(&page, path, strlen(path) + 1);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static void
put_counts(struct buf *b, uint32_t module, const uint64_t count[8])
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_COUNTS, .module = module, .size = 2 * CHORD_PAGE};

	put_page(b, &h, sizeof h);
	put_page(b, count, 64);
}

static void
put_exits(struct buf *b, const struct chord_exit *e, size_t n)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_EXITS, .size = CHORD_PAGE, .a = n};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, e, n * sizeof *e);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static void
put_text(struct buf *b, const char *text)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_TEXT, .size = CHORD_PAGE};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, text, strlen(text) + 1);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static void
finish(struct buf *b)
{
	uint64_t used = b->n;

	memcpy(b->at + offsetof(struct chord_profile_head, used), &used, sizeof used);
}

static struct chord_exit
exit_at(uint64_t addr, uint64_t count, bool reentry)
{
	return (struct chord_exit){1ull << 48 | addr | (reentry ? CHORD_EXIT_REENTRY : 0), count};
}

/* One module "id1", the counts given, the exits given. */
static void
put_simple(struct buf *b, const uint64_t count[8], const struct chord_exit *e, size_t nexit)
{
	put_head(b, CHORD_STATE_ENDED);
	put_module(b, 0, "id1", "/bin/prog");
	put_counts(b, 0, count);
	if (nexit)
		put_exits(b, e, nexit);
	finish(b);
}

static struct profile *
parse_profile(struct pool *pool, const struct buf *b)
{
	const char *why = NULL;
	struct profile *p = profile_parse(pool, bytes_of(b), &why);

	if (!p)
		fail_msg("%s", why);
	return p;
}

/* ---- a map and a profile, solved ---- */

struct solved {
	struct pool *pool;
	struct buf mapped;
	struct map map;
	struct profile *profile;
	struct counts *counts;
};

static void
solve_with(struct solved *s, const struct shape *shape, const uint64_t count[8], const struct chord_exit *e, size_t nexit)
{
	struct buf b = {0};

	*s = (struct solved){.pool = pool_new()};
	put_record(&s->mapped, shape);
	s->map = parse_map(s->pool, &s->mapped);
	put_simple(&b, count, e, nexit);
	s->profile = parse_profile(s->pool, &b);
	buf_free(&b);
	s->counts = profile_solve(s->pool, &s->map, s->profile, profile_module(s->profile, STR("id1")));
}

static void
done(struct solved *s)
{
	profile_free(s->profile);
	buf_free(&s->mapped);
	pool_free(s->pool);
}

static void
check_insns(const struct solved *s, uint32_t block, const uint64_t *want, size_t n)
{
	struct walk w;
	size_t i = 0;

	for (walk_start(&w, &s->map.proc[0], &s->counts[0], block); walk_next(&w); i++) {
		assert_true(i < n);
		assert_int_equal(w.count, want[i]);
	}
	assert_int_equal(i, n);
}
#define CHECK_INSNS(s, b, ...) \
	check_insns(s, b, (uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

/* ---- tests of maps ---- */

static void
map_round_trip(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;
	struct walk w;

	(void)state;
	put_record(&b, &plain);
	m = parse_map(pool, &b);
	assert_int_equal(m.nproc, 1);
	assert_string_equal(m.proc[0].name, "f");
	assert_string_equal(m.proc[0].file, "f.c");
	assert_null(m.proc[0].refused);
	assert_int_equal(m.proc[0].nblock, 3);
	assert_int_equal(m.proc[0].narc, 6);
	assert_int_equal(m.proc[0].close, 5);
	/* Calls come sorted, with their own return addresses. */
	assert_int_equal(m.proc[0].call[0].insn, 0);
	assert_int_equal(m.proc[0].call[0].back, CODE + BACK0);
	assert_int_equal(m.proc[0].call[1].back, CODE + BACK1);
	/* Block 1 starts at woven offset 7; its third instruction begins a segment at 16. */
	walk_start(&w, &m.proc[0], NULL, 1);
	assert_true(walk_next(&w) && w.offset == 5 && w.addr == CODE + 7 && w.kind == CHORD_INSN_CALL);
	assert_true(walk_next(&w) && w.offset == 10 && w.addr == CODE + 12);
	assert_true(walk_next(&w) && w.offset == 11 && w.addr == CODE + 16 && w.kind == CHORD_INSN_ICALL);
	assert_true(walk_next(&w) && w.offset == 16 && w.addr == CODE + 21);
	assert_false(walk_next(&w));
	buf_free(&b);
	pool_free(pool);
}

static void
map_leaves_out_dropped(void **state)
{
	struct shape gone = plain, refused = plain;
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;

	(void)state;
	gone.addr = 0;
	refused.addr = 0x2000;
	refused.name = "g";
	refused.refused = "jump table\tnot understood";
	put_record(&b, &refused);
	put_record(&b, &gone);
	put_record(&b, &plain);
	m = parse_map(pool, &b);
	assert_int_equal(m.nproc, 2);
	assert_int_equal(m.nrefused, 1);
	assert_string_equal(m.proc[0].name, "f");
	assert_string_equal(m.proc[1].refused, "jump table not understood");
	buf_free(&b);
	pool_free(pool);
}

static void
map_folds_identical(void **state)
{
	static const char *const names[] = {"g", "f", "h", "f", "i", "j"};
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;
	struct shape s = plain;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		s.name = names[i];
		put_record(&b, &s);
	}
	/* The same code with counters of its own counts for itself. */
	s.counters += 32;
	put_record(&b, &s);
	m = parse_map(pool, &b);
	assert_int_equal(m.nproc, 2);
	assert_string_equal(m.proc[0].name, "f");
	assert_int_equal(m.proc[0].nalso, 4);
	assert_string_equal(m.proc[0].also[0], "g");
	assert_string_equal(m.proc[0].also[3], "j");
	buf_free(&b);
	pool_free(pool);
}

static void
map_empty(void **state)
{
	struct pool *pool = pool_new();
	struct map m;
	const char *why;

	(void)state;
	assert_true(map_parse(pool, (struct str){NULL, 0}, &m, &why));
	assert_int_equal(m.nproc, 0);
	assert_false(map_parse(pool, STR("something else entirely, long enough for a head"), &m, &why));
	assert_non_null(strstr(why, "not a record of a map"));
	pool_free(pool);
}

static void
parts_cover(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;
	struct parts parts;

	(void)state;
	put_record(&b, &plain);
	m = parse_map(pool, &b);
	parts = map_parts(pool, &m);
	assert_null(parts_find(&parts, CODE - 1));
	assert_ptr_equal(parts_find(&parts, CODE)->proc, m.proc);
	assert_ptr_equal(parts_find(&parts, CODE + WOVEN - 1)->proc, m.proc);
	assert_null(parts_find(&parts, CODE + WOVEN));
	buf_free(&b);
	pool_free(pool);
}

/* ---- tests of counts ---- */

static void
solve_edges(void **state)
{
	struct solved s;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, NULL, 0);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].calls, 15);
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
	assert_int_equal(s.counts[0].calls, 15);
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
	assert_int_equal(s.counts[0].calls, 15);
	assert_int_equal(s.counts[0].insns, 15 * 2 + 10 * 4 + 15);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(s.counts[0].arc_known[i]);
	assert_int_equal(s.counts[0].arc[2], 5);
	done(&s);
	solve_with(&s, &shape, (uint64_t[8]){15, 10, 9}, NULL, 0);
	assert_non_null(s.counts[0].why);
	done(&s);
}

/* Three activations ended at the second call of block 1, one was taken up again there. */
static void
solve_exits(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false), exit_at(CODE + BACK1, 1, true), {0, 0}};
	struct solved s;

	(void)state;
	solve_with(&s, &plain, (uint64_t[8]){10, 5}, e, 3);
	assert_null(s.counts[0].why);
	assert_int_equal(s.counts[0].calls, 15);
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
		assert_int_equal(s.counts[0].calls, 15);
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
	c = profile_solve(s.pool, &s.map, s.profile, NULL);
	assert_null(c[0].why);
	assert_int_equal(c[0].insns, 0);
	done(&s);
}

/* ---- tests of profiles ---- */

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

static void
sums_that_do_not_fit(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct profile *p, *sum = profile_new();
	const char *why;

	(void)state;
	put_simple(&b, (uint64_t[8]){UINT64_MAX}, NULL, 0);
	p = parse_profile(pool, &b);
	assert_true(profile_add(sum, p, pool, &why));
	assert_false(profile_add(sum, p, pool, &why));
	assert_non_null(strstr(why, "64 bits"));
	b.n = 0;
	put_head(&b, CHORD_STATE_ENDED);
	put_module(&b, 0, "id1", "/bin/prog");
	put_counts(&b, 0, (uint64_t[8]){UINT64_MAX});
	put_counts(&b, 0, (uint64_t[8]){1});
	finish(&b);
	assert_null(profile_parse(pool, bytes_of(&b), &why));
	assert_non_null(strstr(why, "64 bits"));
	profile_free(p);
	profile_free(sum);
	buf_free(&b);
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
	buf_free(&b);
}

/* ---- damage ---- */

/* Looks at everything there is. */
static void
use(struct pool *pool, const struct map *map, const struct profile *p)
{
	struct counts *c = profile_solve(pool, map, p, p->module.n ? &p->module.at[0] : NULL);
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
try_map(const char *bytes, size_t n, const struct profile *p)
{
	struct pool *pool = pool_new();
	char *copy = n ? memcpy(malloc(n), bytes, n) : NULL;
	struct map map;
	const char *why = NULL;

	if (map_parse(pool, (struct str){copy, n}, &map, &why))
		use(pool, &map, p);
	else
		assert_non_null(why);
	free(copy);
	pool_free(pool);
}

static void
try_profile(const char *bytes, size_t n, const struct map *map)
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
		assert_non_null(why);
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
		try_map(b.at, n, s.profile);
	for (size_t i = 0; i < b.n; i++)
		for (size_t k = 0; k < sizeof damage; k++) {
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
			try_map(b.at, b.n, s.profile);
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
		}
	buf_free(&b);
	done(&s);
}

static void
damaged_profiles(void **state)
{
	const struct chord_exit e[] = {exit_at(CODE + BACK1, 3, false), exit_at(CODE + BACK0, 1, true)};
	struct solved s;
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
		try_profile(b.at, n, &s.map);
	for (size_t i = 0; i < b.n; i += i % CHORD_PAGE < 160 ? 1 : 61)
		for (size_t k = 0; k < sizeof damage; k++) {
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
			try_profile(b.at, b.n, &s.map);
			b.at[i] = (char)((unsigned char)b.at[i] ^ damage[k]);
		}
	buf_free(&b);
	done(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_round_trip),
		cmocka_unit_test(map_leaves_out_dropped),
		cmocka_unit_test(map_folds_identical),
		cmocka_unit_test(map_empty),
		cmocka_unit_test(parts_cover),
		cmocka_unit_test(solve_edges),
		cmocka_unit_test(solve_every_edge),
		cmocka_unit_test(solve_every_block),
		cmocka_unit_test(solve_exits),
		cmocka_unit_test(solve_exits_in_the_middle),
		cmocka_unit_test(solve_noreturn),
		cmocka_unit_test(solve_says_what_it_does_not_know),
		cmocka_unit_test(solve_without_counters),
		cmocka_unit_test(profile_regions_are_summed),
		cmocka_unit_test(merged_is_summed),
		cmocka_unit_test(sums_that_do_not_fit),
		cmocka_unit_test(profile_errors),
		cmocka_unit_test(damaged_maps),
		cmocka_unit_test(damaged_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
