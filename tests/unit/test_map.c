/* SPDX-License-Identifier: MIT */
/* The reader of maps: what it accepts, and damaged maps. */
#include "tests/unit/profile_bytes.h"
#include "tests/unit/reasons.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

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

/* One procedure of many names takes time by their number, not by its square. */
static void
map_folds_many(void **state)
{
	struct pool *pool = pool_new();
	struct shape s = plain;
	struct buf b = {0};
	char name[16];
	clock_t before;
	struct map m;

	(void)state;
	s.name = name;
	s.refused = "it has many names";
	for (int i = 0; i < 80000; i++) {
		snprintf(name, sizeof name, "f%d", i / 2);
		put_record(&b, &s);
	}
	before = clock();
	m = parse_map(pool, &b);
	assert_in_range(clock() - before, 0, 2 * CLOCKS_PER_SEC);
	assert_int_equal(m.nproc, 1);
	assert_int_equal(m.proc[0].nalso, 39999);
	buf_free(&b);
	pool_free(pool);
}

/* A section that is not known is named and passed over, also if nothing else says how the procedure is measured. */
static void
map_unknown_section(void **state)
{
	struct shape shape = plain;
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;

	(void)state;
	shape.more = "depth";
	put_record(&b, &shape);
	m = parse_map(pool, &b);
	assert_int_equal(m.proc[0].nunknown, 1);
	assert_string_equal(m.proc[0].unknown[0], "depth");
	assert_int_equal(m.proc[0].measures, CHORD_SET(EDGES));
	assert_int_equal(m.proc[0].narc, 6);
	buf_free(&b);
	pool_free(pool);
}

/* Memory grows with their number, not with its square. */
static void
map_many_unknown_sections(void **state)
{
	struct shape shape = plain;
	struct pool *pool = pool_new();
	struct rusage before, after;
	struct buf b = {0};
	struct map m;

	(void)state;
	shape.nmore = 10000;
	put_record(&b, &shape);
	getrusage(RUSAGE_SELF, &before);
	m = parse_map(pool, &b);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(m.proc[0].nunknown, 10000);
	assert_string_equal(m.proc[0].unknown[9999], "x");
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 64 * 1024);
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

/* Puts other bytes in the place of the only occurrence of some. */
static void
replace(struct buf *b, const char *old, const char *fresh, size_t n)
{
	char *at = memmem(b->at, b->n, old, n);

	assert_non_null(at);
	memcpy(at, fresh, n);
}

static void
expect_map_error(const struct shape *s, const char *old, const char *fresh, size_t n, const char *part)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct map m;
	const char *why = NULL;

	put_record(&b, s);
	replace(&b, old, fresh, n);
	assert_false(map_parse(pool, bytes_of(&b), &m, &why));
	if (!strstr(why, part))
		fail_msg("'%s' does not say '%s'", why, part);
	buf_free(&b);
	pool_free(pool);
}
#define EXPECT(old, fresh, part) expect_map_error(&plain, old, fresh, sizeof(old) - 1, part)

static void
map_of_old_version(void **state)
{
	struct pool *pool = pool_new();
	struct shape s = plain;
	struct buf b = {0};
	const char *why;
	struct map m;

	(void)state;
	s.version = CHORD_FORMAT_VERSION - 1;
	put_record(&b, &s);
	assert_false(map_parse(pool, bytes_of(&b), &m, &why));
	assert_string_equal(why, "built by another version of Chord: its map has format version 10, this is version 11");
	buf_free(&b);
	pool_free(pool);
}

static void
map_errors(void **state)
{
	(void)state;
	EXPECT("CHM1", "CHM2", "not a record");
	EXPECT("\x10\0\0\0\x16\0\0\0", "\x10\0\0\0\x29\0\0\0", "outside the woven code");
	EXPECT("\2\1\2\0\1\0\0", "\2\1\4\0\1\0\0", "no instruction");
	EXPECT("\2\1\2\0\1\0\0", "\2\3\2\0\1\0\0", "no block");
	EXPECT("\2\1\2\0\1\0\0", "\2\1\2\2\1\0\0", "no known kind");
	EXPECT("\2\1\2\0\1\0\0", "\2\1\0\0\1\0\0", "listed twice");
	EXPECT("\4\3\7\0", "\4\3\6\0", "closing edge");
	EXPECT("\4\3\7\0", "\3\4\7\0", "does not close");
	EXPECT("\5\6\3\0\5\0", "\x0c\6\3\0\5\0", "number of vertices");
	EXPECT("\5\6\3\0\5\0", "\4\6\3\0\5\0", "number of vertices");
	EXPECT("\5\6\3\0\5\0", "\5\6\3\5\5\0", "to nowhere");
	EXPECT("\0\x12\0\1", "\0\x13\0\1", "outside its part");
	EXPECT("\0\x12\0\1", "\1\x12\0\1", "part that is not there");
	EXPECT("\0\x12\0\1", "\0\x12\5\1", "counter that is not there");
}

