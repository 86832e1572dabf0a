/* SPDX-License-Identifier: MIT */
/* Traces as a measure: the modules that write them, and what is to be done as threads, processes and activations begin and end. The
 * code that writes is in measure_trace_write.c. */

/* ---- modules ---- */

/* Reads a number of bytes such as 64M. Gives whole segments, at least as many as a ring needs; 0: it is not such a number. */
static uint64_t
chord_rt_read_size(const char *s)
{
	const uint64_t most = 1ull << CHORD_RT_LAST_MOST;
	uint32_t unit = 0;
	uint64_t n = 0;

	for (; *s >= '0' && *s <= '9' && n < most; s++)
		n = n * 10 + (uint64_t)(*s - '0');
	if (*s == 'K' || *s == 'M' || *s == 'G')
		unit = *s == 'K' ? 10 : *s == 'M' ? 20 : 30, s++;
	if (*s || !n || n > most >> unit)
		return 0;
	n <<= unit;
	n = (n + CHORD_TRACE_SEGMENT - 1) & -(uint64_t)CHORD_TRACE_SEGMENT;
	return n < CHORD_RT_RING ? CHORD_RT_RING : n;
}

/* Reads CHORD_TRACE. */
static void
chord_rt_take_wishes(const struct chord_rt_ctl *ctl, struct chord_rt_trace *t)
{
	const char *s = ctl->secure ? NULL : chord_rt_getenv(chord_rt_environment(), CHORD_TRACE_VARIABLE);
	const size_t n = sizeof CHORD_TRACE_COLLECT - 1, last = sizeof CHORD_TRACE_KEEP_LAST - 1, size = s ? chord_rt_length(s) : 0;

	if (size > n && size - n < sizeof t->collector && chord_rt_equal(s, CHORD_TRACE_COLLECT, n))
		chord_rt_copy(t->collector, s + n, size - n + 1);
	else if (size > last && chord_rt_equal(s, CHORD_TRACE_KEEP_LAST, last))
		t->last = chord_rt_read_size(s + last);
	t->senseless = size && !*t->collector && !t->last;
}

/* The process's first module that writes a trace. */
static void
chord_rt_trace_first(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	struct chord_rt_trace *t = (struct chord_rt_trace *)chord_rt_take_room(ctl, sizeof *t);
	uint64_t room;

	if (!t)
		return;
	room = chord_rt_pages(5 * CHORD_TRACE_SEGMENT);
	t->home = room ? chord_rt_page_at_bases(ctl, m) : 0;
	if (!t->home)
		return;
	t->scratch = (room + CHORD_TRACE_SEGMENT - 1) & -(uint64_t)CHORD_TRACE_SEGMENT;
	t->fd = -1;
	t->pid = ctl->pid;
	room = (uint64_t)chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED | CHORD_RT_MAP_ANON,
	    -1, 0);
	t->stamp = chord_rt_failed((long)room) ? NULL : (uint64_t *)room;
	chord_rt_take_wishes(ctl, t);
	chord_rt_to_ask(t);
	ctl->trace = t;
}

/* Do the tokens of two modules look the same? */
static bool
chord_rt_same_tokens(const struct chord_rt_mod *a, const struct chord_rt_mod *b)
{
	return (uint32_t)(a->first - b->first) < b->size || (uint32_t)(b->first - a->first) < a->size;
}

/* Puts a module into the list. Its tokens may be the same as those of another module. If that one is closed, the mark tells them
 * apart in this thread's stream, but not in those of other threads. */
static void
chord_rt_trace_list(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	const struct chord_rt_mod *other;
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		other = chord_rt_module(ctl, i);
		if (i != m->index && other->paths & CHORD_RT_TRACED && chord_rt_same_tokens(m, other))
			unknown |= other->life == CHORD_LIFE_LOADED || ctl->nregion > 1;
	}
	if (unknown)
		__atomic_fetch_or(&ctl->trace->head->flags, CHORD_TRACE_UNKNOWN, __ATOMIC_RELAXED);
	chord_rt_trace_add_module(ctl, m);
	chord_rt_trace_mark(ctl, CHORD_MARK_MODULES, ctl->trace->listed);
}

