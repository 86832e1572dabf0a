/* SPDX-License-Identifier: MIT */
/* Regions: each thread's counters are in one. A region has a base: the counter pages of every loaded module are mapped at their
 * address plus the base. */

#define CHORD_RT_STEP 0x40000000ull
#define CHORD_RT_CLOSE 0x100000ull      /* distance of bases at first, where there is little room */
#define CHORD_RT_LOW 0x10000000000ull   /* modules below this were linked without -pie */
#define CHORD_RT_NARROW 0x1000000ull    /* a smaller gap is used only for debuggers */
#define CHORD_RT_SLOTS 4096              /* bases in the gap */
#define CHORD_RT_SKIP 1                 /* stands for a number that gives no base */
#define CHORD_RT_TOP 0x7ffffffff000ull

#include "home.h"

/* ---- choosing a base ---- */

static void
chord_rt_span(struct chord_rt_ctl *ctl, uint64_t *lo, uint64_t *hi, uint64_t *largest)
{
	const struct chord_rt_mod *m;

	*lo = ~0ull;
	*hi = *largest = 0;
	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (m->life != CHORD_LIFE_LOADED)
			continue;
		*lo = m->first < *lo ? m->first : *lo;
		*hi = m->first + m->size > *hi ? m->first + m->size : *hi;
		*largest = m->size > *largest ? m->size : *largest;
	}
}

/* The gap between the libraries and the lowest address that the stack may grow to. A base that fits into it is positive and suits
 * modules at low and at high addresses. The search begins at the top of the gap, far from where the heap grows. */
static void
chord_rt_gap(struct chord_rt_ctl *ctl, uint64_t hi, uint64_t largest)
{
	uint64_t room = chord_rt_limit(CHORD_RT_RLIMIT_STACK), top = ctl->stack;

	room = room > 0x4000000 ? 0x4000000 : room;
	top -= room + 0x100000;
	hi = ctl->highest > hi ? ctl->highest : hi;
	ctl->gap_top = top > hi && ctl->stack > hi ? top - hi : 0;
	/* An eighth of the gap stays free for libraries that are opened later. */
	ctl->gap_top = (ctl->gap_top - ctl->gap_top / 8) & ~0xfffull;
	ctl->gap_least = largest;
	ctl->gap_step = (largest + 0xffff) & ~0xffffull;
	if (ctl->gap_top / CHORD_RT_SLOTS > ctl->gap_step)
		ctl->gap_step = (ctl->gap_top / CHORD_RT_SLOTS) & ~0xfffull;
}

/* In a wide gap bases are far apart, so that a library that is opened late rarely collides with another region. In a narrow gap the
 * highest free base is used: libraries that are opened late lie below the stacks of today's threads, and their counters have to fit
 * above all libraries. */
static uint64_t
chord_rt_reversed(uint32_t no)
{
	uint64_t v = 0;

	for (uint32_t bit = 1; bit < CHORD_RT_SLOTS; bit *= 2)
		v = v * 2 + ((no & bit) != 0);
	return v;
}

/* Is there a better place than the gap? Not if a debugger is attached already, because it cannot handle negative bases. */
static bool
chord_rt_is_narrow(const struct chord_rt_ctl *ctl, uint64_t lo)
{
	return lo >= CHORD_RT_LOW && !ctl->traced && ctl->gap_top < 16 * CHORD_RT_STEP;
}

/* Base number `no` of a scheme; 0 if the scheme has no more. Negative bases could use all of the room between programs and
 * libraries. But only wrgsbase sets them, and ptrace refuses them: a debugger that attaches could not continue the thread. So the
 * gap comes first. Without address randomisation the gap is about 100 MiB, and a library that is opened late may lie farther down.
 * So in such a narrow gap a thread is given a base only while it is the only one, because then it can be moved. When all of that is
 * used up, bases in the gap are as close to each other as the largest module permits. */
