/* SPDX-License-Identifier: MIT */
/* Rings: where a thread's slots are written (format/trace.h). Woven code takes the cursor, adds a slot to it, and writes there. It
 * calls the runtime in two cases: at the end of each segment, and when the cursor after the addition is not what it should be,
 * because a signal handler has written as well.
 *
 * The segment after the cursor's is always free, so a handler that strikes between the addition and the call of the runtime has
 * room. If it needs more room, it calls the runtime itself. If the ring is full by then, the slot that the interrupted context has
 * reserved is taken back. Slots are overwritten only if the handler is interrupted there as well, and a third context goes on after
 * that slot. Then the trace says so.
 *
 * A segment is packed when no slot in it is 0. A slot that is 0 belongs to a context that was interrupted before it wrote. Until
 * that context writes, the segment stays. If the ring is full, the stream goes on in a new ring. The old one stays mapped, because
 * that context may go on at any time.
 *
 * The order of writes suits readers of what a killed process left: the record is complete, then the segment is zeroed, then the
 * ring's count of packed segments goes up. The thread that has the ring does all this with signals blocked. */
#include "slots.h"

static uint64_t *
chord_rt_cursor(const struct chord_rt_trace *t, uint64_t base)
{
	return (uint64_t *)(t->home + base);
}

static bool
chord_rt_in_ring(uint64_t ring, uint64_t size, uint64_t p)
{
	return ring && p - ring < 2 * size;
}

/* The words by which the thread and a collector tell each other about the ring that follows that head. */
static struct chord_trace_room *
chord_rt_room_of(const struct chord_extent_head *head)
{
	return (struct chord_trace_room *)((uint64_t)head + CHORD_TRACE_TALK);
}

/* The slot with that number. */
static CHORD_RT_INLINE volatile uint32_t *
chord_rt_slot_at(const struct chord_rt_ring *r, uint64_t n)
{
	return (volatile uint32_t *)(r->at + (n - r->first * CHORD_TRACE_SLOTS) * 4 % r->size);
}

/* The first segment that is not packed. A collector puts its number into the ring's head, as the thread itself does. */
static uint64_t
chord_rt_packed(const struct chord_rt_ring *r)
{
	return r->collected && r->head ? __atomic_load_n(&r->head->b, __ATOMIC_ACQUIRE) : r->packed;
}

/* The cursor is in that segment. Is the segment after it in use? */
static bool
chord_rt_is_full(const struct chord_rt_ring *r, uint64_t segment)
{
	return (segment + 1 - chord_rt_packed(r)) * CHORD_TRACE_SEGMENT >= r->size;
}

/* How many slots have been reserved since the runtime was last here, if the next one was at the address `from` then, in the first
 * of the ring's mappings, and is at `to` now: at most as many as the ring has. See chord_rt_end_segment(), which does not count as
 * having been here. */
static uint64_t
chord_rt_since(uint64_t from, uint64_t to, uint64_t size)
{
	return (to < from ? to + size - from : to - from > size ? to - from - size : to - from) / 4;
}

/* The number of the slot at that address, if it was reserved since the runtime was last here, or comes next. */
static uint64_t
chord_rt_number_of(const struct chord_rt_ring *r, uint64_t at)
{
	return r->seen + chord_rt_since((uint64_t)chord_rt_slot_at(r, r->seen), at, r->size);
}

/* The number of the next slot. */
static uint64_t
chord_rt_next_slot(const struct chord_rt_ring *r, const uint64_t *cursor)
{
	return chord_rt_number_of(r, *(const volatile uint64_t *)cursor);
}

/* The number of the slot after the last one that has room, when all segments before that one are packed. */
static uint64_t
chord_rt_room_behind(const struct chord_rt_ring *r, uint64_t packed)
{
	return packed * CHORD_TRACE_SLOTS + r->size / 4;
}

/* How many slots are reserved for which the ring had no room. */
static uint64_t
chord_rt_beyond(const struct chord_rt_ring *r, const uint64_t *cursor)
{
	uint64_t next = chord_rt_next_slot(r, cursor);

	return next > r->room ? next - r->room : 0;
}

/* How many bytes of a ring lie between these addresses, each of which may be in either of its mappings. */
static uint64_t
chord_rt_between(uint64_t from, uint64_t to, uint64_t size)
{
	return (to + 2 * size - from) % size;
}

/* ---- where ---- */

