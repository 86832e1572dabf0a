/* SPDX-License-Identifier: MIT */
/* What happens at each hooked function, and the destructor. */

enum { CHORD_RT_SIGABRT = 6 };

/* If the threads that libc makes for a timer or a message queue cannot be seen, they have their maker's base and count in its
 * region. */
static void
chord_rt_may_make(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	const int32_t *sigevent = (const int32_t *)regs->r[CHORD_RT_ARG1];

	if (ctl->dynamic && !ctl->real[CHORD_RT_HOOK__dl_allocate_tls] && sigevent && sigevent[3] == 2) /* SIGEV_THREAD */
		chord_rt_not_watched(ctl, "the C library made a thread that counted with the one that made it",
		    CHORD_RT_UNSEEN_LIBC);
}

/* The program is about to change the base by which all woven code addresses its counters, so it cannot run much longer. */
static void
chord_rt_note_own_base(struct chord_rt_ctl *ctl)
{
	uint64_t old = chord_rt_lock(ctl);

	ctl->bases = 0; /* there is no such page at a base of the program's own */
	chord_rt_text(ctl, "the program set a base of the gs segment of its own, by which counters are addressed: "
	    "what it did after that is not known");
	chord_rt_unlock(ctl, old);
}

/* ---- exec ---- */

typedef int chord_rt_exec_fn(uint64_t, uint64_t, uint64_t, uint64_t);

/* Argument i of execl and the like, as calls pass them: those after the first. */
static uint64_t
chord_rt_listed(const struct chord_rt_regs *regs, uint32_t i)
{
	static const uint8_t reg[] = {CHORD_RT_ARG1, CHORD_RT_ARG2, CHORD_RT_ARG3, CHORD_RT_ARG4, CHORD_RT_ARG5};

	return i < sizeof reg ? regs->r[reg[i]] : ((const uint64_t *)regs->r[CHORD_RT_SP])[i - sizeof reg];
}

/* Uses as much stack as libc would. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstack-usage="
static __attribute__((noinline)) int
chord_rt_exec_list(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook)
{
	uint32_t n = 0;
	uint64_t env;

	while (chord_rt_listed(regs, n))
		n++;
	uint64_t argv[n + 1];

	for (uint32_t i = 0; i <= n; i++)
		argv[i] = chord_rt_listed(regs, i);
	if (hook == CHORD_RT_HOOK_execle)
		env = chord_rt_listed(regs, n + 1);
	else
		env = (uint64_t)chord_rt_environment();
	/* A static program with execlp has execvpe, but not execvp. */
	if (hook == CHORD_RT_HOOK_execlp)
		hook = ctl->real[CHORD_RT_HOOK_execvpe] ? CHORD_RT_HOOK_execvpe : CHORD_RT_HOOK_execvp;
	else
		hook = CHORD_RT_HOOK_execve;
	return ((chord_rt_exec_fn *)ctl->real[hook])(regs->r[CHORD_RT_ARG0], (uint64_t)argv, env, 0);
}
#pragma GCC diagnostic pop

/* What has to be taken back if the program is not replaced. */
struct chord_rt_replaced {
	const struct chord_rt_regs *regs;
	uint64_t state;
	bool ours, child;
};

static uint64_t
chord_rt_before_exec(struct chord_rt_ctl *ctl, uint64_t to, uint64_t none)
{
	struct chord_rt_replaced *r = (struct chord_rt_replaced *)to;

	(void)none;
	chord_rt_not_dying(ctl);
	r->ours = !ctl->ended && !chord_rt_other_process(ctl);
	r->child = chord_rt_vfork_ends(ctl, r->regs);
	if (!r->ours)
		return 0;
	r->state = ctl->head->state;
	chord_rt_trace_ends(ctl, CHORD_ENDS_EXEC);
	chord_rt_fibres(ctl, r->regs, 0, 1);
	chord_rt_leave_all(ctl, r->regs, 1);
	ctl->head->state = chord_rt_others_live(ctl) ? CHORD_STATE_THREADS : CHORD_STATE_ENDED;
	return 0;
}

static uint64_t
chord_rt_after_exec(struct chord_rt_ctl *ctl, uint64_t from, uint64_t none)
{
	const struct chord_rt_replaced *r = (const struct chord_rt_replaced *)from;

	(void)none;
	if (r->ours) {
		chord_rt_trace_note(ctl, CHORD_EVENT_STAYS, 0);
		chord_rt_fibres(ctl, r->regs, 0, -1ull);
		chord_rt_leave_all(ctl, r->regs, -1ull);
		ctl->head->state = r->state;
	}
	if (r->child)
		chord_rt_vfork_stays(ctl, r->regs);
	return 0;
}