static uint64_t
chord_rt_candidate(struct chord_rt_ctl *ctl, uint32_t scheme, uint64_t no, uint64_t lo, uint64_t hi)
{
	static const uint16_t down[] = {0x3000, 0x1000, 0x2000, 0x800};
	uint64_t away;

	if (scheme >= 1 && scheme <= 4) {
		away = ((uint64_t)down[scheme - 1] << 32) + no * CHORD_RT_STEP;
		return (ctl->fsgsbase || ctl->nogs) && lo >= CHORD_RT_LOW && lo >= away + 0x10000000 ? -away : 0;
	}
	away = 0x100000000000ull + no * CHORD_RT_STEP;
	if (scheme == 5)
		return hi + away < 0x500000000000ull ? away : 0;
	if (scheme == 7)
		return no * ctl->gap_least < ctl->gap_top ? ctl->gap_top - no * ctl->gap_least : 0;
	if (scheme == 0 && ((!ctl->dynamic && lo < CHORD_RT_LOW) || (chord_rt_is_narrow(ctl, lo) &&
	    (ctl->nregion || ctl->gap_top < CHORD_RT_NARROW))))
		return 0;
	if (no == CHORD_RT_SLOTS)
		return 0;
	if (ctl->gap_top < 16 * CHORD_RT_STEP && no < CHORD_RT_SLOTS / 2)
		away = no * (ctl->gap_step > CHORD_RT_CLOSE ? ctl->gap_step : CHORD_RT_CLOSE);
	else
		away = chord_rt_reversed((uint32_t)no) * ctl->gap_step;
	return away < ctl->gap_top ? ctl->gap_top - away : CHORD_RT_SKIP;
}

/* Unmaps what was reserved for the first n modules. */
static void
chord_rt_release(struct chord_rt_ctl *ctl, uint32_t n, uint64_t base)
{
	const struct chord_rt_mod *m;

	while (n-- > 0)
		if ((m = chord_rt_module(ctl, n))->life == CHORD_LIFE_LOADED)
			chord_rt_call(SYS_munmap, m->first + base, m->size);
}

/* Does the region have counters of the module? Where it has none, memory of the program may be in their place. */
static bool
chord_rt_has_counters(const struct chord_rt_region *r, const struct chord_rt_mod *m)
{
	return !r->given_up || m->order < r->given_up;
}

/* Unmaps the counters of all modules in a region. A region that was given up may lack those of any guest. */
static void
chord_rt_release_region(struct chord_rt_ctl *ctl, const struct chord_rt_region *r, uint64_t base)
{
	const struct chord_rt_mod *m;

	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if ((m = chord_rt_module(ctl, i))->life == CHORD_LIFE_LOADED && chord_rt_has_counters(r, m))
			chord_rt_call(SYS_munmap, m->first + base, m->size);
	if (!r->given_up)
		chord_rt_unmap_guests(ctl, ctl->nguest, base);
}

static long
chord_rt_take_one(const struct chord_rt_mod *m, uint64_t base)
{
	return chord_rt_map_at(m->first + base, m->size, CHORD_RT_PROT_NONE,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE);
}

/* Reserves the addresses of all loaded modules' counters at that base, unreadable for now. */
static long
chord_rt_take(struct chord_rt_ctl *ctl, uint64_t base)
{
	const struct chord_rt_mod *m;
	long e;

	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		e = m->life == CHORD_LIFE_LOADED ? chord_rt_take_one(m, base) : 0;
		if (chord_rt_failed(e)) {
			chord_rt_release(ctl, i, base);
			return e;
		}
	}
	e = chord_rt_map_guests(ctl, base);
	if (chord_rt_failed(e))
		chord_rt_release(ctl, ctl->nmodule, base);
	return e;
}

/* Finds and reserves a base; 0 if there is none. */
static uint64_t
chord_rt_find_base(struct chord_rt_ctl *ctl)
{
	uint64_t lo, hi, largest, base;
	long e;

	chord_rt_span(ctl, &lo, &hi, &largest);
	for (; ctl->scheme < 8; ctl->scheme++, ctl->step_no = 0) {
		if (ctl->step_no == 0)
			chord_rt_gap(ctl, hi, largest);
		while ((base = chord_rt_candidate(ctl, ctl->scheme, ctl->step_no, lo, hi)) != 0) {
			ctl->step_no++;
			e = base == CHORD_RT_SKIP ? -EEXIST : chord_rt_take(ctl, base);
			if (e == 0) {
				ctl->narrow = ctl->scheme == 0 && chord_rt_is_narrow(ctl, lo);
				return base;
			}
			/* No mapping can be made anywhere, or a filter forbids it everywhere. */
			if (e == -ENOMEM || (e != -EEXIST && ctl->filter))
				return 0;
		}
	}
	return 0;
}

/* ---- mapping ---- */

