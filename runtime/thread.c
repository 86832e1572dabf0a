/* SPDX-License-Identifier: MIT */
/* Threads: each gets a region before it runs. */

extern void chord_rt_thread_entry(void) __attribute__((visibility("hidden")));

typedef int chord_rt_create_fn(void *, const void *, void *(*)(void *), void *);
typedef int chord_rt_thrd_fn(void *, void *(*)(void *), void *);

static struct chord_rt_ctl *
chord_rt_ctl_here(void)
{
	return (struct chord_rt_ctl *)chord_rt_desc.ctl;
}

static char **chord_rt_environ __attribute__((weakref("environ")));

static char **
chord_rt_environment(void)
{
	char ***p = chord_rt_elsewhere(&chord_rt_environ);

	return p ? *p : NULL;
}

/* The real function of a hook. A call through a table goes to the function that the process's first module found before any table
 * was changed. A call in woven code goes to the function that its own module was linked to: that may be the module's own function,
 * another version, or one of another name space. In a program that is not position independent this may be the program's own PLT
 * entry, which leads back to the hook. In a static program the function itself may lead back. */
static uint64_t
chord_rt_real(struct chord_rt_ctl *ctl, uint32_t hook, bool woven)
{
	uint64_t link = chord_rt_links[hook], real = ctl ? ctl->real[hook] : 0;

	if (!real || !link || !woven || !ctl->dynamic)
		return real ? real : link;
	return link - ctl->main < ctl->main_end - ctl->main ? real : link;
}

/* In woven code, does the name of the hooked function mean another function? */
static bool
chord_rt_is_other(const struct chord_rt_ctl *ctl, uint32_t hook, uint64_t real)
{
	return ctl && ctl->dynamic && ctl->real[hook] && real != ctl->real[hook] &&
	    ctl->space == (uint64_t)&chord_rt_dl_iterate_phdr;
}

static void chord_rt_trace_creates(struct chord_rt_ctl *ctl, const struct chord_rt_region *r);

static uint64_t
chord_rt_get_region_on_own_stack(struct chord_rt_ctl *ctl, uint64_t a, uint64_t b)
{
	uint64_t old = chord_rt_lock(ctl);
	struct chord_rt_region *r = chord_rt_region_get(ctl);

	(void)a, (void)b;
	chord_rt_trace_creates(ctl, r);
	chord_rt_unlock(ctl, old);
	return (uint64_t)r;
}

/* A region for a thread that is about to be created; NULL: the thread has to share its creator's. */
static struct chord_rt_region *
chord_rt_expect_thread(struct chord_rt_ctl *ctl, void *(*start)(void *), void *arg)
{
	struct chord_rt_region *r;

	if (!ctl || ctl->nogs)
		return NULL;
	r = (struct chord_rt_region *)chord_rt_on_own_stack(ctl, chord_rt_get_region_on_own_stack, 0, 0);
	if (r) {
		r->start = start;
		r->arg = arg;
	}
	return r;
}

static void
chord_rt_no_thread(struct chord_rt_ctl *ctl, struct chord_rt_region *r)
{
	chord_rt_trace_note(ctl, CHORD_EVENT_UNMADE, r->index);
	__atomic_fetch_sub(&ctl->head->threads, 1, __ATOMIC_RELAXED);
	r->users--;
	__atomic_store_n(&r->tid, 0, __ATOMIC_RELEASE);
}

/* While a hook creates a thread, the C library's requests for it belong to the program's request. If there is no room to note that,
 * the thread gets two regions, of which one stays unused. */
