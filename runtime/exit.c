/* SPDX-License-Identifier: MIT */
/* Exits: activations that end at a call, at the end of the process or a thread, when an exception passes, or at longjmp (jump.c).
 * Each is counted under its return address. */

/* ---- counting ---- */

static uint64_t *
chord_rt_slot(const struct chord_rt_slots *s, uint64_t key)
{
	uint64_t i = (key * 0x9e3779b97f4a7c15ull >> 20) % s->n;

	for (uint64_t k = 0; k < s->n; k++, i = i + 1 < s->n ? i + 1 : 0) {
		uint64_t *p = (uint64_t *)((struct chord_exit *)(s->map + 1) + i), now = __atomic_load_n(p, __ATOMIC_RELAXED);

		if (now == key || now == 0)
			return p;
	}
	return NULL;
}

/* The newest extent of a region's exits, + 1. */
static uint32_t *
chord_rt_last_slots(struct chord_rt_ctl *ctl, uint32_t region)
{
	return region ? &chord_rt_region(ctl, region - 1)->slots : &ctl->slots_last;
}

/* Adds an extent for a region's exits, four times as large as its last. */
static bool
chord_rt_more_slots(struct chord_rt_ctl *ctl, uint32_t region)
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_EXITS, .size = CHORD_RT_PAGE, .b = region}, old;
	uint32_t *last = chord_rt_last_slots(ctl, region);
	uint64_t at = chord_rt_kept(ctl, &h, &old), used = 0;
	long p = -1;

	if (!chord_rt_grow(ctl, ctl->slots.at, sizeof(struct chord_rt_slots), ctl->nslots))
		return false;
	if (*last)
		h.size = chord_rt_slots(ctl, *last - 1)->size * 4;
	if (at)
		h = old;
	h.a = (h.size - sizeof h) / sizeof(struct chord_exit);
	at = at ? at : chord_rt_extent(ctl, &h, sizeof h, h.size);
	if (at)
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, chord_rt_fd(ctl), at);
	else if (ctl->nofile) /* for a core file */
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	if (chord_rt_failed(p))
		return false;
	if (at)
		chord_rt_publish(ctl, at + h.size);
	else
		*(struct chord_extent_head *)p = h;
	for (uint64_t i = 0; i < h.a; i++)
		used += ((struct chord_exit *)(p + (long)sizeof h))[i].key != 0;
	*chord_rt_slots(ctl, ctl->nslots) =
	    (struct chord_rt_slots){(struct chord_extent_head *)p, h.size, h.a, used, region, *last};
	__atomic_store_n(&ctl->nslots, ctl->nslots + 1, __ATOMIC_RELEASE);
	__atomic_store_n(last, ctl->nslots, __ATOMIC_RELEASE);
	return true;
}

/* Reserves room at the beginning, because later the process may forbid itself to map anything (seccomp). */
static void
chord_rt_first_slots(struct chord_rt_ctl *ctl)
{
	if (!ctl->per_thread)
		chord_rt_more_slots(ctl, 0);
	CHORD_RT_NOTIFY(begin, ctl);
}

static uint64_t
chord_rt_one_more_slots(struct chord_rt_ctl *ctl, uint64_t seen, uint64_t region)
{
	uint64_t old = chord_rt_lock(ctl);
	bool ok = *chord_rt_last_slots(ctl, (uint32_t)region) != seen || chord_rt_more_slots(ctl, (uint32_t)region);

	chord_rt_unlock(ctl, old);
	return ok;
}

static bool
chord_rt_grow_slots(struct chord_rt_ctl *ctl, uint32_t seen, uint32_t region)
{
	/* This does nothing in a signal handler that interrupted this thread while it held the lock. */
	return !chord_rt_has_lock(ctl) && chord_rt_on_own_stack(ctl, chord_rt_one_more_slots, seen, region);
}