/* The offset in the file of a region's counters of a module; 0: they are not in the file. */
static uint64_t
chord_rt_counts_at(const struct chord_rt_mod *m, uint32_t region)
{
	return m->counts.at[CHORD_CHUNK_OF(region)] ? *(uint64_t *)chord_rt_item(m->counts.at, 8, region) : 0;
}

/* If there is no memory to note the offset, the module gets another extent when it is opened again. */
static void
chord_rt_keep_counts_at(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, uint32_t region, uint64_t at)
{
	if (chord_rt_grow(ctl, m->counts.at, 8, region))
		*(uint64_t *)chord_rt_item(m->counts.at, 8, region) = at;
}

/* Makes an extent for the counters of a module in a region; 0 if it cannot be had. */
static uint64_t
chord_rt_counts(struct chord_rt_ctl *ctl, uint32_t module, uint32_t region)
{
	struct chord_extent_head h = {
		.type = CHORD_EXTENT_COUNTS, .module = module,
		.size = CHORD_RT_PAGE + chord_rt_module(ctl, module)->size, .a = region,
	}, old;
	uint64_t at = chord_rt_kept(ctl, &h, &old), own[2] = {0, 0}, mine;
	const struct chord_rt_mod *m = chord_rt_module(ctl, module);

	if (!at)
		return chord_rt_extent(ctl, &h, sizeof h, h.size);
	mine = CHORD_RT_NEAR(m->desc->mine) - m->first;
	chord_rt_call(SYS_pwrite64, chord_rt_fd(ctl), own, sizeof own, at + CHORD_RT_PAGE + mine);
	return at;
}

/* Maps the counters of module m in region r over reserved addresses. Unless fresh, they continue the counts from when the module
 * was open before. */
static bool
chord_rt_map_counts(struct chord_rt_ctl *ctl, uint32_t m, uint32_t r, bool fresh)
{
	struct chord_rt_mod *mod = chord_rt_module(ctl, m);
	uint64_t base = chord_rt_region(ctl, r)->base, to = mod->first + base, at;
	uint64_t old = fresh ? 0 : chord_rt_counts_at(mod, r);
	int32_t fd;
	long p = -1;

	at = old ? old : chord_rt_counts(ctl, m, r);
	fd = at ? chord_rt_fd(ctl) : -1;
	if (at && fd >= 0)
		p = chord_rt_call(SYS_mmap, to, mod->size, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_SHARED | CHORD_RT_MAP_FIXED, fd, at + CHORD_RT_PAGE);
	if (!chord_rt_failed(p)) {
		if (!old)
			chord_rt_publish(ctl, at + CHORD_RT_PAGE + mod->size);
	} else {
		at = old;
		p = chord_rt_call(SYS_mmap, to, mod->size, CHORD_RT_PROT_RW,
		    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_FIXED, -1, 0);
		ctl->head->lost += !chord_rt_region(ctl, r)->uncounted;
		chord_rt_region(ctl, r)->uncounted = 1;
		chord_rt_warn_of_some(ctl, "profile", "no room for the counters of a thread");
	}
	chord_rt_keep_counts_at(ctl, mod, r, at);
	if (!chord_rt_failed(p))
		CHORD_RT_NOTIFY(region, ctl, mod, r);
	return !chord_rt_failed(p);
}

/* ---- regions ---- */

static void
chord_rt_note_base(const struct chord_rt_ctl *ctl, uint64_t base)
{
	if (ctl->bases)
		*(uint64_t *)(ctl->bases + base) = base;
}

static struct chord_rt_region *
chord_rt_region_new(struct chord_rt_ctl *ctl)
{
	uint32_t n = ctl->nregion;
	struct chord_rt_region *r;
	uint64_t base;

	if (ctl->untraced || !chord_rt_grow(ctl, ctl->region.at, sizeof *r, n) || (base = chord_rt_find_base(ctl)) == 0)
		return NULL;
	r = chord_rt_region(ctl, n);
	r->base = base;
	r->index = n;
	r->users = r->uncounted = 0;
	chord_rt_name_keyed(r->keyed, n + 1);
	for (uint32_t m = 0; m < ctl->nmodule; m++)
		if (chord_rt_module(ctl, m)->life == CHORD_LIFE_LOADED && !chord_rt_map_counts(ctl, m, n, true)) {
			chord_rt_release(ctl, ctl->nmodule, base);
			chord_rt_unmap_guests(ctl, ctl->nguest, base);
			return NULL;
		}
	chord_rt_note_base(ctl, base);
	if (!r->own_stack) /* now, because later the process may have forbidden itself to map anything */
		r->own_stack = chord_rt_pages(CHORD_RT_OWN_STACK);
	ctl->nregion++;
	return r;
}

