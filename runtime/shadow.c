/* SPDX-License-Identifier: MIT */
/* The shadow of stacks. The path register of an activation is at the address of its return address with one bit (the mask) flipped,
 * and lives as long as the activation. The shadow is mapped in pieces, when woven code first reaches a part of a stack. Pieces are
 * never unmapped. So a guard word that once said that an address has its piece stays right, whichever module's it is.
 *
 * Pieces are small, because the memory that a program may map, and the memory that mlockall locks, are the program's to use. */

#define CHORD_RT_PIECE (1ull << CHORD_SHADOW_BITS)

/* ---- what is mapped ---- */

/* The page of bits that covers an address below CHORD_RT_TOP. */
static uint64_t **
chord_rt_leaf(struct chord_rt_ctl *ctl, uint64_t sp)
{
	return &ctl->piece[sp >> CHORD_SHADOW_BITS >> 15];
}
_Static_assert(CHORD_RT_LEAVES == 1 << (47 - CHORD_SHADOW_BITS - 15) && CHORD_RT_PAGE * 8 == 1 << 15, "");

static bool
chord_rt_has_piece(struct chord_rt_ctl *ctl, uint64_t sp)
{
	const uint64_t *leaf = sp < CHORD_RT_TOP ? __atomic_load_n(chord_rt_leaf(ctl, sp), __ATOMIC_ACQUIRE) : NULL;
	uint64_t no = sp >> CHORD_SHADOW_BITS;

	return leaf && __atomic_load_n(&leaf[no / 64 % (CHORD_RT_PAGE / 8)], __ATOMIC_ACQUIRE) >> no % 64 & 1;
}

/* The place of the unit in the tables, where it is or would be; NULL: there is no room. *k: the table that is missing or full. */
static uint32_t *
chord_rt_unit_at(struct chord_rt_ctl *ctl, uint64_t sp, uint32_t *k)
{
	uint32_t no = (uint32_t)(sp / CHORD_RT_UNIT) + 1, now, *table;

	for (*k = 0; *k < CHORD_RT_TABLES && (table = __atomic_load_n(&ctl->unit[*k], __ATOMIC_ACQUIRE)); ++*k)
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t *p = &table[(no + i) % (CHORD_RT_UNITS << *k)];

			now = __atomic_load_n(p, __ATOMIC_ACQUIRE);
			if (now == no || !now)
				return p;
		}
	return NULL;
}

/* Under the lock. */
static uint32_t *
chord_rt_unit_make(struct chord_rt_ctl *ctl, uint64_t sp)
{
	uint32_t k, *p = chord_rt_unit_at(ctl, sp, &k);

	if (p || k == CHORD_RT_TABLES)
		return p;
	p = (uint32_t *)chord_rt_take_room(ctl, sizeof *p * CHORD_RT_UNITS << k);
	__atomic_store_n(&ctl->unit[k], p, __ATOMIC_RELEASE);
	return chord_rt_unit_at(ctl, sp, &k);
}

/* Is the shadow of a stack address mapped? */
static bool
chord_rt_has_slot(struct chord_rt_ctl *ctl, uint64_t sp)
{
	const uint32_t *unit;
	uint32_t k;

	if (sp >= CHORD_RT_TOP || sp % 8)
		return false;
	if (chord_rt_has_piece(ctl, sp))
		return true;
	unit = chord_rt_unit_at(ctl, sp, &k);
	return unit && __atomic_load_n(unit, __ATOMIC_ACQUIRE) == (uint32_t)(sp / CHORD_RT_UNIT) + 1;
}

/* ---- mapping ---- */

static long
chord_rt_map_shadow(uint64_t mask, uint64_t at, uint64_t size)
{
	long p = chord_rt_map_at(at ^ mask, size, CHORD_RT_PROT_RW,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE);

	if (!chord_rt_failed(p))
		chord_rt_call(SYS_madvise, p, size, 15); /* no huge pages, because stacks use little of it */
	return p;
}

/* False: there is no memory for the bits. */
static bool
chord_rt_make_leaf(struct chord_rt_ctl *ctl, uint64_t sp)
{
	uint64_t **leaf = chord_rt_leaf(ctl, sp);

	if (sp < CHORD_RT_TOP && !*leaf)
		__atomic_store_n(leaf, (uint64_t *)chord_rt_take_room(ctl, CHORD_RT_PAGE), __ATOMIC_RELEASE);
	return sp < CHORD_RT_TOP && *leaf;
}

