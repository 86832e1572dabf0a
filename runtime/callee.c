/* SPDX-License-Identifier: MIT */
/* Who is called through pointers. Woven code keeps for each call and thread the slot of who was called last there, and
 * counts in it if that is who is called now; else it comes here.
 *
 * A slot is claimed by its raw word, which has the mark until all of it is there. A signal's handler that finds a slot
 * half made takes another: readers add up. Slots are of one region, whose thread adds to them without a lock, as to its
 * counters. */

#define CHORD_RT_MARK (1ull << 63)

static CHORD_RT_HOT uint64_t
chord_rt_callee_slots(uint32_t k)
{
	return (((uint64_t)CHORD_PAGE << 2 * k) - sizeof(struct chord_extent_head)) / sizeof(struct chord_callee);
}

static struct chord_callee *
chord_rt_callee_first(const struct chord_rt_callees *t, uint32_t k)
{
	return (struct chord_callee *)(t->map[k] + 1);
}

/* The slots of a module's code say nothing any more until they are looked at again: other code may come to its place. */
static void
chord_rt_forget_callees(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	for (uint32_t r = 0; r <= ctl->nregion; r++)
		for (uint32_t k = 0; k < ctl->callees[r].n; k++) {
			struct chord_callee *s = chord_rt_callee_first(&ctl->callees[r], k), *end = s + chord_rt_callee_slots(k);

			for (; s < end; s++)
				if (s->raw >= m->text && s->raw < m->text_end)
					__atomic_fetch_or(&s->raw, CHORD_RT_MARK, __ATOMIC_RELAXED);
		}
}

static uint64_t
chord_rt_callee_key(struct chord_rt_ctl *ctl, uint64_t raw)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, raw);

	if (!m || (m->left && !m->main))
		return 0;
	return ((raw - m->bias) & 0xffffffffffffull) | (uint64_t)(m - ctl->module + 1) << 48;
}

static CHORD_RT_HOT uint64_t
chord_rt_callee_start(uint64_t site, uint64_t raw, uint32_t k)
{
	uint64_t h = (raw ^ site << 13) * 0x9e3779b97f4a7c15ull;

	return (uint64_t)((unsigned __int128)h * chord_rt_callee_slots(k) >> 64);
}

/* The slot in extent k that has this raw word, or the free one where it would be; NULL: there is neither. */
static CHORD_RT_HOT struct chord_callee *
chord_rt_callee_slot(const struct chord_rt_callees *t, uint32_t k, uint64_t site, uint64_t raw, uint64_t key)
{
	uint64_t n = chord_rt_callee_slots(k), i = chord_rt_callee_start(site, raw, k), now;
	struct chord_callee *s = chord_rt_callee_first(t, k);

	for (uint64_t tries = 0; tries < n; tries++, i = i + 1 < n ? i + 1 : 0) {
		now = __atomic_load_n(&s[i].raw, __ATOMIC_ACQUIRE);
		if (now == 0 || (now == raw && s[i].site == site && (!(raw & CHORD_RT_MARK) || s[i].callee == key)))
			return s + i;
	}
	return NULL;
}

static CHORD_RT_HOT struct chord_callee *
chord_rt_callee_find(const struct chord_rt_callees *t, uint64_t site, uint64_t raw, uint64_t key)
{
	struct chord_callee *s;

	for (uint32_t k = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE); k-- > 0;) {
		s = chord_rt_callee_slot(t, k, site, raw, key);
		if (s && s->raw)
			return s;
	}
	return NULL;
}

/* Room for size bytes that the reader will find; if that cannot be had, for as many that nobody will. */
static long
chord_rt_callee_room(struct chord_rt_ctl *ctl, uint32_t k, uint32_t region)
{
	struct chord_extent_head h = {
		.type = CHORD_EXTENT_CALLEES, .size = (uint64_t)CHORD_PAGE << 2 * k, .a = chord_rt_callee_slots(k), .b = region,
	};
	uint64_t at = chord_rt_extent(ctl, &h, sizeof h, h.size);
	long p = -1;

	if (at)
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, chord_rt_fd(ctl), at);
	if (at && !chord_rt_failed(p))
		chord_rt_publish(ctl, at + h.size);
	else
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	return p;
}

/* One more extent, if there are as many as were seen. */
static bool
chord_rt_more_callees(struct chord_rt_ctl *ctl, struct chord_rt_callees *t, uint32_t seen)
{
	bool ok = true;
	uint64_t old;
	long p;

	/* In a signal handler over this thread's own hold of the lock, or in a child of vfork. */
	if (seen == CHORD_RT_CALLEES || chord_rt_other_process(ctl) ||
	    __atomic_load_n(&ctl->owner, __ATOMIC_RELAXED) == (int32_t)chord_rt_call(SYS_gettid))
		return false;
	old = chord_rt_lock(ctl);
	if (t->n == seen) {
		p = chord_rt_callee_room(ctl, seen, (uint32_t)(t - ctl->callees));
		ok = !chord_rt_failed(p);
		t->map[seen] = (struct chord_extent_head *)p;
		t->used = 0;
		__atomic_store_n(&t->n, seen + ok, __ATOMIC_RELEASE);
	}
	chord_rt_unlock(ctl, old);
	return ok;
}

