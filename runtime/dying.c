/* SPDX-License-Identifier: MIT */
/* The end of a process by a signal that it sends to itself: abort and the like. The signal itself is not changed. If another
 * process sends the signal, or the kernel does for a fault, the runtime is not called: the head's state stays RUNNING, and the
 * reader says so. */

/* Will that signal, sent by this thread to its process, end the process at once? */
static bool
chord_rt_is_fatal(struct chord_rt_ctl *ctl, uint64_t sig)
{
	const uint64_t harmless = 1ull << 17 | 1ull << 18 | 1ull << 19 | 1ull << 20 | 1ull << 21 | 1ull << 22 | 1ull << 23 |
	    1ull << 28;           /* CHLD CONT STOP TSTP TTIN TTOU URG WINCH */
	uint64_t action[4] = {1}, blocked = 0, old;
	bool traced;

	if (sig - 1 >= 64 || (sig < 64 && harmless >> sig & 1) || ctl->pid == 1)
		return false;
	chord_rt_call(SYS_rt_sigaction, sig, 0, action, 8);
	chord_rt_call(SYS_rt_sigprocmask, 0, 0, &blocked, 8);
	if ((action[0] && action[0] != ctl->bus) || blocked >> (sig - 1) & 1)
		return false;
	old = chord_rt_lock(ctl);
	traced = chord_rt_traced(ctl); /* a debugger may keep the signal */
	chord_rt_unlock(ctl, old);
	return !traced;
}

/* Takes back the exits recorded for a thread that was to die, because a handler of SIGABRT ends the process in another way. */
static void
chord_rt_not_dying(struct chord_rt_ctl *ctl)
{
	if (!ctl->dying || ctl->dying != (int32_t)chord_rt_call(SYS_gettid))
		return;
	chord_rt_trace_note(ctl, CHORD_EVENT_STAYS, 0);
	chord_rt_fibres(ctl, &ctl->dying_regs, 0, -1ull);
	chord_rt_leave_all(ctl, &ctl->dying_regs, -1ull);
	ctl->head->state = ctl->dying_state;
	ctl->dying = 0;
}

/* The process is about to end by a signal. This is recorded as at any end, but it can be taken back. */
static void
chord_rt_dies(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t sig)
{
	int32_t nobody = 0;

	if (ctl->ended ||
	    !__atomic_compare_exchange_n(&ctl->dying, &nobody, (int32_t)chord_rt_call(SYS_gettid), false, __ATOMIC_RELAXED,
	        __ATOMIC_RELAXED))
		return;
	chord_rt_trace_ends(ctl, CHORD_ENDS(CHORD_ENDS_SIGNAL, sig));
	ctl->dying_regs = *regs;
	ctl->dying_sp = regs->r[CHORD_RT_SP];
	ctl->dying_state = ctl->head->state;
	chord_rt_fibres(ctl, regs, 0, 1);
	chord_rt_leave_all(ctl, regs, 1);
	chord_rt_settle_others(ctl, false);
}
