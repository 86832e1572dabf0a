/* SPDX-License-Identifier: MIT */
/* The runtime's own stacks. A walk needs some kilobytes, but the program may have left a few hundred bytes of stack, because
 * alternate signal stacks are small. So walks run on a stack of the runtime's, one for each region, with signals blocked. Otherwise
 * a handler would use the program's stack, or start its alternate stack anew while that is in use. */

#define CHORD_RT_FAULTS (1ull << 3 | 1ull << 4 | 1ull << 6 | 1ull << 7 | 1ull << 10) /* SIGILL TRAP BUS FPE SEGV: never blocked */

typedef uint64_t chord_rt_own_stack_fn(struct chord_rt_ctl *ctl, uint64_t a, uint64_t b);

extern uint64_t chord_rt_call_on(uint64_t top, chord_rt_own_stack_fn *f, struct chord_rt_ctl *ctl, uint64_t a, uint64_t b)
	__attribute__((visibility("hidden")));

/* Takes the stack of the region for the calling thread. Gives its top; 0: there is none, or it is in use, by this thread or by one
 * that shares the region. */
static uint64_t
chord_rt_take_own_stack(struct chord_rt_region *r)
{
	uint64_t none = 0;

	if (!r || !__atomic_compare_exchange_n(&r->program_sp, &none, (uint64_t)__builtin_frame_address(0), false, __ATOMIC_ACQUIRE,
	    __ATOMIC_RELAXED))
		return 0;
	if (!r->own_stack)
		r->program_sp = 0;
	return r->own_stack ? r->own_stack + CHORD_RT_OWN_STACK : 0;
}

/* Gives the stack back. In a forked child the thread may have another region by now. */
static void
chord_rt_give_own_stack(struct chord_rt_ctl *ctl, struct chord_rt_region *r)
{
	struct chord_rt_region *now = chord_rt_region_mine(ctl);

	__atomic_store_n(&r->program_sp, 0, __ATOMIC_RELEASE);
	if (now)
		__atomic_store_n(&now->program_sp, 0, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) uint64_t
chord_rt_on_own_stack(struct chord_rt_ctl *ctl, chord_rt_own_stack_fn *f, uint64_t a, uint64_t b)
{
	uint64_t most = ~CHORD_RT_FAULTS, old = 0, top, value;
	struct chord_rt_region *r;

	chord_rt_call(SYS_rt_sigprocmask, 0, &most, &old, 8);
	r = chord_rt_region_mine(ctl);
	top = chord_rt_take_own_stack(r);
	if (top) {
		value = chord_rt_call_on(top, f, ctl, a, b);
		chord_rt_give_own_stack(ctl, r);
	} else {
		value = f(ctl, a, b);
	}
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
	return value;
}