/* The count of a key in the newest extent. The key is added if there is room. NULL: there is no room. */
static uint64_t *
chord_rt_make_count(struct chord_rt_slots *s, uint64_t key)
{
	uint64_t *p, none;

	while (s->used * 4 <= s->n * 3 && (p = chord_rt_slot(s, key)) != NULL) {
		none = 0;
		if (*p == key || __atomic_compare_exchange_n(p, &none, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			s->used += none == 0 && p[1] == 0;
			return p + 1;
		} /* another thread took the slot, so look again */
	}
	return NULL;
}

/* The count of a key, found or made. No lock is needed, because a key is written once and stays. NULL: there is no room. */
static uint64_t *
chord_rt_exit_count(struct chord_rt_ctl *ctl, uint64_t key)
{
	struct chord_rt_region *mine = ctl->per_thread ? chord_rt_region_mine(ctl) : NULL;
	uint32_t last, region = mine ? mine->index + 1 : 0;
	struct chord_rt_slots *s;
	uint64_t *p;

	for (;;) {
		last = __atomic_load_n(chord_rt_last_slots(ctl, region), __ATOMIC_ACQUIRE);
		for (uint32_t i = last; i; i = s->before) {
			s = chord_rt_slots(ctl, i - 1);
			p = chord_rt_slot(s, key);
			if (p && *p == key)
				return p + 1;
		}
		p = last ? chord_rt_make_count(chord_rt_slots(ctl, last - 1), key) : NULL;
		if (p)
			return p;
		if (!chord_rt_grow_slots(ctl, last, region))
			return NULL;
	}
}

/* libc sets this if there is one thread and there never was another one. It does not know of threads that clone() makes. */
static char chord_rt_single_threaded __attribute__((weakref("__libc_single_threaded")));

static CHORD_RT_INLINE bool
chord_rt_is_alone(const struct chord_rt_ctl *ctl)
{
	return &chord_rt_single_threaded && *(volatile char *)&chord_rt_single_threaded && ctl->nregion <= 1 && !ctl->unseen &&
	    !(ctl->head->flags & CHORD_PROFILE_NOT_WATCHED);
}

/* Adds in one instruction, so that signal handlers see the count before or after. */
static CHORD_RT_INLINE void
chord_rt_bump(uint64_t *count, uint64_t delta, bool alone)
{
	if (alone)
		chord_rt_home_bump(count, delta);
	else
		__atomic_fetch_add(count, delta, __ATOMIC_RELAXED);
}

/* cfa: the end of the frame that is at the call; 0: the frame's path is not known, or it has none. */
static CHORD_RT_HOT void
chord_rt_count(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa)
{
	chord_rt_bump(count, delta, chord_rt_is_alone(ctl));
	CHORD_RT_NOTIFY(leave, ctl, count, delta, cfa);
}

/* Counts at a PC, if it is in a measured module. Gives the counter. CHORD_RT_SILENT: the PC is in no measured module; NULL: there
 * is no room. */
static uint64_t *
chord_rt_count_at(struct chord_rt_ctl *ctl, uint64_t pc, uint64_t flag, uint64_t delta, uint64_t cfa)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);
	uint64_t *count;

	if (!m)
		return CHORD_RT_SILENT;
	count = chord_rt_exit_count(ctl, ((pc - m->bias) & 0xffffffffffffull) | (uint64_t)(m->index + 1) << 48 | flag);
	if (count)
		chord_rt_count(ctl, count, delta, cfa);
	else
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	return count;
}

/* ---- walks ---- */

/* A frame of __chord_struck is left, or resumed in a forked child. Adds what that function would have taken back from the counter,
 * because where activations end between calls, readers expect the counter as woven code left it. */
static __attribute__((noinline)) void
chord_rt_leave_fired(struct chord_rt_ctl *ctl, uint64_t pc, uint64_t cfa, uint64_t delta)
{
	const struct chord_rt_mod *m = ctl->fired ? chord_rt_mod_of(ctl, pc) : NULL;
	const uint64_t *frame = (const uint64_t *)(cfa - CHORD_RT_FIRED_FRAME);

	if (m && cfa && pc > m->fired && pc <= m->fired_end)
		__atomic_fetch_sub((uint64_t *)(frame[1] + chord_rt_get_base(ctl) + 8), delta * frame[3], __ATOMIC_RELAXED);
}

/* Counts the frame of w. If the activation was interrupted between calls and ends there, the key is the address after the first
 * byte of the interrupted instruction, which is no return address. */
static void
chord_rt_leave_frame(struct chord_rt_walk *w, uint64_t delta)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC] + w->exact, *count = w->from ? w->rule.count : NULL, cfa = w->exact ? 0 : w->cfa;

	if (w->in.ctl->fired)
		chord_rt_leave_fired(w->in.ctl, pc, cfa, delta);
	if (w->in.ctl->trace)
		w->traced += chord_rt_is_in_traced(w->in.ctl, pc);
	if (count == CHORD_RT_SILENT)
		return;
	if (count) {
		chord_rt_count(w->in.ctl, count, delta, cfa);
		return;
	}
	count = chord_rt_count_at(w->in.ctl, pc, 0, delta, cfa);
	if (w->from && count && !w->in.ctl->per_thread)
		chord_rt_keep_count(w, count);
}

/* All frames of the calling thread have been recorded. */
static void
chord_rt_all_left(struct chord_rt_ctl *ctl, struct chord_rt_region *r, const struct chord_rt_regs *regs)
{
	if (!r)
		return;
	if (!r->left || r->left > regs->r[CHORD_RT_SP])
		r->left = regs->r[CHORD_RT_SP];
	ctl->quitters = 1;
}

