/* SPDX-License-Identifier: MIT */
/* Activations that end at a call: at the end of the process or a thread, at
 * longjmp, when an exception passes. For each an exit is counted under its
 * return address. */

/* ---- counting ---- */

static uint64_t *
chord_rt_slot(const struct chord_rt_slots *s, uint64_t key)
{
	uint64_t i = (key * 0x9e3779b97f4a7c15ull >> 20) % s->n;

	for (uint64_t k = 0; k < s->n; k++, i = i + 1 < s->n ? i + 1 : 0) {
		uint64_t *p = (uint64_t *)(s->map + 1) + 2 * i, now = __atomic_load_n(p, __ATOMIC_RELAXED);

		if (now == key || now == 0)
			return p;
	}
	return NULL;
}

/* One more extent, four times as large as the last. */
static bool
chord_rt_more_slots(struct chord_rt_ctl *ctl)
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_EXITS};
	struct chord_rt_slots *s = &ctl->slots[ctl->nslots];
	uint64_t at;
	long p = -1;

	if (ctl->nslots == CHORD_RT_EXTENTS)
		return false;
	h.size = ctl->nslots ? s[-1].size * 4 : CHORD_PAGE;
	h.a = (h.size - sizeof h) / sizeof(struct chord_exit);
	at = chord_rt_extent(ctl, &h, sizeof h, h.size);
	if (at)
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, chord_rt_fd(ctl), at);
	if (chord_rt_failed(p))
		return false;
	*s = (struct chord_rt_slots){(struct chord_extent_head *)p, h.size, h.a, 0};
	chord_rt_publish(ctl, at + h.size);
	__atomic_store_n(&ctl->nslots, ctl->nslots + 1, __ATOMIC_RELEASE);
	return true;
}

static bool
chord_rt_grow_slots(struct chord_rt_ctl *ctl, uint32_t seen)
{
	bool ok = true;
	uint64_t old;

	/* In a signal handler over this thread's own hold of the lock. */
	if (__atomic_load_n(&ctl->owner, __ATOMIC_RELAXED) == (int32_t)chord_rt_call(SYS_gettid))
		return false;
	old = chord_rt_lock(ctl);
	if (ctl->nslots == seen)
		ok = chord_rt_more_slots(ctl);
	chord_rt_unlock(ctl, old);
	return ok;
}

/* The count of a key, found or made without a lock: a key is written once and
 * stays. NULL: there is no room. */
static uint64_t *
chord_rt_exit_count(struct chord_rt_ctl *ctl, uint64_t key)
{
	struct chord_rt_slots *s;
	uint64_t *p, none;
	uint32_t n;

	for (;;) {
		n = __atomic_load_n(&ctl->nslots, __ATOMIC_ACQUIRE);
		for (s = ctl->slots; s < ctl->slots + n; s++) {
			bool last = s == ctl->slots + n - 1;

			p = chord_rt_slot(s, key);
			if (!p)
				continue;
			none = 0;
			if (*p != key && (!last || s->used * 4 > s->n * 3))
				continue;
			if (*p == key || __atomic_compare_exchange_n(p, &none, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
				s->used += none == 0 && *p == key && p[1] == 0;
				return p + 1;
			}
			s--; /* another thread took the slot: look again */
		}
		if (!chord_rt_grow_slots(ctl, n))
			return NULL;
	}
}

/* Counts at a PC, if it is in a measured module. Gives where, CHORD_RT_SILENT if
 * it is not, NULL if there is no room. */
static uint64_t *
chord_rt_count_at(struct chord_rt_ctl *ctl, uint64_t pc, uint64_t flag, uint64_t delta)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);
	uint64_t *count;

	if (!m)
		return CHORD_RT_SILENT;
	count = chord_rt_exit_count(ctl, ((pc - m->bias) & 0xffffffffffffull) | (uint64_t)(m - ctl->module + 1) << 48 | flag);
	if (count)
		__atomic_fetch_add(count, delta, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	return count;
}

/* ---- walks ---- */

/* An activation that a signal struck ends between calls: it is counted where it
 * was, and as one that cannot be placed for certain. */
