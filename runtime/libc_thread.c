/* SPDX-License-Identifier: MIT */
/* Threads that glibc makes by itself, for timers, getaddrinfo_a, aio and the like. glibc calls its pthread_create through no table,
 * but it calls the dynamic linker through one, to allocate the new thread's variables. A new thread inherits the base of its maker.
 * So at that call the maker is given the base of a region for the new thread. It gets its own base back when pthread_create
 * returns: that return is redirected to a routine of the runtime. glibc's thread descriptor shows when the thread has ended,
 * because it is then used again, or freed. */

extern void chord_rt_created(void) __attribute__((visibility("hidden")));

enum {
	CHORD_RT_PD_TID = 720,         /* the offset of the thread's id in glibc's descriptor */
	CHORD_RT_PD_NEAR = 65536,      /* stack of a hook's pthread_create, including functions that may be interposed */
	CHORD_RT_ENDING = 16000000,    /* ns; the longest wait for a thread that is ending; all waits: at most twice that */
};

static void
chord_rt_not_watched(struct chord_rt_ctl *ctl, const char *why, uint64_t flag)
{
	uint64_t old = chord_rt_lock(ctl);

	__atomic_fetch_or(&ctl->head->flags, CHORD_PROFILE_NOT_WATCHED, __ATOMIC_RELAXED);
	if (!(ctl->unseen & flag))
		chord_rt_text(ctl, why);
	ctl->unseen |= (uint32_t)flag;
	chord_rt_trace_shared(ctl);
	chord_rt_unlock(ctl, old);
}

/* The thread id in a descriptor; 0: the thread has ended; -1: descriptors have the id at another offset. */
static int32_t
chord_rt_tid_of(uint64_t pd)
{
	if (*(const int32_t *)(chord_rt_descriptor() + CHORD_RT_PD_TID) != (int32_t)chord_rt_call(SYS_gettid))
		return -1;
	return __atomic_load_n((const int32_t *)(pd + CHORD_RT_PD_TID), __ATOMIC_RELAXED);
}

/* The thread that had the descriptor has ended. Under the lock. */
static void
chord_rt_descriptor_gone(struct chord_rt_ctl *ctl, uint64_t pd)
{
	for (uint32_t i = 0; i < ctl->nregion && ctl->described; i++) {
		struct chord_rt_region *r = chord_rt_region(ctl, i);

		if (r->pd != pd)
			continue;
		r->pd = 0;
		ctl->described--;
		__atomic_store_n(&r->tid, 0, __ATOMIC_RELEASE);
	}
}

/* Finds the frame of the C library's pthread_create. */
static bool
chord_rt_find_creator(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, struct chord_rt_walk *w)
{
	if (!ctl->creator)
		ctl->creator = chord_rt_lookup_one("pthread_create", NULL, regs->r[CHORD_RT_PC]) | 1;
	chord_rt_walk_from(w, ctl, regs);
	for (uint32_t i = 0; i < 4 && chord_rt_look(w) == CHORD_RT_FRAME; i++, chord_rt_up(w))
		if ((w->begin | 1) == ctl->creator)
			return true;
	return false;
}

/* Is there a shadow stack? It does not permit a return to be redirected. */
static bool
chord_rt_has_shadow_stack(void)
{
	uint64_t ssp = 0;

	__asm__ volatile("rdsspq %0" : "+r"(ssp));
	return ssp != 0;
}

static struct chord_rt_making *
chord_rt_making_free(struct chord_rt_ctl *ctl)
{
	for (struct chord_rt_making *p = ctl->making; p < ctl->making + CHORD_RT_MAKING; p++)
		if (!p->sp || p->pid != ctl->pid)
			return p;
	return NULL;
}

/* Gets a region for the thread that is being made. Under the lock. */
static bool
chord_rt_give_region(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t pd)
{
	struct chord_rt_making *p = chord_rt_making_free(ctl);
	struct chord_rt_region *r;
	struct chord_rt_walk w;
	volatile uint64_t *back;

	if (!p || chord_rt_has_shadow_stack() || !chord_rt_find_creator(ctl, regs, &w) || !(r = chord_rt_region_get(ctl)))
		return false;
	chord_rt_trace_creates(ctl, r);
	back = (volatile uint64_t *)w.cfa - 1;
	*p = (struct chord_rt_making){w.cfa, *back, chord_rt_get_base(ctl), r->index, ctl->pid};
	r->pd = r->stack = pd;
	ctl->described++;
	*back = (uint64_t)&chord_rt_created;
	return chord_rt_set_base(ctl, r->base);
}

static bool
chord_rt_is_asked_for(const struct chord_rt_ctl *ctl, uint64_t sp)
{
	for (uint32_t i = 0; i < CHORD_RT_MAKING; i++)
		if (ctl->asked_for[i] - sp < CHORD_RT_PD_NEAR)
			return true;
	return false;
}

/* glibc has allocated the thread descriptor at pd for a new thread. */
static void
chord_rt_descriptor_used(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t pd = regs->r[CHORD_RT_ARG0], old;
	bool ok;

	if (ctl->nogs || chord_rt_other_process(ctl))
		return;
	if (ctl->ended)
		ctl->head->state = CHORD_STATE_THREADS; /* perhaps the maker was taken for idle */
	old = chord_rt_lock(ctl);
	chord_rt_descriptor_gone(ctl, pd);
	chord_rt_cannot_join(ctl, pd);
	ok = chord_rt_is_asked_for(ctl, regs->r[CHORD_RT_SP]) || chord_rt_give_region(ctl, regs, pd);
	chord_rt_unlock(ctl, old);
	if (!ok)
		chord_rt_not_watched(ctl, "the C library made a thread that counted with the one that made it",
		    CHORD_RT_UNSEEN_LIBC);
}

