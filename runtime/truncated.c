/* SPDX-License-Identifier: MIT */
/* A profile that somebody truncates while its process runs. Mapped pages after the new end can no longer be used, and the process
 * would die by SIGBUS. The handler here gives such pages memory of their own: the counts are lost, but the program goes on.
 *
 * The handler is installed in a measured dynamic program that has none. Any other SIGBUS has the effect that it would have without
 * a handler. A handler that the program installs takes its place. sigaction() and signal() do not show the runtime's handler,
 * because their hooks hide it; a system call of the program's own does. */

enum { CHORD_RT_SIGBUS = 7, CHORD_RT_BUS_ADRERR = 2 };

/* libc's layout. */
struct chord_rt_sigaction {
	uint64_t handler, mask[16];
	int32_t flags;
	uint64_t restorer;
};

static bool
chord_rt_is_in(uint64_t addr, const void *start, uint64_t size)
{
	return addr - (uint64_t)start < size;
}

/* Is that address in a mapping of the profile? */
static bool
chord_rt_is_of_file(struct chord_rt_ctl *ctl, uint64_t addr)
{
	const struct chord_rt_mod *m;

	if (chord_rt_is_in(addr, ctl->head, CHORD_RT_PAGE))
		return true;
	for (uint32_t i = 0; i < ctl->nslots; i++)
		if (chord_rt_is_in(addr, chord_rt_slots(ctl, i)->map, chord_rt_slots(ctl, i)->size))
			return true;
	for (uint32_t r = 0; r < ctl->nregion; r++)
		for (uint32_t i = 0; i < ctl->nmodule; i++) {
			m = chord_rt_module(ctl, i);
			if (m->life == CHORD_LIFE_LOADED && chord_rt_has_counters(chord_rt_region(ctl, r), m) &&
			    chord_rt_is_in(addr - chord_rt_region(ctl, r)->base, (void *)m->first, m->size))
				return true;
		}
	for (uint32_t i = 0; i < CHORD_RT_KINDS * (ctl->nregion + 1); i++) {
		const struct chord_rt_keyed *t = chord_rt_keyed(ctl, i % CHORD_RT_KINDS, i / CHORD_RT_KINDS);

		for (uint32_t k = 0; k < t->n; k++)
			if (chord_rt_is_in(addr, t->map[k], (uint64_t)CHORD_RT_PAGE << 2 * k))
				return true;
	}
	return false;
}

/* Does the same for the trace. From then on nothing of it is kept. Its head is left alone, because that may be gone, too. */
static bool
chord_rt_mend_trace(struct chord_rt_ctl *ctl, uint64_t addr)
{
	if (!ctl || !ctl->trace || !chord_rt_is_of_trace(ctl, addr))
		return false;
	ctl->trace->stopped = 1;
	return !chord_rt_failed(chord_rt_call(SYS_mmap, addr & -(uint64_t)CHORD_RT_PAGE, CHORD_RT_PAGE, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED, -1, 0));
}

/* If that page has words among the counters that woven code needs and would find 0, sets them. Other pages are not touched, because
 * they may be gone, too. */
static void
chord_rt_renew_words(struct chord_rt_ctl *ctl, uint64_t page)
{
	const struct chord_rt_mod *m;

	for (uint32_t r = 0; r < ctl->nregion; r++)
		for (uint32_t i = 0; i < ctl->nmodule; i++) {
			m = chord_rt_module(ctl, i);
			if (m->life == CHORD_LIFE_LOADED && chord_rt_has_counters(chord_rt_region(ctl, r), m) &&
			    chord_rt_is_in(m->shadow + chord_rt_region(ctl, r)->base, (void *)page, CHORD_RT_PAGE))
				CHORD_RT_NOTIFY(region, ctl, m, r);
		}
}