static bool
chord_rt_is_of_ring(const struct chord_rt_ring *r, uint64_t addr)
{
	const struct chord_rt_old_ring *old = r->old;

	while (old && !chord_rt_in_ring(old->at - CHORD_RT_PAGE, old->size, addr))
		old = old->before;
	return old || chord_rt_in_ring(r->at, r->size, addr) || (r->head && addr - (uint64_t)r->head < CHORD_RT_PAGE) ||
	    (r->packs && addr - (uint64_t)r->packs < CHORD_TRACE_PACKED);
}

/* Is that address in memory that the trace has mapped? */
static bool
chord_rt_is_of_trace(const struct chord_rt_ctl *ctl, uint64_t addr)
{
	const struct chord_rt_trace *t = ctl->trace;

	if ((t->head && addr - (uint64_t)t->head < CHORD_RT_PAGE) || (t->list && addr - (uint64_t)t->list < 2 * CHORD_RT_PAGE) ||
	    chord_rt_is_of_ring(&t->nobody, addr))
		return true;
	for (uint32_t i = 0; i < ctl->nregion && t->ring.at[CHORD_CHUNK_OF(i)]; i++)
		if (chord_rt_is_of_ring(chord_rt_ring(ctl, i), addr))
			return true;
	return false;
}

/* ---- as a measure ---- */

static void
chord_rt_trace_found(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	if (chord_rt_tracing(d))
		m->paths |= CHORD_RT_TRACED;
}

static void
chord_rt_trace_new(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	(void)ctl, (void)m, (void)d;
}

static void
chord_rt_trace_extents(struct chord_rt_ctl *ctl, uint32_t module)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, module);
	struct chord_rt_trace *t = ctl->trace;

	if (!t || !(m->paths & CHORD_RT_TRACED) || m->life != CHORD_LIFE_LOADED)
		return;
	if (!t->head && !t->stopped)
		chord_rt_trace_create(ctl);
	if (!t->stopped)
		chord_rt_trace_list(ctl, m);
}

/* The dynamic linker has not relocated that word yet. Makes it put this value there when it does. */
static void
chord_rt_relocate_to(const struct chord_rt_mod *m, uint64_t *word, uint64_t value)
{
	uint64_t prot = CHORD_RT_PROT_READ;
	struct chord_rt_dynamic d;
	const Elf64_Rela *r;

	chord_rt_clear(&d, sizeof d);
	if (m->dynamic)
		chord_rt_dynamic_entries((const Elf64_Dyn *)m->dynamic, m->bias, &d);
	value -= m->bias;
	for (r = d.rela; r && r < d.rela + d.nrela; r++)
		if (r->r_offset == (uint64_t)word - m->bias && ELF64_R_TYPE(r->r_info) == CHORD_RT_RELATIVE) {
			prot |= (uint64_t)r - m->text < m->text_end - m->text ? 4 : 0;
			chord_rt_write_over((uint64_t)&r->r_addend, &value, 8, prot);
			return;
		}
	if (d.nrelr)
		*(volatile uint64_t *)word = value;
}

/* Code of a module that is opened late may run before its constructor, in threads that have bases. It has to find the cursor. */
static void
chord_rt_trace_lead(const struct chord_rt_mod *m, struct chord_rt_traced *d, uint64_t home)
{
	bool relocated = d->home == (uint64_t)&d->cell;

	*(volatile uint64_t *)&d->home = home;
	if (!relocated)
		chord_rt_relocate_to(m, &d->home, home);
}