static void
chord_rt_descriptor_free(struct chord_rt_ctl *ctl, uint64_t pd)
{
	uint64_t old;

	if (ctl->nogs || !ctl->described || chord_rt_other_process(ctl))
		return;
	old = chord_rt_lock(ctl);
	chord_rt_descriptor_gone(ctl, pd);
	chord_rt_unlock(ctl, old);
}

/* The C library's pthread_create has returned, to the runtime. The descriptor exists as long as the region has it. */
static void
chord_rt_libc_thread_ready(struct chord_rt_ctl *ctl, struct chord_rt_region *r, bool failed)
{
	int32_t tid;

	if (!r->pd)
		return;
	tid = failed ? 0 : chord_rt_tid_of(r->pd);
	if (failed)
		chord_rt_no_thread(ctl, r);
	if (failed || tid == 0)
		chord_rt_descriptor_gone(ctl, r->pd);
	else
		__atomic_store_n(&r->tid, tid, __ATOMIC_RELEASE);
}

/* Gives the real return address. A child that a signal handler has forked meanwhile keeps its base, because that is the base of its
 * region. */
static __attribute__((used)) uint64_t
chord_rt_libc_thread_made(const struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint64_t old = chord_rt_lock(ctl), to;
	struct chord_rt_making *p = NULL;

	/* In a forked child the entry has its parent's number. An older entry for that stack pointer may be another child's. */
	for (uint32_t i = 0; i < CHORD_RT_MAKING; i++)
		if (ctl->making[i].sp == regs->r[CHORD_RT_SP] && (!p || ctl->making[i].pid == ctl->pid))
			p = &ctl->making[i];
	if (!p)
		__builtin_trap();
	to = p->pc;
	p->sp = 0;
	if (p->pid == ctl->pid) {
		chord_rt_set_base(ctl, p->base);
		chord_rt_libc_thread_ready(ctl, chord_rt_region(ctl, p->region), (int32_t)regs->r[CHORD_RT_RESULT] != 0);
	}
	chord_rt_unlock(ctl, old);
	return to;
}

/* ---- threads that were not seen being made ---- */

/* Is the calling thread the one that has its region? If another process counts here, its counts are in this profile. */
static void
chord_rt_check_self(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_region *r = ctl->nogs ? NULL : chord_rt_region_mine(ctl);
	int32_t tid = r ? __atomic_load_n(&r->tid, __ATOMIC_ACQUIRE) : 0;

	if (tid <= 0 || tid == (int32_t)chord_rt_call(SYS_gettid) || r->nvfork)
		return;
	if (chord_rt_other_process(ctl)) /* only the other process makes the file grow */
		__atomic_fetch_or(&ctl->head->flags, CHORD_PROFILE_NOT_WATCHED, __ATOMIC_RELAXED);
	else
		chord_rt_not_watched(ctl, "a thread that was not seen made had the counters of another",
		    CHORD_RT_UNSEEN_THREAD);
}

/* The number of threads that the kernel lists; 0: not known. /proc/self/task has a folder for each. */
static uint64_t
chord_rt_listed_threads(void)
{
	struct stat st;

	if (chord_rt_failed(chord_rt_call(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0)) || st.st_nlink < 3)
		return 0;
	return st.st_nlink - 2;
}

/* Threads that an emulator, such as qemu's for programs, has made for itself are there before the program makes its first one.
 * Emulators say that the process runs the program. */
static void
chord_rt_find_emulator(struct chord_rt_ctl *ctl)
{
	char told[256], true_one[256];
	uint64_t listed = chord_rt_listed_threads(), name = 0;
	long n, m;

	if (listed <= 1 || !&chord_rt_single_threaded || !*(volatile char *)&chord_rt_single_threaded)
		return;
	n = chord_rt_call(SYS_readlink, "/proc/self/exe", told, sizeof told);
	m = chord_rt_call(SYS_readlink, "/proc/thread-self/exe", true_one, sizeof true_one);
	if (n <= 0 || m <= 0 || (n == m && chord_rt_equal(told, true_one, (uint64_t)n)))
		return;
	ctl->emulators = (uint32_t)listed - 1;
	for (uint64_t i = 0; i < (uint64_t)m; i++)
		name = true_one[i] == '/' ? i + 1 : name;
	ctl->qemu = (uint64_t)m - name > 5 && chord_rt_equal(true_one + name, "qemu-", 5);
}

/* Are there more threads than regions in use? */
static bool
chord_rt_more_threads(struct chord_rt_ctl *ctl)
{
	uint64_t listed = chord_rt_listed_threads(), n = ctl->emulators;

	if (listed <= n + 1)
		return false;
	for (uint32_t i = 0; i < ctl->nregion; i++)
		n += !chord_rt_region_free(ctl, chord_rt_region(ctl, i));
	return listed > n;
}

/* Warns if there are threads that were not seen. This is not checked where threads may be older than the runtime. A thread that
 * glibc made gives its descriptor back shortly before the kernel stops listing the thread. So it looks several times. */
static void
chord_rt_check_threads(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_mod *me = chord_rt_me(ctl);
	uint64_t wait[2] = {0, ctl->unseen & CHORD_RT_UNSEEN_THREAD ? 2 * CHORD_RT_ENDING : 1000000};

	if (ctl->nogs || !me || !me->main)
		return;
	for (; chord_rt_more_threads(ctl); wait[1] *= 2) {
		if (wait[1] > CHORD_RT_ENDING) {
			chord_rt_not_watched(ctl, "a thread that was not seen made had the counters of another",
			    CHORD_RT_UNSEEN_THREAD);
			return;
		}
		chord_rt_call(SYS_nanosleep, wait, 0);
	}
}
