/* SPDX-License-Identifier: MIT */
/* The lock protects everything that grows. It is taken with all signals blocked. The owner may take it again, because fork takes it
 * around itself. A thread that has to wait sleeps, so that the owner runs whatever the priorities are. A thread that has ended owns
 * nothing. A thread that forks has the lock, but lends it: it may wait for other locks, of the C library's or of handlers that run
 * before fork, and a thread that waits for this lock may hold one of those. */

enum { CHORD_RT_FUTEX_WAIT = 128, CHORD_RT_FUTEX_WAKE = 129 }; /* within this process */

/* Is this a forked child? It has one thread, but inherits all locks that the other threads had taken. */
static bool
chord_rt_is_fork(const struct chord_rt_ctl *ctl)
{
	return ctl->version == CHORD_FORMAT_VERSION && ctl->here && !*(volatile uint64_t *)ctl->here;
}

static bool
chord_rt_is_gone(const struct chord_rt_ctl *ctl, uint32_t tid)
{
	return chord_rt_is_fork(ctl) || chord_rt_call(SYS_tgkill, ctl->pid, tid, 0) == -ESRCH;
}

/* Has that thread ended? It may belong to another process in this memory, a child of vfork. Such a process that nobody has waited
 * for yet can still be found by its number. long_ago: a thread that this process does not have is then taken to have ended, because
 * the number may be one of another name space. */
static bool
chord_rt_has_ended(const struct chord_rt_ctl *ctl, uint32_t tid, bool long_ago)
{
	enum { P_PID = 1, OPTIONS = 1 | 4 | 0x1000000 | 0x40000000 }; /* WNOHANG, WEXITED, WNOWAIT, __WALL */
	uint32_t info[32] = {0}; /* its third word says why the process ended; 0: it goes on */

	return chord_rt_is_gone(ctl, tid) && (long_ago || chord_rt_is_fork(ctl) || chord_rt_call(SYS_kill, tid, 0) == -ESRCH ||
	    (!chord_rt_failed(chord_rt_call(SYS_waitid, P_PID, tid, info, OPTIONS, 0)) && info[2]));
}

static bool chord_rt_leaves_region(struct chord_rt_ctl *ctl);

static uint32_t
chord_rt_tid_in(uint32_t word)
{
	return word & ~(CHORD_LIVE_WAITED | CHORD_LIVE_LENT);
}

/* Waits while another thread has the lock; n: how often this thread has waited before. It waits at most a tenth of a second,
 * because the other thread may have ended, or a hundredth if the other thread lends the lock. Gives the value that the word is to
 * have when the lock is taken. */
static uint32_t
chord_rt_wait(struct chord_rt_ctl *ctl, uint32_t *word, uint32_t now, uint32_t me, uint32_t n)
{
	enum { LONG = 20 };
	const uint64_t tenth[2] = {0, 100000000}, hundredth[2] = {0, 10000000};
	uint32_t waited = now | CHORD_LIVE_WAITED;
	bool lent = (now & CHORD_LIVE_LENT) != 0;

	if (ctl->version == CHORD_FORMAT_VERSION)
		chord_rt_leaves_region(ctl); /* the thread that has the lock may wait for that */
	if (now != waited && !__atomic_compare_exchange_n(word, &now, waited, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return me;
	if (chord_rt_call(SYS_futex, word, CHORD_RT_FUTEX_WAIT, waited, lent ? hundredth : tenth) == -ETIMEDOUT &&
	    (lent || chord_rt_has_ended(ctl, chord_rt_tid_in(now), n > LONG)))
		__atomic_compare_exchange_n(word, &waited, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return me | CHORD_LIVE_WAITED; /* others may be waiting, too */
}

/* The word is 0, or names the thread that has the lock. */
static void
chord_rt_take_word(struct chord_rt_ctl *ctl, uint32_t *word, uint32_t me)
{
	uint32_t now = 0, mine = me;

	for (uint32_t n = 0; !__atomic_compare_exchange_n(word, &now, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); now = 0)
		if (now)
			mine = chord_rt_wait(ctl, word, now, me, n++);
}

static void
chord_rt_give_word(uint32_t *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & CHORD_LIVE_WAITED)
		chord_rt_call(SYS_futex, word, CHORD_RT_FUTEX_WAKE, 1);
}

/* Does the thread have the lock? Then it stops lending it. If another thread has taken it meanwhile, it does not have it. */
static bool
chord_rt_reclaim(struct chord_rt_ctl *ctl, uint32_t me)
{
	uint32_t now = __atomic_load_n(&ctl->owner, __ATOMIC_RELAXED);

	while (chord_rt_tid_in(now) == me)
		if (!(now & CHORD_LIVE_LENT) || __atomic_compare_exchange_n(&ctl->owner, &now, now & ~CHORD_LIVE_LENT, false,
		    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	return false;
}

/* The thread has the lock, and is not changing anything. */
static void
chord_rt_lend(struct chord_rt_ctl *ctl)
{
	ctl->lent = ctl->depth;
	__atomic_fetch_or(&ctl->owner, CHORD_LIVE_LENT, __ATOMIC_RELEASE);
}

/* Is this a signal handler that interrupted the calling thread while it held the lock? */
static bool
chord_rt_has_lock(const struct chord_rt_ctl *ctl)
{
	return (__atomic_load_n(&ctl->owner, __ATOMIC_RELAXED) & ~CHORD_LIVE_WAITED) == (uint32_t)chord_rt_call(SYS_gettid);
}

static uint64_t
chord_rt_lock(struct chord_rt_ctl *ctl)
{
	uint64_t all = chord_rt_all_signals(ctl), old = 0;
	uint32_t me = (uint32_t)chord_rt_call(SYS_gettid);

	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	if (!chord_rt_reclaim(ctl, me)) {
		chord_rt_take_word(ctl, &ctl->owner, me);
		ctl->depth = 0;
		if (ctl->version == CHORD_FORMAT_VERSION)
			ctl->lent = 0;
	}
	ctl->depth++;
	return old;
}

static void chord_rt_shut(struct chord_rt_ctl *ctl);

/* Does not change the signal mask. The profile's file is open only under the lock, because programs count their descriptors. */
static void
chord_rt_let_go(struct chord_rt_ctl *ctl)
{
	if (ctl->depth == 1 && ctl->version == CHORD_FORMAT_VERSION)
		chord_rt_shut(ctl);
	if (--ctl->depth == 0)
		chord_rt_give_word(&ctl->owner);
	else if (ctl->version == CHORD_FORMAT_VERSION && ctl->depth == ctl->lent)
		chord_rt_lend(ctl);
}

static void
chord_rt_unlock(struct chord_rt_ctl *ctl, uint64_t old)
{
	chord_rt_let_go(ctl);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}
