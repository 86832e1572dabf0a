/* SPDX-License-Identifier: MIT */
/* Maps and profiles made in memory. The procedure used throughout, with its
 * edges and their counters:
 *
 *   ENTRY -> 0        block 0: other, branch
 *   0 -> 1  counter 1 block 1: call, other, call, other
 *   0 -> 2  counter 2 block 2: ret
 *   1 -> 2, 2 -> EXIT, EXIT -> ENTRY
 */
#ifndef TEST_PROFILE_BYTES_H
#define TEST_PROFILE_BYTES_H

#include "measure/measure.h"
#include "profile/profile.h"

/* Of these profiles. */
#define CHORD_PAGE CHORD_PAGE_LEAST

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
	uint32_t version;        /* 0: this one */
	bool events;             /* two are counted, see put_events() */
	const char *more;        /* a section of that name; of three bytes if it is no measure */
	unsigned nmore;          /* so many sections more, of no measure and empty */
	bool parallel;           /* another procedure: ENTRY -> 0, 0 -> 1 twice, 1 -> EXIT, a counter for each block */
};

static inline uint8_t
insn(unsigned len, enum chord_insn kind)
{
	return (uint8_t)(len | kind << 4);
}

static inline void
put_string(struct buf *b, const char *s)
{
	buf_uleb(b, strlen(s));
	buf_str(b, s);
}

static inline void
put_numbers(struct buf *b, const int *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_uleb(b, (uint64_t)v[i]);
}
#define PUT(b, ...) put_numbers(b, (int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))

static inline void
put_block(struct buf *b, unsigned offset, int count, const uint8_t *code, size_t n)
{
	PUT(b, 0, (int)offset, count, (int)n);
	buf_add(b, code, n);
}

/* Instructions and loads, in 8 numbers: of 0 instructions (four) and 1, each of -1 to 2 loads. The second instruction
 * of block 1 loads 3 times. The counters are changed before instruction 1 of block 0, by 2 and -1, and before
 * instruction 2 of block 1, by 300 and 0. */
static inline void
put_events(struct buf *b)
{
	PUT(b, 2);
	put_string(b, "instructions");
	PUT(b, 8, 4, 2, 0);
	put_string(b, "loads");
	PUT(b, 8, 1, 4, 1);
	PUT(b, 0, 0, 1, 2, 1, 3, 0, 1, 2, 0);
	PUT(b, 4, 0, 1, 4, 1, 1, 0, 3, 1, 0, 1, 3, 2, 0);
	PUT(b, 2 * 300 - 1, 7, 1, 1, 1, 0, 0, 1, 1, 0);
	PUT(b, 2, 2, 2 * 300, 0, 1, 1, 4, 1, 0);
	/* Behind instruction 2 of block 1, a call, 5 instructions were counted too many before, and a load too few. */
	PUT(b, 2, 2, 2 * 5 - 1, 2, 0);
}

/* A section of a record. */
static inline void
put_section(struct buf *b, const char *tag, const struct buf *bytes)
{
	put_string(b, tag);
	buf_uleb(b, bytes ? bytes->n : 0);
	if (bytes)
		buf_add(b, bytes->at, bytes->n);
}

static inline void
put_sections(struct buf *b, const struct shape *s)
{
	struct buf events = {0}, bases = {0};
	char bytes[] = {1, 2, 3};

	if (s->measure != CHORD_EVENTS)
		put_section(b, measure_list[s->measure].name, NULL);
	PUT(&bases, 1, 11, s->events ? 2 : 0);
	put_section(b, CHORD_MAP_BASES, &bases);
	buf_free(&bases);
	if (s->events) {
		put_events(&events);
		put_section(b, "events", &events);
	}
	if (s->more && measure_named(str_of(s->more)) < CHORD_MEASURES)
		put_section(b, s->more, NULL);
	else if (s->more)
		put_section(b, s->more, &(struct buf){.at = bytes, .n = 3});
	for (unsigned i = 0; i < s->nmore; i++)
		put_section(b, "x", NULL);
	buf_free(&events);
}

/* Counters: EDGES 1, 2 on the chords; EVERY_BLOCK 1, 2, 3 on the blocks; EVERY_EDGE 1..4 on all but ENTRY and CLOSE. */
static inline void
put_blob(struct buf *b, const struct shape *s)
{
	const uint8_t b0[] = {insn(3, CHORD_INSN_OTHER), insn(2, CHORD_INSN_BRANCH)};
	const uint8_t b1[] = {insn(5, CHORD_INSN_CALL), insn(1, CHORD_INSN_OTHER), insn(5, CHORD_INSN_ICALL),
	                      insn(2, CHORD_INSN_OTHER)};
	const uint8_t b2[] = {insn(1, CHORD_INSN_RET)};
	int blocks = s->measure == CHORD_EVERY_BLOCK, all = s->measure == CHORD_EVERY_EDGE, edges = !blocks;

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
	put_sections(b, s);
}

static inline void
put_parallel(struct buf *b)
{
	const uint8_t b0[] = {insn(2, CHORD_INSN_BRANCH)}, b1[] = {insn(1, CHORD_INSN_RET)};

	put_string(b, "parallel");
	put_string(b, "f.c");
	put_string(b, "");
	PUT(b, 2);
	put_block(b, 0, 1, b0, sizeof b0);
	put_block(b, 2, 2, b1, sizeof b1);
	PUT(b, 4, 5);
	PUT(b, 2, 0, CHORD_EDGE_ENTRY, 0);
	PUT(b, 0, 1, CHORD_EDGE_FALL, 0, 0, 1, CHORD_EDGE_TAKEN, 0);
	PUT(b, 1, 3, CHORD_EDGE_EXIT, 0);
	PUT(b, 3, 2, CHORD_EDGE_CLOSE, 0);
	PUT(b, 0, 0);
	put_section(b, "every-block", NULL);
}