static void
chord_rt_note_piece(struct chord_rt_ctl *ctl, uint64_t sp)
{
	uint64_t no = sp >> CHORD_SHADOW_BITS, *leaf = *chord_rt_leaf(ctl, sp);

	if (leaf)
		__atomic_fetch_or(&leaf[no / 64 % (CHORD_RT_PAGE / 8)], 1ull << no % 64, __ATOMIC_RELEASE);
}

/* Is nothing mapped there? */
static bool
chord_rt_is_free(uint64_t at, uint64_t size)
{
	unsigned char in_core[1];

	for (; size; at += CHORD_RT_PAGE, size -= CHORD_RT_PAGE)
		if (chord_rt_readable(at) || chord_rt_call(SYS_mincore, at, CHORD_RT_PAGE, in_core) == 0)
			return false;
	return true;
}

/* Maps the shadow by moving a spare mapping, which takes no more memory. For when the process has reached its limit. */
static long
chord_rt_spare_shadow(struct chord_rt_ctl *ctl, uint64_t at)
{
	long e = -ENOMEM;

	if (ctl->spare && ctl->nspare < CHORD_RT_SPARES && chord_rt_is_free(at ^ ctl->mask, CHORD_RT_UNIT))
		e = chord_rt_call(SYS_mremap, ctl->spare[ctl->nspare], CHORD_RT_UNIT, CHORD_RT_UNIT, 1 | 2, at ^ ctl->mask);
	ctl->nspare += !chord_rt_failed(e);
	return e;
}

static bool
chord_rt_map_unit(struct chord_rt_ctl *ctl, uint64_t at)
{
	long e = chord_rt_map_shadow(ctl->mask, at, CHORD_RT_UNIT);

	if (chord_rt_failed(e) && e != -EEXIST)
		e = chord_rt_spare_shadow(ctl, at);
	return !chord_rt_failed(e);
}

/* Has the process limited what it may map? Then whole pieces would use too much of the limit. */
static bool
chord_rt_is_short(struct chord_rt_ctl *ctl)
{
	if (!ctl->limit)
		ctl->limit = chord_rt_limit(CHORD_RT_RLIMIT_AS) < CHORD_RT_AMPLE ? 1 : 2;
	return ctl->limit == 1;
}

/* Maps the shadow of the piece that sp is in, or of as small a part as can be had. Under the lock. */
static bool
chord_rt_more_shadow(struct chord_rt_ctl *ctl, uint64_t sp)
{
	uint32_t *unit;

	if (chord_rt_has_piece(ctl, sp))
		return true;
	if (!chord_rt_is_short(ctl) && chord_rt_make_leaf(ctl, sp) &&
	    !chord_rt_failed(chord_rt_map_shadow(ctl->mask, sp & -CHORD_RT_PIECE, CHORD_RT_PIECE))) {
		chord_rt_note_piece(ctl, sp);
		return true;
	}
	unit = chord_rt_unit_make(ctl, sp);
	if (!unit || (!*unit && !chord_rt_map_unit(ctl, sp & -(uint64_t)CHORD_RT_UNIT)))
		return false;
	__atomic_store_n(unit, (uint32_t)(sp / CHORD_RT_UNIT) + 1, __ATOMIC_RELEASE);
	return true;
}

/* ---- choosing the mask ---- */

/* Uses the mask if, with it, the pieces for these addresses are free. They are then mapped, unless there is no memory. */
static void
chord_rt_try_mask(struct chord_rt_ctl *ctl, uint64_t mask, const uint64_t *at, uint32_t n)
{
	bool mapped[4] = {false};
	long e;

	for (uint32_t i = 0; i < n; i++) {
		if (!chord_rt_make_leaf(ctl, at[i]))
			goto next;
		for (uint32_t k = 0; k < i; k++)
			if (at[k] == at[i])
				goto next;
		e = chord_rt_is_short(ctl) ? -ENOMEM : chord_rt_map_shadow(mask, at[i], CHORD_RT_PIECE);
		mapped[i] = !chord_rt_failed(e);
		if (e != -EEXIST)
			goto next;
		while (i-- > 0)
			if (mapped[i])
				chord_rt_call(SYS_munmap, at[i] ^ mask, CHORD_RT_PIECE);
		return;
next:;
	}
	ctl->mask = mask;
	for (uint32_t i = 0; i < n; i++)
		if (mapped[i])
			chord_rt_note_piece(ctl, at[i]);
}

