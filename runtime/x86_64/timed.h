/* SPDX-License-Identifier: MIT */
/* What timers need from the processor: a pair of words that changes atomically, and the size of the state that a handler has to
 * preserve. */

/* Sets the pair from {way, rest} to {to, way + rest - to}, in one step. False: it was not {way, rest}. */
static bool
chord_rt_swap_pair(struct chord_rt_pair *p, int64_t way, int64_t rest, int64_t to)
{
	int64_t was = way;
	bool ok;

	__asm__ volatile("cmpxchg16b %1" : "=@ccz"(ok), "+m"(*p), "+a"(way), "+d"(rest)
	    : "b"(to), "c"((int64_t)((uint64_t)rest + (uint64_t)was - (uint64_t)to)) : "memory");
	return ok;
}

/* ---- state of floating point and vectors ---- */

static void
chord_rt_cpuid(uint32_t leaf, uint32_t r[4])
{
	__asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "0"(leaf), "2"(0));
}

/* Bytes of the state for xsave, or for fxsave without xsave. 0: there can be no timers, because cmpxchg16b is missing. */
static uint64_t
chord_rt_state_size(struct chord_rt_ctl *ctl)
{
	uint32_t r[4];

	if (ctl->state_size)
		return ctl->state_size - 1;
	chord_rt_cpuid(1, r);
	if (!(r[2] & 1 << 13)) {
		ctl->state_size = 1;
		return 0;
	}
	if (r[2] & 1 << 27) {
		chord_rt_cpuid(0xd, r);
		ctl->state_size = ((r[1] + 63) & ~63u) + 1;
	} else {
		ctl->state_size = 513;
	}
	return ctl->state_size - 1;
}