/* Reserves addresses for a ring, and a page before it. 0: there are none. */
static uint64_t
chord_rt_ring_room(uint64_t ring)
{
	const uint64_t size = 2 * ring, all = size + CHORD_RT_PAGE + CHORD_TRACE_SEGMENT;
	long p = chord_rt_call(SYS_mmap, 0, all, CHORD_RT_PROT_NONE,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE, -1, 0);
	uint64_t from = (uint64_t)p, at = (from + CHORD_RT_PAGE + CHORD_TRACE_SEGMENT - 1) & -(uint64_t)CHORD_TRACE_SEGMENT;

	if (chord_rt_failed(p))
		return 0;
	if (at - CHORD_RT_PAGE > from)
		chord_rt_call(SYS_munmap, from, at - CHORD_RT_PAGE - from);
	if (at + size < from + all)
		chord_rt_call(SYS_munmap, at + size, from + all - (at + size));
	return at;
}

static void
chord_rt_unmap_ring(uint64_t at, uint64_t size)
{
	if (at)
		chord_rt_call(SYS_munmap, at - CHORD_RT_PAGE, CHORD_RT_PAGE + 2 * size);
}

/* What is written to the ring from now on is not kept. */
static void
chord_rt_ring_to_memory(uint64_t at, uint64_t size)
{
	chord_rt_call(SYS_mmap, at - CHORD_RT_PAGE, CHORD_RT_PAGE + 2 * size, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED | CHORD_RT_MAP_NORESERVE, -1, 0);
}

/* Maps the extent at that offset as a ring. */
static long
chord_rt_map_ring(long fd, uint64_t from, uint64_t at, uint64_t size)
{
	long e = chord_rt_map_trace(fd, from, CHORD_RT_PAGE + size, at - CHORD_RT_PAGE);

	if (!chord_rt_failed(e))
		e = chord_rt_map_trace(fd, from + CHORD_RT_PAGE, size, at + size);
	return e;
}

/* Where only the last segments are kept, a ring is long and may never be filled. So room is allocated before the thread gets there,
 * and the rest is a hole in the file. This allocates room for n segments, beginning with that one. */
static long
chord_rt_back(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t segment, uint64_t n)
{
	const uint64_t all = r->size / CHORD_TRACE_SEGMENT, place = (segment - r->first) % all;
	long fd = chord_rt_trace_fd(ctl), e = fd;

	n = n < all - place ? n : all - place;
	if (!chord_rt_failed(fd))
		e = chord_rt_allocate(ctl, (int32_t)fd, r->place + place * CHORD_TRACE_SEGMENT, n * CHORD_TRACE_SEGMENT);
	chord_rt_trace_shut(ctl->trace, fd);
	if (!chord_rt_failed(e))
		r->backed = segment + n;
	return e;
}

/* Makes sure that there is room up to that segment. r->since - 1 is the segment in which the ring began. */
static bool
chord_rt_back_up_to(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t segment)
{
	long e = 0;
	uint64_t old;

	if (!r->since || segment < r->backed || r->backed - (r->since - 1) >= r->size / CHORD_TRACE_SEGMENT)
		return true;
	old = chord_rt_lock(ctl);
	while (!chord_rt_failed(e) && r->backed <= segment && r->backed - (r->since - 1) < r->size / CHORD_TRACE_SEGMENT) {
		e = chord_rt_back(ctl, r, r->backed, CHORD_TRACE_SEGMENTS * 4);
		if (chord_rt_failed(e))
			e = chord_rt_back(ctl, r, r->backed, 1);
	}
	if (chord_rt_failed(e))
		chord_rt_trace_stop(ctl, e);
	chord_rt_unlock(ctl, old);
	return !chord_rt_failed(e);
}

/* The ring is new. It begins with segment `first`, and the cursor is in `segment`. */
static bool
chord_rt_back_first(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t first, uint64_t segment)
{
	r->since = ctl->trace->last && !ctl->trace->memory && r->size > CHORD_RT_RING ? first + 1 : 0;
	r->backed = first;
	return chord_rt_back_up_to(ctl, r, segment + 2);
}

