/* SPDX-License-Identifier: MIT */
/* The other threads as the process ends. Have they ended, too? Are they idle, or do they wait in the kernel, where their stacks can
 * be followed? If one of these holds for each of them, all counts are exact. */

enum chord_rt_other {
	CHORD_RT_IDLE,                /* it has ended, or nothing measured is active in it */
	CHORD_RT_WAITS,               /* it waits in the kernel, and it is known what is active */
	CHORD_RT_SPINS,               /* it will be idle soon */
	CHORD_RT_RUNS,                /* it runs, or has run meanwhile, and perhaps it will wait soon */
	CHORD_RT_STANDS,              /* none of these is known to hold */
};

enum {
	CHORD_RT_WAITING = 0x10000,   /* bytes: the room for activations */
	CHORD_RT_SUMMED = 1 << 28,    /* bytes: larger profiles are not summed */
	/* The most bytes from a stack's outermost frame to an address that the runtime knows of the stack: */
	CHORD_RT_BELOW_PD = 1 << 20, CHORD_RT_ABOVE_FIRST = 4096, CHORD_RT_ARGUMENTS = 1 << 24,
	/* Half milliseconds for threads that spin to become idle (LLVM's do after 200 ms), and for threads that run to wait
	 * again: */
	CHORD_RT_SPINNING = 500, CHORD_RT_RUNNING = 8,
};

/* The activations in the other threads: an extent, as it will be in the profile. */
struct chord_rt_actives {
	struct chord_extent_head *head;
	struct chord_waiting *at;
	uint64_t n, most;
};

/* ---- what the kernel says ---- */

/* Reads the two hexadecimal numbers at the end of the text. */
static bool
chord_rt_last_two(const char *s, uint64_t n, uint64_t *v)
{
	uint64_t digit;

	v[0] = v[1] = 0;
	while (n > 0 && s[n - 1] == '\n')
		n--;
	for (int i = 1; i >= 0; i--, n -= 2) {
		for (uint32_t shift = 0; n > 0 && s[n - 1] != 'x' && shift < 64; n--, shift += 4) {
			digit = (uint64_t)(s[n - 1] <= '9' ? s[n - 1] - '0' : s[n - 1] - 'a' + 10);
			if (digit > 15)
				return false;
			v[i] |= digit << shift;
		}
		if (n < 3 || s[n - 1] != 'x')
			return false;
		n--; /* now after the 0 */
		if (i == 1 && s[n - 2] != ' ')
			return false;
	}
	return v[1] != 0;
}

/* Where a thread is. Part of it is how long and how often the thread has run: while that stays the same, the thread waits in the
 * same place. */
struct chord_rt_at {
	uint64_t n, nrun;
	char call[256], run[96];
};

static void
chord_rt_read_at(int32_t tid, struct chord_rt_at *at)
{
	chord_rt_clear(at, sizeof *at);
	at->nrun = chord_rt_task_file(tid, "/schedstat", 10, at->run, sizeof at->run);
	at->n = chord_rt_task_file(tid, "/syscall", 8, at->call, sizeof at->call);
}

static bool
chord_rt_same_at(const struct chord_rt_at *a, const struct chord_rt_at *b)
{
	return a->nrun && a->run[0] != '0' && a->nrun == b->nrun && a->n == b->n && chord_rt_equal(a->run, b->run, a->nrun) &&
	       chord_rt_equal(a->call, b->call, a->n);
}

/* ---- one thread ---- */

/* Adds the frame that w has reached. False: it cannot be added, or not everything that an exit would record is known. */
static bool
chord_rt_add_active(struct chord_rt_actives *a, const struct chord_rt_walk *w, const struct chord_rt_mod *m,
    const struct chord_rt_region *r)
{
	struct chord_rt_ctl *ctl = w->in.ctl;
	uint64_t pc = w->regs.r[CHORD_RT_PC] + w->exact;
	struct chord_waiting *to;

	if (a->n == a->most || (w->exact && (ctl->trace || !CHORD_RT_ALL(amid, ctl))))
		return false;
	to = &a->at[a->n++];
	chord_rt_clear(to, sizeof *to);
	to->key = ((pc - m->bias) & 0xffffffffffffull) | (uint64_t)(m->index + 1) << 48;
	to->region = r->index;
	return CHORD_RT_ALL(waits, ctl, m, r, w->cfa, to);
}

/* Is that the outermost frame on the thread's own stack? If code has switched to another stack by hand, the activations on this one
 * cannot be seen from there. r->pd: libc's descriptor, which has the thread's variables and the stack below it. r->stack: the
 * runtime's frame, the first after libc's. The first thread has its arguments and environment above the stack. */
static bool
chord_rt_is_own_end(const struct chord_rt_ctl *ctl, const struct chord_rt_region *r, int32_t tid, uint64_t sp)
{
	if (r->pd)
		return r->pd - sp < CHORD_RT_BELOW_PD;
	if (r->stack)
		return sp - r->stack < CHORD_RT_ABOVE_FIRST;
	return (uint32_t)tid == ctl->pid && ctl->stack - sp < CHORD_RT_ARGUMENTS;
}

