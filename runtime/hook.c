/* SPDX-License-Identifier: MIT */
/* Puts wrappers in the tables through which loaded objects, measured or not,
 * call some functions of libc. */

struct chord_rt_hooking {
	struct chord_rt_ctl *ctl;
	struct chord_rt_desc *from, *to; /* NULL: the real functions are put back */
	long mem;                        /* /proc/self/mem; 0: not opened yet */
	uint32_t skip;                   /* objects to skip */
	uint64_t bias, end;              /* of the object */
	uint64_t relro, relro_end;
	const Elf64_Phdr *phdr;
	uint32_t phnum;
	uint64_t links;                  /* the chord_rt_links of the object's own runtime */
	bool guest;                      /* the object's runtime is another version's */
};

static uint64_t
chord_rt_wrapper(struct chord_rt_desc *d, int hook)
{
	return d->hook[hook] ? CHORD_RT_NEAR(d->hook[hook]) : 0;
}

/* Writes a slot. A slot that is read-only after relocation is written through /proc/self/mem, so that its protection never
 * changes under another thread. */
static void
chord_rt_poke(struct chord_rt_hooking *h, uint64_t slot, uint64_t value)
{
	uint64_t page = slot & -(uint64_t)CHORD_RT_PAGE;

	if (slot < h->relro || slot >= h->relro_end) {
		__atomic_store_n((uint64_t *)slot, value, __ATOMIC_RELAXED);
		return;
	}
	if (h->mem == 0)
		h->mem = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (!chord_rt_failed(h->mem) && chord_rt_call(SYS_pwrite64, h->mem, &value, 8, slot) == 8)
		return;
	if (chord_rt_failed(chord_rt_call(SYS_mprotect, page, CHORD_RT_PAGE, CHORD_RT_PROT_RW)))
		return;
	__atomic_store_n((uint64_t *)slot, value, __ATOMIC_RELAXED);
	chord_rt_call(SYS_mprotect, page, CHORD_RT_PAGE, CHORD_RT_PROT_READ);
}

/* Are all uses of the slot in the object's code calls and jumps? Other instructions read the function's address, which must stay
 * the real one. */
