/* SPDX-License-Identifier: MIT */
/* Puts wrappers in the tables through which loaded objects, measured or not,
 * call some functions of libc. */

struct chord_rt_dynamic {
	const Elf64_Rela *rela, *plt;
	uint64_t nrela, nplt;
	const Elf64_Sym *sym;
	const char *str;
	const uint32_t *hash;
	const uint16_t *version;
};

struct chord_rt_hooking {
	struct chord_rt_ctl *ctl;
	struct chord_rt_desc *from, *to; /* to NULL: the real functions again */
	long mem;                        /* /proc/self/mem; 0: not opened yet */
	uint64_t bias, end;              /* the object */
	uint64_t relro, relro_end;
};

/* glibc has relocated the addresses in this table, musl has not. */
static void
chord_rt_dynamic_entries(const Elf64_Dyn *e, uint64_t bias, struct chord_rt_dynamic *d)
{
	for (; e->d_tag != DT_NULL; e++) {
		uint64_t p = e->d_un.d_ptr < bias ? e->d_un.d_ptr + bias : e->d_un.d_ptr;

		if (e->d_tag == DT_RELA)
			d->rela = (const Elf64_Rela *)p;
		else if (e->d_tag == DT_RELASZ)
			d->nrela = e->d_un.d_val / sizeof *d->rela;
		else if (e->d_tag == DT_JMPREL)
			d->plt = (const Elf64_Rela *)p;
		else if (e->d_tag == DT_PLTRELSZ)
			d->nplt = e->d_un.d_val / sizeof *d->plt;
		else if (e->d_tag == DT_SYMTAB)
			d->sym = (const Elf64_Sym *)p;
		else if (e->d_tag == DT_STRTAB)
			d->str = (const char *)p;
		else if (e->d_tag == DT_GNU_HASH)
			d->hash = (const uint32_t *)p;
		else if (e->d_tag == DT_VERSYM)
			d->version = (const uint16_t *)p;
	}
}

static bool
chord_rt_dynamic(const struct dl_phdr_info *info, struct chord_rt_dynamic *d)
{
	chord_rt_clear(d, sizeof *d);
	for (uint32_t i = 0; i < info->phnum; i++)
		if (info->phdr[i].p_type == PT_DYNAMIC)
			chord_rt_dynamic_entries((const Elf64_Dyn *)(info->addr + info->phdr[i].p_vaddr), info->addr, d);
	return d->sym && d->str;
}

/* ---- what the functions are ---- */

static bool
chord_rt_defines(const struct chord_rt_dynamic *d, uint32_t i, const char *name)
{
	return d->sym[i].st_shndx != SHN_UNDEF && chord_rt_same(d->str + d->sym[i].st_name, name) &&
	    (!d->version || !(d->version[i] & 0x8000)); /* not an old version kept for old programs */
}