/* Adds the extent and maps it. Gives its offset, for chord_rt_trace_publish(); or an error. */
static long
chord_rt_place_ring(struct chord_rt_ctl *ctl, const struct chord_extent_head *h, uint64_t at, uint64_t size)
{
	long fd = chord_rt_trace_fd(ctl), from = fd, e = fd;

	if (!chord_rt_failed(fd))
		from = e = chord_rt_trace_extent(ctl, fd, h);
	if (!chord_rt_failed(from))
		e = chord_rt_map_ring(fd, (uint64_t)from, at, size);
	chord_rt_trace_shut(ctl->trace, fd);
	if (chord_rt_failed(e) && !chord_rt_failed(from))
		chord_rt_trace_leave_end(ctl->trace);
	return chord_rt_failed(e) ? e : from;
}

static void
chord_rt_take_new_ring(struct chord_rt_ring *r)
{
	const struct chord_rt_change *c = &r->change;

	r->rings = c->rings + 1;
	r->at = c->at;
	r->size = c->size;
	r->first = r->packed = c->first;
	r->room = chord_rt_room_behind(r, c->first);
	r->place = c->from + CHORD_RT_PAGE;
	r->head = c->head;
	r->collected = c->collected;
}

/* Adds a ring that begins with segment `first` at these addresses. Under the lock. */
static long
chord_rt_add_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t at, uint64_t size, uint64_t first)
{
	struct chord_extent_head h = {
		.type = CHORD_TRACE_RING, .module = r->number, .size = CHORD_RT_PAGE + size, .a = first, .b = first, .c = r->rings,
	};
	const bool memory = ctl->trace->memory, collected = ctl->trace->collected && r->number != ~0u;
	struct chord_rt_change *c = &r->change;
	struct chord_extent_head *head;
	long from = memory ? chord_rt_place_memory_ring(ctl->trace, &h, at) : chord_rt_place_ring(ctl, &h, at, size);

	if (chord_rt_failed(from))
		return from;
	ctl->trace->begun = 1;
	head = (struct chord_extent_head *)(at - CHORD_RT_PAGE);
	chord_rt_room_of(head)->filled = chord_rt_room_of(head)->done = first;
	chord_rt_room_of(head)->collected = collected;
	c->at = at;
	c->size = size;
	c->first = first;
	c->from = (uint64_t)from;
	c->head = head;
	c->collected = collected;
	c->rings = r->rings;
	r->torn = CHORD_RT_CHANGES_RING;
	if (!memory)
		chord_rt_trace_publish(ctl, (uint64_t)from + h.size);
	chord_rt_take_new_ring(r);
	return 0;
}

/* Adds a ring at new addresses. If a collector packs and a large ring cannot be had, it is a smaller one. */
static long
chord_rt_new_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t first)
{
	const struct chord_rt_trace *t = ctl->trace;
	const bool wish = t->last || (t->collected && r->number != ~0u);
	uint64_t size = !wish ? CHORD_RT_RING : t->last ? t->last : CHORD_RT_RING_COLLECTED, at;
	long e;

	if (t->memory)
		size = chord_rt_ring_in_memory(t, r);
	for (;; size = CHORD_RT_RING) {
		at = chord_rt_ring_room(size);
		e = at ? chord_rt_add_ring(ctl, r, at, size, first) : -ENOMEM;
		if (!chord_rt_failed(e))
			return e;
		chord_rt_unmap_ring(at, size);
		if (size == CHORD_RT_RING || t->last)
			return e;
	}
}

/* ---- the end of a ring ---- */

/* From here on the context's tokens are not kept. */
static void
chord_rt_to_scratch(struct chord_rt_trace *t, uint64_t *cursor)
{
	*(volatile uint64_t *)cursor = t->scratch;
}

/* Makes threads without a region call the runtime with their first slot. */
static void
chord_rt_to_ask(const struct chord_rt_trace *t)
{
	*(volatile uint64_t *)chord_rt_cursor(t, 0) = t->scratch + CHORD_TRACE_SEGMENT - 4;
}

static bool
chord_rt_is_scratch(const struct chord_rt_trace *t, uint64_t p)
{
	return p - t->scratch < 4 * CHORD_TRACE_SEGMENT;
}

/* The stream goes on in the new ring. */
static bool
chord_rt_go_over(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	const struct chord_rt_change *c = &r->change;
	struct chord_rt_old_ring *old = c->old;

	if (!chord_rt_back_first(ctl, r, r->first, r->first)) {
		chord_rt_to_scratch(ctl->trace, cursor);
		return false;
	}
	if (!chord_rt_in_ring(r->at, r->size, *cursor)) {
		*(volatile uint64_t *)&old->end = *cursor;
		*(volatile uint64_t *)cursor = r->at;
	}
	old->next = c->seen + chord_rt_since(c->seen_at, old->end, old->size);
	old->n = old->next - c->packed;
	r->old = old;
	r->seen = r->first * CHORD_TRACE_SLOTS;
	return true;
}

