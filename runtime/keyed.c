/* SPDX-License-Identifier: MIT */
/* Keyed tables: counts under two numbers, in extents that grow. They count the procedures that are called through pointers, paths
 * that have no room in their hash table, and unfinished paths. All slots have the form of struct chord_callee.
 *
 * A slot is claimed by its raw word, which has the mark until the slot is complete. A signal handler that finds an incomplete slot
 * takes another one, and readers add both. A region's table is used without a lock by its thread. The table of no region is used
 * without a lock by any thread. */

#define CHORD_RT_MARK (1ull << 63)

_Static_assert(sizeof(struct chord_path_count) == sizeof(struct chord_callee) &&
    sizeof(struct chord_unfinished) == sizeof(struct chord_callee), "");
_Static_assert(offsetof(struct chord_path_count, count) == offsetof(struct chord_callee, count) &&
    offsetof(struct chord_unfinished, count) == offsetof(struct chord_callee, count), "");

static const uint32_t chord_rt_keyed_type[CHORD_RT_KINDS] = {
	CHORD_EXTENT_CALLEES, CHORD_EXTENT_PATHS, CHORD_EXTENT_UNFINISHED,
};

static CHORD_RT_HOT uint64_t
chord_rt_keyed_slots(uint32_t k)
{
	return (((uint64_t)CHORD_RT_PAGE << 2 * k) - sizeof(struct chord_extent_head)) / sizeof(struct chord_callee);
}

static struct chord_callee *
chord_rt_keyed_first(const struct chord_rt_keyed *t, uint32_t k)
{
	return (struct chord_callee *)(t->map[k] + 1);
}

static CHORD_RT_HOT uint64_t
chord_rt_keyed_start(uint64_t site, uint64_t raw, uint32_t k)
{
	uint64_t h = (raw ^ site << 13) * 0x9e3779b97f4a7c15ull;

	return (uint64_t)((unsigned __int128)h * chord_rt_keyed_slots(k) >> 64);
}

/* The slot's raw word is `now`. Is it the slot for this key? A marked raw word alone does not decide that. */
static CHORD_RT_HOT bool
chord_rt_keyed_is(const struct chord_callee *s, uint64_t now, uint64_t site, uint64_t raw, uint64_t key)
{
	return now == raw && s->site == site && (!(raw & CHORD_RT_MARK) || s->callee == key);
}

/* The slot for the key in extent k, or the free slot where it would be; NULL: there is neither. */
static CHORD_RT_HOT struct chord_callee *
chord_rt_keyed_slot(const struct chord_rt_keyed *t, uint32_t k, uint64_t site, uint64_t raw, uint64_t key)
{
	uint64_t n = chord_rt_keyed_slots(k), i = chord_rt_keyed_start(site, raw, k), now;
	struct chord_callee *s = chord_rt_keyed_first(t, k);

	for (uint64_t tries = 0; tries < n; tries++, i = i + 1 < n ? i + 1 : 0) {
		now = __atomic_load_n(&s[i].raw, __ATOMIC_ACQUIRE);
		if (now == 0 || chord_rt_keyed_is(&s[i], now, site, raw, key))
			return s + i;
	}
	return NULL;
}

static CHORD_RT_HOT struct chord_callee *
chord_rt_keyed_find(const struct chord_rt_keyed *t, uint64_t site, uint64_t raw, uint64_t key)
{
	struct chord_callee *s;

	for (uint32_t k = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE); k-- > 0;) {
		/* A free slot may have been taken for another key meanwhile. */
		s = chord_rt_keyed_slot(t, k, site, raw, key);
		if (s && chord_rt_keyed_is(s, s->raw, site, raw, key))
			return s;
	}
	return NULL;
}

/* Maps extent k of t in the profile. If that fails, maps as many slots in memory that no reader will see. */
static long
chord_rt_keyed_room(struct chord_rt_ctl *ctl, const struct chord_rt_keyed *t, uint32_t k)
{
	struct chord_extent_head h = {
		.type = chord_rt_keyed_type[t->kind], .size = (uint64_t)CHORD_RT_PAGE << 2 * k,
		.a = chord_rt_keyed_slots(k), .b = t->number,
	};
	uint64_t at = chord_rt_extent(ctl, &h, sizeof h, h.size);
	long p = -1;

	if (at)
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, chord_rt_fd(ctl), at);
	if (at && !chord_rt_failed(p))
		chord_rt_publish(ctl, at + h.size);
	else
		p = chord_rt_call(SYS_mmap, 0, h.size, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	return p;
}

/* Adds an extent, under the lock. */
static bool
chord_rt_keyed_grow(struct chord_rt_ctl *ctl, struct chord_rt_keyed *t)
{
	uint32_t n = t->n;
	long p = chord_rt_keyed_room(ctl, t, n);

	if (chord_rt_failed(p))
		return false;
	t->map[n] = (struct chord_extent_head *)p;
	t->used = 0;
	__atomic_store_n(&t->n, n + 1, __ATOMIC_RELEASE);
	return true;
}

static uint64_t
chord_rt_keyed_one_more(struct chord_rt_ctl *ctl, uint64_t at, uint64_t seen)
{
	struct chord_rt_keyed *t = (struct chord_rt_keyed *)at;
	uint64_t old = chord_rt_lock(ctl);
	bool ok = t->n != seen || chord_rt_keyed_grow(ctl, t);

	chord_rt_unlock(ctl, old);
	return ok;
}

