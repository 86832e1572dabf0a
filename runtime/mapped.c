/* SPDX-License-Identifier: MIT */
/* Modules that are mapped but have not run yet. Code of a measured object may run long before its constructor: ifunc resolvers and
 * the functions that they call, DT_INIT, constructors of objects that depend on it. Its counters have to exist by then. Whenever
 * the list of objects has changed, and before new ones are relocated, the dynamic linker calls an empty function for debuggers. The
 * runtime redirects that function to its own. */

struct chord_rt_link_map {
	uint64_t bias;
	const char *name;
	void *dynamic;
	struct chord_rt_link_map *next, *prev;
};

struct chord_rt_debug {
	int32_t version;
	struct chord_rt_link_map *map;
	uint64_t brk;                 /* the function */
	int32_t state;                /* 0: the list is consistent */
	uint64_t base;
	struct chord_rt_debug *next;  /* of the next name space, since version 2 */
};

/* ---- where the function is ---- */

static const Elf64_Dyn *
chord_rt_main_dynamic(const struct chord_rt_ctl *ctl)
{
	const Elf64_Phdr *h = (const Elf64_Phdr *)ctl->phdr;
	const Elf64_Dyn *dynamic = NULL;
	uint64_t bias = 0;

	for (uint64_t i = 0; h && i < ctl->phnum; i++, h++) {
		if (h->p_type == PT_PHDR)
			bias = ctl->phdr - h->p_vaddr;
		if (h->p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(bias + h->p_vaddr);
	}
	return dynamic;
}

/* The structure by which the dynamic linker informs debuggers. NULL: there is none; *has: there will be one. */
static const struct chord_rt_debug *
chord_rt_debug(const struct chord_rt_ctl *ctl, bool *has)
{
	const Elf64_Dyn *e = ctl->dynamic ? chord_rt_main_dynamic(ctl) : NULL;

	*has = false;
	for (; e && e->d_tag != DT_NULL; e++)
		if (e->d_tag == DT_DEBUG) {
			*has = true;
			return (const struct chord_rt_debug *)e->d_un.d_ptr;
		}
	return NULL;
}

/* Is the process still being loaded? Then this is the constructor of an auditor (LD_AUDIT), and unknown code will run. */
static bool
chord_rt_is_starting(const struct chord_rt_ctl *ctl)
{
	bool has;

	return !chord_rt_debug(ctl, &has) && has;
}

/* ---- redirecting the function ---- */

/* The size of this library in memory, from its first page on; 0: it is not known. */
static uint64_t
chord_rt_library_size(const struct dl_phdr_info *o, uint64_t *first)
{
	uint64_t low = ~0ull, high = 0, end;

	for (const Elf64_Phdr *h = o->phdr; h < o->phdr + o->phnum; h++) {
		if (h->p_type != PT_LOAD)
			continue;
		if (!(h->p_flags & PF_R))
			return 0;
		end = h->p_vaddr + h->p_filesz;
		low = h->p_vaddr < low ? h->p_vaddr : low;
		high = end > high ? end : high;
	}
	*first = low & -(uint64_t)CHORD_RT_PAGE;
	return high ? chord_rt_page_up(high - *first) : 0;
}

/* Copies the segments so that the first one begins at `to`. False: code cannot run there. */
static bool
chord_rt_copy_segments(const struct dl_phdr_info *o, uint64_t first, uint64_t to)
{
	uint64_t at, from;
	bool ok = true;

	for (const Elf64_Phdr *h = o->phdr; h < o->phdr + o->phnum; h++) {
		at = to + h->p_vaddr - first;
		if (h->p_type == PT_LOAD)
			chord_rt_copy((void *)at, (const void *)(o->addr + h->p_vaddr), h->p_filesz);
	}
	for (const Elf64_Phdr *h = o->phdr; ok && h < o->phdr + o->phnum; h++) {
		at = to + h->p_vaddr - first;
		from = at & -(uint64_t)CHORD_RT_PAGE;
		if (h->p_type == PT_LOAD && h->p_flags & PF_X)
			ok = !chord_rt_failed(chord_rt_call(SYS_mprotect, from, chord_rt_page_up(at + h->p_filesz - from),
			    CHORD_RT_PROT_READ | CHORD_RT_PROT_EXEC));
	}
	return ok;
}

/* This library is about to be closed, and after that no other one has the runtime's hooks. Threads keep their bases, so a library
 * that is opened later needs its counters before its code runs. A copy of this library stays for chord_rt_mapped(). That works
 * because the runtime's code and data hold no addresses within their own library. Gives the distance from this library to the copy;
 * 0: there is no room for a copy. */
static uint64_t
chord_rt_stay(struct chord_rt_ctl *ctl)
{
	struct dl_phdr_info o;
	uint64_t first, size, to;

	chord_rt_alone(&o);
	size = o.phnum ? chord_rt_library_size(&o, &first) : 0;
	to = size ? chord_rt_pages(size) : 0;
	if (!to)
		return 0;
	if (!chord_rt_copy_segments(&o, first, to)) {
		chord_rt_call(SYS_munmap, to, size);
		return 0;
	}
	ctl->stays = to;
	ctl->stays_size = size;
	return to - first - o.addr;
}

/* Redirects the function to the runtime in that module. d NULL: to a copy of this module, or, if the process ends, restores the
 * function. Under the lock, in a constructor or destructor, where the dynamic linker's lock is held. */
static void
chord_rt_watch_maps(struct chord_rt_ctl *ctl, struct chord_rt_desc *d)
{
	unsigned char jump[CHORD_RT_FAR_JUMP], was[CHORD_RT_FAR_JUMP + CHORD_RT_INSN];
	const struct chord_rt_debug *r;
	uint64_t to = d ? CHORD_RT_NEAR(d->mapped) : 0, behind;
	bool has;

	ctl->resolving = d ? CHORD_RT_NEAR(d->resolving) : 0;
	if (!ctl->brk) {
		r = d ? chord_rt_debug(ctl, &has) : NULL;
		if (!r || !r->brk)
			return;
		chord_rt_read_text(r->brk, was, sizeof was);
		if (!chord_rt_is_empty(was))
			return;
		ctl->debug = (uint64_t)r;
		ctl->brk = r->brk;
		chord_rt_copy(ctl->brk_was, was, sizeof ctl->brk_was);
	}
	if (!d && !ctl->ended) {
		behind = chord_rt_stay(ctl);
		to = behind ? CHORD_RT_NEAR(chord_rt_desc.mapped) + behind : 0;
		ctl->resolving = behind ? CHORD_RT_NEAR(chord_rt_desc.resolving) + behind : 0;
		if (!behind)
			chord_rt_text(ctl, "no copy of the last measured library could be made when it was closed: code that runs "
			                   "before the constructor of one that is opened later has no counters");
	}
	chord_rt_far_jump(jump, to);
	chord_rt_write_text(ctl->brk, to ? jump : ctl->brk_was, sizeof jump);
	if (d && ctl->stays) {
		chord_rt_call(SYS_munmap, ctl->stays, ctl->stays_size);
		ctl->stays = 0;
	}
}

/* ---- new objects ---- */

/* Adds the object of a link map entry in a name space that has a list of its own. The entry has the file's name and the address of
 * the file's first byte. */
static void
chord_rt_see_elsewhere(struct chord_rt_ctl *ctl, const struct chord_rt_link_map *l)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)l->bias;
	struct chord_rt_object o = {l->bias, l->name, (const Elf64_Phdr *)(e + 1), 0, false};
	struct chord_rt_desc *d = NULL;

	if (!l->bias || !chord_rt_readable(l->bias) || !chord_rt_equal(e->e_ident, ELFMAG "\2\1", 6) ||
	    e->e_phoff != sizeof *e || e->e_phnum > (CHORD_RT_PAGE - sizeof *e) / sizeof *o.phdr)
		return;
	o.phnum = e->e_phnum;
	if ((d = chord_rt_desc_of(&o)) != NULL && !d->ctl)
		chord_rt_add(ctl, d, &o, CHORD_RT_ELSEWHERE);
	else if ((d = chord_rt_guest_of(&o)) != NULL)
		chord_rt_join(ctl, CHORD_RT_NEAR(d->start), CHORD_RT_NEAR(d->stop));
}