static bool
chord_rt_only_called(const struct chord_rt_hooking *h, uint64_t slot)
{
	const Elf64_Phdr *p = h->phdr;
	const unsigned char *at, *end;
	bool called = false;
	int32_t far;

	for (uint32_t i = 0; i < h->phnum; i++, p++) {
		if (p->p_type != PT_LOAD || (p->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		at = (const unsigned char *)h->bias + p->p_vaddr + 2;
		for (end = at + p->p_memsz - 6; at < end; at++) {
			__builtin_memcpy(&far, at, 4);
			if ((uint64_t)at + 4 + (uint64_t)(int64_t)far != slot)
				continue;
			if (!chord_rt_calls_slot(at))
				return false;
			called = true;
		}
	}
	return called;
}

/* Warns that calls through a pointer are not seen, if the function is one whose calls would not be noticed otherwise. */
static void
chord_rt_address_taken(struct chord_rt_ctl *ctl, int hook)
{
	static const uint8_t matters[] = {CHORD_RT_HOOK_vfork, CHORD_RT_HOOK_pthread_exit, CHORD_RT_HOOK_thrd_exit,
	    CHORD_RT_HOOK_longjmp, CHORD_RT_HOOK__longjmp, CHORD_RT_HOOK_siglongjmp, CHORD_RT_HOOK_clone,
	    CHORD_RT_HOOK_setcontext, CHORD_RT_HOOK_swapcontext};
	char s[128];
	bool tell = false;

	for (uint32_t i = 0; i < sizeof matters; i++)
		tell |= matters[i] == hook;
	if (!tell || ctl->address_taken >> hook & 1)
		return;
	ctl->address_taken |= 1ull << hook;
	s[0] = 0;
	chord_rt_append(s, sizeof s, "calls of ", 9);
	chord_rt_append(s, sizeof s, chord_rt_names + ctl->name[hook], chord_rt_length(chord_rt_names + ctl->name[hook]));
	chord_rt_append(s, sizeof s, " through a pointer were not seen: its address is taken", 54);
	chord_rt_text(ctl, s);
}

/* Functions that only the C library and compilers call, so no program compares their addresses. */
static bool
chord_rt_is_internal(int hook)
{
	return hook == CHORD_RT_HOOK__Unwind_SetIP || hook == CHORD_RT_HOOK__Unwind_ForcedUnwind ||
	    hook == CHORD_RT_HOOK___pthread_unwind_next || hook == CHORD_RT_HOOK__dl_find_object ||
	    hook == CHORD_RT_HOOK___longjmp_chk || hook == CHORD_RT_HOOK___assert_fail ||
	    hook == CHORD_RT_HOOK___assert_perror_fail || (hook >= CHORD_RT_HOOK__dl_allocate_tls &&
	    hook <= CHORD_RT_HOOK__dl_deallocate_tls);
}

/* May the slot lead to the hook? Only if it is used by calls alone. If it were also read, the program would see another address
 * than the one that dlsym gives and other objects have. */
static bool
chord_rt_may_turn(struct chord_rt_hooking *h, uint64_t slot, uint32_t type, int hook)
{
	if (type == CHORD_RT_SLOT_CALL || chord_rt_is_internal(hook) ||
	    (type == CHORD_RT_SLOT_DATA && chord_rt_only_called(h, slot)))
		return true;
	if (!h->guest)
		chord_rt_address_taken(h->ctl, hook);
	return false;
}

/* The slot has not been called through yet. Will it lead to the function that is known by that name? The object may want another
 * version of the function. */
static bool
chord_rt_will_be(const struct chord_rt_hooking *h, const struct chord_rt_dynamic *d, uint32_t sym, int hook)
{
	return chord_rt_lookup_one(d->str + d->sym[sym].st_name, chord_rt_needed(d, sym), 0) == h->ctl->real[hook];
}

static void
chord_rt_hook_slot(struct chord_rt_hooking *h, const struct chord_rt_dynamic *d, const Elf64_Rela *r, int hook)
{
	uint64_t slot = h->bias + r->r_offset, real = h->ctl->real[hook], now = *(volatile uint64_t *)slot, want;
	uint64_t was = h->from ? chord_rt_wrapper(h->from, hook) : real;
	uint32_t type = ELF64_R_TYPE(r->r_info);
	bool lazy = type == CHORD_RT_SLOT_CALL && now >= h->bias && now < h->end && !h->from;

	/* Linkers mark slots of calls by an addend (-z mark-plt), which means nothing to the dynamic linker. */
	if (!real || (r->r_addend && type != CHORD_RT_SLOT_CALL) || !was || (now != was && !lazy))
		return;
	if (now != was ? !chord_rt_will_be(h, d, (uint32_t)ELF64_R_SYM(r->r_info), hook) :
	    !h->from && !chord_rt_may_turn(h, slot, type, hook))
		return;
	want = h->to ? chord_rt_wrapper(h->to, hook) : real;
	if (want && want != now)
		chord_rt_poke(h, slot, want);
}

/* Which of the hooks that are put in only when needed are wanted. */
static uint32_t
chord_rt_hooks_wanted(const struct chord_rt_ctl *ctl)
{
	return 1u | (uint32_t)(ctl->cancels != 0) << 1 | (uint32_t)(ctl->trace != NULL) << 2;
}

/* Some hooks are put in only when there is something to observe. */
static bool
chord_rt_is_wanted(const struct chord_rt_ctl *ctl, int hook)
{
	if (chord_rt_is_join((uint32_t)hook))
		return ctl->trace != NULL;
	return hook != CHORD_RT_HOOK__dl_find_object || ctl->cancels;
}

/* Does an object call the function through a table although it defines the function itself? libgcc_s does: its personality routine
 * sends exceptions to the landing pads of C and, with link-time optimisation, of C++ that only cleans up. */
static bool
chord_rt_is_own(int hook)
{
	return hook == CHORD_RT_HOOK__Unwind_SetIP;
}

static void
chord_rt_hook_table(struct chord_rt_hooking *h, const struct chord_rt_dynamic *d, const Elf64_Rela *r, uint64_t n)
{
	for (; n-- > 0; r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info);
		const Elf64_Sym *sym = d->sym + ELF64_R_SYM(r->r_info);
		int hook;

		if ((type != CHORD_RT_SLOT_CALL && type != CHORD_RT_SLOT_DATA && type != CHORD_RT_SLOT_ADDRESS) ||
		    !ELF64_R_SYM(r->r_info) ||
		    h->bias + r->r_offset - h->links < sizeof chord_rt_links)
			continue;
		hook = chord_rt_hook_named(h->ctl, d->str + sym->st_name);
		if (hook >= 0 && (sym->st_shndx == SHN_UNDEF || chord_rt_is_own(hook)) && chord_rt_is_wanted(h->ctl, hook))
			chord_rt_hook_slot(h, d, r, hook);
	}
}

static int
chord_rt_hook_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_hooking *h = arg;
	struct chord_rt_dynamic d;
	const Elf64_Phdr *p = info->phdr;
	struct chord_rt_object o = {info->addr, info->name, info->phdr, info->phnum, false};
	struct chord_rt_desc *own;

	(void)size;
	if (h->skip && h->skip--)
		return 0;
	own = chord_rt_desc_of(&o);
	h->links = own ? CHORD_RT_NEAR(own->links) : 0;
	h->guest = !h->links && chord_rt_guest_of(&o);
	h->bias = info->addr;
	h->phdr = info->phdr;
	h->phnum = info->phnum;
	h->end = h->relro = h->relro_end = 0;
	for (uint32_t i = 0; i < info->phnum; i++, p++) {
		uint64_t at = info->addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && at + p->p_memsz > h->end)
			h->end = at + p->p_memsz;
		if (p->p_type == PT_GNU_RELRO)
			h->relro = at, h->relro_end = at + p->p_memsz;
	}
	if (!chord_rt_dynamic(info, &d))
		return 0;
	if (d.rela)
		chord_rt_hook_table(h, &d, d.rela, d.nrela);
	if (d.plt)
		chord_rt_hook_table(h, &d, d.plt, d.nplt);
	return 0;
}

