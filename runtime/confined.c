/* SPDX-License-Identifier: MIT */
/* The program is about to forbid itself system calls (seccomp). */

enum { PR_SET_SECCOMP = 22, PR_SET_NO_NEW_PRIVS = 38 };

/* What a call of prctl() or syscall() asks for. */
struct chord_rt_confinement {
	uint64_t mode;                /* SECCOMP_MODE_...; 0: the call confines nothing */
	uint64_t program;
	bool listener, everybody;     /* a descriptor is the result; it is for all threads */
	bool soon;                    /* a filter may follow */
};

static struct chord_rt_confinement
chord_rt_confinement(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	struct chord_rt_confinement w = {0, 0, false, false, false};

	if (number == SYS_prctl && (uint32_t)a == PR_SET_SECCOMP)
		w.mode = b, w.program = c;
	else if (number == SYS_seccomp && ((uint32_t)a == SECCOMP_SET_MODE_STRICT || (uint32_t)a == SECCOMP_SET_MODE_FILTER))
		w.mode = (uint32_t)a == SECCOMP_SET_MODE_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER,
		w.program = c, w.listener = b & SECCOMP_FILTER_FLAG_NEW_LISTENER, w.everybody = b & SECCOMP_FILTER_FLAG_TSYNC;
	else if (number == SYS_prctl && (uint32_t)a == PR_SET_NO_NEW_PRIVS)
		w.soon = true;
	if (w.mode == SECCOMP_MODE_STRICT)
		w.program = 0, w.listener = w.everybody = false;
	else if (w.mode != SECCOMP_MODE_FILTER || !w.program)
		w.mode = 0;
	return w;
}

/* Does now what will not be possible later. */
static uint64_t
chord_rt_prepare(struct chord_rt_ctl *ctl, uint64_t now, uint64_t none)
{
	(void)none;
	if (CHORD_RT_ANY(maps, ctl))
		CHORD_RT_NOTIFY(confined, ctl, now);
	return 0;
}

/* Gives a copy of the filter that is about to be installed. If it cannot be copied, the strict mode's serves instead. 0: there is
 * none to copy. */
static uint64_t
chord_rt_copy_and_look(struct chord_rt_ctl *ctl, uint64_t at, uint64_t none)
{
	const struct chord_rt_confinement *w = (const struct chord_rt_confinement *)at;
	struct chord_rt_filter *f;
	uint64_t old = chord_rt_lock(ctl);
	bool failed;

	(void)none;
	chord_rt_file_limit(ctl);
	f = chord_rt_copy_filter(ctl, w->program, &failed);
	if (failed)
		f = &ctl->strict;
	if (f && f != &ctl->strict)
		f->before = (struct chord_rt_filter *)chord_rt_filter_mine(ctl);
	if (f && chord_rt_forbids(f, SYS_rt_sigprocmask, ~0ull))
		chord_rt_look_at_memory(ctl);
	if (f && !ctl->per_thread && chord_rt_forbids(f, SYS_mmap, 0))
		chord_rt_more_slots(ctl, 0);
	chord_rt_unlock(ctl, old);
	return (uint64_t)f;
}

/* The kernel did not install f. */
static void
chord_rt_disobey(struct chord_rt_ctl *ctl, const struct chord_rt_filter *f, struct chord_rt_filter *before)
{
	for (uint32_t i = 0; i < ctl->nregion; i++)
		if (chord_rt_region(ctl, i)->filter == f)
			chord_rt_region(ctl, i)->filter = before;
	if (ctl->filter == f)
		ctl->filter = before;
}

/* Did the call confine the thread? With TSYNC, a result above 0 is the number of a thread that could not be confined. */
static bool
chord_rt_has_confined(const struct chord_rt_confinement *w, long e)
{
	return e == 0 || (e > 0 && w->listener);
}

typedef long chord_rt_long_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Prepares. Gives the filter that the runtime has to obey if the kernel accepts it, or NULL. */
static struct chord_rt_filter *
chord_rt_before_filter(struct chord_rt_ctl *ctl, const struct chord_rt_confinement *w)
{
	if (w->soon || w->mode)
		chord_rt_on_own_stack(ctl, chord_rt_prepare, w->mode != 0, 0);
	if (!w->mode || chord_rt_other_process(ctl))
		return NULL;
	return (struct chord_rt_filter *)chord_rt_on_own_stack(ctl, chord_rt_copy_and_look, (uint64_t)w, 0);
}

/* prctl() or syscall() was called. True: it was called from here, and its result is in regs. */
static bool
chord_rt_confines(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint32_t hook, uint64_t real)
{
	uint64_t a = regs->r[CHORD_RT_ARG0], b = regs->r[CHORD_RT_ARG1], c = regs->r[CHORD_RT_ARG2], d = regs->r[CHORD_RT_ARG3];
	bool by_name = hook == CHORD_RT_HOOK_prctl;
	struct chord_rt_confinement w = by_name ? chord_rt_confinement(SYS_prctl, a, b, c) : chord_rt_confinement(a, b, c, d);
	struct chord_rt_filter *f = chord_rt_before_filter(ctl, &w), *before;
	long e;

	if (!f)
		return false;
	before = (struct chord_rt_filter *)chord_rt_filter_mine(ctl);
	chord_rt_set_filter(ctl, f, w.everybody); /* not earlier, because signals had to be unblocked */
	e = ((chord_rt_long_fn *)real)(a, b, c, d, regs->r[CHORD_RT_ARG4], regs->r[CHORD_RT_ARG5]);
	if (by_name)
		e = (int)e;
	if (!chord_rt_has_confined(&w, e))
		chord_rt_disobey(ctl, f, before);
	regs->r[CHORD_RT_RESULT] = (uint64_t)e;
	return true;
}

/* A system call instruction is about to be executed. The runtime does not see whether the kernel accepts the filter, so it obeys it
 * in any case. */
static void
chord_rt_confines_by(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_confinement w = chord_rt_confinement(regs->r[CHORD_RT_RESULT], regs->r[CHORD_RT_ARG0],
	    regs->r[CHORD_RT_ARG1], regs->r[CHORD_RT_ARG2]);
	struct chord_rt_filter *f = chord_rt_before_filter(ctl, &w);

	if (f)
		chord_rt_set_filter(ctl, f, w.everybody);
}