/* A module that is opened again may be at another address, or at one where another module was meanwhile. */
static void
chord_rt_trace_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	if (!(m->paths & CHORD_RT_TRACED))
		return;
	if (!ctl->trace)
		chord_rt_trace_first(ctl, m);
	ctl->untraced |= !ctl->trace;
	if (!ctl->trace)
		return;
	chord_rt_trace_lead(m, chord_rt_tracing(m->desc), ctl->trace->home);
	if (m->index < ctl->nmodule && ctl->trace->head && !ctl->trace->stopped)
		chord_rt_trace_list(ctl, m);
}

static void
chord_rt_trace_closed(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	(void)ctl, (void)m;
}

static void
chord_rt_trace_region(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint32_t region)
{
	struct chord_rt_trace *t = ctl->trace;
	uint64_t *cursor = t && region != CHORD_RT_NO_REGION ? chord_rt_cursor(t, chord_rt_region(ctl, region)->base) : NULL;

	if (!cursor || ctl->nogs || !(m->paths & CHORD_RT_TRACED) || *cursor)
		return;
	chord_rt_to_scratch(t, cursor);
	if (!t->head && !t->stopped)
		chord_rt_trace_create(ctl);
	if (!chord_rt_grow(ctl, t->ring.at, sizeof(struct chord_rt_ring), region)) {
		chord_rt_trace_stop(ctl, -ENOMEM);
		return;
	}
	chord_rt_ring(ctl, region)->number = region;
	chord_rt_begin_ring(ctl, chord_rt_ring(ctl, region), cursor);
}

/* Begins the ring of the thread in a forked child. */
static void
chord_rt_trace_begin(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *mine = ctl->trace ? chord_rt_region_mine(ctl) : NULL;
	struct chord_rt_ring *r = mine ? chord_rt_ring(ctl, mine->index) : NULL;

	if (!r || !r->at || r->head)
		return;
	chord_rt_begin_ring(ctl, r, chord_rt_cursor(ctl->trace, mine->base));
	chord_rt_trace_mark(ctl, CHORD_MARK_CHILD, ctl->pid);
	chord_rt_trace_mark(ctl, CHORD_MARK_MODULES, ctl->trace->listed);
	if (chord_rt_forker(ctl)->level)
		chord_rt_trace_event(ctl, CHORD_EVENT_FORKED, CHORD_FORKED(ctl->trace->parent, ctl->trace->forks));
}

/* The dynamic linker may have set `home`, the first word, once more. So it is set again. */
static void
chord_rt_trace_constructed(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_mod *m;
	struct chord_rt_traced *d;

	for (uint32_t i = 0; ctl->trace && i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		d = m->paths & CHORD_RT_TRACED && m->life == CHORD_LIFE_LOADED && !m->left ? chord_rt_tracing(m->desc) : NULL;
		if (!d)
			continue;
		d->home = ctl->trace->home;
		chord_rt_trace_drain(ctl, d);
	}
}

/* Some thread has no region of its own. */
static void
chord_rt_trace_shared(const struct chord_rt_ctl *ctl)
{
	if (ctl->trace && ctl->trace->head && !ctl->trace->stopped)
		__atomic_fetch_or(&ctl->trace->head->flags, CHORD_TRACE_SHARED, __ATOMIC_RELAXED);
}

static void
chord_rt_trace_thread(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	struct chord_rt_ring *ring = ctl->trace && !ctl->nogs ? chord_rt_ring(ctl, r->index) : NULL;
	uint64_t *cursor;

	if (!ring || !ring->at || ctl->trace->stopped)
		return;
	ring->gone = 0;
	cursor = chord_rt_cursor(ctl->trace, r->base);
	chord_rt_put_slot(ctl, ring, cursor, CHORD_SLOT_MARK(CHORD_MARK_THREAD, ctl->head->threads));
	chord_rt_put_slot(ctl, ring, cursor, CHORD_SLOT_MARK(CHORD_MARK_MODULES, ctl->trace->listed));
}

/* A thread is forking. Finds the slots in its ring that interrupted contexts have reserved and not written. These contexts may go
 * on in the child, too. */
