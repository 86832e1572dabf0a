/* SPDX-License-Identifier: MIT */
/* Traces for which no file can be made: the head, the lists and the rings are memory, in the layouts of the file, and a core file
 * has a copy of them. The end of each thread's stream is kept. All of this runs under the lock of the control block. */

static uint64_t chord_rt_anchored(const struct chord_rt_ctl *ctl);
static void chord_rt_trace_stop(struct chord_rt_ctl *ctl, long e);

static void
chord_rt_fill_trace_head(const struct chord_rt_ctl *ctl, struct chord_trace_head *h)
{
	const struct chord_rt_trace *t = ctl->trace;

	h->version = CHORD_TRACE_VERSION;
	h->used = h->page = CHORD_RT_PAGE;
	h->flags = (t->late ? CHORD_TRACE_LATE : 0) | (t->last || t->memory ? CHORD_TRACE_LAST : 0);
	h->pid = ctl->pid;
	h->id = ctl->place.id[0];
	h->id2 = ctl->place.id[1];
	h->magic = CHORD_TRACE_MAGIC;
}

/* Begins a trace in memory. False: there is no room for it, and nothing is kept. */
static bool
chord_rt_trace_in_memory(struct chord_rt_ctl *ctl)
{
	struct chord_rt_trace *t = ctl->trace;
	uint64_t anchor = chord_rt_anchored(ctl);
	long p = anchor ? chord_rt_map_at(anchor + CHORD_TRACE_MOORED, CHORD_RT_PAGE, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON) : -ENOMEM;

	t->stopped = chord_rt_failed(p);
	if (t->stopped)
		return false;
	t->memory = 1;
	t->collected = 0;
	t->head = (struct chord_trace_head *)p;
	t->newest = (uint64_t)p;
	chord_rt_fill_trace_head(ctl, t->head);
	return true;
}

/* The extent at that address is complete. Adds it to the list, and gives its offset, as if it were in a file. */
static uint64_t
chord_rt_trace_link(struct chord_rt_trace *t, const struct chord_extent_head *h)
{
	uint64_t at = t->head->used;

	__atomic_store_n((uint64_t *)(t->newest + CHORD_TRACE_NEXT), (uint64_t)h, __ATOMIC_RELEASE);
	t->newest = (uint64_t)h;
	__atomic_store_n(&t->head->used, at + h->size, __ATOMIC_RELEASE);
	return at;
}

static struct chord_extent_head *
chord_rt_trace_extent_in_memory(struct chord_rt_ctl *ctl, const struct chord_extent_head *h)
{
	struct chord_extent_head *p = (struct chord_extent_head *)chord_rt_pages(h->size);

	if (!p) {
		chord_rt_trace_stop(ctl, -ENOMEM);
		return NULL;
	}
	*p = *h;
	chord_rt_trace_link(ctl->trace, p);
	return p;
}

/* How large the ring is to be: small where room is scarce, or many threads have one. */
static uint64_t
chord_rt_ring_in_memory(const struct chord_rt_trace *t, const struct chord_rt_ring *r)
{
	const bool ample = r->number < CHORD_RT_RINGS_MANY && chord_rt_limit(CHORD_RT_RLIMIT_AS) >= CHORD_RT_AMPLE;

	return t->last ? t->last : ample ? CHORD_RT_RING_MEMORY : CHORD_RT_RING;
}

/* Maps a ring at that address, and the page before it. Shared memory is mapped a second time by mremap with a size of 0. A core
 * needs only one of the two. */
static long
chord_rt_map_memory_ring(uint64_t at, uint64_t size)
{
	const int DONTDUMP = 16, MAYMOVE = 1, FIXED = 2;
	long e = chord_rt_call(SYS_mmap, at - CHORD_RT_PAGE, CHORD_RT_PAGE + size, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_SHARED | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED | CHORD_RT_MAP_NORESERVE, -1, 0);

	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_mremap, at, 0, size, MAYMOVE | FIXED, at + size);
	if (!chord_rt_failed(e))
		chord_rt_call(SYS_madvise, at + size, size, DONTDUMP);
	return e;
}

/* Gives an offset, or an error. */
static long
chord_rt_place_memory_ring(struct chord_rt_trace *t, const struct chord_extent_head *h, uint64_t at)
{
	struct chord_extent_head *head = (struct chord_extent_head *)(at - CHORD_RT_PAGE);
	long e = chord_rt_map_memory_ring(at, h->size - CHORD_RT_PAGE);

	if (chord_rt_failed(e))
		return e;
	*head = *h;
	return (long)chord_rt_trace_link(t, head);
}