static struct chord_callee *
chord_rt_callee_make(struct chord_rt_ctl *ctl, struct chord_rt_callees *t, uint64_t site, uint64_t raw, uint64_t key)
{
	struct chord_callee *s;
	uint64_t none;
	uint32_t n;

	for (;;) {
		n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);
		if (!n || t->used * 4 > chord_rt_callee_slots(n - 1) * 3) {
			if (!chord_rt_more_callees(ctl, t, n))
				return NULL;
			continue;
		}
		none = 0;
		s = chord_rt_callee_slot(t, n - 1, site, raw, key);
		if (!s || !__atomic_compare_exchange_n(&s->raw, &none, raw | CHORD_RT_MARK, false, __ATOMIC_RELAXED,
		    __ATOMIC_RELAXED)) {
			if (s && s->raw == raw && s->site == site)
				return s;
			continue;
		}
		__atomic_fetch_add(&t->used, 1, __ATOMIC_RELAXED);
		s->callee = key;
		__atomic_store_n(&s->site, site, __ATOMIC_RELEASE);
		__atomic_store_n(&s->raw, raw, __ATOMIC_RELEASE);
		return s;
	}
}

/* The table of the calling thread. */
static struct chord_rt_callees *
chord_rt_callees_mine(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r;
	uint64_t mine;

	__asm__ volatile("movq %%gs:chord_rt_mine(%%rip), %0" : "=r"(mine));
	if (!mine && (r = chord_rt_region_mine(ctl))) {
		mine = r->index + 1;
		__asm__ volatile("movq %0, %%gs:chord_rt_mine(%%rip)" : : "r"(mine) : "memory");
	}
	return &ctl->callees[mine];
}

static CHORD_RT_HOT void
chord_rt_count_callee(struct chord_rt_ctl *ctl, struct chord_rt_callees *t, uint64_t place, uint64_t raw)
{
	uint64_t at = (place - ctl->module[chord_rt_desc.index].bias) & 0xffffffffffffull;
	uint64_t site = at | (chord_rt_desc.index + 1) << 48, key;
	struct chord_callee *s = chord_rt_callee_find(t, site, raw, 0);

	if (!s) {
		key = chord_rt_callee_key(ctl, raw);
		s = chord_rt_callee_find(t, site, raw | CHORD_RT_MARK, key);
		if (s)
			__atomic_fetch_and(&s->raw, ~CHORD_RT_MARK, __ATOMIC_RELAXED);
		else
			s = chord_rt_callee_make(ctl, t, site, raw, key);
	}
	if (!s)
		return;
	if (t == ctl->callees) {
		__atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);
		return;
	}
	__asm__ volatile("incq %0" : "+m"(s->count));
	*(struct chord_callee *volatile *)(place + ctl->region[t - ctl->callees - 1].base) = s;
}

/* Woven code is about to call what is at raw. place: for base 0, of the number in which it looks for the slot. */
static __attribute__((used)) void
chord_rt_through(uint64_t place, uint64_t raw)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (ctl && ctl->magic && raw < CHORD_RT_TOP)
		chord_rt_count_callee(ctl, chord_rt_callees_mine(ctl), place, raw);
}

/* ---- fork ---- */

/* The same slots in the child's own file, uncounted, at the same addresses: woven code that a signal's handler forked
 * over goes on with one of them. */
static void
chord_rt_renew_extent(struct chord_rt_ctl *ctl, const struct chord_rt_callees *t, uint32_t k, uint32_t region)
{
	volatile struct chord_callee *from = chord_rt_callee_first(t, k);
	uint64_t size = (uint64_t)CHORD_PAGE << 2 * k, raw;
	long p = chord_rt_callee_room(ctl, k, region);
	struct chord_callee *to = (struct chord_callee *)((struct chord_extent_head *)p + 1);

	if (!chord_rt_failed(p)) {
		for (uint64_t i = 0; i < chord_rt_callee_slots(k); i++) {
			raw = from[i].raw;
			to[i].raw = raw;
			to[i].site = raw ? from[i].site : 0;
			to[i].callee = raw ? from[i].callee : 0;
		}
		p = chord_rt_call(SYS_mremap, p, size, size, 1 | 2, t->map[k]);
	}
	if (chord_rt_failed(p))
		chord_rt_call(SYS_mmap, t->map[k], size, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED, -1, 0);
}

/* In a forked child, whose only thread had table `mine`: 0 if none. It is region 0 from now on. */
static void
chord_rt_renew_callees(struct chord_rt_ctl *ctl, uint32_t mine)
{
	struct chord_rt_callees *own = &ctl->callees[1];

	if (mine > 1) {
		chord_rt_copy(own, &ctl->callees[mine], sizeof *own);
		ctl->callees[mine].n = 0;
	}
	for (uint32_t r = 0; r < 2; r++)
		for (uint32_t k = 0; k < ctl->callees[r].n; k++)
			chord_rt_renew_extent(ctl, &ctl->callees[r], k, r);
}

/* Before: those of other threads are no longer wanted. */
static void
chord_rt_drop_callees(struct chord_rt_ctl *ctl, uint32_t nregion, uint32_t mine)
{
	for (uint32_t r = 1; r <= nregion; r++) {
		for (uint32_t k = 0; k < ctl->callees[r].n && r != mine; k++)
			chord_rt_call(SYS_munmap, ctl->callees[r].map[k], (uint64_t)CHORD_PAGE << 2 * k);
		if (r != mine)
			ctl->callees[r].n = 0;
	}
}
