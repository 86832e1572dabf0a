/* SPDX-License-Identifier: MIT */
/* Events: an exit records the values that the module's event counters have at that moment. */

/* Finds the counters whose values exits record, and sorts them by address. */
static void
chord_rt_find_sums(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	const int32_t *p = (const int32_t *)CHORD_RT_NEAR(d->sum), *end = (const int32_t *)CHORD_RT_NEAR(d->sum_end);
	uint64_t at;
	uint32_t i;

	for (; p < end; p++) {
		at = *p ? CHORD_RT_NEAR(*p) : 0;
		if (!at || m->nsum == CHORD_SUMS)
			continue;
		for (i = m->nsum++; i > 0 && m->sum[i - 1] > at; i--)
			m->sum[i] = m->sum[i - 1];
		m->sum[i] = at;
	}
}

/* The events so far, of a counter that is summed for calls. */
static uint64_t
chord_rt_sum_of(uint64_t at)
{
	volatile uint64_t *number = (volatile uint64_t *)at;
	uint64_t sum = 0;

	for (uint32_t way = 0; way < CHORD_WAYS_SUMMED; way++)
		sum += number[way * CHORD_SUMMED_STEP];
	return sum;
}

/* Adds to the sums after a count: delta times the events so far. Not inlined, because few exits have any. */
static __attribute__((noinline)) void
chord_rt_count_sums(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, CHORD_EXIT_MODULE(count[-1]));
	uint64_t base = ctl->nogs ? 0 : chord_rt_get_base(ctl);

	for (uint32_t i = 0; i < m->nsum; i++)
		__atomic_fetch_add(count + 1 + i, delta * chord_rt_sum_of(m->sum[i] + base), __ATOMIC_RELAXED);
}

static void
chord_rt_events_found(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	m->begins = CHORD_RT_NEAR(d->sum_end) - CHORD_RT_NEAR(d->sum) > sizeof(int32_t); /* module.s has one */
	chord_rt_find_sums(m, d);
}

static void
chord_rt_events_new(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	(void)ctl, (void)m, (void)d;
}

static void
chord_rt_events_extents(struct chord_rt_ctl *ctl, uint32_t module)
{
	(void)ctl, (void)module;
}

static void
chord_rt_events_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	ctl->sums |= m->nsum;
}

static void
chord_rt_events_closed(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	(void)ctl, (void)m;
}

static void
chord_rt_events_region(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint32_t region)
{
	(void)ctl, (void)m, (void)region;
}

static void
chord_rt_events_begin(struct chord_rt_ctl *ctl)
{
	(void)ctl;
}

static void
chord_rt_events_constructed(struct chord_rt_ctl *ctl)
{
	(void)ctl;
}

static void
chord_rt_events_thread(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	(void)ctl, (void)r;
}

static void
chord_rt_events_drop(struct chord_rt_ctl *ctl, uint32_t number)
{
	(void)ctl, (void)number;
}

static void
chord_rt_events_fork(const struct chord_rt_mod *m)
{
	(void)m;
}

static CHORD_RT_HOT void
chord_rt_events_leave(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa)
{
	(void)cfa;
	if (ctl->sums)
		chord_rt_count_sums(ctl, count, delta);
}

static bool
chord_rt_events_waits(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, const struct chord_rt_region *r, uint64_t cfa,
    struct chord_waiting *to)
{
	uint64_t base = ctl->nogs ? 0 : r->base;

	(void)cfa;
	for (uint32_t i = 0; i < m->nsum; i++)
		to->sum[i] += chord_rt_sum_of(m->sum[i] + base);
	return !ctl->fired;
}

static bool
chord_rt_events_leaves(const struct chord_rt_ctl *ctl)
{
	return ctl->sums;
}

static bool
chord_rt_events_maps(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return false;
}

static void
chord_rt_events_confined(struct chord_rt_ctl *ctl, bool now)
{
	(void)ctl, (void)now;
}

static bool
chord_rt_events_amid(const struct chord_rt_ctl *ctl)
{
	(void)ctl;
	return true;
}

/* chord_events() begins at 0 in each process, so a module that uses it cannot continue a profile. */
static bool
chord_rt_events_goes_on(const struct chord_rt_ctl *ctl)
{
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if (chord_rt_module(ctl, i)->begins)
			return false;
	return true;
}
