/* SPDX-License-Identifier: MIT */
/* Traces: which paths ended, in order. Each thread writes to a ring of its own (trace_ring.c) by a cursor in its region. The
 * cursors are on a page of the runtime's own, which is mapped at every base as pages of guests are (guest.c), because any module
 * can be closed. Threads without a base share a ring. Before the runtime is up, code writes to a small room in its module. */

/* The entry about the trace in a module's list of tables; NULL: the module writes none. */
static struct chord_rt_traced *
chord_rt_tracing(const struct chord_rt_desc *d)
{
	const struct chord_path_table *p = (const struct chord_path_table *)CHORD_RT_NEAR(d->path);
	const struct chord_path_table *end = (const struct chord_path_table *)CHORD_RT_NEAR(d->path_end);

	for (; p < end; p++)
		if (!p->distance && p->bits > 2)
			return (struct chord_rt_traced *)((uint64_t)&p->bits + (uint64_t)(int64_t)(int32_t)p->bits);
	return NULL;
}

static struct chord_rt_ring *
chord_rt_ring(const struct chord_rt_ctl *ctl, uint32_t region)
{
	return chord_rt_item(ctl->trace->ring.at, sizeof(struct chord_rt_ring), region);
}

/* ---- tokens ---- */

/* Writes a token before the runtime is up. Where a segment ends, the room is used from its beginning again, and what was there is
 * lost. */
static void
chord_rt_trace_early(uint32_t token, uint64_t p)
{
	struct chord_rt_traced *d = chord_rt_tracing(&chord_rt_desc);
	uint64_t used = p + 4 - d->early;

	while (*(volatile uint32_t *)p && p < *(volatile uint64_t *)&d->cell - 4)
		p += 4;
	*(volatile uint32_t *)p = token;
	if ((d->early + used) % CHORD_TRACE_SEGMENT || used < CHORD_RT_PAGE || used > CHORD_TRACE_SEGMENT + CHORD_RT_PAGE)
		return;
	d->lost += (*(volatile uint64_t *)&d->cell - d->early) / 4;
	*(volatile uint64_t *)&d->cell = d->early;
}

/* In a forked child: how many bytes its stream has up to the cursor, if the ring's slots that are reserved are to be part of it. */
static uint64_t
chord_rt_used_of(const struct chord_rt_trace *t, const struct chord_rt_ring *r, uint64_t cursor)
{
	uint64_t used = (cursor - r->at) % r->size;

	for (uint32_t i = 0; i < t->npending; i++)
		if (t->pending[i] - r->at >= used)
			return used + r->size;
	return used;
}

/* How many bytes of the stream come before the first of these slots. */
static uint64_t
chord_rt_first_pending(const struct chord_rt_trace *t, const struct chord_rt_ring *r, uint64_t used)
{
	uint64_t first = used, at;

	for (uint32_t i = 0; i < t->npending; i++) {
		at = used - chord_rt_between(t->pending[i], r->at + used, r->size);
		first = at < first ? at : first;
	}
	return first;
}

/* A file could be made, but not one with a ring, so the trace goes on in memory. A forked child's ring may still be its parent's,
 * so no mark is written. False: it cannot go on. */
static bool
chord_rt_trace_leaves_file(struct chord_rt_ctl *ctl, long e)
{
	struct chord_rt_trace *t = ctl->trace;
	const struct chord_rt_mod *m;
	uint32_t flags;

	if (t->stopped || t->memory || t->begun || !t->head)
		return false;
	flags = t->head->flags & CHORD_TRACE_UNKNOWN;
	chord_rt_trace_stop(ctl, e);
	chord_rt_call(SYS_munmap, t->head, CHORD_RT_PAGE);
	if (t->list)
		chord_rt_call(SYS_munmap, t->list, 2 * CHORD_RT_PAGE);
	t->head = NULL;
	t->list = NULL;
	t->listed = 0;
	chord_rt_trace_without_file(ctl);
	for (uint32_t i = 0; i < ctl->nmodule && !t->stopped; i++) {
		m = chord_rt_module(ctl, i);
		if (m->paths & CHORD_RT_TRACED && m->life == CHORD_LIFE_LOADED)
			chord_rt_trace_add_module(ctl, m);
	}
	if (t->head)
		t->head->flags |= flags;
	return !t->stopped;
}

