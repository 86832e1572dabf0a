/* SPDX-License-Identifier: MIT */
/* Packs the segments of a stream. Even if this process is killed, the file is whole: a record is complete before `done` says so,
 * and only then is the segment zeroed. */
#include "collect/collect.h"

#include "machine/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1 }; /* of zstd: higher levels take more time than the program */

struct chord_trace_room *
collect_room(const struct chord_extent_head *ring)
{
	return (struct chord_trace_room *)((uintptr_t)ring + CHORD_TRACE_TALK);
}

/* ---- extents of packed segments ---- */

/* Takes the lock of the file's end. The process holds it while it adds an extent. If the process has ended while it held the lock,
 * its extent is not counted. */
static bool
take_end(struct collect_trace *t)
{
	uint32_t now = 0;

	if (__atomic_compare_exchange_n(&t->talk->lock, &now, CHORD_TRACE_BY_COLLECTOR, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	if (t->ended)
		__atomic_store_n(&t->talk->lock, CHORD_TRACE_BY_COLLECTOR, __ATOMIC_RELAXED);
	return t->ended;
}

static struct chord_extent_head *
add_packs(struct collect_trace *t, struct collect_stream *s, uint64_t first)
{
	struct chord_extent_head h = {
		.type = CHORD_TRACE_PACKS, .module = s->number, .size = CHORD_TRACE_PACKED, .b = first, .c = CHORD_TRACE_ZSTD,
	};
	uint64_t at = t->head->used;
	void *p = MAP_FAILED;

	t->full = true;
	if (!posix_fallocate(t->file, (off_t)at, (off_t)h.size) && pwrite(t->file, &h, sizeof h, (off_t)at) == sizeof h)
		p = mmap(NULL, h.size, PROT_READ | PROT_WRITE, MAP_SHARED, t->file, (off_t)at);
	if (p == MAP_FAILED)
		return NULL;
	t->full = false;
	__atomic_store_n(&t->head->used, at + h.size, __ATOMIC_RELEASE);
	s->packs_place = at;
	s->packs_size = h.size;
	return p;
}

static bool
more_packs(struct collect_trace *t, struct collect_stream *s, uint64_t first)
{
	struct chord_extent_head *p;

	if (!take_end(t))
		return false;
	p = add_packs(t, s, first);
	__atomic_store_n(&t->talk->lock, 0, __ATOMIC_RELEASE);
	if (!p)
		return false;
	if (s->packs)
		munmap(s->packs, s->packs_size);
	s->packs = p;
	memset(&s->pack, 0, sizeof s->pack);
	if (!s->zstd)
		s->zstd = ZSTD_createCCtx();
	s->spent = !s->zstd || ZSTD_isError(ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_and_parameters)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, CHORD_TRACE_ZSTD_WINDOW));
	t->full = s->spent;
	return !t->full;
}

/* ---- segments ---- */

/* Are all slots written? Sets the sum of a record. */
static bool
is_written(const uint32_t *slot, uint32_t *sum)
{
	uint32_t all = 0, zero = 0;

	for (uint32_t i = 0; i < CHORD_TRACE_SLOTS; i++) {
		all += slot[i];
		zero |= !slot[i];
	}
	*sum = all * 0x9e3779b1u + (uint32_t)((uint64_t)CHORD_TRACE_SLOTS * (CHORD_TRACE_SLOTS - 1) / 2);
	return !zero;
}

/* Packs a segment after the others. False: there is no room. The caller then begins another extent, and the packer begins anew. If
 * it cannot begin one yet, no segment may be packed into the old extent: the packer and zstd have already seen this one. */