static bool
chord_rt_change_ring_locked(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	struct chord_rt_old_ring *old = (struct chord_rt_old_ring *)chord_rt_take_room(ctl, sizeof *old);
	uint64_t next = (chord_rt_next_slot(r, cursor) + CHORD_TRACE_SLOTS - 1) / CHORD_TRACE_SLOTS;
	struct chord_rt_change *c = &r->change;
	long e = -ENOMEM;

	if (old) {
		*old = (struct chord_rt_old_ring){.at = r->at, .size = r->size, .collected = r->collected, .before = r->old};
		c->old = old;
		c->seen = r->seen;
		c->seen_at = (uint64_t)chord_rt_slot_at(r, r->seen);
		c->packed = chord_rt_packed(r) * CHORD_TRACE_SLOTS;
		e = chord_rt_new_ring(ctl, r, next);
	}
	if (chord_rt_failed(e)) {
		chord_rt_trace_stop(ctl, e);
		chord_rt_to_scratch(ctl->trace, cursor);
		return false;
	}
	return chord_rt_go_over(ctl, r, cursor);
}

/* The ring is full of segments that cannot be packed: the stream goes on in a new one. False: tracing has stopped. */
static bool
chord_rt_change_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	uint64_t old = chord_rt_lock(ctl);
	bool ok = !ctl->trace->stopped && chord_rt_change_ring_locked(ctl, r, cursor);

	r->torn = 0;
	chord_rt_unlock(ctl, old);
	return ok;
}

/* ---- packing ---- */

static struct chord_extent_head *
chord_rt_more_packs(struct chord_rt_ctl *ctl, const struct chord_rt_ring *r)
{
	struct chord_extent_head h = {
		.type = CHORD_TRACE_PACKS, .module = r->number, .size = CHORD_TRACE_PACKED, .b = r->packed,
	}, *p = NULL;
	uint64_t old = chord_rt_lock(ctl);

	if (!ctl->trace->stopped)
		p = chord_rt_trace_mapped(ctl, &h);
	chord_rt_unlock(ctl, old);
	return p;
}

/* Packs slots to the packer's room; gives the number of bytes. */
static CHORD_RT_HOT uint64_t
chord_rt_pack(struct chord_rt_packer *p, const uint32_t *slot, struct chord_trace_record *record)
{
	record->bytes = (uint32_t)(chord_pack(&p->pack, slot, CHORD_TRACE_SLOTS, p->out) - p->out);
	return sizeof *record + ((record->bytes + 3) & ~3ull);
}

/* Writes what was packed as a record after the others. False: there is no room. */
static bool
chord_rt_put_record(struct chord_extent_head *packs, const struct chord_trace_record *record, const uint8_t *bytes, uint64_t size)
{
	uint64_t to = (uint64_t)packs + CHORD_RT_PAGE + packs->a;

	if (packs->a + size > packs->size - CHORD_RT_PAGE)
		return false;
	chord_rt_copy((void *)to, record, sizeof *record);
	chord_rt_copy((void *)(to + sizeof *record), bytes, record->bytes);
	__atomic_store_n(&packs->a, packs->a + size, __ATOMIC_RELEASE);
	return true;
}

/* The next record goes to another extent, where the packer begins anew. */
static void
chord_rt_leave_packs(struct chord_rt_ring *r)
{
	struct chord_extent_head *packs = r->packs;

	r->packs = NULL;
	if (packs)
		chord_rt_call(SYS_munmap, packs, packs->size);
	if (r->packer)
		chord_rt_clear(&r->packer->pack, sizeof r->packer->pack);
}

/* Packs the first segment that is not packed. False: there is no room for it, and tracing has stopped. */
static bool
chord_rt_pack_segment(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint32_t sum)
{
	const uint32_t *slot = (const uint32_t *)chord_rt_slot_at(r, r->packed * CHORD_TRACE_SLOTS);
	struct chord_trace_record record = {.segment = (uint32_t)r->packed, .sum = sum};
	uint64_t size;

	if (!r->packer)
		r->packer = (struct chord_rt_packer *)chord_rt_pages(sizeof *r->packer);
	if (!r->packer)
		return false;
	size = chord_rt_pack(r->packer, slot, &record);
	if (r->packs && chord_rt_put_record(r->packs, &record, r->packer->out, size))
		return true;
	chord_rt_leave_packs(r);
	r->packs = chord_rt_more_packs(ctl, r);
	size = chord_rt_pack(r->packer, slot, &record);
	return r->packs && chord_rt_put_record(r->packs, &record, r->packer->out, size);
}

