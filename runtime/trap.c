/* SPDX-License-Identifier: MIT */
static bool
chord_rt_steps(struct chord_rt_ctl *ctl, struct chord_rt_region *r, struct chord_rt_timer *t)
{
	(void)ctl; (void)r; (void)t;
	return false;
}
static __attribute__((used)) int
chord_rt_timer_struck(uint64_t at, struct chord_rt_call *call)
{
	(void)at; (void)call;
	return 0;
}
