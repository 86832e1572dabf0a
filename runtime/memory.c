/* SPDX-License-Identifier: MIT */
/* Memory of the control block. It grows by chunks that never move and are never freed, because signal handlers, other processes and
 * woven code hold their addresses. Memory that is given out is zeroed. All of this runs under the lock, except functions that only
 * read. */

#define CHORD_RT_ROOM 0x4000 /* bytes taken from the kernel at a time */

static uint64_t
chord_rt_page_up(uint64_t size)
{
	return (size + CHORD_RT_PAGE - 1) & -(uint64_t)CHORD_RT_PAGE;
}

/* Whole pages; 0: there is no memory. */
static uint64_t
chord_rt_pages(uint64_t size)
{
	long p = chord_rt_call(SYS_mmap, 0, chord_rt_page_up(size), CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON,
	    -1, 0);

	return chord_rt_failed(p) ? 0 : (uint64_t)p;
}

/* Room for size bytes; 0: there is no memory. */
static uint64_t
chord_rt_take_room(struct chord_rt_ctl *ctl, uint64_t size)
{
	uint64_t p;

	size = (size + 15) & ~15ull;
	if (size >= CHORD_RT_ROOM)
		return chord_rt_pages(size);
	if (size > ctl->room_end - ctl->room) {
		p = chord_rt_pages(CHORD_RT_ROOM);
		if (!p)
			return 0;
		ctl->room = p;
		ctl->room_end = p + CHORD_RT_ROOM;
	}
	p = ctl->room;
	ctl->room += size;
	return p;
}

/* ---- chunks ---- */

/* Element i, whose chunk must exist. */
static void *
chord_rt_item(const uint64_t *chunk, uint64_t size, uint32_t i)
{
	return (void *)(chunk[CHORD_CHUNK_OF(i)] + CHORD_IN_CHUNK(i) * size);
}

/* Makes room for element i, if all elements before it have room. False: there is no memory. ctl: NULL if the block is of another
 * version. */
static bool
chord_rt_grow(struct chord_rt_ctl *ctl, uint64_t *chunk, uint64_t size, uint32_t i)
{
	uint32_t k = CHORD_CHUNK_OF(i);

	if (k >= CHORD_CHUNKS)
		return false;
	size *= (uint64_t)CHORD_CHUNK << k;
	if (!chunk[k])
		__atomic_store_n(&chunk[k], ctl ? chord_rt_take_room(ctl, size) : chord_rt_pages(size), __ATOMIC_RELEASE);
	return chunk[k] != 0;
}

static struct chord_rt_mod *
chord_rt_module(const struct chord_rt_ctl *ctl, uint64_t i)
{
	return chord_rt_item(ctl->module.at, sizeof(struct chord_rt_mod), (uint32_t)i);
}

static struct chord_rt_region *
chord_rt_region(const struct chord_rt_ctl *ctl, uint64_t i)
{
	return chord_rt_item(ctl->region.at, sizeof(struct chord_rt_region), (uint32_t)i);
}

static struct chord_rt_slots *
chord_rt_slots(const struct chord_rt_ctl *ctl, uint32_t i)
{
	return chord_rt_item(ctl->slots.at, sizeof(struct chord_rt_slots), i);
}

/* The keyed table of that kind for region number - 1; number 0: for threads that have no region. */
static struct chord_rt_keyed *
chord_rt_keyed(struct chord_rt_ctl *ctl, enum chord_rt_kind kind, uint64_t number)
{
	return number ? &chord_rt_region(ctl, number - 1)->keyed[kind] : &ctl->keyed[kind];
}

static void
chord_rt_name_keyed(struct chord_rt_keyed *w, uint32_t number)
{
	for (uint32_t kind = 0; kind < CHORD_RT_KINDS; kind++) {
		w[kind].kind = kind;
		w[kind].number = number;
	}
}

/* The first chunks are in the block itself. */
static void
chord_rt_first_memory(struct chord_rt_ctl *ctl)
{
	ctl->room = (uint64_t)ctl->first_room;
	ctl->room_end = ctl->room + sizeof ctl->first_room;
	ctl->module.at[0] = (uint64_t)ctl->first_modules;
	ctl->region.at[0] = (uint64_t)ctl->first_regions;
	ctl->slots.at[0] = (uint64_t)ctl->first_slots;
	ctl->unit[0] = ctl->first_units;
	chord_rt_name_keyed(ctl->keyed, 0);
	/* The kernel zeroes that page in a forked child, however the child was forked. */
	if (!chord_rt_failed(chord_rt_call(SYS_madvise, ctl->first_here, CHORD_RT_PAGE, 18 /* MADV_WIPEONFORK */))) {
		ctl->first_here[0] = 1;
		ctl->here = ctl->first_here;
	}
	ctl->modules = (uint64_t)ctl->module.at;
	ctl->module_size = sizeof(struct chord_rt_mod);
	ctl->regions = (uint64_t)ctl->region.at;
	ctl->region_size = sizeof(struct chord_rt_region);
	ctl->exits = (uint64_t)ctl->slots.at;
	ctl->exits_size = sizeof(struct chord_rt_slots);
	ctl->guests = (uint64_t)ctl->guest.at;
	ctl->guest_size = sizeof(struct chord_live_guest);
}