static bool
chord_rt_region_free(struct chord_rt_ctl *ctl, struct chord_rt_region *r)
{
	int32_t tid = __atomic_load_n(&r->tid, __ATOMIC_ACQUIRE);

	return !r->given_up &&
	    (tid == 0 || (tid > 0 && chord_rt_call(SYS_tgkill, r->process ? r->process : ctl->pid, tid, 0) == -ESRCH));
}

/* Reads a file in /proc about the thread. 0: there is none. */
static uint64_t
chord_rt_task_file(int32_t tid, const char *name, uint64_t length, char *s, uint64_t size)
{
	char path[64] = "/proc/self/task/";
	long fd, n;

	if (!chord_rt_append_number(path, sizeof path, (uint64_t)tid) || !chord_rt_append(path, sizeof path, name, length))
		return 0;
	fd = chord_rt_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (chord_rt_failed(fd))
		return 0;
	n = chord_rt_call(SYS_read, fd, s, size);
	chord_rt_call(SYS_close, fd);
	return n > 0 ? (uint64_t)n : 0;
}

/* Has the thread ended for the program, although the kernel still lists it? Then it is past the point that pthread_join waits for.
 * The flags are the 7th field after the name in brackets. */
static bool
chord_rt_ends(int32_t tid)
{
	char s[512];
	uint64_t flags = 0, at = chord_rt_task_file(tid, "/stat", 5, s, sizeof s - 1);

	s[at] = 0;
	for (; at > 0 && s[at - 1] != ')';)
		at--;
	for (int field = 0; at > 0 && s[at] && field < 7; at++)
		field += s[at] == ' ';
	for (; at > 0 && s[at] >= '0' && s[at] <= '9'; at++)
		flags = flags * 10 + (uint64_t)(s[at] - '0');
	return flags & 4; /* PF_EXITING */
}

static bool chord_rt_rebase(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint32_t m, bool mine);
static struct chord_rt_region *chord_rt_region_mine(struct chord_rt_ctl *ctl);

/* May the calling thread move its region? A child that was made by a bare system call has the base of its maker, whose region would
 * move, too. */
static bool
chord_rt_alone_in(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	return r && r == chord_rt_region_mine(ctl) && !ctl->unseen && r->tid == (int32_t)chord_rt_call(SYS_gettid);
}

/* The first thread leaves a narrow gap before there is a second thread, because no other thread can move it. */
static void
chord_rt_leave_gap(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *mine = ctl->narrow && ctl->nregion == 1 ? chord_rt_region_mine(ctl) : NULL;

	if (chord_rt_alone_in(ctl, mine) && !chord_rt_rebase(ctl, mine, ~0u, true))
		ctl->narrow = 0;
}

static void chord_rt_trace_shared(const struct chord_rt_ctl *ctl);

/* Finds a region for a thread that is about to begin; its tid is -1. Up to four old regions are tried before a new one is made:
 * that is quick, and keeps the number of regions near the number of threads that live at a time. With counts per thread no region
 * is used again. */
static struct chord_rt_region *
chord_rt_region_get(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = NULL, *mine;
	uint32_t i = ctl->hint;

	chord_rt_leave_gap(ctl);
	for (int try = 0; try < 4 && ctl->nregion && !ctl->per_thread; try++) {
		r = chord_rt_region(ctl, i);
		if (chord_rt_region_free(ctl, r))
			break;
		r = NULL;
		ctl->cursor = ctl->cursor + 1 < ctl->nregion ? ctl->cursor + 1 : 0;
		i = ctl->cursor;
	}
	if (r)
		ctl->head->lost += r->uncounted;
	else
		r = chord_rt_region_new(ctl);
	if (!r) {
		ctl->head->lost++;
		ctl->unseen |= ctl->nregion ? CHORD_RT_UNSEEN_SHARED : 0;
		chord_rt_trace_shared(ctl);
		return NULL;
	}
	ctl->hint = r->index;
	r->left = r->program_sp = 0;
	r->forker.level = 0;
	ctl->steppers -= r->nstep != 0; /* its thread ended while it was stepped through */
	r->nstep = 0;
	ctl->described -= r->pd != 0;
	r->pd = r->first_function = 0;
	r->start = NULL;
	r->process = 0;
	mine = chord_rt_region_mine(ctl);
	r->filter = mine ? mine->filter : ctl->filter; /* the kernel gives the thread its maker's filters */
	r->users++;
	__atomic_store_n(&r->tid, -1, __ATOMIC_RELEASE);
	r->thread = __atomic_add_fetch(&ctl->head->threads, 1, __ATOMIC_RELAXED);
	r->known = 0;
	CHORD_RT_NOTIFY(thread, ctl, r);
	return r;
}

