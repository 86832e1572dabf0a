/* SPDX-License-Identifier: MIT */
/* The reader of traces: slots in their order wherever they are, faults by name with what stands before them, and counts. */
#include "tests/unit/profile_bytes.h"
#include "tests/unit/trace_bytes.h"

#include "graph/graph.h"
#include "trace/internal.h"

enum { LOW = 0x5000 };

/* Counter k of eight is written as token LOW + 8 * k. */
static uint32_t
slot_of(uint64_t s, uint32_t i)
{
	return LOW + 8 * (uint32_t)((s * 3 + i / 5 + (i % 97 == 0)) % 8);
}

static struct trace_file *
parse(struct pool *pool, const struct buf *b)
{
	const char *why = NULL;
	struct trace_file *f = trace_parse(pool, (struct str){b->at, b->n}, &why);

	assert_null(why);
	assert_non_null(f);
	return f;
}

/* Reads stream 0 from a segment on, slot by slot. Returns how many there are. */
static uint64_t
read_all(struct trace_file *f, uint64_t from, const char **fault)
{
	struct slots *r = slots_new(f, 0, NULL);
	uint64_t n = 0;

	assert_true(!from || slots_seek(r, from, 0));
	for (uint64_t s = from; slots_next(r); s++) {
		for (uint32_t i = 0; i < r->n; i++)
			assert_true(r->slot[i] == slot_of(s, i));
		n += r->n;
		assert_int_equal(r->segment, s + 1);
	}
	*fault = r->fault;
	slots_free(r);
	return n;
}

/* Segments 0 to 2 and 3 to 4 packed, 5 and a part of 6 in the ring. */
static void
make(struct buf *b)
{
	trace_head(b);
	trace_modules(b, &(struct chord_trace_module){.low = LOW, .bytes = 64, .first = COUNTERS}, 1);
	trace_ring(b, 0, 0, 5, CHORD_TRACE_SLOTS + 1000, slot_of);
	trace_packs(b, 0, 0, 3, slot_of);
	trace_packs(b, 0, 3, 2, slot_of);
	trace_end(b);
}

static void
in_order(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct trace_file *f;
	const char *fault;

	(void)state;
	make(&b);
	f = parse(pool, &b);
	assert_null(f->fault);
	assert_int_equal(read_all(f, 0, &fault), 6 * CHORD_TRACE_SLOTS + 1000);
	assert_null(fault);
	for (uint64_t s = 1; s < 7; s++)
		assert_int_equal(read_all(f, s, &fault), (6 - s) * CHORD_TRACE_SLOTS + 1000);
	trace_close(f);
	buf_free(&b);
	pool_free(pool);
}

/* Killed between writing the record and counting the segment as packed; a ring that stays. */
static void
rings(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct trace_file *f;
	const char *fault;

	(void)state;
	trace_head(&b);
	trace_packs(&b, 0, 0, 3, slot_of);
	trace_ring(&b, 0, 0, 2, 3 * CHORD_TRACE_SLOTS, slot_of);
	trace_ring(&b, 0, 5, 8, CHORD_TRACE_SLOTS - 1, slot_of);
	trace_packs(&b, 0, 5, 3, slot_of);
	trace_end(&b);
	f = parse(pool, &b);
	assert_int_equal(read_all(f, 0, &fault), 9 * CHORD_TRACE_SLOTS - 1);
	assert_null(fault);
	trace_close(f);
	buf_free(&b);
	pool_free(pool);
}

/* However much of it is there: what is before the cut is read, the cut is named. */
static void
truncated(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	const char *fault;
	uint64_t last = 0;

	(void)state;
	trace_head(&b);
	trace_packs(&b, 0, 0, 3, slot_of);
	trace_packs(&b, 0, 3, 2, slot_of);
	trace_ring(&b, 0, 0, 5, 1000, slot_of);
	trace_end(&b);
	for (size_t n = TRACE_PAGE; n < b.n; n += 509) {
		struct buf cut = {b.at, n, n};
		struct trace_file *f = parse(pool, &cut);
		uint64_t k = f->stream.n ? read_all(f, 0, &fault) : 0;

		assert_true(f->fault && strstr(f->fault, "truncated") && trace_short(pool, f) == f->fault);
		assert_true(k >= last);
		last = k;
		trace_close(f);
	}
	assert_int_equal(last, 5 * CHORD_TRACE_SLOTS);
	buf_free(&b);
	pool_free(pool);
}

/* Any byte of it: refused, or a fault, or the slots are the same (in what nobody reads). */
static void
damaged(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	uint64_t whole = 3 * CHORD_TRACE_SLOTS + 10, faults = 0;
	const char *fault;

	(void)state;
	trace_head(&b);
	trace_packs(&b, 0, 0, 3, slot_of);
	trace_ring(&b, 0, 0, 3, 10, slot_of);
	trace_end(&b);
	for (size_t i = 0; i < 3 * TRACE_PAGE; i += i % TRACE_PAGE < 200 ? 1 : 41) {
		const char *why = NULL;
		struct trace_file *f;

		b.at[i] = (char)(b.at[i] ^ 0x41);
		f = trace_parse(pool, (struct str){b.at, b.n}, &why);
		if (f) {
			uint64_t n = f->stream.n ? read_all(f, 0, &fault) : 0;

			assert_true(n == whole || f->fault || fault || !f->stream.n || !f->stream.at[0].packs.n);
			faults += f->fault || (f->stream.n && fault);
		} else {
			assert_non_null(why);
		}
		trace_close(f);
		b.at[i] = (char)(b.at[i] ^ 0x41);
	}
	assert_true(faults > 20);
	buf_free(&b);
	pool_free(pool);
}