static long
chord_rt_first_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, bool forked)
{
	if (ctl->trace->stopped)
		return -EACCES;
	r->change.old = NULL;
	return forked ? chord_rt_add_ring(ctl, r, r->at, r->size, 0) : chord_rt_new_ring(ctl, r, 0);
}

/* Begins a ring; in a forked child at the ring's old addresses. */
static void
chord_rt_begin_ring(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor)
{
	struct chord_rt_trace *t = ctl->trace;
	uint64_t at = r->at, used = at ? chord_rt_used_of(t, r, *cursor) : 0, n;
	bool forked = at != 0;
	long e = chord_rt_first_ring(ctl, r, forked);

	if (chord_rt_failed(e) && chord_rt_trace_leaves_file(ctl, e))
		e = chord_rt_first_ring(ctl, r, forked);
	if (chord_rt_failed(e)) {
		if (forked)
			chord_rt_ring_to_memory(at, r->size);
		chord_rt_trace_stop(ctl, e);
		chord_rt_to_scratch(t, cursor);
		return;
	}
	at = r->at;
	n = (forked ? chord_rt_first_pending(t, r, used) : 0) / CHORD_TRACE_SEGMENT;
	if (!chord_rt_back_first(ctl, r, n, used / CHORD_TRACE_SEGMENT)) {
		chord_rt_to_scratch(t, cursor);
		return;
	}
	r->kept = n;
	chord_rt_room_of(r->head)->done = r->packed = r->head->b = n;
	r->room = chord_rt_room_behind(r, n);
	for (n = r->packed * CHORD_TRACE_SLOTS; n < used / 4; n++)
		*chord_rt_slot_at(r, n) = CHORD_MARK_NONE;
	__atomic_store_n(&chord_rt_room_of(r->head)->filled, r->packed, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < t->npending && forked; i++)
		*(volatile uint32_t *)t->pending[i] = 0;
	r->seen = n;
	*(volatile uint64_t *)cursor = at + used % r->size;
	r->torn = 0;
}

/* The ring of threads that have no region. Under the lock. */
static struct chord_rt_ring *
chord_rt_ring_of_nobody(struct chord_rt_ctl *ctl, uint64_t *cursor)
{
	struct chord_rt_trace *t = ctl->trace;

	if (!t->nobody.at && t->head) {
		__atomic_fetch_or(&t->head->flags, CHORD_TRACE_SHARED, __ATOMIC_RELAXED);
		t->nobody.number = ~0u;
		chord_rt_begin_ring(ctl, &t->nobody, cursor);
	}
	return t->nobody.at ? &t->nobody : NULL;
}

/* Writes a token whose slot woven code has reserved after it had read p from the cursor. */
static void
chord_rt_trace_token(struct chord_rt_ctl *ctl, struct chord_rt_ring *r, uint64_t *cursor, uint32_t token, uint64_t p)
{
	volatile uint32_t *slot = chord_rt_find_slot(r, cursor, p);

	if (!slot && chord_rt_beyond(r, cursor))
		chord_rt_settle_ring(ctl, r, cursor);
	if (slot)
		*slot = token;
	else
		chord_rt_put_slot(ctl, r, cursor, token);
	chord_rt_settle_ring(ctl, r, cursor);
}

static uint64_t
chord_rt_trace_slow(struct chord_rt_ctl *ctl, uint64_t token, uint64_t p)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	uint64_t *cursor = chord_rt_cursor(ctl->trace, mine ? mine->base : 0), old;
	struct chord_rt_ring *r;

	if (mine) {
		chord_rt_trace_token(ctl, chord_rt_ring(ctl, mine->index), cursor, (uint32_t)token, p);
		return 0;
	}
	old = chord_rt_lock(ctl);
	r = chord_rt_ring_of_nobody(ctl, cursor);
	if (r)
		chord_rt_trace_token(ctl, r, cursor, (uint32_t)token, p);
	else
		chord_rt_to_scratch(ctl->trace, cursor);
	chord_rt_unlock(ctl, old);
	return 0;
}

