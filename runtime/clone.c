/* SPDX-License-Identifier: MIT */
/* Threads and processes that system calls make: clone(), libc's syscall(), and system call instructions in measured code. Woven
 * code calls the runtime before a system call that may make or end a thread or process, and after one that returned 0. */

#include <linux/sched.h>

/* A thread or process may be about to be made. Prepares the word by which a child sees whether its memory is its own. shares: the
 * child may share its maker's memory. Then the maker leaves the narrow gap first, because a child cannot move it. */
static void
chord_rt_before_birth(struct chord_rt_ctl *ctl, bool shares)
{
	uint64_t old = chord_rt_lock(ctl);
	long p;

	if (shares)
		chord_rt_leave_gap(ctl);
	if (!ctl->whole) {
		p = chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
		if (!chord_rt_failed(p) && chord_rt_failed(chord_rt_call(SYS_madvise, p, CHORD_RT_PAGE, 18))) /* MADV_WIPEONFORK */
			chord_rt_call(SYS_munmap, p, CHORD_RT_PAGE);
		else if (!chord_rt_failed(p))
			ctl->whole = (uint64_t *)p;
	}
	if (ctl->whole)
		*ctl->whole = 1;
	chord_rt_unlock(ctl, old);
}

/* Gives a region to the calling thread, which was made in the middle of a function. Its activation there is resumed. If there are
 * activations further up, they are not the thread's. */
static void
chord_rt_adopt(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t pid)
{
	uint64_t old = chord_rt_lock(ctl);
	struct chord_rt_region *r = NULL;
	struct chord_rt_walk w;

	if (chord_rt_region_enter(ctl)) {
		r = chord_rt_region_mine(ctl);
		r->process = pid == ctl->pid ? 0 : pid;
	}
	chord_rt_unlock(ctl, old);
	if (!r) {
		chord_rt_not_watched(ctl, "a thread had no room for counters of its own", CHORD_RT_UNSEEN_THREAD);
		return;
	}
	__atomic_store_n(&ctl->births, 1, __ATOMIC_RELAXED);
	chord_rt_walk_from(&w, ctl, regs);
	chord_rt_look(&w);
	r->first_function = w.begin;
	r->first_sp = regs->r[CHORD_RT_SP];
	chord_rt_count_at(ctl, w.regs.r[CHORD_RT_PC] + w.exact, CHORD_EXIT_REENTRY, 1, w.exact ? 0 : w.cfa);
}

/* A system call that may make a thread or process has returned 0. */
static __attribute__((used)) void
chord_rt_made_here(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = ctl && ctl->magic && !ctl->nogs ? chord_rt_region_mine(ctl) : NULL;
	uint32_t pid;

	if (!r || r->tid == (int32_t)chord_rt_call(SYS_gettid))
		return;
	pid = (uint32_t)chord_rt_call(SYS_getpid);
	if (pid != ctl->pid && (!ctl->whole || !*ctl->whole))
		chord_rt_forked(regs);
	else
		chord_rt_adopt(ctl, regs, pid);
}

/* ---- what a system call is about to do ---- */

/* This thread ends; if it is the only one, the process ends. */
static void
chord_rt_thread_exits(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	if (chord_rt_others_live(ctl))
		chord_rt_thread_ends(ctl, regs, CHORD_ENDS_THREAD);
	else
		chord_rt_end(ctl, regs, CHORD_ENDS_AT_ONCE);
}

/* A system call with that number and these arguments is about to be made. */
static void
chord_rt_calls(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	bool group = number == SYS_exit_group;

	switch (number) {
	case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork:
		chord_rt_before_birth(ctl, number != SYS_fork);
		return;
	case SYS_exit: case SYS_exit_group:
		chord_rt_not_dying(ctl);
		if (chord_rt_vfork_ends(ctl, regs) || chord_rt_other_process(ctl))
			return;
		if (group)
			chord_rt_end(ctl, regs, CHORD_ENDS_AT_ONCE);
		else
			chord_rt_thread_exits(ctl, regs);
		return;
	case SYS_kill: case SYS_tkill:
		if (a == ctl->pid && chord_rt_is_fatal(ctl, b) && !chord_rt_other_process(ctl))
			chord_rt_dies(ctl, regs, (uint32_t)b);
		return;
	case SYS_tgkill:
		if (a == ctl->pid && chord_rt_is_fatal(ctl, c) && !chord_rt_other_process(ctl))
			chord_rt_dies(ctl, regs, (uint32_t)c);
		return;
	}
}

