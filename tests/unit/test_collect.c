/* SPDX-License-Identifier: MIT */
/* collect/stream.c: what is packed is the same, however often the process holds the lock of the file's end. */
#include "collect/collect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { RING = 8, SEGMENTS = 60, TRIES = 8 };

/* The trace of one thread: its file begins with the head's page and a ring. */
struct traced {
	struct collect_trace t;
	struct collect_stream *s;
	uint64_t begin;          /* of the extents of packed segments */
};

static void
begin(struct traced *x)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = page + RING * CHORD_TRACE_SEGMENT;

	*x = (struct traced){.t = {.file = memfd_create("trace", MFD_CLOEXEC), .page = page}, .begin = page + size};
	assert_true(x->t.file >= 0 && !ftruncate(x->t.file, (off_t)x->begin));
	x->t.head = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, x->t.file, 0);
	assert_ptr_not_equal(x->t.head, MAP_FAILED);
	x->t.talk = (struct chord_trace_talk *)((char *)x->t.head + CHORD_TRACE_TALK);
	x->t.head->used = x->begin;
	x->s = calloc(1, sizeof *x->s);
	assert_non_null(x->s);
	x->s->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, x->t.file, (off_t)page);
	assert_ptr_not_equal(x->s->ring, MAP_FAILED);
	x->s->size = size - page;
	x->s->place = page;
}

/* Fills a segment with words that cannot be packed well. */
static void
fill(struct traced *x, uint64_t segment)
{
	uint32_t *slot = (uint32_t *)((char *)x->s->ring + x->t.page + segment % RING * CHORD_TRACE_SEGMENT);

	for (uint32_t i = 0, state = (uint32_t)segment + 1; i < CHORD_TRACE_SLOTS; i++) {
		state = state * 1664525u + 1013904223u;
		slot[i] = (state >> 8) | 1u;
	}
	collect_room(x->s->ring)->filled = segment + 1;
}

/* Packs a segment. If `held`, the process holds the lock for some time first. Returns how often it had to wait. */
static int
pack(struct traced *x, uint64_t segment, bool held)
{
	int waits = 0;

	for (int i = 0; i < TRIES && x->s->ring->b <= segment; i++) {
		x->t.talk->lock = held && i < TRIES - 1 ? CHORD_TRACE_BY_PROCESS : 0;
		waits += !collect_stream(&x->t, x->s);
	}
	assert_int_equal(x->s->ring->b, segment + 1);
	return waits;
}

static uint64_t
extent_head(const struct traced *x, uint64_t at, struct chord_extent_head *h)
{
	assert_int_equal(pread(x->t.file, h, sizeof *h, (off_t)at), sizeof *h);
	assert_int_equal(h->type, CHORD_TRACE_PACKS);
	return at + h->size;
}

/* Have both the same records? Returns the number of extents. */
static int
compare(const struct traced *x, const struct traced *y)
{
	int n = 0;

	assert_int_equal(x->t.head->used, y->t.head->used);
	for (uint64_t at = x->begin, next; at < x->t.head->used; at = next, n++) {
		struct chord_extent_head h, other;
		char *mine, *theirs;

		next = extent_head(x, at, &h);
		extent_head(y, at, &other);
		assert_memory_equal(&h, &other, sizeof h);
		mine = malloc(h.a);
		theirs = malloc(h.a);
		assert_int_equal(pread(x->t.file, mine, h.a, (off_t)(at + x->t.page)), h.a);
		assert_int_equal(pread(y->t.file, theirs, h.a, (off_t)(at + x->t.page)), h.a);
		assert_memory_equal(mine, theirs, h.a);
		free(mine);
		free(theirs);
	}
	return n;
}

static void
lock_is_held(void **state)
{
	struct traced free_of_it, held;
	int waits = 0;

	(void)state;
	begin(&free_of_it);
	begin(&held);
	for (uint64_t segment = 0; segment < SEGMENTS; segment++) {
		fill(&free_of_it, segment);
		fill(&held, segment);
		assert_int_equal(pack(&free_of_it, segment, false), 0);
		waits += pack(&held, segment, true);
	}
	assert_true(compare(&free_of_it, &held) > 2);
	assert_true(waits > TRIES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
