/* SPDX-License-Identifier: MIT */
/* A library is opened, and in the region of some thread other memory is mapped where the library's counters should be. The
 * library's code would write to that memory. So before any code of the library runs, the thread leaves its region, and counts with
 * base 0 from then on. Only the thread itself can set its base. The runtime sends it the signal by which the C library makes
 * threads change their user, because the C library's functions cannot block that signal. A thread that waits for the lock, with
 * signals blocked, finds out by itself. */

enum {
	CHORD_RT_SIGLEAVE = 33,
	CHORD_RT_LEAVE_TRIES = 50, /* of a tenth of a second */
	CHORD_RT_LEAVE_SA = 4 | 0x04000000 | 0x08000000 | 0x10000000, /* SIGINFO RESTORER ONSTACK RESTART */
};

extern void chord_rt_entry_restore(void) __attribute__((visibility("hidden")));

/* Leaves the region if it is the one to be left. False: it is another region, or none is to be left. */
static bool
chord_rt_leaves_region(struct chord_rt_ctl *ctl)
{
	uint64_t base = __atomic_load_n(&ctl->leaving, __ATOMIC_ACQUIRE);

	if (!base || ctl->nogs || chord_rt_get_base(ctl) != base)
		return false;
	__atomic_store_n(&ctl->left_base, chord_rt_set_base(ctl, 0) ? 1 : 2, __ATOMIC_RELEASE);
	chord_rt_call(SYS_futex, &ctl->left_base, CHORD_RT_FUTEX_WAKE, 1);
	return true;
}

static void
chord_rt_on_leave(int sig, void *info, void *context)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if ((ctl && chord_rt_leaves_region(ctl)) || !ctl || ctl->before_leave.handler <= 1)
		return;
	((void (*)(int, void *, void *))ctl->before_leave.handler)(sig, info, context);
}

/* Waits until the thread has left its region. False: it has not answered. */
static bool
chord_rt_await_leave(struct chord_rt_ctl *ctl)
{
	const uint64_t tenth[2] = {0, 100000000};

	for (uint32_t i = 0; i < CHORD_RT_LEAVE_TRIES && !__atomic_load_n(&ctl->left_base, __ATOMIC_ACQUIRE); i++)
		chord_rt_call(SYS_futex, &ctl->left_base, CHORD_RT_FUTEX_WAIT, 0, tenth);
	return ctl->left_base != 0;
}

/* Makes the thread that has the region leave it. False: it does not leave it for now, or another thread that was to leave has not
 * done so yet. */
static bool
chord_rt_make_leave(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	struct chord_rt_action a = {
		.handler = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_on_leave), .flags = CHORD_RT_LEAVE_SA,
		.restorer = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_entry_restore), .mask = ~0ull,
	};
	long e;

	if (ctl->leaving || chord_rt_failed(chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGLEAVE, &a, &ctl->before_leave, 8)))
		return false;
	ctl->left_base = 0;
	__atomic_store_n(&ctl->leaving, r->base, __ATOMIC_RELEASE);
	e = chord_rt_call(SYS_tgkill, r->process ? r->process : ctl->pid, r->tid, CHORD_RT_SIGLEAVE);
	if (!chord_rt_failed(e) && !chord_rt_await_leave(ctl))
		return false; /* the thread leaves when the signal arrives */
	ctl->leaving = 0;
	chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGLEAVE, &ctl->before_leave, 0, 8);
	return e == -ESRCH || ctl->left_base == 1;
}

/* From now on no thread may count in that region, because a module has no counters in it. A thread that is about to begin finds out
 * by itself. */
static void
chord_rt_give_up_region(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint32_t order)
{
	bool left = chord_rt_region_free(ctl, r);

	__atomic_store_n(&r->given_up, order, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if (chord_rt_module(ctl, i)->life == CHORD_LIFE_LOADED)
			CHORD_RT_NOTIFY(region, ctl, chord_rt_module(ctl, i), CHORD_RT_NO_REGION);
	if (r == chord_rt_region_mine(ctl))
		left = chord_rt_set_base(ctl, 0);
	else if (!left && __atomic_load_n(&r->tid, __ATOMIC_SEQ_CST) != -1)
		left = chord_rt_make_leave(ctl, r);
	else
		left = true;
	if (!left)
		chord_rt_text(ctl, "a thread may have written to memory of the program in place of a library's counters");
}