/* Adds an extent if there are still `seen` of them. */
static bool
chord_rt_keyed_more(struct chord_rt_ctl *ctl, struct chord_rt_keyed *t, uint32_t seen)
{
	/* This does nothing in a signal handler that interrupted this thread while it held the lock, and nothing in a child of
	 * vfork. */
	if (seen == CHORD_RT_KEYED || chord_rt_other_process(ctl) ||
	    chord_rt_has_lock(ctl))
		return false;
	return chord_rt_on_own_stack(ctl, chord_rt_keyed_one_more, (uint64_t)t, seen);
}

static bool
chord_rt_keyed_has_room(const struct chord_rt_keyed *t)
{
	uint32_t n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);

	return n && t->used * 4 <= chord_rt_keyed_slots(n - 1) * 3;
}

/* Makes a slot for the key; NULL: there is no room. */
static struct chord_callee *
chord_rt_keyed_make(struct chord_rt_ctl *ctl, struct chord_rt_keyed *t, uint64_t site, uint64_t raw, uint64_t key)
{
	struct chord_callee *s;
	uint64_t none;
	uint32_t n;

	for (;;) {
		n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE);
		if (!chord_rt_keyed_has_room(t)) {
			if (!chord_rt_keyed_more(ctl, t, n))
				return NULL;
			continue;
		}
		none = 0;
		s = chord_rt_keyed_slot(t, n - 1, site, raw, key);
		if (!s || !__atomic_compare_exchange_n(&s->raw, &none, raw | CHORD_RT_MARK, false, __ATOMIC_RELAXED,
		    __ATOMIC_RELAXED)) {
			if (s && chord_rt_keyed_is(s, s->raw, site, raw, key))
				return s;
			continue;
		}
		__atomic_fetch_add(&t->used, 1, __ATOMIC_RELAXED);
		s->callee = key;
		__atomic_store_n(&s->site, site, __ATOMIC_RELEASE);
		__atomic_store_n(&s->raw, raw, __ATOMIC_RELEASE);
		return s;
	}
}

/* The number of the calling thread's region plus 1; 0: it has none. */
static uint64_t
chord_rt_mine_number(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r;
	uint64_t mine = chord_rt_home_mine();

	if (!mine && (r = chord_rt_region_mine(ctl))) {
		mine = r->index + 1;
		chord_rt_home_set_mine(mine);
	}
	return mine;
}

/* ---- fork ---- */

/* Replaces an extent by one in the child's own file: the same slots with counts 0 at the same addresses, because code that forked
 * in a signal handler may be about to use one of them. */
static void
chord_rt_renew_extent(struct chord_rt_ctl *ctl, const struct chord_rt_keyed *t, uint32_t k)
{
	volatile struct chord_callee *from = chord_rt_keyed_first(t, k);
	uint64_t size = (uint64_t)CHORD_RT_PAGE << 2 * k, raw;
	long p = chord_rt_keyed_room(ctl, t, k);
	struct chord_callee *to = (struct chord_callee *)((struct chord_extent_head *)p + 1);

	if (!chord_rt_failed(p)) {
		for (uint64_t i = 0; i < chord_rt_keyed_slots(k); i++) {
			raw = from[i].raw;
			to[i].raw = raw;
			to[i].site = raw ? from[i].site : 0;
			to[i].callee = raw ? from[i].callee : 0;
		}
		p = chord_rt_call(SYS_mremap, p, size, size, 1 | 2, t->map[k]);
	}
	if (chord_rt_failed(p))
		chord_rt_call(SYS_mmap, t->map[k], size, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED, -1, 0);
}

/* Renews the tables in a forked child, whose only thread had region `mine` - 1 (0: none) and has region 0 from now on. */
static void
chord_rt_renew_keyed(struct chord_rt_ctl *ctl, uint32_t mine)
{
	for (uint32_t kind = 0; kind < CHORD_RT_KINDS; kind++)
		for (uint32_t r = 0; r < 2; r++) {
			struct chord_rt_keyed *t = chord_rt_keyed(ctl, kind, r), *from;

			if (r && mine > 1) {
				from = chord_rt_keyed(ctl, kind, mine);
				chord_rt_copy(t, from, sizeof *t);
				t->number = 1;
				from->n = 0;
			}
			for (uint32_t k = 0; k < t->n; k++)
				chord_rt_renew_extent(ctl, t, k);
		}
}

/* Runs before that, and unmaps the tables of other threads. */
static void
chord_rt_drop_keyed(struct chord_rt_ctl *ctl, uint32_t nregion, uint32_t mine)
{
	for (uint32_t kind = 0; kind < CHORD_RT_KINDS; kind++)
		for (uint32_t r = 1; r <= nregion; r++) {
			struct chord_rt_keyed *t = chord_rt_keyed(ctl, kind, r);

			for (uint32_t k = 0; k < t->n && r != mine; k++)
				chord_rt_call(SYS_munmap, t->map[k], (uint64_t)CHORD_RT_PAGE << 2 * k);
			if (r != mine)
				t->n = 0;
		}
}
