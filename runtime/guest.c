/* SPDX-License-Identifier: MIT */
/* Guests: modules whose runtime is of another version. The process belongs to the host, the version whose constructor ran first.
 * Threads have the host's bases. So a guest gets pages at each base for its code to count in, and nobody reads them.
 *
 * Of the other version's control block and modules, only the fields that are the same in all versions (format.h) are used here. */

static struct chord_live_guest *
chord_rt_guest(const struct chord_rt_ctl *ctl, uint32_t i)
{
	return chord_rt_item((const uint64_t *)ctl->guests, ctl->guest_size, i);
}

static uint64_t
chord_rt_base_of(const struct chord_rt_ctl *ctl, uint32_t region)
{
	return ((const struct chord_live_region *)chord_rt_item((const uint64_t *)ctl->regions, ctl->region_size, region))->base;
}

static long
chord_rt_map_guest(const struct chord_live_guest *g, uint64_t base)
{
	return chord_rt_map_at(g->first + base, g->size, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE);
}

static void
chord_rt_unmap_guests(const struct chord_rt_ctl *ctl, uint32_t n, uint64_t base)
{
	for (const struct chord_live_guest *g; n-- > 0;)
		if ((g = chord_rt_guest(ctl, n))->size)
			chord_rt_call(SYS_munmap, g->first + base, g->size);
}

/* Maps pages of all guests at a new base. Gives an error if that fails. */
static long
chord_rt_map_guests(const struct chord_rt_ctl *ctl, uint64_t base)
{
	long e;

	for (uint32_t i = 0; i < ctl->nguest; i++) {
		e = chord_rt_guest(ctl, i)->size ? chord_rt_map_guest(chord_rt_guest(ctl, i), base) : 0;
		if (chord_rt_failed(e)) {
			chord_rt_unmap_guests(ctl, i, base);
			return e;
		}
	}
	return 0;
}

/* Moves the pages of all guests to another base. The words keep their values, because woven code that is running uses them. */
static bool
chord_rt_move_guests(const struct chord_rt_ctl *ctl, uint64_t from, uint64_t to)
{
	const struct chord_live_guest *g;
	uint32_t i;
	long e = 0;

	for (i = 0; i < ctl->nguest && (!chord_rt_failed(e) || e == -EFAULT); i++)
		if ((g = chord_rt_guest(ctl, i))->size)
			e = chord_rt_call(SYS_mremap, g->first + from, g->size, g->size, 1 | 2, g->first + to);
	if (!chord_rt_failed(e) || e == -EFAULT)
		return true;
	while (--i > 0)
		if ((g = chord_rt_guest(ctl, i - 1))->size)
			chord_rt_call(SYS_mremap, g->first + to, g->size, g->size, 1 | 2, g->first + from);
	return false;
}

static void chord_rt_give_up_region(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint32_t order);

/* Adds a guest, whose counters are from start to stop. The control block may be of any version. Under the lock. */
static void
chord_rt_join(struct chord_rt_ctl *ctl, uint64_t start, uint64_t stop)
{
	struct chord_live_guest g = {start & -(uint64_t)CHORD_RT_PAGE, 0}, *room = NULL, *p;
	bool is_ours = ctl->version == CHORD_FORMAT_VERSION;
	uint64_t base;

	g.size = ((stop + CHORD_RT_PAGE - 1) & -(uint64_t)CHORD_RT_PAGE) - g.first;
	for (uint32_t i = 0; i < ctl->nguest; i++) {
		p = chord_rt_guest(ctl, i);
		if (p->first == g.first && p->size == g.size)
			return;
		room = p->size ? room : p;
	}
	if (!room && chord_rt_grow(NULL, (uint64_t *)ctl->guests, ctl->guest_size, ctl->nguest))
		room = chord_rt_guest(ctl, ctl->nguest++);
	if (!room) {
		chord_rt_say(NULL, "counters", "no memory for a module that was built with another version of Chord",
		             CHORD_RT_ALL_LOST);
		return;
	}
	*room = g;
	for (uint32_t i = 0; i < ctl->nregion; i++) {
		base = chord_rt_base_of(ctl, i);
		if (!base || (is_ours && chord_rt_region(ctl, i)->given_up) || !chord_rt_failed(chord_rt_map_guest(&g, base)))
			continue;
		if (is_ours)
			chord_rt_give_up_region(ctl, chord_rt_region(ctl, i), ctl->order + 1);
		chord_rt_say(NULL, "counters", "no room for a module that was built with another version of Chord",
		             CHORD_RT_ALL_LOST);
	}
}

/* A module has been mapped where guests were, so the guests have been closed. */
static void
chord_rt_evict(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	struct chord_live_guest *g;

	for (uint32_t i = 0; i < ctl->nguest; i++) {
		g = chord_rt_guest(ctl, i);
		if (!g->size || g->first >= m->first + m->size || m->first >= g->first + g->size)
			continue;
		for (uint32_t r = 0; r < ctl->nregion; r++)
			if (!chord_rt_region(ctl, r)->given_up)
				chord_rt_call(SYS_munmap, g->first + chord_rt_base_of(ctl, r), g->size);
		g->size = 0;
	}
}

/* Warns once in a profile. */
static void
chord_rt_warn_of_guests(struct chord_rt_ctl *ctl)
{
	if (ctl->nguest == ctl->pages || ctl->guests_warned)
		return;
	ctl->guests_warned = 1;
	chord_rt_text(ctl, "code that was built with another version of Chord ran in the process: it is not measured");
}

/* ---- the runtime's own pages ---- */

/* Maps that page for base 0 and at every base. False: at one of them something else is mapped, and nothing was mapped. */
static bool
chord_rt_map_page(const struct chord_rt_ctl *ctl, const struct chord_live_guest *page)
{
	uint32_t i;

	for (i = 0; i <= ctl->nregion; i++)
		if (chord_rt_failed(chord_rt_map_guest(page, i ? chord_rt_base_of(ctl, i - 1) : 0)))
			break;
	if (i > ctl->nregion)
		return true;
	while (i-- > 0)
		chord_rt_call(SYS_munmap, page->first + (i ? chord_rt_base_of(ctl, i - 1) : 0), page->size);
	return false;
}

/* Makes a page of zeros of which each region has its own copy. It is a little below the module, because bases suit addresses near
 * the modules. Gives its address for base 0; 0: there is none. Under the lock. */
static uint64_t
chord_rt_page_at_bases(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	struct chord_live_guest page = {m->text & -(uint64_t)CHORD_RT_PAGE_APART, CHORD_RT_PAGE};

	if (!chord_rt_grow(NULL, (uint64_t *)ctl->guests, ctl->guest_size, ctl->nguest))
		return 0;
	for (uint32_t n = 0; n < CHORD_RT_PAGE_TRIES && page.first > 2 * CHORD_RT_PAGE_APART; n++) {
		page.first -= CHORD_RT_PAGE_APART;
		if (chord_rt_map_page(ctl, &page)) {
			*chord_rt_guest(ctl, ctl->nguest++) = page;
			ctl->pages++;
			return page.first;
		}
	}
	return 0;
}