static void
chord_rt_leave_frame(struct chord_rt_walk *w, uint64_t delta)
{
	uint64_t pc = w->regs.r[CHORD_RT_RIP], *count = w->from ? w->rule.count : NULL;

	if (count == CHORD_RT_SILENT)
		return;
	if (count) {
		__atomic_fetch_add(count, delta, __ATOMIC_RELAXED);
		return;
	}
	if (w->exact && chord_rt_mod_of(w->ctl, pc))
		__atomic_fetch_add(&w->ctl->head->in_flight, delta, __ATOMIC_RELAXED);
	count = chord_rt_count_at(w->ctl, pc, 0, delta);
	if (w->from && count)
		chord_rt_keep_count(w, count);
}

/* Frames of the calling thread from there on upward have been recorded: they have ended. */
static uint64_t
chord_rt_left(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = chord_rt_region_mine(ctl);

	return r && r->left ? r->left : ~0ull;
}

/* Counts exits for all frames from regs on. */
static void
chord_rt_leave_all(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t delta)
{
	uint64_t left = chord_rt_left(ctl);
	struct chord_rt_walk w;
	enum chord_rt_step step;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (;;) {
		step = chord_rt_look(&w);
		if (w.regs.r[CHORD_RT_RSP] >= left)
			return;
		chord_rt_leave_frame(&w, delta);
		if (step != CHORD_RT_FRAME)
			break;
		chord_rt_up(&w);
	}
	if (step == CHORD_RT_STUCK)
		__atomic_fetch_add(&ctl->head->in_flight, delta, __ATOMIC_RELAXED);
}

/* The frames from regs on are taken up in a profile that has not seen them begin: in a
 * forked child. */
static void
chord_rt_come_back(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t left = chord_rt_left(ctl);
	enum chord_rt_step step;
	struct chord_rt_walk w;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (;;) {
		step = chord_rt_look(&w);
		if (w.regs.r[CHORD_RT_RSP] >= left)
			return;
		chord_rt_count_at(ctl, w.regs.r[CHORD_RT_RIP], CHORD_EXIT_REENTRY, 1);
		if (step != CHORD_RT_FRAME)
			break;
		chord_rt_up(&w);
	}
	if (step == CHORD_RT_STUCK)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
}

/* Is the function that begins at f on the stack? */
static bool
chord_rt_is_on_stack(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t f)
{
	struct chord_rt_walk w;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (; chord_rt_look(&w) == CHORD_RT_FRAME; chord_rt_up(&w))
		if (w.begin == f)
			return true;
	return false;
}

static bool
chord_rt_others_live(struct chord_rt_ctl *ctl)
{
	int32_t me = (int32_t)chord_rt_call(SYS_gettid), tid;

	for (struct chord_rt_region *r = ctl->region; r < ctl->region + ctl->nregion; r++) {
		tid = __atomic_load_n(&r->tid, __ATOMIC_ACQUIRE);
		if (tid != me && tid != 0 && !chord_rt_region_free(ctl, r))
			return true;
	}
	return false;
}

/* A child of vfork, or of a system call that was not seen: its end is not this process's. */
static bool
chord_rt_other_process(struct chord_rt_ctl *ctl)
{
	return ctl->pid != (uint32_t)chord_rt_call(SYS_getpid);
}

/* The process ends here. What it still calls while it ends may end early, too. */
static void
chord_rt_end(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_region *r = chord_rt_region_mine(ctl);
	bool again = __atomic_exchange_n(&ctl->ended, 1, __ATOMIC_RELAXED) != 0;

	if (again && !r)
		return;
	chord_rt_leave_all(ctl, regs, 1);
	if (r && (!r->left || r->left > regs->r[CHORD_RT_RSP]))
		r->left = regs->r[CHORD_RT_RSP];
	if (!again)
		ctl->head->state = chord_rt_others_live(ctl) ? CHORD_STATE_THREADS : CHORD_STATE_ENDED;
}

/* ---- longjmp ---- */

static uint64_t
chord_rt_unmangle(uint64_t v)
{
	uint64_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return (v >> 17 | v << 47) ^ guard;
}

/* The stack pointer and PC that a jmp_buf goes to: glibc's are mangled, musl's
 * are not. */