/* Follows the stack of a thread that waits. The code that made the system call is not measured. */
static enum chord_rt_other
chord_rt_follow_other(struct chord_rt_ctl *ctl, const struct chord_rt_region *r, int32_t tid, const uint64_t at[2],
    struct chord_rt_actives *a)
{
	struct chord_rt_regs regs = {{0}};
	enum chord_rt_step step = CHORD_RT_FRAME;
	enum chord_rt_other found = CHORD_RT_IDLE;
	const struct chord_rt_mod *m;
	struct chord_rt_walk w;

	regs.r[CHORD_RT_SP] = at[0];
	regs.r[CHORD_RT_PC] = at[1] | CHORD_RT_AMID;
	if (chord_rt_mod_of(ctl, at[1]))
		return CHORD_RT_STANDS;
	chord_rt_walk_from(&w, ctl, &regs);
	w.once = true;
	for (; step == CHORD_RT_FRAME; chord_rt_up(&w)) {
		if ((step = chord_rt_look(&w)) == CHORD_RT_STUCK)
			return CHORD_RT_STANDS;
		m = chord_rt_mod_of(ctl, w.regs.r[CHORD_RT_PC]);
		if (m && !chord_rt_add_active(a, &w, m, r))
			return CHORD_RT_STANDS;
		if (step == CHORD_RT_OUTERMOST && !chord_rt_is_own_end(ctl, r, tid, w.regs.r[CHORD_RT_SP]))
			return CHORD_RT_STANDS;
		found = m ? CHORD_RT_WAITS : found;
	}
	return found;
}

static enum chord_rt_other
chord_rt_other(struct chord_rt_ctl *ctl, struct chord_rt_region *r, int32_t tid, struct chord_rt_actives *a)
{
	struct chord_rt_at before, behind;
	enum chord_rt_other found;
	uint64_t at[2];

	if (chord_rt_region_free(ctl, r) || (tid > 0 && chord_rt_ends(tid)) || chord_rt_region_free(ctl, r))
		return CHORD_RT_IDLE;
	if (tid <= 0 || r->process || r->left || r->nvfork || r->nstep || ctl->nfibre)
		return CHORD_RT_STANDS;
	chord_rt_read_at(tid, &before);
	if (before.n >= 7 && chord_rt_equal(before.call, "running", 7))
		return chord_rt_spins(ctl, (uint64_t)r->start) ? CHORD_RT_SPINS : CHORD_RT_RUNS;
	if (!chord_rt_last_two(before.call, before.n, at))
		return CHORD_RT_STANDS;
	found = chord_rt_follow_other(ctl, r, tid, at, a);
	chord_rt_read_at(tid, &behind);
	if (chord_rt_same_at(&before, &behind))
		return found;
	return chord_rt_spins(ctl, (uint64_t)r->start) ? CHORD_RT_SPINS : CHORD_RT_RUNS;
}

/* ---- all of them ---- */

/* The worst state that is found among the other threads. */
static enum chord_rt_other
chord_rt_others(struct chord_rt_ctl *ctl, struct chord_rt_actives *a)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	int32_t me = (int32_t)chord_rt_call(SYS_gettid), tid;
	enum chord_rt_other worst = CHORD_RT_IDLE, found;
	struct chord_rt_region *r;

	a->n = 0;
	for (uint32_t i = 0; i < ctl->nregion && worst != CHORD_RT_STANDS; i++) {
		r = chord_rt_region(ctl, i);
		tid = __atomic_load_n(&r->tid, __ATOMIC_ACQUIRE);
		if (tid == me || tid == 0 || (tid < 0 && r == mine))
			continue;
		found = chord_rt_other(ctl, r, tid, a);
		worst = found > worst ? found : worst;
	}
	return worst;
}

/* Is there another thread in which something measured may be active? */
static bool
chord_rt_others_live(struct chord_rt_ctl *ctl)
{
	struct chord_rt_actives none = {0};

	return chord_rt_others(ctl, &none) != CHORD_RT_IDLE;
}

/* ---- the profile ---- */

/* Adds up the bytes of the profile from one offset to another. False: they cannot be read. */
static bool
chord_rt_sum_bytes(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t end, uint64_t *sum)
{
	uint64_t word;
	long n;

	for (; at < end; at += (uint64_t)n) {
		n = chord_rt_call(SYS_pread64, fd, ctl->page, end - at < CHORD_RT_PAGE ? end - at : CHORD_RT_PAGE, at);
		if (chord_rt_failed(n) || n < 8 || n % 8)
			return false;
		for (long i = 0; i < n; i += 8) {
			__builtin_memcpy(&word, ctl->page + i, 8);
			*sum += CHORD_WEIGHT(word, at + (uint64_t)i);
		}
	}
	return true;
}

