/* SPDX-License-Identifier: MIT */
/* How far activations had come in their path when they ended at a call. */

/* How the path register of an activation stands whose frame ends at cfa. */
static CHORD_RT_HOT uint64_t
chord_rt_register(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint64_t cfa)
{
	uint64_t r = chord_rt_has_slot(ctl, cfa - CHORD_RT_SLOT) ? *(volatile uint64_t *)((cfa - CHORD_RT_SLOT) ^ ctl->mask) : 0;

	/* On the way it may be beside its table. */
	return r - (m->first - CHORD_RT_BESIDE) < m->size + 2 * CHORD_RT_BESIDE ? r - m->bias : r;
}

/* Counts it, beside the exit with that key. What has no register there has something else in its slot: readers know. Where there
 * is no room there are less of them than exits, and readers say so. */
static CHORD_RT_HOT __attribute__((noinline)) void
chord_rt_count_unfinished(struct chord_rt_ctl *ctl, uint64_t key, uint64_t delta, uint64_t cfa)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, CHORD_EXIT_MODULE(key));
	struct chord_rt_wide *t = chord_rt_wide(ctl, CHORD_RT_UNFINISHED, ctl->apart ? chord_rt_mine_number(ctl) : 0);
	struct chord_callee *s;
	uint64_t r;

	if (!cfa || !m->unfinished)
		return;
	r = chord_rt_register(ctl, m, cfa);
	s = chord_rt_wide_find(t, key, r | CHORD_RT_MARK, r);
	if (!s)
		s = chord_rt_wide_make(ctl, t, key, r | CHORD_RT_MARK, r);
	if (s)
		__atomic_fetch_add(&s->count, delta, __ATOMIC_RELAXED);
}
