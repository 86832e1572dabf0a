/* SPDX-License-Identifier: MIT */
/* Paths of procedures that have too many paths for a counter each. Woven code hashes a path, and counts it if the entry at its hash
 * is the path's. Else it calls the runtime. A key is written once and stays, so that a signal handler may run between any two
 * instructions. Entries are addressed by the thread's base, as in woven code. */

/* The entry of a path, found or made; 0: there is no room near its place. table: the address of the table's first entry, less the
 * base. */
static uint64_t
chord_rt_path_entry(uint64_t table, uint32_t bits, uint64_t sum)
{
	uint32_t mask = (1u << bits) - 1, h = bits ? (uint32_t)sum * CHORD_PATH_HASH >> (32 - bits) : 0;
	uint64_t at, key;

	for (uint32_t i = 0; i < CHORD_PATH_TRIES; i++) {
		at = table + sizeof(struct chord_path_entry) * ((h + i) & mask);
		key = chord_rt_home_load(at);
		if (key == sum + 1 || (!key && chord_rt_home_claim(at, sum + 1) == sum + 1))
			return at;
	}
	return 0;
}

/* Counts n paths of a module that cannot be identified. */
static void
chord_rt_path_lost(struct chord_rt_ctl *ctl, uint64_t module, uint64_t n)
{
	struct chord_rt_keyed *t = &ctl->keyed[CHORD_RT_OVERFLOWN];
	uint64_t site = (module + 1) << 48, raw = 1ull << 40;
	struct chord_callee *s = chord_rt_keyed_find(t, site, raw, 0);

	if (!s)
		s = chord_rt_keyed_make(ctl, t, site, raw, ~0ull);
	__atomic_fetch_add(s ? &s->count : &ctl->head->lost, n, __ATOMIC_RELAXED);
}

/* Counts a path outside of its table. number: the region's number plus 1. */
static void
chord_rt_path_over(struct chord_rt_ctl *ctl, uint64_t number, uint64_t site, uint64_t sum, uint64_t n)
{
	struct chord_rt_keyed *t = chord_rt_keyed(ctl, CHORD_RT_OVERFLOWN, number);
	struct chord_callee *s = chord_rt_keyed_find(t, site, sum + 1, 0);

	if (!s)
		s = chord_rt_keyed_make(ctl, t, site, sum + 1, sum);
	if (s)
		__atomic_fetch_add(&s->count, n, __ATOMIC_RELAXED);
	else
		chord_rt_path_lost(ctl, CHORD_EXIT_MODULE(site), n);
}

/* A path has ended. d describes its table. */
static __attribute__((used)) void
chord_rt_path(const struct chord_path_table *d, uint64_t sum)
{
	uint64_t table = CHORD_RT_NEAR(d->distance), at = chord_rt_path_entry(table, d->bits, sum), bias;
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (at) {
		chord_rt_home_add(at + offsetof(struct chord_path_entry, count), 1);
	} else if (ctl && ctl->magic) {
		bias = chord_rt_module(ctl, chord_rt_desc.index)->bias;
		chord_rt_path_over(ctl, chord_rt_mine_number(ctl),
		    ((table - bias) & 0xffffffffffffull) | (chord_rt_desc.index + 1) << 48, sum, 1);
	} else {
		__atomic_fetch_add(&chord_rt_desc.lost, 1, __ATOMIC_RELAXED);
	}
}

/* Adds to region 0 the counts that tables have at base 0; gives their sum. Under the lock. */
static uint64_t
chord_rt_fold_paths(struct chord_rt_ctl *ctl, const struct chord_rt_mod *mod)
{
	uint64_t delta = chord_rt_region(ctl, 0)->base - chord_rt_get_base(ctl), moved = 0, at, n;
	const struct chord_path_at *t = mod->table, *end = t + mod->ntable;
	struct chord_rt_keyed *over = chord_rt_keyed(ctl, CHORD_RT_OVERFLOWN, 1);
	volatile struct chord_path_entry *e;

	for (; t < end; t++) {
		e = (struct chord_path_entry *)(t->addr + mod->bias);
		for (uint64_t i = 0; i < 1ull << t->bits; i++) {
			n = e[i].count ? __atomic_exchange_n(&e[i].count, 0, __ATOMIC_RELAXED) : 0;
			if (!n)
				continue;
			moved += n;
			at = chord_rt_path_entry((uint64_t)e + delta, (uint32_t)t->bits, e[i].key - 1);
			if (at)
				chord_rt_home_add(at + offsetof(struct chord_path_entry, count), n);
			else if (chord_rt_keyed_has_room(over) || chord_rt_keyed_grow(ctl, over))
				chord_rt_path_over(ctl, 1, t->addr | (uint64_t)(mod->index + 1) << 48, e[i].key - 1, n);
			else
				chord_rt_path_lost(ctl, mod->index, n);
		}
	}
	n = __atomic_exchange_n(&mod->desc->lost, 0, __ATOMIC_RELAXED);
	if (n)
		chord_rt_path_lost(ctl, mod->index, n);
	return moved;
}