static void
chord_rt_target(const uint64_t *buf, uint64_t *sp, uint64_t *pc)
{
	*sp = chord_rt_unmangle(buf[6]);
	*pc = chord_rt_unmangle(buf[7]);
	if (*sp >= CHORD_RT_TOP || *pc >= CHORD_RT_TOP)
		*sp = buf[6], *pc = buf[7];
}

/* The counters of the frames that a walk met. */
struct chord_rt_tally {
	uint32_t n;
	uint64_t *count[30];
};

/* Counts that an activation is taken up again at a PC, and gives the function that
 * has it; 0 if that is not known. Kept under the PC with the flag. */
static __attribute__((noinline)) uint64_t
chord_rt_take_up(struct chord_rt_walk *w, uint64_t pc)
{
	struct chord_rt_known rule = {0};

	chord_rt_find_object(w, pc - 1);
	if (chord_rt_recall(w, (pc - 1) | CHORD_EXIT_REENTRY, &rule)) {
		if (rule.count != CHORD_RT_SILENT)
			__atomic_fetch_add(rule.count, 1, __ATOMIC_RELAXED);
		return rule.begin;
	}
	rule.begin = chord_rt_find_cfi(w, pc - 1) ? w->cfi.begin : 0;
	rule.count = chord_rt_count_at(w->ctl, pc, CHORD_EXIT_REENTRY, 1);
	if (rule.count)
		chord_rt_keep(w, (pc - 1) | CHORD_EXIT_REENTRY, &rule);
	return rule.begin;
}

/* The same as chord_rt_frames_to below for stacks of known frames and no doubts: only
 * rsp and rbp are followed. False: it is not that simple. */
static CHORD_RT_HOT bool
chord_rt_known_to(struct chord_rt_tally *t, struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	uint64_t pc = w->regs.r[CHORD_RT_RIP], rsp = w->regs.r[CHORD_RT_RSP], rbp = w->regs.r[6], cfa, low;
	struct chord_rt_known k;

	for (t->n = 0; t->n < sizeof t->count / sizeof *t->count && pc; pc = ((uint64_t *)cfa)[-1], rsp = cfa) {
		if (pc - 1 - w->map >= w->map_end - w->map)
			chord_rt_find_object(w, pc - 1);
		if (!chord_rt_recall(w, pc - 1, &k) || !k.count)
			return false;
		t->count[t->n++] = k.count;
		cfa = (k.by_rbp ? rbp : rsp) + (uint64_t)(int64_t)k.cfa;
		low = cfa - 8 * k.deepest;
		if (cfa <= rsp || ((low < w->low || cfa > w->high) && (!chord_rt_reach(w, low) || !chord_rt_reach(w, cfa - 1))))
			return false;
		if (cfa > sp && rsp <= sp + 512 && (rsp <= sp || k.begin == begin))
			return k.begin == begin;
		if (k.at[1])
			rbp = *((uint64_t *)cfa - k.at[1]);
	}
	return false;
}

/* How many frames, from that of w on, are left by a jump to sp: the last is that of
 * the activation that called setjmp and goes on. 0: it is not on this stack, as with
 * coroutines: then nothing ends. */
static uint32_t
chord_rt_frames_to(struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	enum chord_rt_step step;
	uint64_t low;
	uint32_t n = 0;

	do {
		low = w->regs.r[CHORD_RT_RSP];
		step = chord_rt_look(w);
		if (step == CHORD_RT_STUCK)
			return 0;
		n++;
		/* Arguments being pushed may make it lower at setjmp than it is now. */
		if (w->cfa > sp && low <= sp + 512 && (low <= sp || w->begin == begin))
			break;
		if (step == CHORD_RT_FRAME)
			chord_rt_up(w);
	} while (step == CHORD_RT_FRAME);
	if (step != CHORD_RT_FRAME || w->begin == begin)
		return w->cfa > sp && low <= sp + 512 ? n : 0;
	/* A callee whose frame begins above sp, or a part of the function that the
	 * compiler moved elsewhere? */
	chord_rt_up(w);
	low = w->regs.r[CHORD_RT_RSP];
	return n + (chord_rt_look(w) != CHORD_RT_STUCK && w->begin == begin && low <= sp + 512);
}

