/* SPDX-License-Identifier: MIT */
/* A forked child gets a profile of its own. Every module registers a handler, because any module can be closed; the first handler
 * that runs does the work. */

typedef void chord_rt_fork_fn(void);
static int chord_rt_register_atfork(chord_rt_fork_fn *, chord_rt_fork_fn *, chord_rt_fork_fn *, void *)
	__attribute__((weakref("__register_atfork")));
static int chord_rt_pthread_atfork(chord_rt_fork_fn *, chord_rt_fork_fn *, chord_rt_fork_fn *)
	__attribute__((weakref("pthread_atfork")));
static char chord_rt_dso[1] __attribute__((weakref("__dso_handle")));

/* The lock is held across fork, so that the child finds nothing half done by a thread that it does not have. But if this thread has
 * to wait, another thread may take the lock (lock.c). Each measured module has handlers. */
static __attribute__((used)) void
chord_rt_fork_prepare(void)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_forker *f;
	uint64_t old;

	if (!ctl)
		return;
	old = chord_rt_lock(ctl);
	f = chord_rt_forker(ctl);
	ctl->place.forks++;
	if (!f->level++) {
		*f = (struct chord_rt_forker){.mask = old, .tid = (uint32_t)chord_rt_call(SYS_gettid), .level = 1};
		f->blocked = chord_rt_trace_forks(ctl, f->tid);
		__atomic_fetch_add(&ctl->forkers, 1, __ATOMIC_RELAXED);
	}
	chord_rt_lend(ctl);
	if (!f->blocked)
		chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}

/* A handler has run after fork. */
static void
chord_rt_fork_over(struct chord_rt_ctl *ctl)
{
	struct chord_rt_forker *f = chord_rt_forker(ctl);

	if (!f->level || --f->level)
		return;
	__atomic_fetch_sub(&ctl->forkers, 1, __ATOMIC_RELAXED);
	chord_rt_trace_forked(ctl, f->tid);
	if (f->blocked)
		chord_rt_call(SYS_rt_sigprocmask, 2, &f->mask, 0, 8);
}

static void
chord_rt_fork_parent(void)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	bool more;

	if (!ctl)
		return;
	if (chord_rt_reclaim(ctl, (uint32_t)chord_rt_call(SYS_gettid))) {
		more = ctl->depth > 1;
		chord_rt_let_go(ctl);
		if (more)
			chord_rt_lend(ctl);
	}
	chord_rt_fork_over(ctl);
}

/* Unmaps everything of the parent's file, because the parent's lock on the file is held as long as any of it is mapped. Anonymous
 * memory takes the place of exits: a signal handler may have forked while a count was added, and the interrupted addition goes on
 * there. */
static void
chord_rt_drop_file(struct chord_rt_ctl *ctl)
{
	for (uint32_t i = 0; i < ctl->nslots; i++)
		chord_rt_call(SYS_mmap, chord_rt_slots(ctl, i)->map, chord_rt_slots(ctl, i)->size, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED | CHORD_RT_MAP_NORESERVE, -1, 0);
	ctl->nslots = ctl->slots_last = 0;
	chord_rt_forget_known(ctl);
	/* The head stays until there is a new one, because it may have to say that the child has no profile. */
	if (ctl->nofile && (unsigned char *)ctl->head != ctl->spare_head)
		chord_rt_call(SYS_munmap, ctl->head, CHORD_RT_PAGE);
	else if (!ctl->nofile)
		ctl->place.elder = ctl->head;
	if (ctl->fd >= 0 && chord_rt_is_ours(ctl, ctl->fd))
		chord_rt_call(SYS_close, ctl->fd);
	ctl->fd = -1;
	ctl->holds = 0;
}

static void
chord_rt_drop_regions(struct chord_rt_ctl *ctl, struct chord_rt_region *keep)
{
	struct chord_rt_region *r;
	struct chord_rt_mod *m;
	uint64_t base;

	for (uint32_t i = 0; i < ctl->nregion; i++) {
		r = chord_rt_region(ctl, i);
		r->slots = 0;
		if (r == keep)
			continue;
		base = r->base;
		r->base = 0; /* a recorder reads it */
		chord_rt_release_region(ctl, r, base);
	}
	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		for (uint32_t k = 0; k < CHORD_CHUNKS && m->counts.at[k]; k++)
			chord_rt_clear((void *)m->counts.at[k], (size_t)8 * CHORD_CHUNK << k);
	}
	ctl->nregion = ctl->hint = ctl->cursor = 0;
}

