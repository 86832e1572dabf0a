/* SPDX-License-Identifier: MIT */
/* The collector of one trace: a process that looks for complete segments. While there are none, it looks at growing intervals, and
 * it is woken when a ring becomes full. If it is killed, the kernel tells the traced process (robust futexes). */
#include "collect/collect.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 250 * 1000, LONG = 64 * SHORT }; /* nanoseconds between two looks */

static struct robust_list_head robust;

/* ---- the file ---- */

static void *
map(const struct collect_trace *t, uint64_t at, uint64_t size)
{
	struct stat st;
	void *p = MAP_FAILED;

	if (!fstat(t->file, &st) && at + size <= (uint64_t)st.st_size)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->file, (off_t)at);
	return p == MAP_FAILED ? NULL : p;
}

static bool
open_trace(struct collect_trace *t)
{
	t->page = (uint64_t)sysconf(_SC_PAGESIZE);
	t->head = map(t, 0, t->page);
	if (!t->head || t->head->magic != CHORD_TRACE_MAGIC || t->head->version != CHORD_TRACE_VERSION || t->head->page != t->page)
		return false;
	t->talk = (struct chord_trace_talk *)((char *)t->head + CHORD_TRACE_TALK);
	t->looked = t->page;
	return true;
}

/* From now on the traced process knows that the collector exists, and the kernel will tell it when the collector has ended. */
static bool
begin(struct collect_trace *t)
{
	uint32_t nobody = 0;

	robust.list.next = &robust.list;
	robust.list_op_pending = (struct robust_list *)&t->talk->collector;
	return !syscall(SYS_set_robust_list, &robust, sizeof robust) &&
	       __atomic_compare_exchange_n(&t->talk->collector, &nobody, (uint32_t)syscall(SYS_gettid), false, __ATOMIC_SEQ_CST,
	                                   __ATOMIC_RELAXED);
}

/* ---- rings ---- */

static struct collect_stream *
stream_of(struct collect_trace *t, uint32_t number)
{
	struct collect_stream *s;

	for (size_t i = 0; i < t->stream.n; i++)
		if (t->stream.at[i]->number == number)
			return t->stream.at[i];
	s = xcalloc(1, sizeof *s);
	s->number = number;
	VEC_PUSH(t->stream, s);
	return s;
}

/* Takes a ring, in place of the ring that its stream had before. */
static bool
take_ring(struct collect_trace *t, const struct chord_extent_head *h, uint64_t at)
{
	struct chord_extent_head *ring = map(t, at, h->size);
	struct collect_stream *s;

	if (!ring)
		return false;
	if (!collect_room(ring)->collected) {
		munmap(ring, h->size);
		return true;
	}
	s = stream_of(t, h->module);
	if (s->ring)
		munmap(s->ring, s->size + t->page);
	s->ring = ring;
	s->size = h->size - t->page;
	s->place = at;
	return true;
}

/* Looks for new rings. False: the file is not as it should be. */
static bool
look(struct collect_trace *t)
{
	uint64_t used = __atomic_load_n(&t->head->used, __ATOMIC_ACQUIRE);
	struct chord_extent_head h;

	for (; t->looked < used; t->looked += h.size) {
		if (pread(t->file, &h, sizeof h, (off_t)t->looked) != sizeof h || h.size <= t->page || h.size % t->page ||
		    h.size > used - t->looked)
			return false;
		if (h.type == CHORD_TRACE_RING && (h.size - t->page) % CHORD_TRACE_SEGMENT == 0 && !take_ring(t, &h, t->looked))
			return false;
	}
	return true;
}

/* ---- time ---- */

static void
sleep_until_called(struct collect_trace *t, uint32_t bell, long nanoseconds)
{
	const struct timespec span = {.tv_nsec = nanoseconds};

	__atomic_store_n(&t->talk->sleeps, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &t->talk->bell, FUTEX_WAIT, bell, &span, NULL, 0);
	__atomic_store_n(&t->talk->sleeps, 0, __ATOMIC_SEQ_CST);
}

static bool
has_ended(int process)
{
	struct pollfd p = {.fd = process, .events = POLLIN};

	return process < 0 || poll(&p, 1, 0) != 0;
}

/* Collects until the process has ended and nothing is left. False: it cannot go on. */
static bool
collect(struct collect_trace *t, int process)
{
	long span = SHORT;

	for (;;) {
		uint32_t bell = __atomic_load_n(&t->talk->bell, __ATOMIC_SEQ_CST);
		bool any = false;

		t->ended = t->ended || has_ended(process);
		if (!look(t))
			return false;
		for (size_t i = 0; i < t->stream.n; i++)
			any |= collect_stream(t, t->stream.at[i]);
		if (t->full || (t->ended && !any))
			return !t->full;
		span = any ? SHORT : span < LONG ? span * 2 : LONG;
		if (!any)
			sleep_until_called(t, bell, span);
	}
}

void
collect_one(int file, int process)
{
	struct collect_trace t = {.file = file};

	if (!open_trace(&t) || !begin(&t) || !collect(&t, process))
		return;
	for (size_t i = 0; i < t.stream.n; i++)
		collect_trim(&t, t.stream.at[i]);
}