static void
chord_rt_jump_slowly(struct chord_rt_walk *w, struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t sp,
    uint64_t begin)
{
	uint32_t n;

	chord_rt_walk_from(w, ctl, regs);
	n = chord_rt_frames_to(w, sp, begin);
	chord_rt_walk_from(w, ctl, regs);
	while (n-- > 0) {
		chord_rt_look(w);
		chord_rt_leave_frame(w, 1);
		chord_rt_up(w);
	}
}

static CHORD_RT_HOT void
chord_rt_jump(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_tally t;
	struct chord_rt_walk w;
	uint64_t sp, pc, begin;

	chord_rt_target((const uint64_t *)regs->r[5], &sp, &pc);
	chord_rt_walk_from(&w, ctl, regs);
	begin = chord_rt_take_up(&w, pc);
	if (!chord_rt_known_to(&t, &w, sp, begin)) {
		chord_rt_jump_slowly(&w, ctl, regs, sp, begin);
		return;
	}
	for (uint32_t i = 0; i < t.n; i++)
		if (t.count[i] != CHORD_RT_SILENT)
			__atomic_fetch_add(t.count[i], 1, __ATOMIC_RELAXED);
}

/* ---- exceptions and the ends of threads ---- */

static uint64_t chord_rt_get_cfa(void *) __attribute__((weakref("_Unwind_GetCFA")));

/* A personality routine sends control to a landing pad in the frame that context
 * is of: that frame and all below it are left. */
static void
chord_rt_land(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_region *r = ctl->quitters ? chord_rt_region_mine(ctl) : NULL;
	uint64_t to, low, left = r ? r->left : 0;
	struct chord_rt_walk w;
	enum chord_rt_step step;

	if (!chord_rt_get_cfa)
		return;
	to = chord_rt_get_cfa((void *)regs->r[5]);
	chord_rt_walk_from(&w, ctl, regs);
	for (;;) {
		low = w.regs.r[CHORD_RT_RSP];
		step = chord_rt_look(&w);
		if (!left || low < left)
			chord_rt_leave_frame(&w, 1);
		if (step != CHORD_RT_FRAME || low == to)
			break;
		chord_rt_up(&w);
	}
	if (low != to)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
}

/* pthread_exit: every frame is left. Landing pads on the way find them counted. */
static void
chord_rt_thread_ends(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_region *r = chord_rt_region_mine(ctl);

	chord_rt_leave_all(ctl, regs, 1);
	if (r) {
		r->left = regs->r[CHORD_RT_RSP];
		ctl->quitters = 1;
	}
}

/* Threads that libc or the kernel makes by themselves: they run with the base of
 * whoever asked for them, and count in its region with it. */
static void
chord_rt_unseen(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook)
{
	const int32_t *sigevent = (const int32_t *)regs->r[4];
	bool makes;

	if (hook == CHORD_RT_HOOK_clone)
		makes = !(regs->r[1] & 0x4000);             /* CLONE_VFORK: its parent waits */
	else
		makes = ctl->dynamic && sigevent && sigevent[3] == 2; /* SIGEV_THREAD */
	if (makes)
		__atomic_fetch_or(&ctl->head->flags, CHORD_PROFILE_NOT_WATCHED, __ATOMIC_RELAXED);
}

/* ---- exec ---- */

typedef int chord_rt_exec_fn(uint64_t, uint64_t, uint64_t, uint64_t);

/* execl and its kin have the arguments where calls have them. */
static uint64_t
chord_rt_listed(const struct chord_rt_regs *regs, uint32_t i)
{
	static const uint8_t reg[] = {4, 1, 2, 8, 9}; /* rsi rdx rcx r8 r9 */

	return i < sizeof reg ? regs->r[reg[i]] : ((const uint64_t *)regs->r[CHORD_RT_RSP])[i - sizeof reg];
}

/* As much stack as libc would take. */
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
	hook = hook == CHORD_RT_HOOK_execlp ? CHORD_RT_HOOK_execvp : CHORD_RT_HOOK_execve;
	return ((chord_rt_exec_fn *)ctl->real[hook])(regs->r[5], (uint64_t)argv, env, 0);
}
#pragma GCC diagnostic pop