/* The region of the calling thread. */
static struct chord_rt_region *
chord_rt_region_mine(struct chord_rt_ctl *ctl)
{
	uint64_t base = ctl->nogs ? 0 : chord_rt_get_base(ctl);
	uint32_t *recent = &ctl->recent[base * 0x9e3779b97f4a7c15ull >> 56], i = *recent;

	if (i < ctl->nregion && chord_rt_region(ctl, i)->base == base)
		return chord_rt_region(ctl, i);
	for (i = 0; base && i < ctl->nregion; i++)
		if (chord_rt_region(ctl, i)->base == base) {
			*recent = i;
			return chord_rt_region(ctl, i);
		}
	return NULL;
}

static struct chord_rt_forker *
chord_rt_forker(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *mine = chord_rt_region_mine(ctl);

	return mine ? &mine->forker : &ctl->forker;
}

_Static_assert(CHORD_RT_RECENT == 1 << (64 - 56), "");

/* The calling thread's number, for its region. -1: it may not ask for the number, and nobody can tell whether it has ended. */
static int32_t
chord_rt_tid(void)
{
	long tid = chord_rt_call(SYS_gettid);

	return tid < CHORD_RT_NO_PID ? (int32_t)tid : -1;
}

/* Gives the calling thread a region. */
static bool
chord_rt_region_enter(struct chord_rt_ctl *ctl)
{
	struct chord_rt_region *r = chord_rt_region_get(ctl);

	if (!r || !chord_rt_set_base(ctl, r->base))
		return false;
	r->tid = chord_rt_tid();
	return true;
}

/* Moves the counters of the first n modules except m. Modules without counters there are skipped. Gives the number of modules
 * visited. */
static uint32_t
chord_rt_move_counters(struct chord_rt_ctl *ctl, uint32_t n, uint32_t m, uint64_t from, uint64_t to)
{
	const struct chord_rt_mod *mod;
	long e;

	for (uint32_t i = 0; i < n; i++) {
		mod = chord_rt_module(ctl, i);
		if (i == m || mod->life != CHORD_LIFE_LOADED)
			continue;
		e = chord_rt_call(SYS_mremap, mod->first + from, mod->size, mod->size, 1 | 2, mod->first + to);
		if (chord_rt_failed(e) && e != -EFAULT)
			return i;
	}
	return n;
}

/* Moves the counters of all modules except m. If that fails, because the process has reached its limit of mappings, all is put
 * back. */
static bool
chord_rt_move_all(struct chord_rt_ctl *ctl, uint32_t m, uint64_t from, uint64_t to)
{
	uint32_t moved = chord_rt_move_counters(ctl, ctl->nmodule, m, from, to);

	if (moved == ctl->nmodule && chord_rt_move_guests(ctl, from, to))
		return true;
	chord_rt_move_counters(ctl, moved, m, to, from);
	chord_rt_release(ctl, ctl->nmodule, to);
	chord_rt_unmap_guests(ctl, ctl->nguest, to);
	return false;
}

/* Moves a region that only this thread uses to another base, and reserves room there for module m, which the region does not have
 * yet. */
static bool
chord_rt_rebase(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint32_t m, bool mine)
{
	uint64_t base = chord_rt_find_base(ctl), old = r->base, bases = ctl->bases;
	bool ok;

	if (!base) {
		ctl->scheme = ctl->step_no = 0;
		base = chord_rt_find_base(ctl);
	}
	if (!base)
		return false;
	ctl->bases = mine ? 0 : bases; /* until both have changed, the thread's base does not say where anything is */
	ok = chord_rt_move_all(ctl, m, old, base);
	if (ok && mine && !chord_rt_set_base(ctl, base)) {
		chord_rt_move_all(ctl, m, base, old);
		chord_rt_release(ctl, ctl->nmodule, base);
		chord_rt_unmap_guests(ctl, ctl->nguest, base);
		ok = false;
	}
	r->base = ok ? base : old;
	ctl->bases = bases;
	chord_rt_note_base(ctl, r->base);
	return ok;
}