static bool
put_record(const struct collect_trace *t, struct collect_stream *s, const uint32_t *slot, uint64_t segment, uint32_t sum)
{
	struct chord_trace_record record = {.segment = (uint32_t)segment, .sum = sum};
	uint64_t room = s->packs && !s->spent ? s->packs_size - t->page - s->packs->a : 0;
	ZSTD_inBuffer in = {.src = s->packed};
	ZSTD_outBuffer out;

	if (room < sizeof record + 4)
		return false;
	out = (ZSTD_outBuffer){.dst = (char *)s->packs + t->page + s->packs->a + sizeof record, .size = room - sizeof record - 3};
	in.size = (size_t)(machine_of_host()->pack(&s->pack, slot, CHORD_TRACE_SLOTS, s->packed) - s->packed);
	s->spent = ZSTD_compressStream2(s->zstd, &out, &in, ZSTD_e_flush);
	if (s->spent)
		return false;
	record.bytes = (uint32_t)out.pos;
	memcpy((char *)out.dst - sizeof record, &record, sizeof record);
	__atomic_store_n(&s->packs->a, s->packs->a + sizeof record + ((record.bytes + 3) & ~3ull), __ATOMIC_RELEASE);
	return true;
}

/* Packs the first segment that is not packed yet. False: not all of it is written, or there is no room for it now. */
static bool
pack_segment(struct collect_trace *t, struct collect_stream *s, uint64_t segment)
{
	struct chord_trace_room *room = collect_room(s->ring);
	uint64_t place = (segment - s->ring->a) % (s->size / CHORD_TRACE_SEGMENT);
	uint32_t *slot = (uint32_t *)((char *)s->ring + t->page + place * CHORD_TRACE_SEGMENT), sum;

	if (!is_written(slot, &sum))
		return false;
	if (!put_record(t, s, slot, segment, sum) &&
	    !(more_packs(t, s, segment) && put_record(t, s, slot, segment, sum)))
		return false;
	__atomic_store_n(&room->done, segment + 1, __ATOMIC_RELEASE);
	memset(slot, 0, CHORD_TRACE_SEGMENT);
	__atomic_store_n(&s->ring->b, segment + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&room->freed, 1, __ATOMIC_SEQ_CST);
	return true;
}

static void
wake(struct chord_trace_room *room)
{
	if (__atomic_exchange_n(&room->waiting, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &room->freed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A waiting thread is woken once a part of the ring is free, and not for each segment. */
bool
collect_stream(struct collect_trace *t, struct collect_stream *s)
{
	struct chord_trace_room *room = collect_room(s->ring);
	uint64_t n = 0, filled = __atomic_load_n(&room->filled, __ATOMIC_ACQUIRE), some = s->size / CHORD_TRACE_SEGMENT / 4;

	/* A new ring in a forked child has the number of its first segment before `filled` says that any is filled. */
	for (uint64_t segment = s->ring->b; segment < filled && pack_segment(t, s, segment); segment++) {
		if (++n % some == 0)
			wake(room);
		filled = __atomic_load_n(&room->filled, __ATOMIC_ACQUIRE);
	}
	wake(room);
	return n;
}

static void
punch(const struct collect_trace *t, uint64_t from, uint64_t to)
{
	from = (from + t->page - 1) / t->page * t->page;
	if (from < to && fallocate(t->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)))
		return; /* it keeps its room */
}

void
collect_trim(const struct collect_trace *t, struct collect_stream *s)
{
	const uint64_t n = s->size / CHORD_TRACE_SEGMENT, filled = collect_room(s->ring)->filled;
	uint64_t place;

	for (uint64_t segment = filled + 1; segment < s->ring->b + n; segment++) {
		const uint32_t *slot;
		bool zero = true;

		place = t->page + (segment - s->ring->a) % n * CHORD_TRACE_SEGMENT;
		slot = (const uint32_t *)((const char *)s->ring + place);
		for (uint32_t i = 0; i < CHORD_TRACE_SLOTS && zero; i++)
			zero = !slot[i];
		if (zero)
			punch(t, s->place + place, s->place + place + CHORD_TRACE_SEGMENT);
	}
	if (s->packs)
		punch(t, s->packs_place + t->page + s->packs->a, s->packs_place + s->packs_size);
}