/* The sum over all records, and over all counters except those of region number `region` - 1. Under the lock. */
static bool
chord_rt_sum_others(struct chord_rt_ctl *ctl, uint64_t region, uint64_t *sum)
{
	struct chord_extent_head h;
	int32_t fd = chord_rt_fd(ctl);

	*sum = 0;
	if (fd < 0 || ctl->nofile || ctl->head->used > CHORD_RT_SUMMED)
		return false;
	for (uint64_t at = CHORD_RT_PAGE; at < ctl->head->used; at += h.size) {
		if (chord_rt_call(SYS_pread64, fd, &h, sizeof h, at) != sizeof h || h.size < CHORD_RT_PAGE)
			return false;
		if (h.type == CHORD_EXTENT_COUNTS && h.a + 1 != region &&
		    !chord_rt_sum_bytes(ctl, fd, at + CHORD_RT_PAGE, at + h.size, sum))
			return false;
		if (CHORD_IS_WEIGHED(h.type) && !chord_rt_sum_bytes(ctl, fd, at + sizeof h, at + h.size, sum))
			return false;
	}
	return true;
}

/* Writes into the profile what is active in threads that wait. False: some wait no longer. Under the lock. */
static bool
chord_rt_record_waiting(struct chord_rt_ctl *ctl, struct chord_rt_actives *a)
{
	const struct chord_rt_region *mine = chord_rt_region_mine(ctl);
	struct chord_extent_head *h = a->head;
	uint64_t sum, at, traced = chord_rt_trace_sum(ctl, mine);

	h->type = CHORD_EXTENT_WAITING;
	h->size = CHORD_RT_WAITING;
	h->b = mine ? mine->index + 1 : 0;
	if (!chord_rt_sum_others(ctl, h->b, &h->c) || chord_rt_others(ctl, a) != CHORD_RT_WAITS ||
	    !chord_rt_sum_others(ctl, h->b, &sum) || sum != h->c || chord_rt_trace_sum(ctl, mine) != traced)
		return false;
	h->a = a->n;
	h->module = ctl->trace != NULL;
	chord_rt_copy(&a->at[a->n], &traced, sizeof traced);
	h->size = chord_rt_page_up(sizeof *h + a->n * sizeof *a->at + sizeof traced);
	if (h->size <= ctl->waiting_size) {
		h->size = ctl->waiting_size;
		chord_rt_call(SYS_pwrite64, chord_rt_fd(ctl), h, h->size, ctl->waiting);
		return true;
	}
	at = chord_rt_extent(ctl, h, h->size, h->size);
	if (at)
		chord_rt_publish(ctl, at + h->size);
	ctl->waiting = at;
	ctl->waiting_size = at ? h->size : 0;
	return true;
}

/* The process was about to end and did not. What was recorded then no longer holds. */
static void
chord_rt_forget_waiting(struct chord_rt_ctl *ctl)
{
	static const uint64_t no_sum;

	if (ctl->waiting)
		chord_rt_call(SYS_pwrite64, chord_rt_fd(ctl), &no_sum, sizeof no_sum,
		    ctl->waiting + offsetof(struct chord_extent_head, c));
}

/* Looks at all other threads once, and writes down what it finds. */
static enum chord_rt_other
chord_rt_look_at_others(struct chord_rt_ctl *ctl, struct chord_rt_actives *a)
{
	enum chord_rt_other found = chord_rt_others(ctl, a);
	uint64_t old;

	if (found == CHORD_RT_IDLE)
		ctl->head->state = CHORD_STATE_ENDED;
	if (found == CHORD_RT_WAITS && !chord_rt_has_lock(ctl)) {
		old = chord_rt_lock(ctl);
		if (!chord_rt_record_waiting(ctl, a))
			found = CHORD_RT_RUNS;
		chord_rt_unlock(ctl, old);
	}
	return found;
}

/* The process ends. Have the other threads ended, too? patient: threads that spin or run get time to become idle or to wait. */
static void
chord_rt_settle_others(struct chord_rt_ctl *ctl, bool patient)
{
	struct chord_rt_actives a = {0};
	static const int64_t half[2] = {0, 500000};
	int spins = patient ? CHORD_RT_SPINNING : 0, runs = patient ? CHORD_RT_RUNNING : 0;
	enum chord_rt_other found;
	uint64_t room;

	chord_rt_forget_waiting(ctl);
	ctl->head->state = CHORD_STATE_THREADS;
	room = ctl->nregion > 1 ? chord_rt_pages(CHORD_RT_WAITING) : 0;
	a.head = (struct chord_extent_head *)room;
	a.at = (struct chord_waiting *)(a.head + 1);
	a.most = room ? (CHORD_RT_WAITING - sizeof *a.head - 8) / sizeof *a.at : 0;
	for (;;) {
		found = chord_rt_look_at_others(ctl, &a);
		if (!(found == CHORD_RT_SPINS && spins-- > 0) && !(found == CHORD_RT_RUNS && runs-- > 0))
			break;
		chord_rt_call(SYS_nanosleep, half, 0);
	}
	if (room)
		chord_rt_call(SYS_munmap, room, CHORD_RT_WAITING);
}