/* The child counts in the modules' own sections, which nobody reads, because it cannot map counters of its own in place of its
 * parent's. */
static void
chord_rt_part(struct chord_rt_ctl *ctl)
{
	ctl->head->flags |= CHORD_PROFILE_NOT_WATCHED;
	ctl->nogs = 1;
	ctl->nregion = 0;
	chord_rt_set_base(ctl, 0);
}

/* The only thread of the child keeps its base. Its new counters are mapped over the old ones. */
static void
chord_rt_keep_region(struct chord_rt_ctl *ctl, struct chord_rt_region *mine)
{
	struct chord_rt_region *r = chord_rt_region(ctl, 0);
	struct chord_rt_filter *filter = mine->filter;
	bool ok = true;
	uint64_t base = mine->base, left = mine->left, program_sp = mine->program_sp, own_stack = mine->own_stack;
	struct chord_rt_forker forker = mine->forker;

	mine->own_stack = 0;
	chord_rt_clear(r, offsetof(struct chord_rt_region, keyed)); /* `keyed` has been renewed */
	r->base = base;
	r->left = left;
	r->program_sp = program_sp; /* this code may run on the region's stack */
	r->own_stack = own_stack;
	r->users = 1;
	r->filter = filter;
	r->forker = forker;
	r->tid = (int32_t)ctl->pid; /* this is the child's first thread */
	ctl->nregion = 1;
	ctl->head->threads++;
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if (chord_rt_module(ctl, i)->life == CHORD_LIFE_LOADED)
			ok &= chord_rt_renew_counts(ctl, i);
	if (!ok)
		chord_rt_part(ctl);
}

/* The sections themselves have counts of the parent. They are set to 0. Keys and the words of the shadow stay. */
static void
chord_rt_forget(struct chord_rt_ctl *ctl)
{
	struct chord_rt_mod *m;
	uint64_t *c, *end;

	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (m->life != CHORD_LIFE_LOADED || m->left)
			continue;
		c = (uint64_t *)CHORD_RT_NEAR(m->desc->start);
		end = (uint64_t *)CHORD_RT_NEAR(m->desc->stop);
		for (; c < end; c++)
			if (*c && chord_rt_is_count(m, (uint64_t)c))
				*c = 0;
		CHORD_RT_NOTIFY(fork, m);
	}
}

static void
chord_rt_new_profile(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	uint32_t number = mine ? mine->index + 1 : 0;

	ctl->owner = ctl->depth = 0;
	if (ctl->here)
		*ctl->here = 1;
	ctl->ended = 0;
	ctl->dying = 0;
	ctl->waiting = ctl->waiting_size = 0;
	ctl->truncated = 0;
	ctl->snapshots = 0;
	ctl->guests_warned = 0;
	if (ctl->kept)
		chord_rt_call(SYS_munmap, ctl->kept, ctl->kept_size);
	ctl->kept = ctl->kept_size = 0;
	ctl->switching = 0;
	chord_rt_clear(ctl->asked_for, sizeof ctl->asked_for);
	chord_rt_drop_keyed(ctl, ctl->nregion, number);
	CHORD_RT_NOTIFY(drop, ctl, number);
	chord_rt_drop_regions(ctl, mine);
	chord_rt_drop_file(ctl);
	chord_rt_begin(ctl);
	if (!ctl->place.reused)
		chord_rt_extents_of_modules(ctl);
	chord_rt_renew_keyed(ctl, number);
	chord_rt_forget(ctl);
	if (mine)
		chord_rt_keep_region(ctl, mine);
	else if (ctl->nogs)
		chord_rt_region_get(ctl);
	else
		chord_rt_region_enter(ctl);
	chord_rt_first_slots(ctl);
	chord_rt_warn_of_guests(ctl);
}