static void
map_sections_errors(void **state)
{
	struct shape s = plain;

	(void)state;
	s.more = "edges";
	expect_map_error(&s, "CHM1", "CHM1", 4, "two sections of one kind");
	s.more = CHORD_MAP_BASES;
	expect_map_error(&s, "CHM1", "CHM1", 4, "two sections of one kind");
	s.more = CHORD_MAP_CELLS;
	expect_map_error(&s, "CHM1", "CHM1", 4, "a counter that is not there");
	s.more = CHORD_MAP_PROMOTED;
	expect_map_error(&s, "promoted\3\1\2\3", "promoted\3\1\2\4", 12, "a counter that is not there");
	expect_map_error(&s, "promoted\3\1\2\3", "promoted\3\0\2\3", 12, "no counter of a register");
	expect_map_error(&s, "promoted\3\1\2\3", "promoted\3\1\2\2", 12, "a counter of several registers, or of itself");
	s.more = "every-block";
	expect_map_error(&s, "CHM1", "CHM1", 4, "do not go together");
	s.more = "depth";
	expect_map_error(&s, "depth\3", "depth\4", 6, "announces more than it holds");
	expect_map_error(&s, "depth\3", "depth\2", 6, "damaged");
}

/* loads: 8 numbers, stride 1, span 4, low -1. */
static void
map_numbers_errors(void **state)
{
	struct shape s = plain;

	(void)state;
	s.events = true;
	expect_map_error(&s, "loads\x8\1\4\1", "loads\x8\0\4\1", 9, "other numbers than it has");
	expect_map_error(&s, "loads\x8\1\4\1", "loads\x8\1\0\1", 9, "other numbers than it has");
	expect_map_error(&s, "loads\x8\1\4\1", "loads\x8\1\3\1", 9, "other numbers than it has");
	expect_map_error(&s, "loads\x8\1\4\1", "loads\x8\4\4\1", 9, "other numbers than it has");
	expect_map_error(&s, "loads\x8\1\4\1", "loads\x8\x9\4\1", 9, "other numbers than it has");
}

static void
map_events(void **state)
{
	static const int64_t insns[] = {2, 3, 4 - 300, 5 - 300 + 5}, loads[] = {-1, -1, 2, 2 - 1};
	struct pool *pool = pool_new();
	struct shape s = plain;
	struct buf b = {0};
	struct map m;
	uint64_t count[8] = {2, 7, -1ull, 3, 0, 0, 5, 4};
	struct module module = {.base = COUNTERS, .ncount = 8, .count = count};
	struct counts counts[2] = {{0}};
	struct event_totals t;

	(void)state;
	s.events = true;
	put_record(&b, &s);
	s.addr += 0x100;
	s.name = "g";
	put_record(&b, &s);
	m = parse_map(pool, &b);
	assert_int_equal(m.nproc, 2);
	assert_int_equal(m.proc[0].nevent, 2);
	assert_int_equal(m.proc[0].base[11], COUNTERS);
	assert_int_equal(m.proc[0].base[10], 0);
	assert_int_equal(event_query(&m.proc[0], 0, 0, 0), 0);
	assert_int_equal(event_query(&m.proc[0], 0, 1, 0), 1 - 2);
	assert_int_equal(event_query(&m.proc[0], 0, 1, 1), -2 + 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(event_query(&m.proc[0], 1, i, 0), insns[i]);
		assert_int_equal(event_query(&m.proc[0], 1, i, 1), loads[i]);
	}
	assert_int_equal(event_query(&m.proc[0], 2, 0, 0), -300 + 7);
	/* One counter for both procedures, and the same numbers for both events. */
	t = profile_events(pool, &m, NULL, &module, counts, NULL);
	assert_null(t.why);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.at[1].name, "loads");
	assert_int_equal(t.at[0].n, 5 + 4);
	assert_int_equal(t.at[1].n, -2 - 1 + 2 * 3 + 5 + 2 * 4);
	module.ncount = 7;
	assert_non_null(profile_events(pool, &m, NULL, &module, counts, NULL).why);
	buf_free(&b);
	pool_free(pool);
}

/* Whatever is cut off or changed, the reader does not go astray. */
static void
map_events_damaged(void **state)
{
	struct shape s = plain;
	struct reasons refused = {0};
	struct buf b = {0};

	(void)state;
	s.events = true;
	put_record(&b, &s);
	for (size_t i = 0; i < b.n; i++)
		for (int c = 0; c < 256; c += 51) {
			struct pool *pool = pool_new();
			char old = b.at[i];
			const char *why = NULL;
			struct map m;

			b.at[i] = (char)(old ^ c);
			if (!map_parse(pool, (struct str){b.at, b.n}, &m, &why))
				reasons_note(&refused, why);
			else if (m.nproc && m.proc[0].nevent)
				for (uint32_t k = 0; k < m.proc[0].nblock; k++)
					event_query(&m.proc[0], k, m.proc[0].block[k].ninsn - 1, 1 % m.proc[0].nevent);
			b.at[i] = old;
			pool_free(pool);
		}
	assert_true(refused.n >= 25);
	buf_free(&b);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_round_trip),
		cmocka_unit_test(map_leaves_out_dropped),
		cmocka_unit_test(map_folds_identical),
		cmocka_unit_test(map_folds_many),
		cmocka_unit_test(map_unknown_section),
		cmocka_unit_test(map_many_unknown_sections),
		cmocka_unit_test(map_sections_errors),
		cmocka_unit_test(map_empty),
		cmocka_unit_test(map_errors),
		cmocka_unit_test(map_of_old_version),
		cmocka_unit_test(map_numbers_errors),
		cmocka_unit_test(map_events),
		cmocka_unit_test(map_events_damaged),
		cmocka_unit_test(parts_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