/* The program is replaced; if that fails, what was recorded as left is taken back. */
static int
chord_rt_exec(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook, uint64_t real)
{
	struct chord_rt_replaced r = {.regs = regs};
	int e;

	chord_rt_on_own_stack(ctl, chord_rt_before_exec, (uint64_t)&r, 0);
	if (hook >= CHORD_RT_HOOK_execl)
		e = chord_rt_exec_list(ctl, regs, hook);
	else
		e = ((chord_rt_exec_fn *)real)(regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1], regs->r[CHORD_RT_ARG2],
		    regs->r[CHORD_RT_ARG3]);
	chord_rt_on_own_stack(ctl, chord_rt_after_exec, (uint64_t)&r, 0);
	return e;
}

/* The parent ends inside daemon(), by a call of _exit that goes through no table. The child returns from daemon(), unless something
 * fails. */
static int
chord_rt_daemon(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t real)
{
	bool ours = !ctl->ended && !chord_rt_other_process(ctl);
	uint64_t state = ctl->head->state;
	uint32_t pid = ctl->pid;
	int e;

	if (ours) {
		chord_rt_trace_ends(ctl, CHORD_ENDS_DAEMON);
		chord_rt_fibres(ctl, regs, 0, 1);
		chord_rt_leave_all(ctl, regs, 1);
		ctl->daemon = regs;
		ctl->head->state = chord_rt_others_live(ctl) ? CHORD_STATE_THREADS : CHORD_STATE_ENDED;
	}
	e = ((int (*)(uint64_t, uint64_t))real)(regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1]);
	if (ours && (uint32_t)chord_rt_call(SYS_getpid) == pid) {
		chord_rt_trace_note(ctl, CHORD_EVENT_STAYS, 0);
		chord_rt_fibres(ctl, regs, 0, -1ull);
		chord_rt_leave_all(ctl, regs, -1ull);
		ctl->head->state = state;
	}
	ctl->daemon = NULL;
	return e;
}

/* ---- called from entry.s ---- */

/* An activation, or a whole thread, may end here. */
static uint64_t
chord_rt_leaves(struct chord_rt_ctl *ctl, uint64_t at, uint64_t hook)
{
	const struct chord_rt_regs *regs = (const struct chord_rt_regs *)at;

	chord_rt_not_dying(ctl);
	if (hook <= CHORD_RT_HOOK_thrd_exit)
		chord_rt_check_self(ctl);
	switch (hook) {
	case CHORD_RT_HOOK__exit:
	case CHORD_RT_HOOK__Exit:
	case CHORD_RT_HOOK_quick_exit:
		if (!chord_rt_vfork_ends(ctl, regs) && !chord_rt_other_process(ctl))
			chord_rt_end(ctl, regs, CHORD_ENDS_AT_ONCE);
		break;
	case CHORD_RT_HOOK_pthread_exit:
	case CHORD_RT_HOOK_thrd_exit:
		chord_rt_thread_ends(ctl, regs, CHORD_ENDS_THREAD);
		break;
	case CHORD_RT_HOOK__Unwind_SetIP:
		chord_rt_land(ctl, regs);
		break;
	case CHORD_RT_HOOK__Unwind_ForcedUnwind:
		chord_rt_forced(ctl, regs);
		break;
	case CHORD_RT_HOOK___pthread_unwind_next:
		chord_rt_unwound(ctl, regs);
		break;
	case CHORD_RT_HOOK_setcontext:
		chord_rt_to_context(ctl, regs, 0, regs->r[CHORD_RT_ARG0]);
		break;
	case CHORD_RT_HOOK_swapcontext:
		chord_rt_to_context(ctl, regs, regs->r[CHORD_RT_ARG0], regs->r[CHORD_RT_ARG1]);
		break;
	case CHORD_RT_HOOK__dl_find_object:
		chord_rt_unwinding(ctl, regs);
		break;
	default:
		chord_rt_jump(ctl, regs);
	}
	return 0;
}

static uint64_t
chord_rt_may_die(struct chord_rt_ctl *ctl, uint64_t regs, uint64_t sig)
{
	chord_rt_not_dying(ctl);
	chord_rt_dies(ctl, (const struct chord_rt_regs *)regs, (uint32_t)sig);
	return 0;
}

