/* SPDX-License-Identifier: MIT */
/* Threads: each gets a region before it runs. */

extern void chord_rt_thread_entry(void) __attribute__((visibility("hidden")));

typedef int chord_rt_create_fn(void *, const void *, void *(*)(void *), void *);

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

/* What a hook stands for. The process's first module learned the addresses
 * before any table was changed. */
static uint64_t
chord_rt_real(struct chord_rt_ctl *ctl, uint32_t hook, uint64_t otherwise)
{
	return ctl && ctl->real[hook] ? ctl->real[hook] : otherwise;
}

/* A region for a thread that is about to be created; NULL: it has to share its
 * creator's. */
static struct chord_rt_region *
chord_rt_expect_thread(struct chord_rt_ctl *ctl, void *(*start)(void *), void *arg)
{
	struct chord_rt_region *r;
	uint64_t old;

	if (!ctl || ctl->nogs)
		return NULL;
	old = chord_rt_lock(ctl);
	r = chord_rt_region_get(ctl);
	chord_rt_unlock(ctl, old);
	if (r) {
		r->start = start;
		r->arg = arg;
	}
	return r;
}

static void
chord_rt_no_thread(struct chord_rt_ctl *ctl, struct chord_rt_region *r)
{
	__atomic_fetch_sub(&ctl->head->threads, 1, __ATOMIC_RELAXED);
	r->users--;
	__atomic_store_n(&r->tid, 0, __ATOMIC_RELEASE);
}

static __attribute__((used)) int
chord_rt_hook_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	chord_rt_create_fn *real = (chord_rt_create_fn *)chord_rt_real(ctl, CHORD_RT_HOOK_pthread_create,
	    (uint64_t)chord_rt_weak_pthread_create);
	struct chord_rt_region *r = chord_rt_expect_thread(ctl, start, arg);
	int e;

	if (!r)
		return real(thread, attr, start, arg);
	e = real(thread, attr, (void *(*)(void *))(void *)&chord_rt_thread_entry, r);
	if (e)
		chord_rt_no_thread(ctl, r);
	return e;
}

static __attribute__((used)) int
chord_rt_hook_thrd_create(void *thread, void *(*start)(void *), void *arg)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	int (*real)(void *, void *(*)(void *), void *) = (int (*)(void *, void *(*)(void *), void *))chord_rt_real(ctl,
	    CHORD_RT_HOOK_thrd_create, (uint64_t)chord_rt_weak_thrd_create);
	struct chord_rt_region *r;
	int e;

	/* In a static program it goes through pthread_create's own hook. */
	r = ctl && ctl->dynamic ? chord_rt_expect_thread(ctl, start, arg) : NULL;
	if (!r)
		return real(thread, start, arg);
	e = real(thread, (void *(*)(void *))(void *)&chord_rt_thread_entry, r);
	if (e)
		chord_rt_no_thread(ctl, r);
	return e;
}

/* Called by chord_rt_thread_entry in the new thread, which then jumps to start. */
static __attribute__((used)) void
chord_rt_thread_begin(struct chord_rt_region *r)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	chord_rt_set_base(ctl, r->base);
	r->stack = (uint64_t)__builtin_frame_address(0);
	__atomic_store_n(&r->tid, (int32_t)chord_rt_call(SYS_gettid), __ATOMIC_RELEASE);
}
