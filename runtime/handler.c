/* SPDX-License-Identifier: MIT */
/* Handlers of the signals that instructions raise. A handler gets the state of the interrupted code and may let it go on at another
 * instruction, by an edge that is not in the graph. The profile lists these functions along with the exits. */

enum { CHORD_RT_SIG_DFL = 0, CHORD_RT_SIG_IGN = 1 };

/* The signals' numbers: ILL TRAP BUS FPE SEGV. */
static bool
chord_rt_is_raised(uint32_t sig)
{
	return sig == 4 || sig == 5 || sig == 7 || sig == 8 || sig == 11;
}

static void
chord_rt_count_handler(struct chord_rt_ctl *ctl, uint64_t handler)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, handler);
	uint64_t *count;

	if (!m) {
		if (chord_rt_handler_is_known(ctl, handler))
			return;
		if (!ctl->handlers_warned)
			chord_rt_text(ctl, "a handler of signals is in code that is not measured: where it lets the program go on "
			                   "elsewhere than where it was, counts are not exact");
		ctl->handlers_warned = 1;
		return;
	}
	count = chord_rt_exit_count(ctl, (handler - m->bias) | (uint64_t)(m->index + 1) << 48 | CHORD_EXIT_HANDLER);
	if (count && !*count)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* The program installs a handler. */
static void
chord_rt_handles(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook)
{
	uint32_t sig = (uint32_t)regs->r[CHORD_RT_ARG0], i = sig % 16;
	uint64_t handler = regs->r[CHORD_RT_ARG1];

	if (hook == CHORD_RT_HOOK_sigaction)
		handler = handler ? *(const uint64_t *)handler : CHORD_RT_SIG_DFL;
	if (!chord_rt_is_raised(sig) || handler <= CHORD_RT_SIG_IGN || handler == UINT64_MAX || !ctl->head)
		return;
	ctl->handler[i] = handler;
	chord_rt_count_handler(ctl, handler);
}

/* Lists the handlers in a forked child's profile. */
static void
chord_rt_take_over_handlers(struct chord_rt_ctl *ctl)
{
	ctl->handlers_warned = 0;
	for (uint32_t i = 0; i < sizeof ctl->handler / sizeof *ctl->handler; i++)
		if (ctl->handler[i])
			chord_rt_count_handler(ctl, ctl->handler[i]);
}