/* Are all slots of the first segment that is not packed written? Also sets the sum for a record. */
static CHORD_RT_HOT bool
chord_rt_is_written(const struct chord_rt_ring *r, uint32_t *sum)
{
	const uint32_t *slot = (const uint32_t *)chord_rt_slot_at(r, chord_rt_packed(r) * CHORD_TRACE_SLOTS);
	uint32_t all;
	bool written = chord_rt_home_slots(slot, CHORD_TRACE_SLOTS, &all);

	*sum = all * 0x9e3779b1u + (uint32_t)((uint64_t)CHORD_TRACE_SLOTS * (CHORD_TRACE_SLOTS - 1) / 2);
	return written;
}

/* The first segment that is not packed is in a record now. Zeroes it, and counts it as packed. */
static void
chord_rt_forget_packed(struct chord_rt_ring *r)
{
	chord_rt_clear((void *)chord_rt_slot_at(r, r->packed * CHORD_TRACE_SLOTS), CHORD_TRACE_SEGMENT);
	__atomic_store_n(&r->head->b, ++r->packed, __ATOMIC_RELEASE);
}

/* Packs what is complete. False: tracing has stopped. */
static bool
chord_rt_pack_all(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t segment)
{
	uint32_t sum = 0;

	while (r->packed < segment && chord_rt_is_written(r, &sum)) {
		r->torn = CHORD_RT_PACKS;
		if (!chord_rt_pack_segment(ctl, r, sum))
			return false;
		chord_rt_forget_packed(r);
		r->torn = 0;
	}
	return true;
}

/* ---- what a collector packs ---- */

/* Has the segment of that slot been packed, and perhaps been zeroed? Ask this only after the slot was found to be 0. */
static bool
chord_rt_is_emptied(uint64_t at, uint32_t collected, uint64_t n)
{
	const struct chord_trace_room *room = chord_rt_room_of((struct chord_extent_head *)(at - CHORD_RT_PAGE));

	return collected && n / CHORD_TRACE_SLOTS < __atomic_load_n(&room->done, __ATOMIC_ACQUIRE);
}

/* Has a context reserved a slot in the first segment that is not packed, and not written it? Then the segment will not be
 * packed. */
static bool
chord_rt_is_held(const struct chord_rt_ring *r)
{
	const uint64_t first = chord_rt_packed(r) * CHORD_TRACE_SLOTS;
	uint32_t sum;

	return !chord_rt_is_written(r, &sum) && !chord_rt_is_emptied(r->at, r->collected, first);
}

/* Waits until the collector has emptied segments, which changes `freed`. False: the collector is gone, or does nothing. */
static bool
chord_rt_await_collector(struct chord_rt_ctl *ctl, struct chord_trace_room *room, uint32_t freed)
{
	const uint64_t tenth[2] = {0, 100000000};
	struct chord_trace_talk *talk = chord_rt_talk(ctl->trace);
	long e = 0;

	for (uint32_t i = 0; i < CHORD_RT_PATIENCE; i++) {
		__atomic_store_n(&room->waiting, 1, __ATOMIC_SEQ_CST);
		e = chord_rt_call(SYS_futex, &room->freed, 0, freed, tenth);
		if (__atomic_load_n(&room->freed, __ATOMIC_ACQUIRE) != freed)
			return true;
		if (__atomic_load_n(&talk->collector, __ATOMIC_RELAXED) & CHORD_TRACE_OWNER_DIED ||
		    (chord_rt_failed(e) && e != -ETIMEDOUT && e != -EAGAIN && e != -EINTR))
			break;
		chord_rt_ring_bell(talk);
	}
	ctl->trace->collected = 0;
	return false;
}

/* Tells the collector how far the thread is, and waits if the ring is full. If the ring is still full afterwards, it cannot be
 * emptied. */
