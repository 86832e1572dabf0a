/* SPDX-License-Identifier: MIT */
/* Threads that end by pthread_exit and by cancellation. */

/* All frames of the thread are left. Landing pads that still run find the exits counted already. */
static void
chord_rt_thread_ends(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t how)
{
	chord_rt_trace_note(ctl, CHORD_EVENT_ENDS, how);
	chord_rt_leave_all(ctl, regs, 1);
	chord_rt_all_left(ctl, chord_rt_region_mine(ctl), regs);
}

/* A cleanup handler in C has run. libc now jumps back to the handler's frame, after a call like that of setjmp. */
static void
chord_rt_unwound(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t sp, pc;

	chord_rt_target((const uint64_t *)regs->r[CHORD_RT_ARG0], &sp, &pc);
	chord_rt_count_at(ctl, pc, CHORD_EXIT_REENTRY, 1, 0);
}

/* ---- cancelled threads ---- */

static int chord_rt_pthread_unwind(void *) __attribute__((weakref("__pthread_unwind")));

/* Is the frame of w libc's code that ends a thread? */
static bool
chord_rt_is_libc(struct chord_rt_walk *w)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC] - 1;

	chord_rt_find_object(&w->in, pc);
	if (w->in.ctl->dynamic)
		return w->in.ctl->real[CHORD_RT_HOOK_pthread_cancel] - w->in.map < w->in.map_end - w->in.map;
	return chord_rt_pthread_unwind && chord_rt_find_cfi(w, pc) && w->cfi.begin == (uint64_t)chord_rt_pthread_unwind;
}

/* The unwinder asks for the object of a frame. When libc ends a thread by force, it calls the unwinder through no table, but the
 * unwinder's call goes through one. It is hooked when a thread is cancelled for the first time. */
static void
chord_rt_unwinding(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_walk w;

	if (chord_rt_left(ctl) != ~0ull)
		return;
	chord_rt_walk_from(&w, ctl, regs);
	for (uint32_t i = 0; i < 8 && chord_rt_look(&w) == CHORD_RT_FRAME; i++) {
		uint64_t begin = w.begin;

		chord_rt_up(&w);
		if (begin != ctl->real[CHORD_RT_HOOK__Unwind_ForcedUnwind])
			continue;
		if (chord_rt_is_libc(&w))
			chord_rt_thread_ends(ctl, &w.regs, CHORD_ENDS_CANCELLED);
		return;
	}
}

/* Does the same in static programs. */
static void
chord_rt_forced(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_walk w;

	if (ctl->dynamic || chord_rt_left(ctl) != ~0ull)
		return;
	chord_rt_walk_from(&w, ctl, regs);
	if (chord_rt_is_libc(&w))
		chord_rt_thread_ends(ctl, regs, CHORD_ENDS_CANCELLED);
}

static void
chord_rt_hook_the_new(struct chord_rt_ctl *ctl, void *nothing)
{
	(void)nothing;
	chord_rt_hook_all(ctl, true);
}

static uint64_t
chord_rt_hook_again(struct chord_rt_ctl *ctl, uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	chord_rt_locked_with_list(ctl, chord_rt_hook_the_new, NULL);
	return 0;
}

/* Has the dynamic linker reported no change since the last time? This takes no lock: the caller of dlsym may hold one that a
 * callback of dl_iterate_phdr waits for in another thread. */
static bool
chord_rt_nothing_changed(struct chord_rt_ctl *ctl)
{
	uint32_t changes = __atomic_load_n(&ctl->changes, __ATOMIC_RELAXED);

	return ctl->debug && ctl->dl_asked && ctl->nlist == 1 &&
	    changes == __atomic_exchange_n(&ctl->changes_asked, changes, __ATOMIC_RELAXED);
}

/* Hooks the tables of objects that were opened since the last time. */
static void
chord_rt_hook_new(struct chord_rt_ctl *ctl)
{
	uint64_t adds;

	if (!ctl->dynamic || !chord_rt_dl_iterate_phdr || chord_rt_nothing_changed(ctl))
		return;
	adds = chord_rt_counted().adds;
	if (adds && adds == __atomic_exchange_n(&ctl->dl_asked, adds, __ATOMIC_RELAXED))
		return;
	chord_rt_on_own_stack(ctl, chord_rt_hook_again, 0, 0);
}

/* A thread is cancelled for the first time. The unwinder has to be loaded and hooked before that, and libc would load it only
 * now. */
static void
chord_rt_cancels(struct chord_rt_ctl *ctl)
{
	uint64_t open, location;
	int keep, *e = &keep;

	if (ctl->cancels || !ctl->dynamic)
		return;
	if (!ctl->real[CHORD_RT_HOOK__dl_find_object]) { /* the unwinder asks for objects in other ways */
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
		return;
	}
	open = chord_rt_lookup("dlopen");
	location = chord_rt_lookup("__errno_location");
	if (location)
		e = ((int *(*)(void))location)();
	keep = *e;
	if (open && !ctl->real[CHORD_RT_HOOK__Unwind_ForcedUnwind])
		((void *(*)(const char *, int))open)("libgcc_s.so.1", 2);
	*e = keep;
	ctl->cancels = 1;
	ctl->dl_asked = 0;
	chord_rt_hook_new(ctl);
}