/* Maps the counters of a new module into all regions. */
static void
chord_rt_map_module(struct chord_rt_ctl *ctl, uint32_t m)
{
	struct chord_rt_mod *mod = chord_rt_module(ctl, m);
	struct chord_rt_region *mine = chord_rt_region_mine(ctl), *r;
	bool ok, short_of = false;

	mod->order = ++ctl->order;
	for (uint32_t i = 0; i < ctl->nregion; i++) {
		r = chord_rt_region(ctl, i);
		mod->astray |= r->given_up && i == 0;
		if (r->given_up)
			continue;
		ok = !chord_rt_failed(chord_rt_take_one(mod, r->base));
		if (!ok && (chord_rt_alone_in(ctl, r) || chord_rt_region_free(ctl, r)))
			ok = chord_rt_rebase(ctl, r, m, r == mine);
		if (ok)
			chord_rt_map_counts(ctl, m, i, false);
		else
			chord_rt_give_up_region(ctl, r, mod->order);
		short_of |= !ok;
		mod->astray |= !ok && i == 0;
	}
	if (short_of) {
		ctl->head->lost++;
		chord_rt_text(ctl, "no room for the counters of a module opened late in the regions of all threads");
	}
}

static uint64_t chord_rt_fold_paths(struct chord_rt_ctl *ctl, const struct chord_rt_mod *mod);
static const struct chord_path_at *chord_rt_table_of(const struct chord_rt_mod *mod, uint64_t addr);

/* Is this word of a module's counters a count? at: its address for base 0. */
static bool
chord_rt_is_count(const struct chord_rt_mod *mod, uint64_t at)
{
	return at - CHORD_RT_NEAR(mod->desc->mine) >= 16 && at - CHORD_RT_NEAR(mod->desc->shadow) >= 16 &&
	    !chord_rt_table_of(mod, at - mod->bias);
}

/* The next word from c on that is not 0, or end. Most words are 0, so eight are looked at together. */
static uint64_t *
chord_rt_not_0(uint64_t *c, uint64_t *end)
{
	const volatile uint64_t *w;

	for (w = c; end - w >= 8 && !(w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]); w += 8)
		;
	while (w < end && !*w)
		w++;
	return (uint64_t *)w;
}

/* Adds to region 0 what was counted in the module's own section, before there was a base or by threads without one. Gives the
 * number of events that were moved. */
static uint64_t
chord_rt_fold(struct chord_rt_ctl *ctl, struct chord_rt_mod *mod)
{
	uint64_t *c = (uint64_t *)CHORD_RT_NEAR(mod->desc->start), *end = (uint64_t *)CHORD_RT_NEAR(mod->desc->stop);
	uint64_t v, moved = 0;

	if (!ctl->nregion || mod->astray)
		return 0;
	for (; (c = chord_rt_not_0(c, end)) < end; c++) {
		if (!chord_rt_is_count(mod, (uint64_t)c))
			continue;
		v = __atomic_exchange_n(c, 0, __ATOMIC_RELAXED);
		__atomic_fetch_add((uint64_t *)((uint64_t)c + chord_rt_region(ctl, 0)->base), v, __ATOMIC_RELAXED);
		moved += v;
	}
	return moved + chord_rt_fold_paths(ctl, mod);
}

static uint64_t
chord_rt_fold_all(struct chord_rt_ctl *ctl)
{
	struct chord_rt_mod *m;
	uint64_t moved = 0;

	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if ((m = chord_rt_module(ctl, i))->life == CHORD_LIFE_LOADED && !m->left)
			moved += chord_rt_fold(ctl, m);
	return moved;
}

static void
chord_rt_unmap_module(struct chord_rt_ctl *ctl, uint32_t m)
{
	const struct chord_rt_mod *mod = chord_rt_module(ctl, m);

	for (uint32_t i = 0; i < ctl->nregion; i++)
		if (chord_rt_has_counters(chord_rt_region(ctl, i), mod))
			chord_rt_call(SYS_munmap, mod->first + chord_rt_region(ctl, i)->base, mod->size);
}