static uint64_t *
chord_rt_ask(struct chord_rt_ctl *ctl, uint64_t frame)
{
	uint64_t none;

	for (uint64_t *p = ctl->asked_for; p < ctl->asked_for + CHORD_RT_MAKING; p++) {
		none = 0;
		if (__atomic_compare_exchange_n(p, &none, frame, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return p;
	}
	return NULL;
}

/* A thread that is being created. */
struct chord_rt_made {
	struct chord_rt_region *region;
	uint64_t thread;
	const uint64_t *handle;       /* where the caller wants the handle */
};

/* The thread has been created, or not (e: the error). */
static int
chord_rt_asked(struct chord_rt_ctl *ctl, uint64_t *asked, struct chord_rt_made made, int e)
{
	if (asked)
		__atomic_store_n(asked, 0, __ATOMIC_RELAXED);
	if (e)
		chord_rt_no_thread(ctl, made.region);
	else
		chord_rt_has_handle(ctl, made.region, made.thread, made.handle);
	return e;
}

/* No region could be had, which has been noted. So when the C library asks for one, it is not tried again. */
static int
chord_rt_create_sharing(struct chord_rt_ctl *ctl, chord_rt_create_fn *real, void *thread, const void *attr,
	void *(*start)(void *), void *arg)
{
	bool noted = ctl && (uint64_t)real == ctl->real[CHORD_RT_HOOK_pthread_create];
	uint64_t *asked = noted ? chord_rt_ask(ctl, (uint64_t)__builtin_frame_address(0)) : NULL;
	int e = real(thread, attr, start, arg);

	if (asked)
		__atomic_store_n(asked, 0, __ATOMIC_RELAXED);
	return e;
}

static __attribute__((used)) int
chord_rt_hook_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg, bool woven)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	chord_rt_create_fn *real = (chord_rt_create_fn *)chord_rt_real(ctl, CHORD_RT_HOOK_pthread_create, woven);
	struct chord_rt_made made;
	struct chord_rt_region *r;
	uint64_t *asked;
	int e;

	r = chord_rt_is_other(ctl, CHORD_RT_HOOK_pthread_create, (uint64_t)real) ? NULL : chord_rt_expect_thread(ctl, start, arg);
	if (!r)
		return chord_rt_create_sharing(ctl, real, thread, attr, start, arg);
	made = (struct chord_rt_made){r, r->thread, thread};
	asked = chord_rt_ask(ctl, (uint64_t)__builtin_frame_address(0));
	e = real(thread, attr, (void *(*)(void *))(void *)&chord_rt_thread_entry, r);
	return chord_rt_asked(ctl, asked, made, e);
}

static __attribute__((used)) int
chord_rt_hook_thrd_create(void *thread, void *(*start)(void *), void *arg, void *nothing, bool woven)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	chord_rt_thrd_fn *real = (chord_rt_thrd_fn *)chord_rt_real(ctl, CHORD_RT_HOOK_thrd_create, woven);
	struct chord_rt_region *r = NULL;
	struct chord_rt_made made;
	uint64_t *asked;
	int e;

	(void)nothing;
	/* In a static program, thrd_create goes through pthread_create's own hook. */
	if (ctl && ctl->dynamic && !chord_rt_is_other(ctl, CHORD_RT_HOOK_thrd_create, (uint64_t)real))
		r = chord_rt_expect_thread(ctl, start, arg);
	if (!r)
		return real(thread, start, arg);
	made = (struct chord_rt_made){r, r->thread, thread};
	asked = chord_rt_ask(ctl, (uint64_t)__builtin_frame_address(0));
	e = real(thread, (void *(*)(void *))(void *)&chord_rt_thread_entry, r);
	return chord_rt_asked(ctl, asked, made, e);
}

static void chord_rt_not_watched(struct chord_rt_ctl *ctl, const char *why, uint64_t flag);

/* Called by chord_rt_thread_entry in the new thread, which then jumps to start. */
static __attribute__((used)) void
chord_rt_thread_begin(struct chord_rt_region *r)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	uint64_t handle = chord_rt_descriptor();

	if (!chord_rt_set_base(ctl, r->base))
		chord_rt_not_watched(ctl, "a thread could not be given counters of its own", CHORD_RT_UNSEEN_FORBIDDEN);
	r->stack = (uint64_t)__builtin_frame_address(0);
	if (chord_rt_other_process(ctl))
		r->process = (uint32_t)chord_rt_call(SYS_getpid);
	__atomic_store_n(&r->tid, chord_rt_tid(), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->given_up, __ATOMIC_SEQ_CST))
		chord_rt_set_base(ctl, 0);
	chord_rt_has_handle(ctl, r, r->thread, &handle);
}
