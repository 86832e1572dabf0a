/* SPDX-License-Identifier: MIT */
/* Which thread a handle (pthread_t) means. A thread that joins another one has nothing but the handle. Threads that have ended can
 * still be joined, when their regions are already those of other threads. A handle is entered before the program can use it, by the
 * new thread or by the thread that creates it, whichever comes first. It is forgotten when the C library gives the descriptor to
 * another thread. All of this runs under the lock. */

static void chord_rt_trace_note(struct chord_rt_ctl *ctl, uint32_t event, uint64_t value);
static struct chord_rt_traced *chord_rt_tracing(const struct chord_rt_desc *d);

/* The place of the handle, where it is or is to be. */
static struct chord_rt_joinable *
chord_rt_joinable_at(const struct chord_rt_trace *t, uint64_t handle)
{
	uint64_t i = handle * 0x9e3779b97f4a7c15ull >> 32;

	while (t->joinable[i & (t->joinables - 1)].handle && t->joinable[i & (t->joinables - 1)].handle != handle)
		i++;
	return &t->joinable[i & (t->joinables - 1)];
}

/* Makes room for one more. False: there is no memory. */
static bool
chord_rt_more_joinables(struct chord_rt_trace *t)
{
	struct chord_rt_joinable *old = t->joinable;
	uint64_t n = t->joinables, room;

	if (t->njoinable * 2 < n)
		return true;
	room = chord_rt_pages(n ? n * 2 * sizeof *old : CHORD_RT_PAGE);
	if (!room)
		return false;
	t->joinable = (struct chord_rt_joinable *)room;
	t->joinables = n ? n * 2 : CHORD_RT_PAGE / sizeof *old;
	t->njoinable = 0;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].thread) {
			*chord_rt_joinable_at(t, old[i].handle) = old[i];
			t->njoinable++;
		}
	if (n)
		chord_rt_call(SYS_munmap, old, n * sizeof *old);
	return true;
}

/* That thread has the handle, and can be joined from now on. */
static void
chord_rt_can_join(struct chord_rt_trace *t, uint64_t handle, uint64_t thread, uint32_t stream)
{
	struct chord_rt_joinable *p;

	if (t->stopped || !handle || !chord_rt_more_joinables(t))
		return;
	p = chord_rt_joinable_at(t, handle);
	t->njoinable += !p->handle;
	*p = (struct chord_rt_joinable){handle, CHORD_CREATES(thread, stream)};
}

/* The thread that the handle meant is gone. */
static void
chord_rt_cannot_join(const struct chord_rt_ctl *ctl, uint64_t handle)
{
	if (ctl->trace && ctl->trace->joinables)
		chord_rt_joinable_at(ctl->trace, handle)->thread = 0;
}

/* A forked child has none of the parent's threads. */
static void
chord_rt_forget_joinables(struct chord_rt_trace *t)
{
	if (t->joinables)
		chord_rt_clear(t->joinable, t->joinables * sizeof *t->joinable);
	t->njoinable = 0;
}

/* The region is, or was, that of `thread`, whose handle is at `handle`. The thread may have ended since, and the region may be
 * another thread's. The memory at `handle` may be gone as soon as the thread itself has been here. */
static void
chord_rt_has_handle(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint64_t thread, const uint64_t *handle)
{
	uint64_t old;

	if (!ctl->trace || ctl->trace->stopped) {
		__atomic_store_n(&r->known, 1, __ATOMIC_RELAXED);
		return;
	}
	old = chord_rt_lock(ctl);
	if (r->thread == thread && !r->known) {
		chord_rt_can_join(ctl->trace, *handle, thread, r->index);
		r->known = 1;
	}
	chord_rt_unlock(ctl, old);
}

static bool
chord_rt_is_join(uint32_t hook)
{
	return hook >= CHORD_RT_HOOK_pthread_join && hook <= CHORD_RT_HOOK_thrd_join;
}

/* A function is called that joins the thread with the handle in its first argument. If it is known which thread that is, gives the
 * address of a routine to go to instead, which calls the function and reports whether it has succeeded. */
static uint64_t
chord_rt_joins(struct chord_rt_ctl *ctl, struct chord_rt_regs *regs, uint64_t real)
{
	struct chord_rt_traced *here = ctl->trace && !ctl->nogs ? chord_rt_tracing(&chord_rt_desc) : NULL;
	uint64_t old, thread = 0;

	if (!here)
		return real;
	old = chord_rt_lock(ctl);
	if (ctl->trace->joinables)
		thread = chord_rt_joinable_at(ctl->trace, regs->r[CHORD_RT_ARG0])->thread;
	chord_rt_unlock(ctl, old);
	if (!thread || chord_rt_other_process(ctl))
		return real;
	regs->r[CHORD_RT_RESULT] = thread;
	regs->r[CHORD_RT_STATIC] = real;
	return CHORD_RT_NEAR(here->join);
}

/* The call that joins has succeeded. */
static __attribute__((used)) void
chord_rt_joined(uint64_t thread)
{
	chord_rt_trace_note((struct chord_rt_ctl *)chord_rt_desc.ctl, CHORD_EVENT_JOINS, thread);
}