static uint32_t
chord_rt_hash_name(const char *s)
{
	uint32_t h = 5381;

	for (; *s; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

/* What an object defines under a name; 0: nothing. */
static uint64_t
chord_rt_lookup_in(const struct chord_rt_dynamic *d, uint64_t bias, const char *name, uint32_t hash)
{
	const uint64_t *bloom = (const uint64_t *)(d->hash + 4);
	const uint32_t *bucket = d->hash + 4 + 2 * d->hash[2], *chain = bucket + d->hash[0];
	uint64_t word = bloom[hash / 64 & (d->hash[2] - 1)];
	uint32_t i;

	if (!(word >> hash % 64 & word >> (hash >> d->hash[3]) % 64 & 1) || (i = bucket[hash % d->hash[0]]) < d->hash[1])
		return 0;
	do
		if ((chain[i - d->hash[1]] | 1) == (hash | 1) && chord_rt_defines(d, i, name))
			return bias + d->sym[i].st_value;
	while (!(chain[i++ - d->hash[1]] & 1));
	return 0;
}

/* Functions to find, by where their names begin. */
struct chord_rt_lookup {
	const char *names;
	const uint16_t *name;
	const uint32_t *hash;
	uint64_t *found;
	uint32_t n;
};

/* As the dynamic linker would find them: in the first object that has one. A reference
 * of our own would not do: it can be taken by a local symbol of the text around the
 * runtime, and in a program that is not position independent it can be the
 * program's own PLT entry, which leads to the hook. */
static int
chord_rt_lookup_all(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct chord_rt_lookup *l = arg;
	struct chord_rt_dynamic d;

	(void)size;
	if (!chord_rt_dynamic(info, &d) || !d.hash || !d.hash[0])
		return 0;
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->found[i])
			l->found[i] = chord_rt_lookup_in(&d, info->addr, l->names + l->name[i], l->hash[i]);
	return 0;
}

static uint64_t
chord_rt_lookup(const char *name)
{
	uint16_t first = 0;
	uint32_t hash = chord_rt_hash_name(name);
	uint64_t found = 0;
	struct chord_rt_lookup l = {name, &first, &hash, &found, 1};

	chord_rt_dl_iterate_phdr(chord_rt_lookup_all, &l);
	return found;
}

static const char chord_rt_names[] =
#define CHORD_RT_NAME(name) #name "\0"
	CHORD_RT_HOOKS(CHORD_RT_NAME);

/* Most names are none of them: a bit for the first three letters tells. */
static uint32_t
chord_rt_letters(const char *s)
{
	uint32_t h = (unsigned char)s[0];

	if (s[0])
		h += (unsigned char)s[1] * 37u;
	if (s[0] && s[1])
		h += (unsigned char)s[2] * 101u;
	return h % 256;
}

static void
chord_rt_learn(struct chord_rt_ctl *ctl)
{
	struct chord_rt_lookup l = {chord_rt_names, ctl->name, ctl->hash, ctl->real, CHORD_RT_NHOOK};
	const char *name = chord_rt_names;

	if (!ctl->dynamic) {
#define CHORD_RT_LEARN(id) \
		if (!ctl->real[CHORD_RT_HOOK_##id]) \
			ctl->real[CHORD_RT_HOOK_##id] = (uint64_t)chord_rt_weak_##id;
		CHORD_RT_HOOKS(CHORD_RT_LEARN)
		return;
	}
	if (!chord_rt_dl_iterate_phdr)
		return;
	for (int i = 0; i < CHORD_RT_NHOOK; i++, name += chord_rt_length(name) + 1) {
		ctl->letters[chord_rt_letters(name) / 64] |= 1ull << chord_rt_letters(name) % 64;
		ctl->name[i] = (uint16_t)(name - chord_rt_names);
		ctl->hash[i] = chord_rt_hash_name(name);
	}
	chord_rt_dl_iterate_phdr(chord_rt_lookup_all, &l);
}

static int
chord_rt_hook_named(const struct chord_rt_ctl *ctl, const char *s)
{
	uint32_t bit = chord_rt_letters(s);

	if (!(ctl->letters[bit / 64] >> bit % 64 & 1))
		return -1;
	for (int i = 0; i < CHORD_RT_NHOOK; i++)
		if (chord_rt_names[ctl->name[i]] == *s && chord_rt_same(chord_rt_names + ctl->name[i], s))
			return i;
	return -1;
}

static uint64_t
chord_rt_wrapper(struct chord_rt_desc *d, int hook)
{
	return d->hook[hook] ? CHORD_RT_NEAR(d->hook[hook]) : 0;
}

/* Writes a slot. One that is read-only after relocation is written through
 * /proc/self/mem, so that its protection never changes under another thread. */
static void
chord_rt_poke(struct chord_rt_hooking *h, uint64_t slot, uint64_t value)
{
	uint64_t page = slot & -(uint64_t)CHORD_PAGE;

	if (slot < h->relro || slot >= h->relro_end) {
		__atomic_store_n((uint64_t *)slot, value, __ATOMIC_RELAXED);
		return;
	}
	if (h->mem == 0)
		h->mem = chord_rt_call(SYS_open, "/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (!chord_rt_failed(h->mem) && chord_rt_call(SYS_pwrite64, h->mem, &value, 8, slot) == 8)
		return;
	if (chord_rt_failed(chord_rt_call(SYS_mprotect, page, CHORD_PAGE, CHORD_RT_PROT_RW)))
		return;
	__atomic_store_n((uint64_t *)slot, value, __ATOMIC_RELAXED);
	chord_rt_call(SYS_mprotect, page, CHORD_PAGE, CHORD_RT_PROT_READ);
}

static void
chord_rt_hook_slot(struct chord_rt_hooking *h, uint64_t slot, uint32_t type, int64_t addend, int hook)
{
	uint64_t real = h->ctl->real[hook], now = *(volatile uint64_t *)slot, want;
	uint64_t was = h->from ? chord_rt_wrapper(h->from, hook) : real;
	bool lazy = type == R_X86_64_JUMP_SLOT && now >= h->bias && now < h->end && !h->from;

	if (!real || addend || !was || (now != was && !lazy))
		return;
	want = h->to ? chord_rt_wrapper(h->to, hook) : real;
	if (want && want != now)
		chord_rt_poke(h, slot, want);
}

/* Some are looked at only where there is something to see. */
static bool
chord_rt_is_wanted(const struct chord_rt_ctl *ctl, int hook)
{
	if (hook == CHORD_RT_HOOK__dl_find_object)
		return ctl->cancels;
	return (hook != CHORD_RT_HOOK_prctl && hook != CHORD_RT_HOOK_syscall) || ctl->paths;
}

static void
chord_rt_hook_table(struct chord_rt_hooking *h, const struct chord_rt_dynamic *d, const Elf64_Rela *r, uint64_t n)
{
	for (; n-- > 0; r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info);
		const Elf64_Sym *sym = d->sym + ELF64_R_SYM(r->r_info);
		int hook;

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
		    sym->st_shndx != SHN_UNDEF || !ELF64_R_SYM(r->r_info))
			continue;
		hook = chord_rt_hook_named(h->ctl, d->str + sym->st_name);
		if (hook >= 0 && chord_rt_is_wanted(h->ctl, hook))
			chord_rt_hook_slot(h, h->bias + r->r_offset, type, r->r_addend, hook);
	}
}

static int
chord_rt_hook_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_hooking *h = arg;
	struct chord_rt_dynamic d;
	const Elf64_Phdr *p = info->phdr;

	(void)size;
	h->bias = info->addr;
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
chord_rt_rehook(struct chord_rt_ctl *ctl, struct chord_rt_desc *from, struct chord_rt_desc *to)
{
	struct chord_rt_hooking h = {.ctl = ctl, .from = from, .to = to};

	chord_rt_dl_iterate_phdr(chord_rt_hook_object, &h);
	if (h.mem > 0)
		chord_rt_call(SYS_close, h.mem);
}

static int
chord_rt_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(uint64_t *)arg = size >= sizeof *info ? info->adds : 0;
	return 1;
}

/* The module whose wrappers are to be used: the program's own if it is measured,
 * for that one is never closed. */
static struct chord_rt_mod *
chord_rt_hooker(struct chord_rt_ctl *ctl, struct chord_rt_desc *not)
{
	struct chord_rt_mod *best = NULL;

	for (struct chord_rt_mod *m = ctl->module; m < ctl->module + ctl->nmodule; m++)
		if (m->life == CHORD_LIFE_LOADED && !m->left && m->desc != not && m->space == (uint64_t)&chord_rt_dl_iterate_phdr &&
		    (!best || (m->main && !best->main)))
			best = m;
	return best;
}

/* A module that may be about to be closed hands its hooks on. */
static void
chord_rt_unhook(struct chord_rt_ctl *ctl, struct chord_rt_desc *d)
{
	struct chord_rt_mod *m;

	if (!ctl->hooker || !chord_rt_dl_iterate_phdr)
		return;
	m = &ctl->module[ctl->hooker - 1];
	if (m->desc != d || m->main)
		return;
	m = chord_rt_hooker(ctl, d);
	ctl->hooker = m ? (uint32_t)(m - ctl->module) + 1 : 0;
	ctl->dl_adds = 0;
	chord_rt_rehook(ctl, d, m ? m->desc : NULL);
}