/* Was the only reason for the call that a segment ends? Then the token has been written. */
static bool
chord_rt_trace_ended(struct chord_rt_ctl *ctl, uint32_t token, uint64_t p)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	struct chord_rt_trace *t = ctl->trace;

	return mine && !t->last && !t->memory &&
	    chord_rt_end_segment(chord_rt_ring(ctl, mine->index), chord_rt_cursor(t, mine->base), token, p);
}

/* Woven code could not write the token by itself. p: the value of the cursor that it had read. When nothing is kept any more, there
 * is no system call, because the process may have forbidden itself to make any. */
static __attribute__((used)) void
chord_rt_trace(uint64_t token, uint64_t p)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_trace *t = ctl && ctl->magic ? ctl->trace : NULL;
	uint64_t base = t && !ctl->nogs ? chord_rt_get_base(ctl) : 0;

	if (!t)
		chord_rt_trace_early((uint32_t)token, p);
	else if (t->stopped || (base && chord_rt_is_scratch(t, p)))
		chord_rt_to_scratch(t, chord_rt_cursor(t, base));
	else if (!chord_rt_trace_ended(ctl, (uint32_t)token, p))
		chord_rt_on_own_stack(ctl, chord_rt_trace_slow, token, p);
}

/* ---- marks ---- */

/* Writes a mark to the stream of the calling thread. With signals blocked. */
static void
chord_rt_trace_mark(struct chord_rt_ctl *ctl, uint32_t kind, uint64_t payload)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	struct chord_rt_ring *r = mine ? chord_rt_ring(ctl, mine->index) : NULL;

	if (r && r->at && !ctl->trace->stopped)
		chord_rt_put_slot(ctl, r, chord_rt_cursor(ctl->trace, mine->base), CHORD_SLOT_MARK(kind, payload));
}

static void
chord_rt_trace_event(struct chord_rt_ctl *ctl, uint32_t event, uint64_t value)
{
	chord_rt_trace_mark(ctl, CHORD_MARK_EVENT, (value & 0xffffff) << 5 | event);
	chord_rt_trace_mark(ctl, CHORD_MARK_MORE, value >> 24 & CHORD_MARK_MOST);
}

/* Writes an event to the stream of the calling thread, between two paths. */
static void
chord_rt_trace_note(struct chord_rt_ctl *ctl, uint32_t event, uint64_t value)
{
	uint64_t all = chord_rt_all_signals(ctl), old = 0;

	if (!ctl->trace || !ctl->trace->head || ctl->trace->stopped)
		return;
	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	chord_rt_trace_event(ctl, event, value);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}

/* The process ends. Threads that have ended already get a mark about that in their streams. */
static void
chord_rt_trace_gone(struct chord_rt_ctl *ctl)
{
	struct chord_rt_trace *t = ctl->trace;
	uint64_t old, *cursor;
	struct chord_rt_region *r;
	struct chord_rt_ring *ring;

	if (!t || !t->head || t->stopped || ctl->nogs)
		return;
	old = chord_rt_lock(ctl);
	for (uint32_t i = 0; i < ctl->nregion && t->ring.at[CHORD_CHUNK_OF(i)]; i++) {
		r = chord_rt_region(ctl, i);
		ring = chord_rt_ring(ctl, i);
		if (!ring->at || !ring->head || ring->gone || r == chord_rt_region_mine(ctl) || r->tid == -1 || t->stopped ||
		    !(chord_rt_region_free(ctl, r) || (r->tid > 0 && chord_rt_ends(r->tid))))
			continue;
		ring->gone = 1;
		cursor = chord_rt_cursor(t, r->base);
		chord_rt_put_slot(ctl, ring, cursor, CHORD_SLOT_MARK(CHORD_MARK_EVENT, CHORD_ENDS_GONE << 5 | CHORD_EVENT_ENDS));
		chord_rt_put_slot(ctl, ring, cursor, CHORD_SLOT_MARK(CHORD_MARK_MORE, 0));
	}
	chord_rt_unlock(ctl, old);
}

/* The process is about to end, as far as can be seen. */
static void
chord_rt_trace_ends(struct chord_rt_ctl *ctl, uint64_t how)
{
	chord_rt_trace_gone(ctl);
	chord_rt_trace_note(ctl, CHORD_EVENT_ENDS, how);
}