/* The process may end by a signal. */
static void
chord_rt_signals(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint32_t hook)
{
	uint32_t first = (uint32_t)regs->r[CHORD_RT_ARG0], sig = CHORD_RT_SIGABRT;

	if (hook == CHORD_RT_HOOK_raise)
		sig = first;
	else if (hook == CHORD_RT_HOOK_kill)
		sig = (uint32_t)regs->r[CHORD_RT_ARG1];
	if (chord_rt_other_process(ctl) || (hook == CHORD_RT_HOOK_kill && first && first != ctl->pid))
		return;
	if ((hook == CHORD_RT_HOOK_raise || hook == CHORD_RT_HOOK_kill) && !chord_rt_is_fatal(ctl, sig))
		return;
	chord_rt_on_own_stack(ctl, chord_rt_may_die, (uint64_t)regs, sig);
}

/* Hooks that call the real function themselves. True: this is one, and its result is in regs. */
static __attribute__((noinline)) bool
chord_rt_calls_real(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint32_t hook, uint64_t real)
{
	int e;

	if (hook >= CHORD_RT_HOOK_execve && hook <= CHORD_RT_HOOK_execle &&
	    (hook < CHORD_RT_HOOK_execl || ctl->real[CHORD_RT_HOOK_execve])) {
		e = chord_rt_exec(ctl, regs, hook, real);
	} else if (hook == CHORD_RT_HOOK_daemon) {
		chord_rt_not_dying(ctl);
		e = chord_rt_daemon(ctl, regs, real);
	} else if (hook == CHORD_RT_HOOK__Fork) {
		e = ((int (*)(void))real)();
		if (e == 0)
			chord_rt_forked(regs); /* _Fork runs no handlers */
	} else if (hook == CHORD_RT_HOOK_clone && !ctl->nogs && !chord_rt_other_process(ctl)) {
		e = chord_rt_clone(ctl, regs, (chord_rt_clone_fn *)real);
	} else if (hook == CHORD_RT_HOOK_syscall) {
		if (regs->r[CHORD_RT_ARG0] == CHORD_RT_SYS_BASE && regs->r[CHORD_RT_ARG1] == CHORD_RT_SET_GS)
			chord_rt_note_own_base(ctl);
		return chord_rt_confines(ctl, regs, hook, real) || chord_rt_function_syscall(ctl, regs, real);
	} else if (hook == CHORD_RT_HOOK_prctl) {
		return chord_rt_confines(ctl, regs, hook, real);
	} else if (hook == CHORD_RT_HOOK_sigaction || hook == CHORD_RT_HOOK_signal) {
		chord_rt_handles(ctl, regs, hook);
		return chord_rt_bus_hooked(ctl, regs, hook, real);
	} else {
		return false;
	}
	regs->r[CHORD_RT_RESULT] = (uint64_t)(int64_t)e;
	return true;
}

/* Handles hooks after which the real function runs, and at which nothing ends. */
static __attribute__((noinline)) bool
chord_rt_only_looks(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint32_t hook)
{
	switch (hook) {
	case CHORD_RT_HOOK__dl_allocate_tls:
	case CHORD_RT_HOOK__dl_allocate_tls_init:
		chord_rt_descriptor_used(ctl, regs);
		break;
	case CHORD_RT_HOOK__dl_deallocate_tls:
		chord_rt_descriptor_free(ctl, regs->r[CHORD_RT_ARG0]);
		break;
	case CHORD_RT_HOOK_timer_create:
	case CHORD_RT_HOOK_mq_notify:
		chord_rt_may_make(ctl, regs);
		break;
	case CHORD_RT_HOOK_abort:
	case CHORD_RT_HOOK___assert_fail:
	case CHORD_RT_HOOK___assert_perror_fail:
	case CHORD_RT_HOOK_raise:
	case CHORD_RT_HOOK_kill:
		chord_rt_signals(ctl, regs, hook);
		break;
	case CHORD_RT_HOOK_pthread_cancel:
		chord_rt_cancels(ctl);
		break;
	case CHORD_RT_HOOK_chroot:
	case CHORD_RT_HOOK_unshare:
	case CHORD_RT_HOOK_setns:
	case CHORD_RT_HOOK_setuid:
	case CHORD_RT_HOOK_seteuid:
	case CHORD_RT_HOOK_setreuid:
	case CHORD_RT_HOOK_setresuid:
		chord_rt_hold_open(ctl);
		break;
	case CHORD_RT_HOOK_dlsym:
	case CHORD_RT_HOOK_dlvsym:
		chord_rt_hook_new(ctl);
		break;
	case CHORD_RT_HOOK__Fork:
	case CHORD_RT_HOOK_clone:
	case CHORD_RT_HOOK_syscall:
	case CHORD_RT_HOOK_prctl:
	case CHORD_RT_HOOK_sigaction:
	case CHORD_RT_HOOK_signal:
		break;
	default:
		return false;
	}
	return true;
}

