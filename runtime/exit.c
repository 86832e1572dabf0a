/* SPDX-License-Identifier: MIT */
/* The ends of a process and of activations that do not return. */

static __attribute__((used)) void
chord_rt_destruct(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_mod *me;
	uint64_t old;

	(void)regs;
	if (!ctl)
		return;
	old = chord_rt_lock(ctl);
	me = chord_rt_me(ctl);
	if (me) {
		chord_rt_fold(ctl, me);
		chord_rt_unhook(ctl, &chord_rt_desc);
		me->left = 1;
	}
	chord_rt_unlock(ctl, old);
}