/* The page that a runtime maps to claim its mask. Without it, a runtime of another version could later find foreign mappings where
 * it wants the shadow of a stack. */
static uint64_t
chord_rt_mask_page(uint32_t bit)
{
	return CHORD_MASK_PAGES + bit * (uint64_t)CHORD_RT_PAGE;
}

static bool
chord_rt_mask_taken(uint32_t bit)
{
	return chord_rt_map_at(chord_rt_mask_page(bit), CHORD_RT_PAGE, CHORD_RT_PROT_NONE,
	           CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE) == -EEXIST;
}

/* Claims the mask with that bit if no other runtime has it and it is suitable. False: another one has it. Only one page is held at
 * a time, because runtimes of other versions may be choosing as well. */
static bool
chord_rt_try_bit(struct chord_rt_ctl *ctl, uint32_t bit, const uint64_t *at, uint32_t n)
{
	if (chord_rt_mask_taken(bit))
		return false;
	chord_rt_try_mask(ctl, 1ull << bit, at, n);
	if (!ctl->mask)
		chord_rt_call(SYS_munmap, chord_rt_mask_page(bit), CHORD_RT_PAGE);
	return true;
}

/* Maps spares ahead, for when the process may have no more memory. */
static void
chord_rt_keep_spares(struct chord_rt_ctl *ctl)
{
	if (!ctl->spare)
		ctl->spare = (unsigned char (*)[CHORD_RT_UNIT])chord_rt_pages(CHORD_RT_SPARES * CHORD_RT_UNIT);
}

/* Chooses the mask for good. The shadow should be free for this stack, for later mappings, and for the program's data, which may
 * become stacks. Sanitizers leave little room. Under the lock. */
static void
chord_rt_choose_mask(struct chord_rt_ctl *ctl)
{
	static const uint8_t bit[] = {45, 44, 46, 43, 42, 41, 40, 39, 38};
	long p = chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_NONE, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	uint64_t at[3] = {(uint64_t)__builtin_frame_address(0), (uint64_t)p, (uint64_t)&chord_rt_desc};
	bool any = false;

	if (!chord_rt_failed(p))
		chord_rt_call(SYS_munmap, p, CHORD_RT_PAGE);
	else
		at[1] = at[0];
	chord_rt_keep_spares(ctl);
	for (uint32_t i = 0; i < 3; i++)
		at[i] &= -CHORD_RT_PIECE;
	for (uint32_t n = 3; n > 0 && !ctl->mask; n--)
		for (uint32_t i = 0; i < sizeof bit && !ctl->mask; i++)
			any |= chord_rt_try_bit(ctl, bit[i], at, n);
	for (uint32_t n = any ? 0 : 3; n > 0 && !ctl->mask; n--) /* because of a sanitizer, no mask can be claimed */
		for (uint32_t i = 0; i < sizeof bit && !ctl->mask; i++)
			chord_rt_try_mask(ctl, 1ull << bit[i], at, n);
	if (!ctl->mask)
		ctl->mask = 1ull << bit[0];
}

/* Maps the shadow of all of the first thread's stack now, because later the process may forbid itself to map anything (seccomp). */
static void
chord_rt_shadow_ahead(struct chord_rt_ctl *ctl)
{
	uint64_t room = chord_rt_limit(CHORD_RT_RLIMIT_STACK);

	room = room > 0x4000000 ? 0x4000000 : room;
	for (uint64_t sp = ctl->stack - room; sp < ctl->stack; sp += CHORD_RT_PIECE)
		chord_rt_more_shadow(ctl, sp);
	chord_rt_more_shadow(ctl, ctl->stack);
}

/* Maps the shadow of a range of addresses. Where whole pieces cannot be had, it maps the upper 4 MiB of each, where stacks
 * begin. */
static void
chord_rt_shadow_range(struct chord_rt_ctl *ctl, uint64_t start, uint64_t end)
{
	uint64_t next, sp;

	end = end < CHORD_RT_TOP ? end : CHORD_RT_TOP;
	for (; start < end; start = next) {
		next = (start | (CHORD_RT_PIECE - 1)) + 1;
		next = next < end ? next : end;
		chord_rt_more_shadow(ctl, next - 1);
		if (chord_rt_has_piece(ctl, next - 1))
			continue;
		for (sp = next - 1; sp >= start && sp + 64 * CHORD_RT_UNIT >= next; sp -= CHORD_RT_UNIT)
			chord_rt_more_shadow(ctl, sp);
	}
}