static void
chord_rt_leave_to_collector(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t segment)
{
	struct chord_trace_room *room = chord_rt_room_of(r->head);
	uint32_t freed;

	__atomic_store_n(&room->filled, segment, __ATOMIC_RELEASE);
	if ((segment - chord_rt_packed(r)) * CHORD_TRACE_SEGMENT >= r->size / 2)
		chord_rt_ring_bell(chord_rt_talk(ctl->trace));
	for (;;) {
		freed = __atomic_load_n(&room->freed, __ATOMIC_ACQUIRE);
		if (!chord_rt_is_full(r, segment) || chord_rt_is_held(r) || !chord_rt_await_collector(ctl, room, freed))
			return;
	}
}

/* ---- when only the last segments are kept ---- */

/* Keeps the marks of the first segment that are needed to understand what follows it. */
static void
chord_rt_keep_marks(const struct chord_rt_ring *r, struct chord_trace_gone *gone)
{
	const volatile uint32_t *slot = chord_rt_slot_at(r, r->packed * CHORD_TRACE_SLOTS), *end = slot + CHORD_TRACE_SLOTS;
	uint32_t kind;

	for (; slot < end; slot++) {
		kind = CHORD_SLOT_KIND(*slot);
		if (kind == CHORD_MARK_THREAD || kind == CHORD_MARK_CHILD)
			gone->thread = *slot;
		else if (kind == CHORD_MARK_MODULES)
			gone->modules = *slot;
	}
}

/* Forgets segments at the beginning of the ring until there is room. A reader that finds one half zeroed uses the rest of it. If
 * the ring is still full afterwards, an interrupted context is going to write to its first segment. */
static void
chord_rt_forget_first(struct chord_rt_ring *r, uint64_t segment)
{
	struct chord_trace_gone *gone = (struct chord_trace_gone *)((uint64_t)r->head + CHORD_TRACE_GONE);
	uint32_t sum;

	while (chord_rt_is_full(r, segment) && chord_rt_is_written(r, &sum)) {
		if (r->packed <= r->kept)
			chord_rt_keep_marks(r, gone);
		gone->segments++;
		chord_rt_clear((void *)chord_rt_slot_at(r, r->packed * CHORD_TRACE_SLOTS), CHORD_TRACE_SEGMENT);
		__atomic_store_n(&r->head->b, ++r->packed, __ATOMIC_RELEASE);
	}
}

/* Notes which slot is next, and brings the cursor into the first of the ring's mappings. A child of vfork may be killed here. So
 * the number of the next slot is the same after each store: while the cursor moves, the slot before the next one is noted. */
static void
chord_rt_note_cursor(struct chord_rt_ring *r, uint64_t *cursor)
{
	uint64_t next = chord_rt_next_slot(r, cursor);

	if (*cursor >= r->at + r->size) {
		*(volatile uint64_t *)&r->seen = next - 1;
		chord_rt_home_bump(cursor, -r->size);
	}
	*(volatile uint64_t *)&r->seen = next;
}

/* Settles the cursor first, because children of vfork may be killed here one after another, each a segment further on. */
static void
chord_rt_settle_mine(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	uint64_t segment, beyond = chord_rt_beyond(r, cursor);
	bool ok = true;

	if (beyond == 1)
		chord_rt_home_bump(cursor, -4ull);
	else if (beyond)
		__atomic_fetch_or(&ctl->trace->head->flags, CHORD_TRACE_OVERRUN, __ATOMIC_RELAXED);
	chord_rt_note_cursor(r, cursor);
	segment = r->seen / CHORD_TRACE_SLOTS;
	if (ctl->trace->last && !chord_rt_back_up_to(ctl, r, segment + 2)) {
		chord_rt_to_scratch(ctl->trace, cursor);
		return;
	}
	if (ctl->trace->last || ctl->trace->memory)
		chord_rt_forget_first(r, segment);
	else if (r->collected)
		chord_rt_leave_to_collector(ctl, r, segment);
	else
		ok = chord_rt_pack_all(ctl, r, segment);
	if (chord_rt_is_full(r, segment) && ok)
		ok = chord_rt_change_ring(ctl, r, cursor);
	if (!ok) {
		chord_rt_trace_stop(ctl, -ENOMEM);
		chord_rt_to_scratch(ctl->trace, cursor);
		return;
	}
	r->room = chord_rt_room_behind(r, chord_rt_packed(r));
	chord_rt_note_cursor(r, cursor);
}

/* ---- whose ring it is ---- */