/* Counts that the child resumes the parent's activations in the middle. */
static void
chord_rt_take_up_all(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t left = chord_rt_left(ctl), pc;
	struct chord_rt_walk w;
	enum chord_rt_step step;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = true;
	for (;;) {
		step = chord_rt_look(&w);
		pc = w.regs.r[CHORD_RT_PC] + w.exact;
		if (w.regs.r[CHORD_RT_SP] >= left)
			return;
		if (step == CHORD_RT_STUCK)
			__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
		chord_rt_leave_fired(ctl, pc, w.exact ? 0 : w.cfa, -1ull);
		chord_rt_count_at(ctl, pc, CHORD_EXIT_REENTRY, 1, w.exact ? 0 : w.cfa);
		if (step != CHORD_RT_FRAME)
			break;
		chord_rt_up(&w);
	}
}

/* The registers with which the child continues the program's own code: after the call of daemon(), if daemon() forked on this
 * stack. */
static const struct chord_rt_regs *
chord_rt_goes_on(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	const struct chord_rt_regs *daemon = ctl->daemon;

	ctl->daemon = NULL;
	return daemon && regs && daemon->r[CHORD_RT_SP] - regs->r[CHORD_RT_SP] < 0x10000 ? daemon : regs;
}

/* Was another thread changing something, which it cannot complete here? forker: that of the thread that forked. */
static bool
chord_rt_is_torn(struct chord_rt_ctl *ctl, const struct chord_rt_forker *forker)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	uint32_t forked = forker->level ? forker->tid : mine ? (uint32_t)mine->tid : 0, owner = ctl->owner;

	return owner && !(owner & CHORD_LIVE_LENT) && forked && chord_rt_tid_in(owner) != forked;
}

static uint64_t
chord_rt_be_child(struct chord_rt_ctl *ctl, uint64_t at, uint64_t pid)
{
	const struct chord_rt_regs *regs = chord_rt_goes_on(ctl, (const struct chord_rt_regs *)at);
	const struct chord_rt_forker forker = *chord_rt_forker(ctl);
	bool torn = chord_rt_is_torn(ctl, &forker);

	ctl->forkers = forker.level != 0;
	ctl->pid = (uint32_t)pid;
	ctl->place.member = ctl->place.length != 0;
	chord_rt_new_profile(ctl);
	if (torn)
		chord_rt_part(ctl);
	*chord_rt_forker(ctl) = forker;
	if (ctl->head && regs) {
		chord_rt_take_up_all(ctl, regs);
		chord_rt_fibres(ctl, regs, CHORD_EXIT_REENTRY, 1);
		chord_rt_take_over_handlers(ctl);
	}
	chord_rt_shut(ctl);
	return 0;
}

/* Runs in the child of fork or _Fork. regs: where the child goes on; NULL: in none of its parent's activations. */
static void
chord_rt_forked(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint32_t pid = (uint32_t)chord_rt_call(SYS_getpid);

	if (ctl && ctl->magic && (ctl->pid != pid || chord_rt_is_fork(ctl)))
		chord_rt_on_own_stack(ctl, chord_rt_be_child, (uint64_t)regs, pid);
}

static __attribute__((used)) void
chord_rt_fork_child(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	chord_rt_forked(regs);
	if (ctl)
		chord_rt_fork_over(ctl);
}

/* Called when a handler that runs in the child of fork before the runtime's own makes a thread, ends the process, opens or closes a
 * measured library, or forks. */
static __attribute__((used)) void
chord_rt_be_child_first(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (ctl && ctl->magic && ctl->forkers && chord_rt_is_fork(ctl) && chord_rt_forker(ctl)->level)
		chord_rt_forked(regs);
}

extern void chord_rt_entry_prepare(void) __attribute__((visibility("hidden")));
extern void chord_rt_entry_forked(void) __attribute__((visibility("hidden")));

static void
chord_rt_watch_fork(void)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	struct chord_rt_mod *me = ctl && ctl->magic ? chord_rt_me(ctl) : NULL;

	if (!me || ctl->forks_watched)
		return;
	ctl->forks_watched = me->main;
	if (chord_rt_register_atfork)
		chord_rt_register_atfork(chord_rt_entry_prepare, chord_rt_fork_parent, chord_rt_entry_forked, chord_rt_dso);
	else if (chord_rt_pthread_atfork && chord_rt_module(ctl, 0)->desc == &chord_rt_desc)
		chord_rt_pthread_atfork(chord_rt_entry_prepare, chord_rt_fork_parent, chord_rt_entry_forked);
}