/* The table that contains that counter of the module; NULL: none does. addr: the counter's link-time address. */
static const struct chord_path_at *
chord_rt_table_of(const struct chord_rt_mod *mod, uint64_t addr)
{
	const struct chord_path_at *t = mod->table, *end = t + mod->ntable;

	for (; t < end; t++)
		if (addr - t->addr < sizeof(struct chord_path_entry) << t->bits)
			return t;
	return NULL;
}

/* In a forked child: keeps the keys of region 0 while its counters are mapped anew, because code that forked in a signal handler
 * may be about to use one of them. back false: copies them to kept; true: puts them back. */
static void
chord_rt_keep_keys(struct chord_rt_ctl *ctl, const struct chord_rt_mod *mod, uint64_t *kept, bool back)
{
	const struct chord_path_at *t = mod->table, *end = t + mod->ntable;
	volatile struct chord_path_entry *e;

	for (; t < end; t++) {
		e = (struct chord_path_entry *)(t->addr + mod->bias + chord_rt_region(ctl, 0)->base);
		for (uint64_t i = 0; i < 1ull << t->bits; i++, kept++)
			if (!back)
				*kept = e[i].key;
			else if (*kept)
				e[i].key = *kept;
	}
}

static bool
chord_rt_renew_counts(struct chord_rt_ctl *ctl, uint32_t m)
{
	const struct chord_rt_mod *mod = chord_rt_module(ctl, m);
	uint64_t size = mod->size; /* more than there are keys */
	long p = -1;
	bool ok;

	if (mod->ntable)
		p = chord_rt_call(SYS_mmap, 0, size, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	if (!chord_rt_failed(p))
		chord_rt_keep_keys(ctl, mod, (uint64_t *)p, false);
	ok = chord_rt_map_counts(ctl, m, 0, true);
	if (chord_rt_failed(p))
		return ok;
	chord_rt_keep_keys(ctl, mod, (uint64_t *)p, true);
	chord_rt_call(SYS_munmap, p, size);
	return ok;
}

/* ---- how far activations had come in their path when they ended at a call ---- */

/* The path register of an activation whose frame ends at cfa. */
static CHORD_RT_HOT uint64_t
chord_rt_register(struct chord_rt_ctl *ctl, uint64_t cfa)
{
	return chord_rt_has_slot(ctl, cfa - CHORD_RT_SLOT) ? *(volatile uint64_t *)((cfa - CHORD_RT_SLOT) ^ ctl->mask) : 0;
}

/* If the register can be the address of a counter, the counter's link-time address; it may point a little outside of its table. If
 * the register is a number instead, readers undo this, because they have the register, too. */
static CHORD_RT_HOT uint64_t
chord_rt_linked(const struct chord_rt_mod *m, uint64_t r)
{
	return r - (m->first - CHORD_RT_BESIDE) < m->size + 2 * CHORD_RT_BESIDE ? r - m->bias : r;
}

/* Counts the register along with the exit that has that key. Where a procedure has no register, the slot has some other value, and
 * readers know that. If there is no room, fewer registers are counted than exits, and readers say so. */
static CHORD_RT_HOT __attribute__((noinline)) void
chord_rt_count_unfinished(struct chord_rt_ctl *ctl, uint64_t key, uint64_t delta, uint64_t cfa)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, CHORD_EXIT_MODULE(key));
	struct chord_rt_keyed *t = chord_rt_keyed(ctl, CHORD_RT_UNFINISHED, ctl->per_thread ? chord_rt_mine_number(ctl) : 0);
	struct chord_callee *s;
	uint64_t r, path;

	if (!cfa || !m->unfinished)
		return;
	r = chord_rt_register(ctl, cfa);
	path = chord_rt_linked(m, r);
	s = chord_rt_keyed_find(t, key, r | CHORD_RT_MARK, path);
	if (!s)
		s = chord_rt_keyed_make(ctl, t, key, r | CHORD_RT_MARK, path);
	if (s)
		__atomic_fetch_add(&s->count, delta, __ATOMIC_RELAXED);
}

/* ---- as a measure ---- */

/* Entries without a table tell about the text. Bit 0: all paths of its procedures are counted. Bit 1: only some are. A larger
 * value: they are traced, and no path is unfinished at a call. If the linker dropped these entries, all paths are assumed to be
 * counted. */
static void
chord_rt_find_unfinished(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	const struct chord_path_table *p = (const struct chord_path_table *)CHORD_RT_NEAR(d->path);
	const struct chord_path_table *end = (const struct chord_path_table *)CHORD_RT_NEAR(d->path_end);
	bool some = false;

	for (; p < end; p++) {
		m->unfinished |= p->distance || !p->bits;
		some |= !p->distance && (p->bits == 1 || p->bits > 2);
	}
	m->unfinished |= !some;
}