static void
refused(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	const char *why = NULL;

	(void)state;
	assert_null(trace_parse(pool, (struct str){"", 0}, &why));
	assert_string_equal(why, "the file is empty");
	assert_null(trace_parse(pool, STR("CCHPROF1 and more"), &why));
	assert_string_equal(why, "not a trace");
	trace_head(&b);
	assert_null(trace_parse(pool, (struct str){b.at, 100}, &why));
	assert_string_equal(why, "truncated: not even its first page is there");
	b.at[8] = 9;
	assert_null(trace_parse(pool, (struct str){b.at, b.n}, &why));
	assert_string_equal(why, "a trace of version 9; this is version 2");
	assert_null(trace_open(pool, "/", &why));
	assert_string_equal(why, "not a file");
	assert_null(trace_open(pool, "/nowhere/at/all", &why));
	buf_free(&b);
	pool_free(pool);
}

/* A profile whose counters are all 0, and its trace. */
static struct profile *
counted(struct pool *pool, struct buf *trace, const char **why)
{
	struct trace_file *f;
	struct profile *p;
	struct buf b = {0};

	put_simple(&b, (uint64_t[8]){0}, NULL, 0);
	p = profile_parse(pool, (struct str){b.at, b.n}, why);
	assert_non_null(p);
	f = parse(pool, trace);
	*why = trace_add_counts(pool, f, p, 0, NULL);
	trace_close(f);
	buf_free(&b);
	return p;
}

static void
counts(void **state)
{
	struct pool *pool = pool_new();
	struct buf b = {0};
	uint64_t expected[8] = {0};
	struct profile *p;
	const char *why;

	(void)state;
	make(&b);
	for (uint64_t k = 0; k < 6 * CHORD_TRACE_SLOTS + 1000; k++)
		expected[(slot_of(k / CHORD_TRACE_SLOTS, k % CHORD_TRACE_SLOTS) - LOW) / 8]++;
	p = counted(pool, &b, &why);
	assert_null(why);
	assert_memory_equal(p->module.at[0].count, expected, sizeof expected);
	assert_true(p->module.at[0].filled);
	profile_free(p);
	buf_free(&b);
	pool_free(pool);
}

static uint32_t
foreign(uint64_t s, uint32_t i)
{
	return i == 7 ? 0x77777770 : slot_of(s, i);
}

/* Nothing of it is counted. */
static void
counts_refused(void **state)
{
	const struct chord_trace_module beyond = {.low = LOW, .bytes = 72, .first = COUNTERS};
	const struct chord_trace_module fifth = {.low = LOW, .bytes = 8, .module = 5};
	struct pool *pool = pool_new();

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct buf b = {0};
		struct profile *p;
		const char *why;

		trace_head(&b);
		trace_modules(&b, k == 0 ? &beyond : k == 1 ? &fifth :
			&(struct chord_trace_module){.low = LOW, .bytes = 64, .first = COUNTERS}, 1);
		trace_ring(&b, 0, 0, 0, 100, k == 2 ? foreign : slot_of);
		if (k == 3)
			b.at[12] = CHORD_TRACE_STOPPED;
		trace_end(&b);
		p = counted(pool, &b, &why);
		assert_non_null(why);
		assert_false(p->module.at[0].filled);
		for (size_t i = 0; i < 8; i++)
			assert_int_equal(p->module.at[0].count[i], 0);
		profile_free(p);
		buf_free(&b);
	}
	pool_free(pool);
}

/* The reader looks up the vertex of an activation in its procedure, so a state with one that is not there is refused. */
static void
states(void **state)
{
	static const struct { uint32_t next; bool ok; } known[] = {
		{0, true}, {3, true}, {GRAPH_NONE, true}, {4, false}, {1000000, false}, {GRAPH_NONE - 1, false},
	};
	struct proc proc = {.name = "f", .nblock = 2, .nvert = 4};
	const struct map map = {.proc = &proc, .nproc = 1}, *const maps[] = {&map};
	const struct profile profile = {.module = {.n = 1}};
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct trace_file *f;

	(void)state;
	make(&b);
	f = parse(pool, &b);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct replay r = {.file = f, .slots = slots_new(f, 0, NULL), .listed = 1}, back = r;
		struct buf bytes = {0};

		VEC_PUSH(r.stack, (struct replay_frame){.proc = &proc, .next = known[i].next});
		assert_true(replay_save(&r, maps, &profile, &bytes));
		assert_int_equal(replay_restore(&back, maps, &profile, (struct str){bytes.at, bytes.n}, 3), known[i].ok);
		assert_int_equal(back.stack.n, known[i].ok);
		buf_free(&bytes);
		free(back.stack.at);
		free(r.stack.at);
		slots_free(r.slots);
	}
	buf_free(&b);
	pool_free(pool);
}

/* What is compressed has an end, however much it was. */
static void
sinks(void **state)
{
	static const uint8_t zero[1 << 18];

	(void)state;
	for (uint64_t n = 1 << 14; n <= sizeof zero; n *= 2) {
		struct sink *s = sink_new();

		sink_put(s, 1, 8 * n, zero);
		sink_end(s);
		assert_int_equal(sink_sum(s).bytes, n);
		assert_true(sink_sum(s).compressed > 8);
		sink_free(s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order), cmocka_unit_test(rings), cmocka_unit_test(truncated), cmocka_unit_test(damaged),
		cmocka_unit_test(refused), cmocka_unit_test(counts), cmocka_unit_test(counts_refused),
		cmocka_unit_test(states), cmocka_unit_test(sinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