/* A hooked function was called. Gives the address of the real one to jump to; 0 if it has been called already and its result is
 * in regs. */
static __attribute__((used)) CHORD_RT_HOT uint64_t
chord_rt_hooked(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint32_t hook = (uint32_t)regs->r[CHORD_RT_HOOKED] & (CHORD_RT_TABLE - 1);
	uint64_t real = chord_rt_real(ctl, hook, !(regs->r[CHORD_RT_HOOKED] & CHORD_RT_TABLE));

	if (!ctl || !ctl->magic || chord_rt_is_other(ctl, hook, real))
		return real;
	if (ctl->forkers)
		chord_rt_be_child_first(regs);
	if (chord_rt_leaves_quickly(ctl, regs, hook))
		return real;
	if (chord_rt_is_join(hook))
		return chord_rt_joins(ctl, regs, real);
	if (chord_rt_calls_real(ctl, regs, hook, real))
		return 0;
	if (!chord_rt_only_looks(ctl, regs, hook))
		chord_rt_on_own_stack(ctl, chord_rt_leaves, (uint64_t)regs, hook);
	return real;
}

/* Events were counted by threads that are older than the runtime, or that a thread without counters has made. */
static void
chord_rt_unwatched(struct chord_rt_ctl *ctl, uint64_t n)
{
	char s[96];

	s[0] = 0;
	chord_rt_append_number(s, sizeof s, n);
	chord_rt_append(s, sizeof s, " events were counted by threads without counters of their own", 61);
	ctl->head->flags |= CHORD_PROFILE_NOT_WATCHED;
	chord_rt_text(ctl, s);
}

static void chord_rt_exit_function(int) __attribute__((weakref("exit")));

/* Is there a module whose code may run? */
static bool
chord_rt_has_code(const struct chord_rt_ctl *ctl)
{
	const struct chord_rt_mod *m;

	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if ((m = chord_rt_module(ctl, i))->life == CHORD_LIFE_LOADED && !m->left)
			return true;
	return false;
}

static void
chord_rt_close_this(struct chord_rt_ctl *ctl, void *nothing)
{
	struct chord_rt_mod *me = chord_rt_me(ctl);
	uint64_t n = 0;

	(void)nothing;
	if (me && me->main)
		chord_rt_signal_kept(ctl);
	chord_rt_warn_of_guests(ctl);
	if (me) {
		n = chord_rt_fold(ctl, me);
		if (!ctl->ended)
			chord_rt_unhook(ctl, &chord_rt_desc);
		me->left = 1;
		if (!me->main)
			CHORD_RT_NOTIFY(closed, ctl, me);
	}
	if (n && !ctl->nogs)
		chord_rt_unwatched(ctl, n);
	if (!ctl->ended && !chord_rt_has_code(ctl))
		ctl->head->state = CHORD_STATE_ENDED; /* until another module begins */
}

/* The destructor of a module. It runs when the module is closed and when the process ends; the program itself is never closed. */
static uint64_t
chord_rt_close_self(struct chord_rt_ctl *ctl, uint64_t at, uint64_t none)
{
	const struct chord_rt_regs *regs = (const struct chord_rt_regs *)at;
	struct chord_rt_mod *me;
	uint64_t old;

	(void)none;
	if (chord_rt_vfork_ends(ctl, regs) || chord_rt_other_process(ctl))
		return 0;
	me = chord_rt_me(ctl);
	chord_rt_not_dying(ctl);
	if (me && me->main)
		chord_rt_check_threads(ctl);
	if (!ctl->ended && ((me && me->main) || chord_rt_is_on_stack(ctl, regs, (uint64_t)chord_rt_exit_function)))
		chord_rt_end(ctl, regs, CHORD_ENDS_EXIT);
	if (!ctl->ended && me && !me->main) {
		chord_rt_locked_with_list(ctl, chord_rt_close_this, NULL);
		return 0;
	}
	old = chord_rt_lock(ctl);
	chord_rt_close_this(ctl, NULL); /* the hooks stay, so the list's lock is not taken: a thread may hold it for ever */
	chord_rt_unlock(ctl, old);
	return 0;
}

static __attribute__((used)) void
chord_rt_destruct(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	chord_rt_be_child_first(regs);
	if (ctl && ctl->magic)
		chord_rt_check_self(ctl);
	if (chord_rt_watches(ctl))
		chord_rt_on_own_stack(ctl, chord_rt_close_self, (uint64_t)regs, 0);
}