/* Woven code is about to make a system call, whose number is in rax. */
static __attribute__((used)) void
chord_rt_system_call(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (!ctl || !ctl->magic)
		return;
	chord_rt_confines_by(ctl, regs);
	chord_rt_calls(ctl, regs, regs->r[CHORD_RT_RESULT], regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1],
	    regs->r[CHORD_RT_ARG2]);
}

typedef long chord_rt_syscall_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Handles libc's syscall(). True: it has been called from here, because it makes a process on a copy of this stack. A child on
 * another stack or in the same memory would not return here. */
static bool
chord_rt_function_syscall(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint64_t real)
{
	uint64_t number = regs->r[CHORD_RT_ARG0], flags = regs->r[CHORD_RT_ARG1], stack = regs->r[CHORD_RT_ARG2];
	const struct clone_args *args = (const struct clone_args *)regs->r[CHORD_RT_ARG1];

	if (number == SYS_clone3 && args)
		flags = args->flags, stack = args->stack;
	chord_rt_calls(ctl, regs, number, regs->r[CHORD_RT_ARG1], regs->r[CHORD_RT_ARG2], regs->r[CHORD_RT_ARG3]);
	if (number != SYS_clone && number != SYS_clone3 && number != SYS_fork && number != SYS_vfork)
		return false;
	if (number == SYS_vfork || (number != SYS_fork && (flags & CLONE_VM || stack))) {
		chord_rt_not_watched(ctl, "a thread or process made by syscall() counted with the one that made it",
		    CHORD_RT_UNSEEN_THREAD);
		return false;
	}
	regs->r[CHORD_RT_RESULT] = (uint64_t)((chord_rt_syscall_fn *)real)(number, regs->r[CHORD_RT_ARG1], regs->r[CHORD_RT_ARG2],
	    regs->r[CHORD_RT_ARG3], regs->r[CHORD_RT_ARG4], regs->r[CHORD_RT_ARG5]);
	if (regs->r[CHORD_RT_RESULT] == 0)
		chord_rt_made_here(regs);
	return true;
}

/* ---- clone ---- */

extern void chord_rt_process_entry(void) __attribute__((visibility("hidden")));

typedef int chord_rt_clone_fn(uint64_t, uint64_t, uint64_t, void *, uint64_t, uint64_t, uint64_t);

/* Runs in a process that clone() made with memory of its own. None of its maker's activations goes on in it. */
static __attribute__((used)) void
chord_rt_process_begin(void)
{
	chord_rt_forked(NULL);
}

/* The first function of that process has returned to libc, which ends it. */
static __attribute__((used)) void
chord_rt_process_returns(void)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (ctl && ctl->magic && !chord_rt_other_process(ctl) && !ctl->ended)
		ctl->head->state = chord_rt_others_live(ctl) ? CHORD_STATE_THREADS : CHORD_STATE_ENDED;
}

static int
chord_rt_clone(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, chord_rt_clone_fn *real)
{
	uint64_t flags = regs->r[CHORD_RT_ARG2], entry = (uint64_t)&chord_rt_thread_entry;
	uint64_t last = *(const uint64_t *)regs->r[CHORD_RT_SP];
	struct chord_rt_region *r, keep = {0};
	int e;

	if (!(flags & CLONE_VM)) {
		r = &keep;
		r->start = (void *(*)(void *))regs->r[CHORD_RT_ARG0];
		r->arg = (void *)regs->r[CHORD_RT_ARG3];
		entry = (uint64_t)&chord_rt_process_entry;
	} else {
		r = chord_rt_expect_thread(ctl, (void *(*)(void *))regs->r[CHORD_RT_ARG0], (void *)regs->r[CHORD_RT_ARG3]);
	}
	if (!r)
		return real(regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1], flags, (void *)regs->r[CHORD_RT_ARG3],
		    regs->r[CHORD_RT_ARG4], regs->r[CHORD_RT_ARG5], last);
	e = real(entry, regs->r[CHORD_RT_ARG1], flags, r, regs->r[CHORD_RT_ARG4], regs->r[CHORD_RT_ARG5], last);
	if (e < 0 && r != &keep)
		chord_rt_no_thread(ctl, r);
	return e;
}