static void
chord_rt_rehook(struct chord_rt_ctl *ctl, struct chord_rt_desc *from, struct chord_rt_desc *to, uint32_t skip)
{
	struct chord_rt_hooking h = {.ctl = ctl, .from = from, .to = to, .skip = skip};

	chord_rt_dl_iterate_phdr(chord_rt_hook_object, &h);
	if (h.mem > 0)
		chord_rt_call(SYS_close, h.mem);
}

/* The module whose wrappers are used: the program, if it is measured, because it is never closed. */
static struct chord_rt_mod *
chord_rt_hooker(struct chord_rt_ctl *ctl, struct chord_rt_desc *not)
{
	struct chord_rt_mod *best = NULL, *m;

	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (m->life == CHORD_LIFE_LOADED && !m->left && m->desc != not && m->space == chord_rt_space_id() &&
		    (!best || (m->main && !best->main)))
			best = m;
	}
	return best;
}

static void chord_rt_watch_maps(struct chord_rt_ctl *ctl, struct chord_rt_desc *d);

/* A module that may be about to be closed hands its hooks to another one. */
static void
chord_rt_unhook(struct chord_rt_ctl *ctl, struct chord_rt_desc *d)
{
	struct chord_rt_mod *m;

	if (!ctl->hooker || !chord_rt_dl_iterate_phdr)
		return;
	m = chord_rt_module(ctl, ctl->hooker - 1);
	if (m->desc != d || m->main)
		return;
	m = chord_rt_hooker(ctl, d);
	ctl->hooker = m ? m->index + 1 : 0;
	chord_rt_rehook(ctl, d, m ? m->desc : NULL, 0);
	chord_rt_watch_maps(ctl, m ? m->desc : NULL);
	if (m)
		return;
	/* No module has the hooks: the next one finds the real functions anew. */
	chord_rt_clear(ctl->real, sizeof ctl->real);
	ctl->space = 0;
}