/* The address from which on upward the frames of the calling thread have been recorded and have ended. */
static uint64_t
chord_rt_left(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = ctl->quitters ? chord_rt_region_mine(ctl) : NULL;

	return r && r->left ? r->left : ~0ull;
}

/* Is the frame of w, or was the one before it, the frame in which the thread began on a stack of its own? What is above that frame
 * means nothing. */
static bool
chord_rt_is_first(const struct chord_rt_region *r, const struct chord_rt_walk *w, uint64_t before, enum chord_rt_step step)
{
	if (!r || !r->first_function || (w->begin != r->first_function && before != r->first_function))
		return false;
	return step == CHORD_RT_STUCK || (w->begin == r->first_function && w->cfa > r->first_sp);
}

/* Counts exits for all frames from regs on. */
static void
chord_rt_leave_all(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t delta)
{
	const struct chord_rt_region *r = ctl->births ? chord_rt_region_mine(ctl) : NULL;
	uint64_t left = chord_rt_left(ctl), before = 0;
	struct chord_rt_walk w;
	enum chord_rt_step step;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (;; before = w.begin, chord_rt_up(&w)) {
		step = chord_rt_look(&w);
		if (w.regs.r[CHORD_RT_SP] >= left)
			return;
		chord_rt_leave_frame(&w, delta);
		if (step != CHORD_RT_FRAME || chord_rt_is_first(r, &w, before, step))
			break;
	}
	if (step == CHORD_RT_STUCK && !chord_rt_is_first(r, &w, before, step))
		__atomic_fetch_add(&ctl->head->in_flight, delta, __ATOMIC_RELAXED);
}

/* Is the function that begins at f on the stack? */
static bool
chord_rt_is_on_stack(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t f)
{
	struct chord_rt_walk w;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (; chord_rt_look(&w) == CHORD_RT_FRAME; chord_rt_up(&w))
		if (w.begin == f)
			return true;
	return false;
}

static void chord_rt_fibres(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t flag, uint64_t delta);
static void chord_rt_settle_others(struct chord_rt_ctl *ctl, bool patient);

/* The process ends here. how: enum chord_ends. Functions that it still calls meanwhile may also end early. */
static void
chord_rt_end(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t how)
{
	struct chord_rt_region *r = chord_rt_region_mine(ctl);
	bool again = __atomic_exchange_n(&ctl->ended, 1, __ATOMIC_RELAXED) != 0;

	if (again && !r)
		return;
	chord_rt_trace_ends(ctl, how);
	if (!again)
		chord_rt_fibres(ctl, regs, 0, 1);
	chord_rt_leave_all(ctl, regs, 1);
	chord_rt_all_left(ctl, r, regs);
	if (!again)
		chord_rt_settle_others(ctl, true);
}

/* ---- exceptions ---- */

static uint64_t chord_rt_get_cfa(void *) __attribute__((weakref("_Unwind_GetCFA")));

/* Where the unwinder's own frame is: the context is in it. The frames below it are those of the personality routine, and of
 * functions that called it or that it called. They return to the unwinder. 0: the context is not on this stack. */
static CHORD_RT_INLINE uint64_t
chord_rt_unwinder_at(const struct chord_rt_regs *regs, uint64_t to)
{
	uint64_t context = regs->r[CHORD_RT_ARG0];

	return regs->r[CHORD_RT_SP] <= context && context < to ? context : 0;
}

/* A personality routine sends control to a landing pad in the context's frame. All frames between the unwinder's and that frame are
 * left, and so is that frame. */
static void
chord_rt_land(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t to, low, unwinder, left = chord_rt_left(ctl);
	struct chord_rt_walk w;
	enum chord_rt_step step;
	bool stays = false;

	if (!chord_rt_get_cfa)
		return;
	to = chord_rt_get_cfa((void *)regs->r[CHORD_RT_ARG0]);
	unwinder = chord_rt_unwinder_at(regs, to);
	chord_rt_walk_from(&w, ctl, regs);
	for (;;) {
		low = w.regs.r[CHORD_RT_SP];
		step = chord_rt_look(&w);
		if (step == CHORD_RT_FRAME && w.cfa <= unwinder)
			stays |= ctl->trace && chord_rt_is_in_traced(ctl, w.regs.r[CHORD_RT_PC] + w.exact);
		else if (low < left)
			chord_rt_leave_frame(&w, 1);
		if (step != CHORD_RT_FRAME || low == to)
			break;
		chord_rt_up(&w);
	}
	/* A trace can only say that the innermost activations are left, without gaps. */
	chord_rt_trace_jump(ctl, low == to && !stays ? w.traced : 0);
	if (low != to)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	else if (left != ~0ull && left < w.cfa)
		chord_rt_region_mine(ctl)->left = w.cfa; /* this frame goes on */
}