/* Is the last record that of the first segment that does not count as packed? */
static bool
chord_rt_is_recorded(const struct chord_rt_ring *r)
{
	const uint64_t from = (uint64_t)r->packs + CHORD_RT_PAGE, end = from + r->packs->a;
	const struct chord_trace_record *record = NULL;

	for (uint64_t at = from; at < end; at += sizeof *record + ((record->bytes + 3) & ~3ull))
		record = (const struct chord_trace_record *)at;
	return record && record->segment == (uint32_t)r->packed;
}

/* Has the file the new ring's extent? If the thread that added it did not come to say so, this does, unless another thread's extent
 * is there by now. Under the lock. */
static bool
chord_rt_is_published(struct chord_rt_ctl *ctl, const struct chord_rt_ring *r)
{
	const struct chord_rt_change *c = &r->change;

	if (ctl->trace->memory)
		return true;
	if (ctl->trace->head->used == c->from)
		chord_rt_trace_publish(ctl, c->from + CHORD_RT_PAGE + c->size);
	return c->head->type == CHORD_TRACE_RING && c->head->module == r->number && c->head->c == c->rings;
}

/* The thread that was to go on in another ring was killed. Goes on there. */
static void
chord_rt_finish_change(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	uint64_t old = chord_rt_lock(ctl);

	if (!r->change.old || ctl->trace->stopped || !chord_rt_is_published(ctl, r)) {
		chord_rt_trace_stop(ctl, -EOWNERDEAD);
	} else {
		chord_rt_take_new_ring(r);
		chord_rt_go_over(ctl, r, cursor);
	}
	chord_rt_unlock(ctl, old);
}

/* The thread that had the ring was killed. If a complete record of a segment exists, it stands for the segment. The next record
 * needs a new extent, because the packer's state is not the state that readers have. */
static void
chord_rt_inherit_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	if (r->torn == CHORD_RT_CHANGES_RING)
		chord_rt_finish_change(ctl, r, cursor);
	else if (r->torn && r->packs && chord_rt_is_recorded(r))
		chord_rt_forget_packed(r);
	if (r->torn)
		chord_rt_leave_packs(r);
	r->torn = 0;
}

/* Threads that share a ring wait for each other. False: this thread has the ring already, and was interrupted by a fault's
 * handler. */
static bool
chord_rt_take_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	enum { PATIENCE = 16, LONG = 4096 };
	uint32_t me = (uint32_t)chord_rt_call(SYS_gettid), now = 0;

	for (uint32_t n = 1; !__atomic_compare_exchange_n(&r->busy, &now, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); n++) {
		if (now == me)
			return false;
		if (n % PATIENCE == 0 && chord_rt_has_ended(ctl, now, n > LONG)) {
			if (__atomic_compare_exchange_n(&r->busy, &now, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
				chord_rt_inherit_ring(ctl, r, cursor);
				return true;
			}
		} else {
			chord_rt_call(SYS_sched_yield);
		}
		now = 0;
	}
	return true;
}

/* Packs what can be packed, and makes sure that the segment after the cursor's is free. */
static void
chord_rt_settle_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	if (!chord_rt_take_ring(ctl, r, cursor))
		return;
	if (!ctl->trace->stopped)
		chord_rt_settle_mine(ctl, r, cursor);
	else
		chord_rt_to_scratch(ctl->trace, cursor);
	__atomic_store_n(&r->busy, 0, __ATOMIC_RELEASE);
}

/* The most frequent case at the end of a segment: the slot before it, at p, is the last one that was reserved, a collector packs,
 * and there is room. Then the token is written and the collector is told how far the thread is. This takes no system call, because
 * signals need not be blocked: a handler that comes in between finds the slot reserved, as if it had interrupted woven code. The
 * handler may fork. In the child the ring's addresses are mapped, but r may no longer describe them, and may be all 0. So
 * everything is read from r once, before it is used. If a handler comes amid that, the values may not fit each other: then the
 * cursor is not where it was, because the handler has written, or the child its first marks. The value stored here may be older
 * than one that the handler has told the collector; the next end of a segment corrects that. Where the ring is half full, every
 * eighth end goes to the code that wakes the collector. The ring is also settled after each half of it, so that handlers which
 * strike at its end do not write more than a ring since then. False: nothing was done. */
