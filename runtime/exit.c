/* SPDX-License-Identifier: MIT */
/* The ends of a process and of activations that do not return. */

static __attribute__((used)) void
chord_rt_destruct(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint64_t old;

	(void)regs;
	if (!ctl)
		return;
	old = chord_rt_lock(ctl);
	chord_rt_fold_all(ctl);
	chord_rt_unhook(ctl, &chord_rt_desc);
	chord_rt_unlock(ctl, old);
}