static inline void
put_record(struct buf *out, const struct shape *s)
{
	/* Segments as listed above, then the two calls, the second first. */
	const uint32_t woven[] = {0, 7, 30, 16, BACK1, BACK0};
	const uint64_t event[] = {COUNTERS, COUNTERS};
	const struct chord_part part = {s->addr, 19, WOVEN};
	struct buf blob = {0};
	uint32_t nwoven = s->refused || s->parallel ? 0 : 6, nevent = s->events ? 2 : 0, nblob;
	struct chord_map_head h = {
		.magic = CHORD_MAP_MAGIC, .version = s->version ? s->version : CHORD_FORMAT_VERSION,
		.flags = s->refused ? CHORD_MAP_REFUSED : 0,
		.counters = s->refused ? 0 : s->counters, .section = s->addr ? CODE : 0, .ncounter = s->refused ? 0 : 4, .npart = 1,
	};

	if (s->parallel)
		put_parallel(&blob);
	else
		put_blob(&blob, s);
	nblob = (uint32_t)blob.n;
	h.size = (uint32_t)(sizeof h + sizeof part + 4 + 4 * nwoven + 4 + 8 * nevent + 4 + nblob);
	buf_add(out, &h, sizeof h);
	buf_add(out, &part, sizeof part);
	buf_add(out, &nwoven, 4);
	buf_add(out, woven, 4 * nwoven);
	buf_add(out, &nevent, 4);
	buf_add(out, event, 8 * nevent);
	buf_add(out, &nblob, 4);
	buf_add(out, blob.at, blob.n);
	buf_free(&blob);
}

static const struct shape plain = {.name = "f", .addr = CODE, .counters = COUNTERS};

static inline struct str
bytes_of(const struct buf *b)
{
	return (struct str){b->at, b->n};
}

static inline struct map
parse_map(struct pool *pool, const struct buf *b)
{
	struct map m;
	const char *why;

	if (!map_parse(pool, bytes_of(b), &m, &why))
		fail_msg("%s", why);
	return m;
}

/* ---- profiles ---- */

static inline void
put_page(struct buf *b, const void *head, size_t n)
{
	static const char zero[CHORD_PAGE];

	buf_add(b, head, n);
	buf_add(b, zero, (CHORD_PAGE - n % CHORD_PAGE) % CHORD_PAGE);
}

static inline void
put_head(struct buf *b, uint64_t state)
{
	struct chord_profile_head h = {.magic = CHORD_PROFILE_MAGIC, .version = CHORD_FORMAT_VERSION, .page = CHORD_PAGE, .pid = 7,
	                               .state = state, .threads = 1};

	put_page(b, &h, sizeof h);
}

static inline void
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

static inline void
put_region(struct buf *b, uint32_t module, uint64_t region, const uint64_t count[8])
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_COUNTS, .module = module, .size = 2 * CHORD_PAGE, .a = region};

	put_page(b, &h, sizeof h);
	put_page(b, count, 64);
}

static inline void
put_counts(struct buf *b, uint32_t module, const uint64_t count[8])
{
	put_region(b, module, 0, count);
}

static inline void
put_exits_of(struct buf *b, uint64_t whose, const struct chord_exit *e, size_t n)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_EXITS, .size = CHORD_PAGE, .a = n, .b = whose};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, e, n * sizeof *e);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static inline void
put_exits(struct buf *b, const struct chord_exit *e, size_t n)
{
	put_exits_of(b, 0, e, n);
}

static inline void
put_callees(struct buf *b, const struct chord_callee *c, size_t n)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_CALLEES, .size = CHORD_PAGE, .a = n};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, c, n * sizeof *c);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static inline void
put_text(struct buf *b, const char *text)
{
	struct buf page = {0};
	struct chord_extent_head h = {.type = CHORD_EXTENT_TEXT, .size = CHORD_PAGE};

	buf_add(&page, &h, sizeof h);
	buf_add(&page, text, strlen(text) + 1);
	put_page(b, page.at, page.n);
	buf_free(&page);
}

static inline void
finish(struct buf *b)
{
	uint64_t used = b->n;

	memcpy(b->at + offsetof(struct chord_profile_head, used), &used, sizeof used);
}

static inline struct chord_exit
exit_at(uint64_t addr, uint64_t count, bool reentry)
{
	return (struct chord_exit){1ull << 48 | addr | (reentry ? CHORD_EXIT_REENTRY : 0), count, {0}};
}

/* One module "id1", the counts given, the exits given. */
static inline void
put_simple(struct buf *b, const uint64_t count[8], const struct chord_exit *e, size_t nexit)
{
	put_head(b, CHORD_STATE_ENDED);
	put_module(b, 0, "id1", "/bin/prog");
	put_counts(b, 0, count);
	if (nexit)
		put_exits(b, e, nexit);
	finish(b);
}

static inline struct profile *
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

static inline void
solve_with(struct solved *s, const struct shape *shape, const uint64_t count[8], const struct chord_exit *e, size_t nexit)
{
	struct buf b = {0};

	*s = (struct solved){.pool = pool_new()};
	put_record(&s->mapped, shape);
	s->map = parse_map(s->pool, &s->mapped);
	put_simple(&b, count, e, nexit);
	s->profile = parse_profile(s->pool, &b);
	buf_free(&b);
	s->counts = profile_solve(s->pool, &s->map, s->profile, profile_module(s->profile, STR("id1")), NULL);
}

static inline void
done(struct solved *s)
{
	profile_free(s->profile);
	buf_free(&s->mapped);
	pool_free(s->pool);
}

static inline void
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

#endif