/* A thread is about to be created. r: its region. Its number is the last one given so far. Under the lock. */
static void
chord_rt_trace_creates(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	if (r)
		chord_rt_trace_note(ctl, CHORD_EVENT_CREATES, CHORD_CREATES(ctl->head->threads, r->index));
}

/* If woven code was interrupted in a routine of the module's runtime, the PC at which the code continues; else pc. This copy of the
 * runtime has a note for the handler itself; the frame of the handler's call keeps the note that was there before. */
static uint64_t
chord_rt_struck_in(const struct chord_rt_mod *m, const struct chord_rt_region *r, uint64_t pc, uint64_t sp)
{
	uint64_t came = r ? chord_rt_asking_sp(m->desc, pc, sp) : 0;
	const struct chord_rt_regs *asking = r ? *chord_rt_asking(m, r) : NULL;

	if (came && (pc < CHORD_RT_NEAR(m->desc->pointer) || pc > CHORD_RT_NEAR(m->desc->pointer_end)))
		return *(const uint64_t *)came;
	if (asking && m->desc == &chord_rt_desc)
		asking = *(const struct chord_rt_regs *const *)((const char *)asking + CHORD_RT_ASKING_BEFORE);
	return asking && (uint64_t)asking - sp < CHORD_RT_PAGE ? asking->r[CHORD_RT_PC] : pc;
}

/* Can 8 bytes be read there? The kernel looks at them before it looks at the other argument. */
static bool
chord_rt_can_read(uint64_t addr)
{
	return chord_rt_call(SYS_rt_sigprocmask, -1, addr, 0, 8) != -EFAULT;
}

/* Is pc in the code that a handler returns to? There may be nothing at all at that address. */
static bool
chord_rt_is_restorer(uint64_t pc)
{
	static const uint8_t code[] = CHORD_RT_RESTORES;

	for (uint64_t i = 0; i < sizeof code; i += CHORD_RT_RESTORES_FIRST)
		if (chord_rt_can_read(pc - i) && chord_rt_can_read(pc - i + 1) &&
		    chord_rt_equal((const void *)(pc - i), code, sizeof code))
			return true;
	return false;
}

/* Is pc in the module's copy of the runtime? */
static bool
chord_rt_is_in_runtime(const struct chord_rt_mod *m, uint64_t pc)
{
	return m->life == CHORD_LIFE_LOADED && (m->main || !m->left) && pc >= CHORD_RT_NEAR(m->desc->code) &&
	    pc < CHORD_RT_NEAR(m->desc->code_end);
}

static uint64_t
chord_rt_trace_struck(struct chord_rt_ctl *ctl, uint64_t pc, uint64_t sp)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);
	bool mine = false;

	if (m && chord_rt_is_in_runtime(m, pc)) {
		pc = chord_rt_struck_in(m, chord_rt_region_mine(ctl), pc, sp);
		mine = chord_rt_is_in_runtime(m, pc);
	}
	if (mine)
		pc = CHORD_STRUCK_OUTSIDE;
	else if (m)
		pc = m->index < CHORD_STRUCK_MODULES ? CHORD_STRUCK(m->index, pc - m->bias) : 0;
	else
		pc = chord_rt_is_restorer(pc) ? CHORD_STRUCK_RETURNING : CHORD_STRUCK_OUTSIDE;
	chord_rt_trace_event(ctl, CHORD_EVENT_STRUCK, pc);
	return 0;
}

/* A signal handler begins. context: words of struct ucontext. */
static __attribute__((used)) void
chord_rt_trace_signal(const uint64_t *context)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_trace *t = ctl && ctl->magic ? ctl->trace : NULL;

	if (t && t->head && !t->stopped)
		chord_rt_on_own_stack(ctl, chord_rt_trace_struck, context[CHORD_RT_STRUCK_PC], context[CHORD_RT_STRUCK_SP]);
}

/* The stamp's number is drawn after everything before it in this stream has been written, and before anything after it is. */
static uint64_t
chord_rt_put_stamp(struct chord_rt_ctl *ctl, uint64_t none, uint64_t nothing)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);

	(void)none, (void)nothing;
	if (mine && chord_rt_ring(ctl, mine->index)->at)
		chord_rt_trace_event(ctl, CHORD_EVENT_STAMP, __atomic_add_fetch(ctl->trace->stamp, 1, __ATOMIC_SEQ_CST));
	return 0;
}