/* Handles a line about one mapping. A stack may be in it if it is private memory to read and write, and not the runtime's own. */
static void
chord_rt_shadow_line(struct chord_rt_ctl *ctl, uint64_t start, uint64_t end, uint32_t rights)
{
	bool ours = chord_rt_has_slot(ctl, start ^ ctl->mask) || start - (uint64_t)ctl < sizeof *ctl;

	if (rights == (uint32_t)('r' << 24 | 'w' << 16 | '-' << 8 | 'p') && !ours)
		chord_rt_shadow_range(ctl, start, end);
}

/* Maps the shadow of everything that may become a stack without a call of mmap. */
static void
chord_rt_shadow_everything(struct chord_rt_ctl *ctl)
{
	uint64_t old, end;

	old = chord_rt_lock(ctl);
	if (!ctl->mask)
		chord_rt_choose_mask(ctl);
	chord_rt_each_mapping(ctl, chord_rt_shadow_line);
	end = (uint64_t)chord_rt_call(SYS_brk, 0);
	chord_rt_shadow_range(ctl, end, end + 0x4000000);
	chord_rt_unlock(ctl, old);
}

/* ---- the guard ---- */

static void chord_rt_first_shadow(struct chord_rt_ctl *ctl);

static struct chord_rt_ctl *chord_rt_control(void);

/* Sets this module's guard words for the calling thread. */
static void
chord_rt_set_shadow(uint64_t mask, uint64_t word)
{
	chord_rt_home_set_mask(mask);
	if (word)
		chord_rt_home_set_piece(word);
}

static uint64_t
chord_rt_make_slot(struct chord_rt_ctl *ctl, uint64_t sp, uint64_t none)
{
	uint64_t old = chord_rt_lock(ctl);
	bool ok;

	(void)none;
	if (!ctl->mask)
		chord_rt_choose_mask(ctl);
	ok = chord_rt_more_shadow(ctl, sp);
	chord_rt_unlock(ctl, old);
	return ok;
}

static bool
chord_rt_need_slot(struct chord_rt_ctl *ctl, uint64_t sp)
{
	if (chord_rt_has_slot(ctl, sp))
		return true;
	if (ctl->magic)
		return chord_rt_on_own_stack(ctl, chord_rt_make_slot, sp, 0);
	return chord_rt_make_slot(ctl, sp, 0);
}

/* Woven code is about to write to a shadow that cannot be mapped, so it would overwrite something else or fault. If a process
 * forbids itself to map, the shadow of its stacks has been mapped before (chord_rt_shadow_ahead). */
static _Noreturn void
chord_rt_no_shadow(void)
{
	static const char text[] = "chord: paths: the shadow of a stack cannot be mapped: the program cannot go on\n";

	chord_rt_call(SYS_write, 2, text, sizeof text - 1);
	for (;;) {
		chord_rt_call(SYS_kill, chord_rt_call(SYS_getpid), 9);
		chord_rt_stop(); /* in case a filter forbids kill */
	}
}

/* No control block says what is mapped, so anything that is mapped at the shadow's address counts as shadow. */
static void
chord_rt_stack_alone(uint64_t sp)
{
	const uint64_t mask = 1ull << 45;
	long e = chord_rt_map_shadow(mask, sp & -CHORD_RT_PIECE, CHORD_RT_PIECE);
	bool piece = !chord_rt_failed(e);

	if (!piece)
		e = chord_rt_map_shadow(mask, sp & -(uint64_t)CHORD_RT_PAGE, CHORD_RT_PAGE);
	if (chord_rt_failed(e) && e != -EEXIST)
		chord_rt_no_shadow();
	chord_rt_set_shadow(mask, piece ? ~sp >> CHORD_SHADOW_BITS : 0);
}

/* Woven code is about to use the shadow of that address. */
static __attribute__((used)) void
chord_rt_stack(uint64_t sp, uint64_t at)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	(void)sp;
	if (!ctl)
		ctl = chord_rt_control();
	if (!ctl) {
		chord_rt_stack_alone(at);
		return;
	}
	if (!chord_rt_desc.shadowed)
		chord_rt_first_shadow(ctl);
	if (!chord_rt_need_slot(ctl, at))
		chord_rt_no_shadow();
	chord_rt_set_shadow(ctl->mask, chord_rt_has_piece(ctl, at) ? ~at >> CHORD_SHADOW_BITS : 0);
}