static void
chord_rt_find_pending(struct chord_rt_trace *t, const struct chord_rt_ring *r, const uint64_t *cursor)
{
	uint64_t next = r->at && r->head && !t->stopped ? chord_rt_next_slot(r, cursor) : 0;

	t->npending = 0;
	for (const struct chord_rt_old_ring *old = next ? r->old : NULL; old && !t->late; old = old->before)
		for (uint64_t i = 1; i <= old->n && !t->late; i++)
			t->late = !*(volatile uint32_t *)(old->at + (old->end - old->at + old->size - 4 * i) % old->size) &&
			    !chord_rt_is_emptied(old->at, old->collected, old->next - i);
	for (uint64_t n = next ? chord_rt_packed(r) * CHORD_TRACE_SLOTS : 0; n < next; n++) {
		if (*chord_rt_slot_at(r, n) || chord_rt_is_emptied(r->at, r->collected, n))
			continue;
		t->late |= t->npending == CHORD_RT_PENDING;
		if (t->npending < CHORD_RT_PENDING)
			t->pending[t->npending++] = (uint64_t)chord_rt_slot_at(r, n);
	}
}

/* tid: the thread that forks, or has forked. */
static void
chord_rt_note_pending(struct chord_rt_ctl *ctl, const struct chord_rt_region *mine, uint32_t tid)
{
	struct chord_rt_trace *t = ctl->trace;

	if (t->noted && t->noted == tid)
		return;
	t->noted = tid;
	t->late = t->npending = 0;
	if (mine && t->ring.at[CHORD_CHUNK_OF(mine->index)])
		chord_rt_find_pending(t, chord_rt_ring(ctl, mine->index), chord_rt_cursor(t, mine->base));
	if (mine || !t->nobody.at)
		return;
	chord_rt_find_pending(t, &t->nobody, chord_rt_cursor(t, 0));
	t->late |= t->npending != 0;
	t->npending = 0;
}

/* A forked child drops a ring. The thread that keeps its ring also keeps the old ones, as plain memory, because contexts that were
 * interrupted may go on there. The rings of other threads are unmapped. */
static void
chord_rt_drop_ring(struct chord_rt_ring *r, bool keep)
{
	chord_rt_leave_packs(r);
	for (struct chord_rt_old_ring *old = r->old; old; old = old->before)
		if (keep)
			chord_rt_ring_to_memory(old->at, old->size);
		else
			chord_rt_unmap_ring(old->at, old->size);
	if (!keep) {
		chord_rt_unmap_ring(r->at, r->size);
		if (r->packer)
			chord_rt_call(SYS_munmap, r->packer, chord_rt_page_up(sizeof *r->packer));
		chord_rt_clear(r, sizeof *r);
	}
	r->old = NULL;
	r->head = NULL;
	r->rings = r->busy = r->torn = 0;
}

/* That thread is about to fork. False: no trace is written. Otherwise signals stay blocked, because the child must write nothing
 * until it has a trace of its own. Under the lock. */
static bool
chord_rt_trace_forks(struct chord_rt_ctl *ctl, uint32_t tid)
{
	if (!ctl->trace)
		return false;
	chord_rt_trace_note(ctl, CHORD_EVENT_FORKS, ++ctl->trace->forks);
	chord_rt_note_pending(ctl, chord_rt_region_mine(ctl), tid); /* now, because the parent may go on before the child looks */
	return true;
}

/* Runs after fork, in the parent and in the child. */
static void
chord_rt_trace_forked(struct chord_rt_ctl *ctl, uint32_t tid)
{
	if (ctl->trace && ctl->trace->noted == tid)
		ctl->trace->noted = ctl->trace->npending = 0;
}