/* Woven code wants a stamp. It is written with signals blocked: otherwise a handler's stamps would stand before one with a smaller
 * number. */
static __attribute__((used)) void
chord_rt_trace_stamp(void)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	const struct chord_rt_trace *t = ctl && ctl->magic ? ctl->trace : NULL;

	if (t && t->head && !t->stopped && t->stamp)
		chord_rt_on_own_stack(ctl, chord_rt_put_stamp, 0, 0);
}

/* Is that PC in a module that writes a trace? */
static bool
chord_rt_is_in_traced(struct chord_rt_ctl *ctl, uint64_t pc)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);

	return m && m->paths & CHORD_RT_TRACED;
}

static uint64_t
chord_rt_trace_settle(struct chord_rt_ctl *ctl, uint64_t none, uint64_t nothing)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);

	(void)none, (void)nothing;
	if (mine)
		chord_rt_settle_ring(ctl, chord_rt_ring(ctl, mine->index), chord_rt_cursor(ctl->trace, mine->base));
	return 0;
}

/* Writes a mark for a jump that ends n - 1 of these n activations and goes on in the last; 0: it is not known how many there are.
 * Signals need not be blocked: the slot is reserved in one instruction, as it is in woven code. If a handler strikes before the
 * slot is written, the handler's slots stand after it. */
static __attribute__((noinline)) void
chord_rt_trace_jump(struct chord_rt_ctl *ctl, uint32_t n)
{
	const struct chord_rt_region *mine = ctl->trace && !ctl->trace->stopped ? chord_rt_region_mine(ctl) : NULL;
	const struct chord_rt_ring *r = mine ? chord_rt_ring(ctl, mine->index) : NULL;

	if (r && r->at && chord_rt_reserve_and_put(chord_rt_cursor(ctl->trace, mine->base),
	    CHORD_SLOT_MARK(CHORD_MARK_JUMP, n ? n - 1 : CHORD_MARK_MOST)))
		chord_rt_on_own_stack(ctl, chord_rt_trace_settle, 0, 0);
}

static uint64_t
chord_rt_trace_settle_moved(struct chord_rt_ctl *ctl, uint64_t none, uint64_t nothing)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	struct chord_rt_ring *r = mine ? chord_rt_ring(ctl, mine->index) : NULL;
	uint64_t *cursor = r && r->at ? chord_rt_cursor(ctl->trace, mine->base) : NULL;

	(void)none, (void)nothing;
	if (cursor && (r->busy || (chord_rt_in_ring(r->at, r->size, *cursor) &&
	    chord_rt_next_slot(r, cursor) / CHORD_TRACE_SLOTS != r->seen / CHORD_TRACE_SLOTS)))
		chord_rt_settle_ring(ctl, r, cursor);
	return 0;
}

/* A child of vfork was killed, perhaps at the end of a segment, before it had the ring or while it had it. The segment after the
 * cursor's may not be free then, and several such children, each a segment further on, would lead the cursor out of the ring. So
 * the ring is settled. */
static void
chord_rt_trace_vfork_killed(struct chord_rt_ctl *ctl)
{
	if (ctl->trace && !ctl->trace->stopped && !ctl->nogs)
		chord_rt_on_own_stack(ctl, chord_rt_trace_settle_moved, 0, 0);
}

/* Writes the slots that the module has kept so far. */
static void
chord_rt_trace_drain(struct chord_rt_ctl *ctl, struct chord_rt_traced *d)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	struct chord_rt_ring *r = mine ? chord_rt_ring(ctl, mine->index) : NULL;

	if (d->lost && ctl->trace->head)
		__atomic_fetch_or(&ctl->trace->head->flags, CHORD_TRACE_LATE, __ATOMIC_RELAXED);
	for (uint64_t p = d->early; p < d->cell && r && r->at && !ctl->trace->stopped && !d->lost; p += 4)
		chord_rt_put_slot(ctl, r, chord_rt_cursor(ctl->trace, mine->base), *(uint32_t *)p);
	d->cell = d->early;
	d->lost = 0;
}