static bool
chord_rt_end_segment(struct chord_rt_ring *r, const uint64_t *cursor, uint32_t token, uint64_t p)
{
	struct chord_rt_ring now;
	uint64_t room = r->room, next, segment, packed, used;
	bool able = r->collected && !r->busy;

	now.at = r->at;
	now.size = r->size;
	now.first = r->first;
	now.seen = r->seen;
	now.head = r->head;
	__asm__ volatile("" : : : "memory");
	if (!able || !now.at || !now.size || !now.head)
		return false;
	next = chord_rt_number_of(&now, p + 4);
	segment = next / CHORD_TRACE_SLOTS;
	if (p - now.at >= now.size - 4 || next % CHORD_TRACE_SLOTS || (next - now.seen) * 4 > now.size / 2)
		return false;
	packed = __atomic_load_n(&now.head->b, __ATOMIC_ACQUIRE);
	used = (segment - packed) * CHORD_TRACE_SEGMENT;
	if (used + CHORD_TRACE_SEGMENT >= now.size || (used >= now.size / 2 && segment % 8 == 0))
		return false;
	__asm__ volatile("" : : : "memory");
	if (*(volatile uint32_t *)p || segment <= __atomic_load_n(&chord_rt_room_of(now.head)->done, __ATOMIC_ACQUIRE) ||
	    *(const volatile uint64_t *)cursor != p + 4)
		return false;
	*(volatile uint32_t *)p = token;
	__atomic_store_n(&chord_rt_room_of(now.head)->filled, segment, __ATOMIC_RELEASE);
	__atomic_compare_exchange_n(&r->room, &room, chord_rt_room_behind(&now, packed), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

/* ---- slots for callers of the runtime ---- */

/* Reserves a slot, in one instruction, and writes it. True: it is the last one of a segment, and the ring has to be settled. */
static bool
chord_rt_reserve_and_put(uint64_t *cursor, uint32_t slot)
{
	uint64_t at = chord_rt_home_take(cursor, 4);

	*(volatile uint32_t *)at = slot;
	return (at + 4) % CHORD_TRACE_SEGMENT == 0;
}

/* With signals blocked. */
static void
chord_rt_put_slot(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor, uint32_t slot)
{
	const uint32_t kind = CHORD_SLOT_KIND(slot);
	bool ends = chord_rt_reserve_and_put(cursor, slot);

	if (kind == CHORD_MARK_THREAD || kind == CHORD_MARK_CHILD || kind == CHORD_MARK_MODULES)
		r->kept = chord_rt_next_slot(r, cursor) / CHORD_TRACE_SLOTS;
	if (ends)
		chord_rt_settle_ring(ctl, r, cursor);
}

/* Was p, an earlier value of the cursor, the address of a slot that is reserved and not written? The slot can be one of the n
 * before ring->end. */
static bool
chord_rt_is_pending(const struct chord_rt_old_ring *ring, uint64_t p)
{
	uint64_t back = chord_rt_between(p + 4, ring->end, ring->size) / 4;

	return chord_rt_in_ring(ring->at, ring->size, p) && back < ring->n && !*(volatile uint32_t *)p &&
	    !chord_rt_is_emptied(ring->at, ring->collected, ring->next - back - 1);
}

/* The slot that woven code reserved after it had read p from the cursor. If the context was interrupted between reading and
 * reserving, the slot is the last one. If it was interrupted after reserving, the slot is p. NULL: this cannot be decided, because
 * another context was interrupted there, too, and has not gone on; or this context was interrupted twice, and its slot stays 0; or
 * the ring had no room for the slot. */
static volatile uint32_t *
chord_rt_find_slot(const struct chord_rt_ring *r, const uint64_t *cursor, uint64_t p)
{
	uint64_t beyond = chord_rt_beyond(r, cursor), at = *cursor - 4 * beyond;
	uint64_t next = chord_rt_next_slot(r, cursor) - beyond;
	volatile uint32_t *newest = chord_rt_slot_at(r, next - 1);
	struct chord_rt_old_ring now = {
		.at = r->at, .size = r->size, .collected = r->collected,
		.end = at, .n = next - chord_rt_packed(r) * CHORD_TRACE_SLOTS, .next = next,
	};
	bool empty = !*newest && !chord_rt_is_emptied(r->at, r->collected, next - 1);
	bool last = !beyond && next > r->first * CHORD_TRACE_SLOTS && empty;
	bool first = chord_rt_is_pending(&now, p);

	for (const struct chord_rt_old_ring *old = r->old; old && !first; old = old->before)
		first = chord_rt_is_pending(old, p);
	if (first && last && chord_rt_between(p + 4, at, r->size))
		return NULL;
	return first ? (volatile uint32_t *)p : last ? newest : NULL;
}
