/* SPDX-License-Identifier: MIT */
/* Counts the procedures that are called through pointers. For each call and thread, woven code keeps the slot of the last callee,
 * and counts in it if the callee is the same now. Else it calls the runtime. */

/* Forgets the slots of a module's code, because other code may be loaded to its addresses. */
static void
chord_rt_forget_callees(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	for (uint32_t r = 0; r <= ctl->nregion; r++) {
		const struct chord_rt_keyed *t = chord_rt_keyed(ctl, CHORD_RT_CALLED, r);

		for (uint32_t k = 0; k < t->n; k++) {
			struct chord_callee *s = chord_rt_keyed_first(t, k), *end = s + chord_rt_keyed_slots(k);

			for (; s < end; s++)
				if (s->raw >= m->text && s->raw < m->text_end)
					__atomic_fetch_or(&s->raw, CHORD_RT_MARK, __ATOMIC_RELAXED);
		}
	}
}

static uint64_t
chord_rt_callee_key(struct chord_rt_ctl *ctl, uint64_t raw)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, raw);

	if (!m || (m->left && !m->main))
		return 0;
	return ((raw - m->bias) & 0xffffffffffffull) | (uint64_t)(m->index + 1) << 48;
}

static CHORD_RT_HOT void
chord_rt_count_callee(struct chord_rt_ctl *ctl, struct chord_rt_keyed *t, uint64_t place, uint64_t raw)
{
	uint64_t at = (place - chord_rt_module(ctl, chord_rt_desc.index)->bias) & 0xffffffffffffull;
	uint64_t site = at | (chord_rt_desc.index + 1) << 48, key;
	struct chord_callee *s = chord_rt_keyed_find(t, site, raw, 0);

	if (!s) {
		key = chord_rt_callee_key(ctl, raw);
		s = chord_rt_keyed_find(t, site, raw | CHORD_RT_MARK, key);
		if (s)
			__atomic_fetch_and(&s->raw, ~CHORD_RT_MARK, __ATOMIC_RELAXED);
		else
			s = chord_rt_keyed_make(ctl, t, site, raw, key);
	}
	if (!s)
		return;
	if (!t->number) {
		__atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);
		return;
	}
	chord_rt_home_count(&s->count);
	*(struct chord_callee *volatile *)(place + chord_rt_region(ctl, t->number - 1)->base) = s;
}

/* Woven code is about to call the pointer raw. place: the address, for base 0, of the word by which woven code finds the slot. */
static __attribute__((used)) void
chord_rt_through(uint64_t place, uint64_t raw)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (ctl && ctl->magic && raw < CHORD_RT_TOP)
		chord_rt_count_callee(ctl, chord_rt_keyed(ctl, CHORD_RT_CALLED, chord_rt_mine_number(ctl)), place, raw);
}

/* ---- as a measure ---- */

static void
chord_rt_calls_found(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	(void)m, (void)d;
}

static void
chord_rt_calls_new(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	(void)ctl, (void)m, (void)d;
}

static void
chord_rt_calls_extents(struct chord_rt_ctl *ctl, uint32_t module)
{
	(void)ctl, (void)module;
}

static void
chord_rt_calls_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	chord_rt_forget_callees(ctl, m);
}

static void
chord_rt_calls_closed(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	chord_rt_forget_callees(ctl, m);
}

static void
chord_rt_calls_region(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint32_t region)
{
	(void)ctl, (void)m, (void)region;
}

static void
chord_rt_calls_begin(struct chord_rt_ctl *ctl)
{
	(void)ctl;
}

static void
chord_rt_calls_constructed(struct chord_rt_ctl *ctl)
{
	(void)ctl;
}

static void
chord_rt_calls_thread(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	(void)ctl, (void)r;
}

static void
chord_rt_calls_drop(struct chord_rt_ctl *ctl, uint32_t number)
{
	(void)ctl, (void)number;
}

static void
chord_rt_calls_fork(const struct chord_rt_mod *m)
{
	(void)m;
}

static CHORD_RT_HOT void
chord_rt_calls_leave(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa)
{
	(void)ctl, (void)count, (void)delta, (void)cfa;
}

static bool
chord_rt_calls_waits(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, const struct chord_rt_region *r, uint64_t cfa,
    struct chord_waiting *to)
{
	(void)ctl, (void)m, (void)r, (void)cfa, (void)to;
	return true;
}

static bool
chord_rt_calls_leaves(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return false;
}

static bool
chord_rt_calls_maps(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return false;
}

static void
chord_rt_calls_confined(struct chord_rt_ctl *ctl, bool now)
{
	(void)ctl, (void)now;
}

static bool
chord_rt_calls_amid(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return true;
}

static bool
chord_rt_calls_goes_on(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return true;
}
