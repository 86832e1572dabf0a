/* SPDX-License-Identifier: MIT */
/* A child of vfork runs in its parent's memory and on its stack, and counts in its profile, until it executes another program or
 * exits. For the counts this is a jump back to the point after the call of vfork: the child leaves all frames up to that of vfork's
 * caller, and the parent resumes that frame. Emulators of processes, such as valgrind and qemu's, make vfork a fork. */

static int *chord_rt_errno(void) __attribute__((weakref("__errno_location")));
static void chord_rt_be_child_first(const struct chord_rt_regs *regs);
static void chord_rt_forked(const struct chord_rt_regs *regs);
static void chord_rt_before_birth(struct chord_rt_ctl *ctl, bool shares);

static struct chord_rt_region *
chord_rt_region_shared(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = chord_rt_region_mine(ctl);

	return r || !ctl->nregion ? r : chord_rt_region(ctl, 0);
}

/* If this is a child of vfork, the region in which the call of vfork is noted; else NULL. */
static struct chord_rt_region *
chord_rt_vforked(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = chord_rt_region_shared(ctl);

	return r && r->nvfork && r->vfork[r->nvfork - 1].pid != (uint64_t)chord_rt_call(SYS_getpid) ? r : NULL;
}

/* The child ends; delta -1: it does not end after all. */
static void
chord_rt_vfork_leave(struct chord_rt_ctl *ctl, const struct chord_rt_vfork *v, const struct chord_rt_regs *regs,
    uint64_t delta)
{
	struct chord_rt_walk w;
	uint64_t begin;
	uint32_t n;

	chord_rt_walk_from(&w, ctl, regs);
	chord_rt_find_object(&w.in, v->pc - 1);
	begin = chord_rt_find_cfi(&w, v->pc - 1) ? w.cfi.begin : 0;
	n = chord_rt_frames_to(&w, v->sp, begin);
	if (!n)
		__atomic_fetch_add(&ctl->head->in_flight, delta, __ATOMIC_RELAXED);
	for (chord_rt_walk_from(&w, ctl, regs); n-- > 0; chord_rt_up(&w)) {
		chord_rt_look(&w);
		chord_rt_leave_frame(&w, delta);
	}
	chord_rt_count_at(ctl, v->pc, CHORD_EXIT_REENTRY, delta, 0);
}

/* Is this another process, made by a system call, that has a region of its own here? */
static bool
chord_rt_has_own(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_region *r = chord_rt_region_mine(ctl);

	return r && r->process && r->process == (uint32_t)chord_rt_call(SYS_getpid);
}

/* A child of vfork, or such a process, ends. False: this is neither. */
static bool
chord_rt_vfork_ends(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_region *r;

	if (chord_rt_has_own(ctl)) {
		chord_rt_leave_all(ctl, regs, 1);
		return true;
	}
	r = chord_rt_vforked(ctl);
	if (r)
		chord_rt_vfork_leave(ctl, &r->vfork[--r->nvfork], regs, 1);
	return r != NULL;
}

/* exec has failed in a child of vfork, or in such a process. */
static void
chord_rt_vfork_stays(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_region *r = chord_rt_region_shared(ctl);

	if (chord_rt_has_own(ctl)) {
		chord_rt_leave_all(ctl, regs, -1ull);
		return;
	}
	chord_rt_vfork_leave(ctl, &r->vfork[r->nvfork++], regs, -1ull);
}

static bool
chord_rt_watches(struct chord_rt_ctl *ctl)
{
	return ctl && ctl->magic && (!chord_rt_other_process(ctl) || chord_rt_vforked(ctl));
}

static __attribute__((used)) void
chord_rt_vfork_begins(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r;

	chord_rt_be_child_first(regs);
	r = chord_rt_watches(ctl) ? chord_rt_region_shared(ctl) : NULL;
	if (!r)
		return;
	chord_rt_before_birth(ctl, false);
	if (r->nvfork == sizeof r->vfork / sizeof *r->vfork)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	else
		r->vfork[r->nvfork++] = (struct chord_rt_vfork){regs->r[CHORD_RT_SP], regs->r[CHORD_RT_PC],
		    (uint64_t)chord_rt_call(SYS_getpid), false};
}

/* Runs in the child, which returns first. */
static __attribute__((used)) void
chord_rt_vfork_child(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = ctl && ctl->magic ? chord_rt_region_shared(ctl) : NULL;

	if (r && r->nvfork && (ctl->qemu || (ctl->whole && !*ctl->whole)))
		chord_rt_forked(regs);
	else if (r && r->nvfork)
		r->vfork[r->nvfork - 1].ran = true;
}

/* The note of the call of vfork at that stack pointer by this process, or NULL. */
static struct chord_rt_vfork *
chord_rt_vfork_noted(struct chord_rt_region *r, uint64_t sp)
{
	uint64_t me = (uint64_t)chord_rt_call(SYS_getpid);

	for (uint32_t i = r->nvfork; i-- > 0;)
		if (r->vfork[i].sp == sp && r->vfork[i].pid == me)
			return &r->vfork[i];
	return NULL;
}

/* Runs in the parent, with the result of the system call. If the child ran in this memory and the call is still noted, the child
 * was killed, and its end was not seen. Notes after this one are of calls in the child. */
static __attribute__((used)) void
chord_rt_vfork_done(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = ctl && ctl->magic ? chord_rt_region_shared(ctl) : NULL;
	struct chord_rt_vfork *v = r ? chord_rt_vfork_noted(r, regs->r[CHORD_RT_SP]) : NULL;
	bool failed = chord_rt_failed((long)regs->r[CHORD_RT_RESULT]);

	if (v) {
		r->nvfork = (uint32_t)(v - r->vfork);
		if (r->program_sp < v->sp)
			r->program_sp = 0; /* the child was on the runtime's stack */
		if (!failed && v->ran) {
			chord_rt_count_at(ctl, v->pc, CHORD_EXIT_REENTRY, 1, 0);
			__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
			chord_rt_trace_vfork_killed(ctl);
		}
	}
	if (failed) {
		if (chord_rt_errno)
			*chord_rt_errno() = -(int)regs->r[CHORD_RT_RESULT];
		regs->r[CHORD_RT_RESULT] = -1ull;
	}
}