static bool chord_rt_vfork_ends(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs);
static void chord_rt_vfork_stays(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs);
static bool chord_rt_watches(struct chord_rt_ctl *ctl);

/* The program is replaced, or, if that fails, nothing was left after all. */
static int
chord_rt_exec(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook, uint64_t real)
{
	bool ours = ctl && !ctl->ended && !chord_rt_other_process(ctl), child = chord_rt_vfork_ends(ctl, regs);
	uint64_t state = 0;
	int e;

	if (ours) {
		state = ctl->head->state;
		chord_rt_leave_all(ctl, regs, 1);
		ctl->head->state = chord_rt_others_live(ctl) ? CHORD_STATE_THREADS : CHORD_STATE_ENDED;
	}
	if (hook >= CHORD_RT_HOOK_execl)
		e = chord_rt_exec_list(ctl, regs, hook);
	else
		e = ((chord_rt_exec_fn *)real)(regs->r[5], regs->r[4], regs->r[1], regs->r[2]);
	if (ours) {
		chord_rt_leave_all(ctl, regs, -1ull);
		ctl->head->state = state;
	}
	if (child)
		chord_rt_vfork_stays(ctl, regs);
	return e;
}

/* ---- from entry.s ---- */

/* A hooked function was called: gives the address of the real one to jump to, or
 * 0 if it was called from here and its result is in regs. */
static __attribute__((used)) uint64_t
chord_rt_hooked(struct chord_rt_regs *regs, uint32_t hook, uint64_t otherwise)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint64_t real = chord_rt_real(ctl, hook, otherwise);
	bool able = ctl && ctl->magic;

	if (able && hook >= CHORD_RT_HOOK_execve && (hook < CHORD_RT_HOOK_execl || ctl->real[CHORD_RT_HOOK_execve])) {
		regs->r[0] = (uint64_t)(int64_t)chord_rt_exec(ctl, regs, hook, real);
		return 0;
	}
	if (hook == CHORD_RT_HOOK__Fork) {
		chord_rt_fork_bare(regs, real);
		return 0;
	}
	if (!chord_rt_watches(ctl))
		return real;
	switch (hook) {
	case CHORD_RT_HOOK__exit:
	case CHORD_RT_HOOK__Exit:
	case CHORD_RT_HOOK_quick_exit:
		if (!chord_rt_vfork_ends(ctl, regs))
			chord_rt_end(ctl, regs);
		break;
	case CHORD_RT_HOOK_pthread_exit:
		chord_rt_thread_ends(ctl, regs);
		break;
	case CHORD_RT_HOOK__Unwind_SetIP:
		chord_rt_land(ctl, regs);
		break;
	case CHORD_RT_HOOK_clone:
	case CHORD_RT_HOOK_timer_create:
	case CHORD_RT_HOOK_mq_notify:
		chord_rt_unseen(ctl, regs, hook);
		break;
	default:
		chord_rt_jump(ctl, regs);
	}
	return real;
}

/* Threads that were there before the runtime, or were made unseen by one that
 * had no counters of its own. */
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

/* The destructor of a module runs when the module is closed and when the process
 * ends: the program itself is never closed. */
static __attribute__((used)) void
chord_rt_destruct(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_mod *me;
	uint64_t old, n = 0;

	if (!chord_rt_watches(ctl) || chord_rt_vfork_ends(ctl, regs) || chord_rt_other_process(ctl))
		return;
	me = chord_rt_me(ctl);
	if (!ctl->ended && ((me && me->main) || chord_rt_is_on_stack(ctl, regs, (uint64_t)chord_rt_exit_function)))
		chord_rt_end(ctl, regs);
	old = chord_rt_lock(ctl);
	if (me) {
		n = chord_rt_fold(ctl, me);
		chord_rt_unhook(ctl, &chord_rt_desc);
		me->left = 1;
	}
	if (n && !ctl->nogs)
		chord_rt_unwatched(ctl, n);
	chord_rt_unlock(ctl, old);
}