/* always: also while the lists are said to be changing. */
static void
chord_rt_see_mapped(struct chord_rt_ctl *ctl, void *always)
{
	const struct chord_rt_debug *r = (const struct chord_rt_debug *)ctl->debug;

	if (always || r->state == 0)
		chord_rt_scan(ctl);
	while (r && r->version >= 2 && (r = r->next) != NULL)
		for (const struct chord_rt_link_map *l = always || r->state == 0 ? r->map : NULL; l; l = l->next)
			chord_rt_see_elsewhere(ctl, l);
}

static void
chord_rt_see_changes(void *always)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();

	if (!ctl || !(ctl->debug || always) || !ctl->magic)
		return;
	__atomic_fetch_add(&ctl->changes, 1, __ATOMIC_RELAXED);
	if (!chord_rt_other_process(ctl))
		chord_rt_locked_with_list(ctl, chord_rt_see_mapped, always);
}

/* Runs in place of the empty function. */
static __attribute__((used)) void
chord_rt_mapped(void)
{
	chord_rt_see_changes(NULL);
}

/* A resolver of a module that is not known runs, so the module is just being relocated: all objects that come with it are in the
 * lists, and the dynamic linker's lock is held. From glibc 2.41 on, the empty function is called only later. */
static __attribute__((used)) void
chord_rt_resolving(void)
{
	bool always = true;

	chord_rt_see_changes(&always);
}