/* Drops the parent's trace in a forked child. The child's thread keeps its ring's addresses, because the cursor points there. */
static void
chord_rt_trace_drop(struct chord_rt_ctl *ctl, uint32_t number)
{
	struct chord_rt_trace *t = ctl->trace;

	if (!t)
		return;
	chord_rt_note_pending(ctl, number ? chord_rt_region(ctl, number - 1) : NULL,
	    chord_rt_forker(ctl)->level ? chord_rt_forker(ctl)->tid : 0);
	for (uint32_t i = 0; i < ctl->nregion && t->ring.at[CHORD_CHUNK_OF(i)]; i++)
		chord_rt_drop_ring(chord_rt_ring(ctl, i), i + 1 == number);
	if (number > 1 && t->ring.at[CHORD_CHUNK_OF(number - 1)]) {
		*chord_rt_ring(ctl, 0) = *chord_rt_ring(ctl, number - 1);
		chord_rt_clear(chord_rt_ring(ctl, number - 1), sizeof(struct chord_rt_ring));
	}
	if (t->ring.at[0])
		chord_rt_ring(ctl, 0)->number = 0;
	chord_rt_drop_ring(&t->nobody, !number);
	if (t->nobody.at)
		chord_rt_ring_to_memory(t->nobody.at, t->nobody.size);
	chord_rt_clear(&t->nobody, sizeof t->nobody);
	chord_rt_to_ask(t);
	chord_rt_forget_joinables(t);
	if (t->head)
		chord_rt_call(SYS_munmap, t->head, CHORD_RT_PAGE);
	if (t->list)
		chord_rt_call(SYS_munmap, t->list, 2 * CHORD_RT_PAGE);
	if (t->fd >= 0 && chord_rt_is_trace(t, t->fd))
		chord_rt_call(SYS_close, t->fd);
	t->fd = -1;
	t->head = NULL;
	t->list = NULL;
	t->listed = t->stopped = t->noted = t->memory = t->begun = 0;
	t->parent = t->pid;
	t->pid = ctl->pid;
}

static void
chord_rt_trace_fork(const struct chord_rt_mod *m)
{
	(void)m;
}

static CHORD_RT_HOT void
chord_rt_trace_leave(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa)
{
	(void)ctl, (void)count, (void)delta, (void)cfa;
}

static bool
chord_rt_trace_waits(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, const struct chord_rt_region *r, uint64_t cfa,
    struct chord_waiting *to)
{
	(void)m, (void)r, (void)cfa, (void)to;
	return !ctl->trace || !ctl->nogs;
}

/* How far the streams of all threads except that one are, as a sum for CHORD_EXTENT_WAITING. */
static uint64_t
chord_rt_trace_sum(const struct chord_rt_ctl *ctl, const struct chord_rt_region *mine)
{
	const struct chord_rt_trace *t = ctl->trace;
	const struct chord_rt_ring *ring;
	const struct chord_rt_region *r;
	uint64_t sum = 0;

	for (uint32_t i = 0; t && i < ctl->nregion && t->ring.at[CHORD_CHUNK_OF(i)]; i++) {
		r = chord_rt_region(ctl, i);
		ring = chord_rt_ring(ctl, i);
		if (r != mine && ring->at)
			sum += CHORD_WEIGHT(chord_rt_next_slot(ring, chord_rt_cursor(t, r->base)), 8ull * i);
	}
	return sum;
}

static bool
chord_rt_trace_leaves(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return false;
}

static bool
chord_rt_trace_maps(const struct chord_rt_ctl *ctl)
{
	return ctl->trace != NULL;
}

/* Stops the trace: no more room could be had later, and system calls may not be permitted. */
static void
chord_rt_trace_confined(struct chord_rt_ctl *ctl, bool now)
{
	if (ctl->trace && now)
		chord_rt_trace_stop(ctl, -EPERM);
}

static bool
chord_rt_trace_amid(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return true;
}

/* Each process has a trace of its own. */
static bool
chord_rt_trace_goes_on(const struct chord_rt_ctl *ctl)
{
	return !ctl->trace;
}
