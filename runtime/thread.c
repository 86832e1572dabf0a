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

static __attribute__((used)) int
chord_rt_hook_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	chord_rt_create_fn *real = (chord_rt_create_fn *)chord_rt_real(ctl, CHORD_RT_HOOK_pthread_create,
	    (uint64_t)chord_rt_weak_pthread_create);
	struct chord_rt_region *r;
	uint64_t old;
	int e;

	if (!ctl || ctl->nogs)
		return real(thread, attr, start, arg);
	old = chord_rt_lock(ctl);
	r = chord_rt_region_get(ctl);
	chord_rt_unlock(ctl, old);
	if (!r)
		return real(thread, attr, start, arg);
	r->start = start;
	r->arg = arg;
	e = real(thread, attr, (void *(*)(void *))(void *)&chord_rt_thread_entry, r);
	if (e) {
		ctl->head->threads--;
		__atomic_store_n(&r->tid, 0, __ATOMIC_RELEASE);
	}
	return e;
}

/* Called by chord_rt_thread_entry in the new thread, which then jumps to start. */
static __attribute__((used)) void
chord_rt_thread_begin(struct chord_rt_region *r)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	chord_rt_set_base(ctl, r->base);
	__atomic_store_n(&r->tid, (int32_t)chord_rt_call(SYS_gettid), __ATOMIC_RELEASE);
}