/* Reads the list of hash tables of paths. */
static void
chord_rt_find_tables(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	const struct chord_path_table *first = (const struct chord_path_table *)CHORD_RT_NEAR(d->path), *p;
	const struct chord_path_table *end = (const struct chord_path_table *)CHORD_RT_NEAR(d->path_end);
	uint64_t n = 0;

	for (p = first; p < end; p++)
		n += p->distance != 0;
	m->table = n ? (struct chord_path_at *)chord_rt_take_room(ctl, n * sizeof *m->table) : NULL;
	if (n && !m->table)
		d->lost++;
	for (p = first; p < end && m->table; p++)
		if (p->distance)
			m->table[m->ntable++] = (struct chord_path_at){CHORD_RT_NEAR(p->distance) - m->bias, p->bits};
}

static void
chord_rt_first_shadow(struct chord_rt_ctl *ctl)
{
	chord_rt_desc.shadowed = 1;
	ctl->paths = 1;
	if (chord_rt_desc.ctl)
		chord_rt_module(ctl, chord_rt_desc.index)->paths |= 1;
}

static void
chord_rt_paths_found(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	m->shadow = CHORD_RT_NEAR(d->shadow);
	m->paths = CHORD_RT_NEAR(d->path_end) - CHORD_RT_NEAR(d->path) > sizeof(struct chord_path_table) || d->shadowed;
	chord_rt_find_unfinished(m, d);
}

static void
chord_rt_paths_new(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	chord_rt_find_tables(ctl, m, d);
}

static void
chord_rt_paths_extents(struct chord_rt_ctl *ctl, uint32_t module)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, module);
	uint64_t size = m->ntable * sizeof *m->table, at;
	struct chord_extent_head h = {.type = CHORD_EXTENT_TABLES, .module = module, .a = m->ntable};

	if (!m->ntable)
		return;
	h.size = (sizeof h + size + CHORD_RT_PAGE - 1) & -(uint64_t)CHORD_RT_PAGE;
	at = chord_rt_extent(ctl, &h, sizeof h, h.size);
	if (at && chord_rt_call(SYS_pwrite64, chord_rt_fd(ctl), m->table, size, at + sizeof h) == (long)size)
		chord_rt_publish(ctl, at + h.size);
}

static void
chord_rt_paths_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	if (m->paths && !ctl->mask)
		chord_rt_choose_mask(ctl);
	ctl->paths |= m->paths;
}

static void
chord_rt_paths_closed(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	(void)ctl, (void)m;
}

/* Sets the guard words of a module, because code that runs in it now has already passed the guard. */
static void
chord_rt_paths_region(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, uint32_t region)
{
	uint64_t base = region == CHORD_RT_NO_REGION ? 0 : chord_rt_region(ctl, region)->base;

	if (m->paths)
		*(volatile uint64_t *)(m->shadow + base) = ctl->mask;
}

static void
chord_rt_paths_begin(struct chord_rt_ctl *ctl)
{
	for (uint32_t kind = CHORD_RT_OVERFLOWN; ctl->paths && kind < CHORD_RT_KINDS; kind++)
		if (!ctl->keyed[kind].n)
			chord_rt_keyed_grow(ctl, &ctl->keyed[kind]);
}

static void
chord_rt_paths_constructed(struct chord_rt_ctl *ctl)
{
	if (ctl->paths)
		chord_rt_shadow_ahead(ctl);
}

static void
chord_rt_paths_thread(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	(void)ctl, (void)r;
}

static void
chord_rt_paths_drop(struct chord_rt_ctl *ctl, uint32_t number)
{
	(void)ctl, (void)number;
}

/* Clears the counts. Keys stay. */
static void
chord_rt_paths_fork(const struct chord_rt_mod *m)
{
	for (const struct chord_path_at *t = m->table; t < m->table + m->ntable; t++)
		for (uint64_t k = 0; k < 1ull << t->bits; k++)
			((struct chord_path_entry *)(t->addr + m->bias))[k].count = 0;
	m->desc->lost = 0;
}

static CHORD_RT_HOT void
chord_rt_paths_leave(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t delta, uint64_t cfa)
{
	if (ctl->paths)
		chord_rt_count_unfinished(ctl, count[-1], delta, cfa);
}

static bool
chord_rt_paths_waits(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m, const struct chord_rt_region *r, uint64_t cfa,
    struct chord_waiting *to)
{
	(void)r;
	if (ctl->paths) {
		to->path = chord_rt_register(ctl, cfa);
		to->raw = to->path | CHORD_RT_MARK;
		to->path = chord_rt_linked(m, to->path);
	}
	to->has_path = ctl->paths != 0;
	return true;
}

static bool
chord_rt_paths_leaves(const struct chord_rt_ctl *ctl)
{
	return ctl->paths;
}

static bool
chord_rt_paths_maps(const struct chord_rt_ctl *ctl)
{
	return ctl->paths;
}

static void
chord_rt_paths_confined(struct chord_rt_ctl *ctl, bool now)
{
	(void)now;
	if (ctl->paths)
		chord_rt_shadow_everything(ctl);
}

/* Nobody knows how far the path had come where a signal struck. */
static bool
chord_rt_paths_amid(const struct chord_rt_ctl *ctl)
{
	return !ctl->paths;
}

static bool
chord_rt_paths_goes_on(const struct chord_rt_ctl *ctl)
{
	return !ctl->paths;
}