/* Replaces the page of that address. False: the fault has another cause. */
static bool
chord_rt_mend_page(struct chord_rt_ctl *ctl, uint64_t addr)
{
	long e = -1;

	if (ctl && ctl->magic && ctl->head && !ctl->nofile && chord_rt_is_of_file(ctl, addr))
		e = chord_rt_call(SYS_mmap, addr & -(uint64_t)CHORD_RT_PAGE, CHORD_RT_PAGE, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED, -1, 0);
	if (chord_rt_failed(e))
		return false;
	chord_rt_renew_words(ctl, addr & -(uint64_t)CHORD_RT_PAGE);
	if (!ctl->truncated)
		chord_rt_warn(ctl, ctl->path, "Somebody made it shorter");
	ctl->truncated = 1;
	return true;
}

static void
chord_rt_on_bus(int sig, int32_t *info, void *context)
{
	uint64_t none[4] = {0, 0, 0, 0};

	(void)context;
	if (info[2] == CHORD_RT_BUS_ADRERR && (chord_rt_mend_page(chord_rt_ctl_here(), *(uint64_t *)(info + 4)) ||
	    chord_rt_mend_trace(chord_rt_ctl_here(), *(uint64_t *)(info + 4))))
		return;
	/* Acts as without a handler. A fault repeats by itself. */
	chord_rt_call(SYS_rt_sigaction, sig, none, 0, 8);
	if (info[2] <= 0 || info[2] > 3)
		chord_rt_call(SYS_rt_tgsigqueueinfo, chord_rt_call(SYS_getpid), chord_rt_call(SYS_gettid), sig, info);
}

/* Installs the handler in place of the default. */
static void
chord_rt_put_on_bus(struct chord_rt_ctl *ctl)
{
	struct chord_rt_action a;

	if (chord_rt_failed(chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGBUS, 0, &a, 8)) || a.handler)
		return;
	ctl->bus_flags = a.flags;
	ctl->bus_mask = a.mask;
	a.handler = ctl->bus;
	a.flags = CHORD_RT_SA;
	a.restorer = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_entry_restore);
	a.mask = 0;
	chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGBUS, &a, 0, 8);
}

/* Called in the program's own constructor, because the program's code is never closed. */
static void
chord_rt_watch_bus(struct chord_rt_ctl *ctl)
{
	uint64_t was[4] = {1};

	if (ctl->bus || ctl->nofile || !ctl->dynamic ||
	    chord_rt_failed(chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGBUS, 0, was, 8)) || was[0])
		return;
	ctl->bus = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_on_bus);
	chord_rt_put_on_bus(ctl);
}

/* Shows the default to sigaction() in place of the runtime's handler. */
static void
chord_rt_hide_bus(const struct chord_rt_ctl *ctl, struct chord_rt_sigaction *old, uint64_t flags, uint64_t mask)
{
	if (!old || old->handler != ctl->bus)
		return;
	old->handler = 0;
	old->mask[0] = mask;
	old->flags = (int32_t)flags;
}

/* sigaction() or signal() for SIGBUS calls the real function. False: it is for another signal. */
static bool
chord_rt_bus_hooked(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint32_t hook, uint64_t real)
{
	const uint64_t *act = (const uint64_t *)regs->r[CHORD_RT_ARG1];
	uint64_t flags = ctl->bus_flags, mask = ctl->bus_mask, e;
	bool to_default;

	if ((uint32_t)regs->r[CHORD_RT_ARG0] != CHORD_RT_SIGBUS || !ctl->bus)
		return false;
	to_default = hook == CHORD_RT_HOOK_signal ? !act : act && !*act;
	e = ((uint64_t (*)(uint64_t, uint64_t, uint64_t))real)(regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1],
	    regs->r[CHORD_RT_ARG2]);
	if (hook == CHORD_RT_HOOK_signal)
		e = e == ctl->bus ? 0 : e;
	else if (!(int32_t)e)
		chord_rt_hide_bus(ctl, (struct chord_rt_sigaction *)regs->r[CHORD_RT_ARG2], flags, mask);
	if (to_default)
		chord_rt_put_on_bus(ctl);
	regs->r[CHORD_RT_RESULT] = e;
	return true;
}
