/* SPDX-License-Identifier: MIT */
/* The measured modules of the process, found by their notes. */

struct dl_phdr_info {
	Elf64_Addr addr;
	const char *name;
	const Elf64_Phdr *phdr;
	Elf64_Half phnum;
	unsigned long long adds, subs;
};

static int chord_rt_dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *)
	__attribute__((weakref("dl_iterate_phdr")));
static Elf64_Ehdr chord_rt_ehdr __attribute__((weakref("__ehdr_start")));

extern void chord_rt_entry_construct(void) __attribute__((visibility("hidden")));

typedef void chord_rt_locked_fn(struct chord_rt_ctl *ctl, void *of);
struct chord_rt_locked {
	struct chord_rt_ctl *ctl;
	chord_rt_locked_fn *f;
	void *of;
	bool done;
};

static int
chord_rt_lock_and_call(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_locked *l = (struct chord_rt_locked *)arg;
	uint64_t old = chord_rt_lock(l->ctl);

	(void)info, (void)size;
	l->f(l->ctl, l->of);
	chord_rt_unlock(l->ctl, old);
	l->done = true;
	return 1;
}

/* Calls f, which goes through the list of objects, under the lock. libc has a lock for the list, too. A thread that runs the
 * program's code in a callback of dl_iterate_phdr holds that lock, and may want the runtime's lock there. So the lock of the list
 * is taken first. */
static void
chord_rt_locked_with_list(struct chord_rt_ctl *ctl, chord_rt_locked_fn *f, void *of)
{
	struct chord_rt_locked l = {ctl, f, of, false};

	if (chord_rt_dl_iterate_phdr)
		chord_rt_dl_iterate_phdr(chord_rt_lock_and_call, &l);
	if (!l.done)
		chord_rt_lock_and_call(NULL, 0, &l);
}

struct chord_rt_object {
	uint64_t bias;
	const char *name;
	const Elf64_Phdr *phdr;
	uint32_t phnum;
	bool main;
};

typedef bool chord_rt_note_fn(void *arg, uint32_t type, const char *name, size_t namesz,
	unsigned char *desc, size_t size);

/* Calls f for each note of a segment until f gives true. */
static bool
chord_rt_notes(unsigned char *p, uint64_t size, uint64_t align, chord_rt_note_fn *f, void *arg)
{
	unsigned char *end = p + size;
	uint64_t at, next;
	Elf64_Nhdr *h;

	while ((size_t)(end - p) >= sizeof *h) {
		h = (Elf64_Nhdr *)p;
		at = (sizeof *h + h->n_namesz + align - 1) & -align;
		next = (at + h->n_descsz + align - 1) & -align;
		if (at + h->n_descsz > (uint64_t)(end - p))
			return false;
		if (f(arg, h->n_type, (char *)(h + 1), h->n_namesz, p + at, h->n_descsz))
			return true;
		if (next > (uint64_t)(end - p))
			return false;
		p += next;
	}
	return false;
}

/* Are these bytes in one of the object's segments? */
static bool
chord_rt_holds(const struct chord_rt_object *o, uint64_t at, uint64_t size)
{
	for (uint32_t i = 0; i < o->phnum; i++)
		if (o->phdr[i].p_type == PT_LOAD && at - o->bias - o->phdr[i].p_vaddr < o->phdr[i].p_memsz &&
		    o->phdr[i].p_memsz - (at - o->bias - o->phdr[i].p_vaddr) >= size)
			return true;
	return false;
}

/* Some linkers put notes of both alignments into one segment. A note that is not found with the segment's own alignment is looked
 * for with the other one. */
static bool
chord_rt_find_note(const struct chord_rt_object *o, chord_rt_note_fn *f, void *arg)
{
	const Elf64_Phdr *h = o->phdr;

	for (uint32_t i = 0; i < o->phnum; i++, h++) {
		unsigned char *p = (unsigned char *)(o->bias + h->p_vaddr);

		if (h->p_type == PT_NOTE && chord_rt_holds(o, (uint64_t)p, h->p_memsz) &&
		    (chord_rt_notes(p, h->p_memsz, h->p_align == 8 ? 8 : 4, f, arg) ||
		    chord_rt_notes(p, h->p_memsz, h->p_align == 8 ? 4 : 8, f, arg)))
			return true;
	}
	return false;
}

/* Is a module's description there, of whatever version? */
static bool
chord_rt_is_desc(const struct chord_rt_object *o, uint64_t at)
{
	const struct chord_rt_desc *d = (const struct chord_rt_desc *)at;

	return chord_rt_holds(o, at, 16) && d->magic == CHORD_RT_DESC_MAGIC &&
	    (d->version != CHORD_FORMAT_VERSION || chord_rt_holds(o, at, sizeof *d));
}

struct chord_rt_noted { uint64_t desc, init; }; /* where the note says that these are; 0: it does not say */

static bool
chord_rt_note_desc(void *arg, uint32_t type, const char *name, size_t namesz, unsigned char *desc, size_t size)
{
	struct chord_rt_noted *n = arg;
	int32_t off;

	if (type != CHORD_NOTE_MODULE || namesz != sizeof CHORD_NOTE_NAME || size < 4 ||
	    !chord_rt_equal(name, CHORD_NOTE_NAME, sizeof CHORD_NOTE_NAME))
		return false;
	chord_rt_copy(&off, desc, 4);
	n->desc = (uint64_t)desc + (uint64_t)(int64_t)off;
	if (size >= 8) {
		chord_rt_copy(&off, desc + 4, 4);
		n->init = (uint64_t)desc + 4 + (uint64_t)(int64_t)off;
	}
	return true;
}

/* The object's table of constructors. */
static const uint64_t *
chord_rt_init_array(const struct chord_rt_object *o, uint64_t *n)
{
	const Elf64_Dyn *e = NULL;
	uint64_t at = 0;

	*n = 0;
	for (uint32_t i = 0; i < o->phnum; i++)
		if (o->phdr[i].p_type == PT_DYNAMIC && chord_rt_holds(o, o->bias + o->phdr[i].p_vaddr, sizeof *e))
			e = (const Elf64_Dyn *)(o->bias + o->phdr[i].p_vaddr);
	for (; e && e->d_tag != DT_NULL; e++) {
		at = e->d_tag == DT_INIT_ARRAY ? o->bias + e->d_un.d_ptr : at;
		*n = e->d_tag == DT_INIT_ARRAYSZ ? e->d_un.d_val / 8 : *n;
	}
	return (const uint64_t *)at;
}

/* The description of the module that the object is, of whatever version, as its note says; NULL: it is none. A tool that enlarges a
 * linked file (patchelf) moves notes away from what they lead to. Then the constructor, which the note names, too, is looked for
 * where the object's table of constructors is: how far the description is from it, the linker has fixed. */
static struct chord_rt_desc *
chord_rt_noted_desc(const struct chord_rt_object *o)
{
	struct chord_rt_noted n = {0, 0};
	const uint64_t *init;
	uint64_t count;

	if (!chord_rt_find_note(o, chord_rt_note_desc, &n))
		return NULL;
	if (chord_rt_is_desc(o, n.desc))
		return (struct chord_rt_desc *)n.desc;
	init = chord_rt_init_array(o, &count);
	for (; n.init && count > 0; count--, init++)
		if (chord_rt_is_desc(o, (uint64_t)init + n.desc - n.init))
			return (struct chord_rt_desc *)((uint64_t)init + n.desc - n.init);
	return NULL;
}

/* The same of a module of this version without a note, which strip can remove. Once the module has been relocated, its table of
 * constructors leads to the same code as this module's. */
static struct chord_rt_desc *
chord_rt_constructed_desc(const struct chord_rt_object *o)
{
	const unsigned char *mine = (const unsigned char *)chord_rt_elsewhere((void *)&chord_rt_entry_construct), *code;
	uint64_t count, desc;
	const uint64_t *init = chord_rt_init_array(o, &count);
	int32_t off;

	for (; count > 0 && chord_rt_holds(o, (uint64_t)init, 8); count--, init++) {
		code = (const unsigned char *)*init;
		if (!chord_rt_holds(o, (uint64_t)code - sizeof off, 16 + sizeof off) || !chord_rt_equal(code, mine, 12))
			continue;
		chord_rt_copy(&off, code - sizeof off, sizeof off);
		desc = (uint64_t)code - sizeof off + (uint64_t)(int64_t)off;
		if (chord_rt_is_desc(o, desc))
			return (struct chord_rt_desc *)desc;
	}
	return NULL;
}

static bool
chord_rt_is_of_this_version(const struct chord_rt_desc *d)
{
	return d->version == CHORD_FORMAT_VERSION && d->nhook == CHORD_RT_NHOOK;
}

/* A module of this version; NULL: the object is none. In a static program nothing says where the table of constructors is: a module
 * without a note is known by its own runtime only. */
static struct chord_rt_desc *
chord_rt_desc_of(const struct chord_rt_object *o)
{
	struct chord_rt_desc *d = chord_rt_noted_desc(o);

	if (!d)
		d = chord_rt_constructed_desc(o);
	if (d)
		return chord_rt_is_of_this_version(d) ? d : NULL;
	d = (struct chord_rt_desc *)chord_rt_elsewhere((void *)&chord_rt_desc);
	return chord_rt_holds(o, (uint64_t)d, sizeof *d) ? d : NULL;
}

/* A module of another version, which is not measured; NULL: the object is none. */
static struct chord_rt_desc *
chord_rt_guest_of(const struct chord_rt_object *o)
{
	struct chord_rt_desc *d = chord_rt_noted_desc(o);

	return d && !chord_rt_is_of_this_version(d) ? d : NULL;
}

static bool
chord_rt_note_id(void *arg, uint32_t type, const char *name, size_t namesz, unsigned char *desc, size_t size)
{
	struct chord_rt_mod *m = arg;

	if (type != NT_GNU_BUILD_ID || namesz != 4 || !chord_rt_equal(name, "GNU", 4))
		return false;
	m->idlen = size < 32 ? (uint32_t)size : 32;
	chord_rt_copy(m->id, desc, m->idlen);
	return true;
}

static uint64_t
chord_rt_hash(const char *s)
{
	uint64_t h = 14695981039346656037ull;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ull;
	return h;
}

/* Fills m from the loaded object. */
static void
chord_rt_describe(struct chord_rt_mod *m, struct chord_rt_desc *d, const struct chord_rt_object *o)
{
	uint64_t start = CHORD_RT_NEAR(d->start), stop = CHORD_RT_NEAR(d->stop), lo;
	const Elf64_Phdr *h = o->phdr;

	m->desc = d;
	m->bias = o->bias;
	m->main = o->main;
	m->path_hash = chord_rt_hash(o->name);
	m->first = start & -(uint64_t)CHORD_RT_PAGE;
	m->size = ((stop + CHORD_RT_PAGE - 1) & -(uint64_t)CHORD_RT_PAGE) - m->first;
	m->text = ~0ull;
	for (uint32_t i = 0; i < o->phnum; i++, h++) {
		if (h->p_type == PT_DYNAMIC)
			m->dynamic = o->bias + h->p_vaddr;
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		lo = o->bias + h->p_vaddr;
		m->text = lo < m->text ? lo : m->text;
		m->text_end = lo + h->p_memsz > m->text_end ? lo + h->p_memsz : m->text_end;
	}
	CHORD_RT_NOTIFY(found, m, d);
	chord_rt_find_note(o, chord_rt_note_id, m);
}

/* Keeps the path of a module for its extent. The extent in a forked child's file needs it, too, and libc's list cannot be asked
 * there. */
static const char *
chord_rt_keep_path(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	char *path = (char *)ctl->page, *kept;
	const size_t room = CHORD_RT_PAGE - sizeof(struct chord_extent_head) - 32 - 1;
	const char *s = o->main ? ctl->prog : o->name;
	size_t n;

	chord_rt_clear(path, CHORD_RT_PAGE);
	if (!o->main || chord_rt_failed(chord_rt_call(SYS_readlink, "/proc/self/exe", path, room)))
		chord_rt_append(path, room, s, chord_rt_length(s));
	n = chord_rt_length(path);
	kept = (char *)chord_rt_take_room(ctl, n + 1);
	if (!kept)
		return "";
	chord_rt_copy(kept, path, n);
	return kept;
}

static void
chord_rt_module_extent(struct chord_rt_ctl *ctl, uint32_t i)
{
	struct chord_rt_mod *m = chord_rt_module(ctl, i);
	struct chord_extent_head h = {
		.type = CHORD_EXTENT_MODULE, .module = i, .size = CHORD_RT_PAGE,
		.a = m->first - m->bias, .b = m->size, .c = m->idlen,
	};
	const char *path = m->name;
	uint64_t at;

	chord_rt_clear(ctl->page, CHORD_RT_PAGE);
	chord_rt_copy(ctl->page, &h, sizeof h);
	chord_rt_copy(ctl->page + sizeof h, m->id, 32);
	chord_rt_copy(ctl->page + sizeof h + 32, path, chord_rt_length(path));
	at = chord_rt_extent(ctl, ctl->page, CHORD_RT_PAGE, CHORD_RT_PAGE);
	if (at)
		chord_rt_publish(ctl, at + CHORD_RT_PAGE);
}

static void
chord_rt_extents_of_modules(struct chord_rt_ctl *ctl)
{
	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		chord_rt_module_extent(ctl, i);
		CHORD_RT_NOTIFY(extents, ctl, i);
	}
}

/* A file that is opened again continues with the counters that it had. */
static bool
chord_rt_was_open(const struct chord_rt_mod *old, const struct chord_rt_mod *m)
{
	return old->life == CHORD_LIFE_CLOSED && old->path_hash == m->path_hash && old->size == m->size &&
	    old->first - old->bias == m->first - m->bias && old->idlen == m->idlen && chord_rt_equal(old->id, m->id, 32);
}

/* From now on, counters of exits may belong to other return addresses. */
static void
chord_rt_forget_known(struct chord_rt_ctl *ctl)
{
	__atomic_fetch_add(&ctl->epoch, 1, __ATOMIC_RELAXED);
}


static void
chord_rt_close_module(struct chord_rt_ctl *ctl, uint32_t i)
{
	chord_rt_forget_known(ctl);
	CHORD_RT_NOTIFY(closed, ctl, chord_rt_module(ctl, i));
	chord_rt_unmap_module(ctl, i);
	chord_rt_module(ctl, i)->life = CHORD_LIFE_CLOSED;
}

/* The slot of a module that was closed and is opened again; NULL: it is new. */
static struct chord_rt_mod *
chord_rt_find_again(struct chord_rt_ctl *ctl, const struct chord_rt_mod *fresh)
{
	struct chord_rt_mod *m;

	for (uint32_t i = ctl->same[fresh->path_hash % CHORD_RT_PATHS]; i; i = m->same) {
		m = chord_rt_module(ctl, i - 1);
		if (chord_rt_was_open(m, fresh))
			return m;
	}
	return NULL;
}

/* The module runs, but its counts are lost. */
static void
chord_rt_turn_away(struct chord_rt_ctl *ctl, const struct chord_rt_desc *d)
{
	chord_rt_join(ctl, CHORD_RT_NEAR(d->start), CHORD_RT_NEAR(d->stop));
	if (ctl->too_many || !ctl->head)
		return;
	ctl->too_many = 1;
	chord_rt_text(ctl, "there are more libraries than can be measured: not all of them are");
}

/* Makes a slot for a new module. */
static struct chord_rt_mod *
chord_rt_new_slot(struct chord_rt_ctl *ctl, struct chord_rt_mod *fresh, struct chord_rt_desc *d, const struct chord_rt_object *o)
{
	uint32_t *same = &ctl->same[fresh->path_hash % CHORD_RT_PATHS];

	if (ctl->nmodule >= CHORD_RT_MODULES ||
	    !chord_rt_grow(ctl, ctl->module.at, sizeof(struct chord_rt_mod), ctl->nmodule))
		return NULL;
	fresh->name = chord_rt_keep_path(ctl, o);
	CHORD_RT_NOTIFY(new, ctl, fresh, d);
	fresh->index = ctl->nmodule;
	fresh->same = *same;
	*same = fresh->index + 1;
	return chord_rt_module(ctl, fresh->index);
}

/* Takes over what is kept of a module that was closed. */
static void
chord_rt_take_over(struct chord_rt_mod *fresh, const struct chord_rt_mod *old)
{
	fresh->index = old->index;
	fresh->name = old->name;
	fresh->same = old->same;
	fresh->table = old->table;
	fresh->ntable = old->ntable;
	chord_rt_copy(&fresh->counts, &old->counts, sizeof fresh->counts);
}

static void
chord_rt_put_module(struct chord_rt_ctl *ctl, struct chord_rt_mod *slot, const struct chord_rt_mod *fresh)
{
	uint32_t i = fresh->index;

	chord_rt_forget_known(ctl);
	CHORD_RT_NOTIFY(module, ctl, fresh);
	chord_rt_copy(slot, fresh, sizeof *slot);
	if (i == ctl->nmodule) {
		ctl->nmodule++;
		if (ctl->head) {
			chord_rt_module_extent(ctl, i);
			CHORD_RT_NOTIFY(extents, ctl, i);
		}
	}
	chord_rt_evict(ctl, slot);
	if (ctl->nregion)
		chord_rt_map_module(ctl, i);
	if (ctl->nregion)
		chord_rt_fold(ctl, slot);
}

/* If modules of another name space had their counters at these addresses, they have been closed. */
static void
chord_rt_displace(struct chord_rt_ctl *ctl, const struct chord_rt_mod *fresh)
{
	const struct chord_rt_mod *m;

	for (uint32_t i = 0; (ctl->nlist > 1 || ctl->elsewhere) && i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (m->life == CHORD_LIFE_LOADED && m->first < fresh->first + fresh->size && fresh->first < m->first + m->size)
			chord_rt_close_module(ctl, i);
	}
}

static void
chord_rt_add(struct chord_rt_ctl *ctl, struct chord_rt_desc *d, const struct chord_rt_object *o, uint64_t space)
{
	struct chord_rt_mod fresh, *slot;

	chord_rt_clear(&fresh, sizeof fresh);
	chord_rt_describe(&fresh, d, o);
	chord_rt_displace(ctl, &fresh);
	fresh.life = CHORD_LIFE_LOADED;
	fresh.seen = 1;
	fresh.space = space;
	slot = chord_rt_find_again(ctl, &fresh);
	if (slot)
		chord_rt_take_over(&fresh, slot);
	else
		slot = chord_rt_new_slot(ctl, &fresh, d, o);
	if (!slot) {
		chord_rt_turn_away(ctl, d);
		return;
	}
	ctl->elsewhere |= space == CHORD_RT_ELSEWHERE;
	chord_rt_put_module(ctl, slot, &fresh);
	d->index = fresh.index;
	d->ctl = (uint64_t)ctl;
}

/* A known object in the list. If its descriptor does not name this process's control block yet, it is another object at the same
 * address. */
static void
chord_rt_see(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	struct chord_rt_desc *d = chord_rt_desc_of(o);
	struct chord_rt_mod *m;

	if (!d || d->ctl != (uint64_t)ctl || d->index >= ctl->nmodule)
		return;
	m = chord_rt_module(ctl, d->index);
	if (m->desc == d && m->life == CHORD_LIFE_LOADED)
		m->seen = 1;
	/* New objects are added after all closed ones have been found. */
}

/* Notes where the program itself is: it is never closed. */
static void
chord_rt_see_main(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	uint64_t low = ~0ull, high = 0, at;

	for (uint32_t i = 0; i < o->phnum; i++) {
		at = o->bias + o->phdr[i].p_vaddr;
		if (o->phdr[i].p_type == PT_GNU_EH_FRAME)
			ctl->main_hdr = at;
		if (o->phdr[i].p_type != PT_LOAD)
			continue;
		low = at < low ? at : low;
		high = at + o->phdr[i].p_memsz > high ? at + o->phdr[i].p_memsz : high;
	}
	ctl->main = high ? low : 0;
	ctl->main_end = high;
}

struct chord_rt_scan {
	struct chord_rt_ctl *ctl;
	struct chord_rt_space *space;
	uint32_t pass, n, skip;       /* objects met; objects to skip */
	bool differs;                 /* the last object to skip is not the one that it was */
};

/* Notes what the object tells about the process. */
static void
chord_rt_look_at(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	if (o->main && !ctl->main)
		chord_rt_see_main(ctl, o);
	for (uint32_t i = 0; i < o->phnum; i++) {
		uint64_t end = o->bias + o->phdr[i].p_vaddr + o->phdr[i].p_memsz;

		ctl->dynamic |= o->phdr[i].p_type == PT_INTERP;
		if (o->phdr[i].p_type == PT_LOAD && end > ctl->highest && end < ctl->stack)
			ctl->highest = end;
	}
}

static int
chord_rt_scan_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_scan *scan = arg;
	struct chord_rt_ctl *ctl = scan->ctl;
	struct chord_rt_object o = {info->addr, info->name, info->phdr, info->phnum, false};
	struct chord_rt_desc *d = NULL;

	(void)size;
	if (++scan->n <= scan->skip) {
		scan->differs = scan->n == scan->skip && scan->space->last != (uint64_t)info->phdr;
		return scan->differs;
	}
	/* The first object of the list is the program, unless the list is that of another name space. */
	o.main = scan->n == 1 && (!ctl->phdr || ctl->phdr == (uint64_t)info->phdr);
	chord_rt_look_at(ctl, &o);
	scan->space->last = (uint64_t)info->phdr;
	if (scan->pass == 0)
		chord_rt_see(ctl, &o);
	else if ((d = chord_rt_guest_of(&o)) != NULL)
		chord_rt_join(ctl, CHORD_RT_NEAR(d->start), CHORD_RT_NEAR(d->stop));
	else if ((d = chord_rt_desc_of(&o)) != NULL && !d->ctl)
		chord_rt_add(ctl, d, &o, scan->space->id);
	return 0;
}

static struct chord_rt_mod *
chord_rt_me(struct chord_rt_ctl *ctl)
{
	struct chord_rt_mod *m;

	if (chord_rt_desc.ctl != (uint64_t)ctl)
		return NULL;
	m = chord_rt_module(ctl, chord_rt_desc.index);
	return m->desc == &chord_rt_desc && m->life == CHORD_LIFE_LOADED ? m : NULL;
}

/* Describes only this module, where there is no list of objects. */
static void
chord_rt_alone(struct dl_phdr_info *info)
{
	const Elf64_Ehdr *e = chord_rt_elsewhere(&chord_rt_ehdr);

	chord_rt_clear(info, sizeof *info);
	info->name = "";
	if (!e)
		return;
	info->phdr = (const Elf64_Phdr *)((uint64_t)e + e->e_phoff);
	info->phnum = e->e_phnum;
	for (uint32_t i = info->phnum; i-- > 0;)
		if (info->phdr[i].p_type == PT_LOAD && info->phdr[i].p_offset == 0)
			info->addr = (uint64_t)e - info->phdr[i].p_vaddr;
}

/* Identifies the list of objects that this copy of the runtime is in. A library in a name space without libc sees no list but
 * itself. */
static uint64_t
chord_rt_space_id(void)
{
	void *id = chord_rt_dl_iterate_phdr ? (void *)&chord_rt_dl_iterate_phdr : (void *)&chord_rt_desc;

	return (uint64_t)chord_rt_elsewhere(id);
}

static struct chord_rt_space *
chord_rt_space_here(struct chord_rt_ctl *ctl)
{
	uint64_t id = chord_rt_space_id();
	struct chord_rt_space *s = ctl->list;

	while (s < &ctl->list[ctl->nlist] && s->id != id)
		s++;
	if (s < &ctl->list[ctl->nlist])
		return s;
	if (ctl->nlist == CHORD_RT_SPACES)
		s--;
	else
		ctl->nlist++;
	*s = (struct chord_rt_space){.id = id};
	return s;
}

struct chord_rt_counted { uint64_t adds, subs, first; };

static int
chord_rt_count_objects(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (size >= sizeof *info)
		*(struct chord_rt_counted *)arg = (struct chord_rt_counted){info->adds, info->subs, (uint64_t)info->phdr};
	return 1;
}

/* adds is 0 if libc does not say. */
static struct chord_rt_counted
chord_rt_counted(void)
{
	struct chord_rt_counted c = {0, 0, 0};

	if (chord_rt_dl_iterate_phdr)
		chord_rt_dl_iterate_phdr(chord_rt_count_objects, &c);
	return c;
}

/* Visits the list except for the first `skip` objects. Gives the number of objects; 0 if the first ones have changed. */
static uint32_t
chord_rt_pass(struct chord_rt_ctl *ctl, struct chord_rt_space *space, uint32_t pass, uint32_t skip)
{
	struct chord_rt_scan scan = {ctl, space, pass, 0, skip, false};
	struct dl_phdr_info alone;

	if (chord_rt_dl_iterate_phdr) {
		chord_rt_dl_iterate_phdr(chord_rt_scan_one, &scan);
	} else {
		chord_rt_alone(&alone);
		chord_rt_scan_one(&alone, sizeof alone, &scan);
	}
	return scan.differs || scan.n < skip ? 0 : scan.n;
}

/* Visits the whole list for closed and new objects. */
static uint32_t
chord_rt_scan_all(struct chord_rt_ctl *ctl, struct chord_rt_space *space)
{
	/* With dlmopen each name space has a libc and a list of its own. */
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		chord_rt_module(ctl, i)->seen = chord_rt_module(ctl, i)->space != space->id;
	chord_rt_pass(ctl, space, 0, 0);
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if (chord_rt_module(ctl, i)->life == CHORD_LIFE_LOADED && !chord_rt_module(ctl, i)->seen)
			chord_rt_close_module(ctl, i);
	return chord_rt_pass(ctl, space, 1, 0);
}

/* Brings the list of modules up to date. When it runs under dlopen's lock (in a constructor), everything in the list has been
 * relocated. */
static void
chord_rt_scan(struct chord_rt_ctl *ctl)
{
	struct chord_rt_space *space = chord_rt_space_here(ctl);
	struct chord_rt_counted now = chord_rt_counted();
	/* With several name spaces the counts of adds and subs say little, because a name space may have taken the place of
	 * another. */
	bool same = now.adds && now.subs == space->subs && space->known && ctl->nlist == 1 && !ctl->elsewhere;
	uint32_t n = 0;

	/* This libc may be at the address where the libc of a closed name space was. */
	if (space->first != now.first) {
		*space = (struct chord_rt_space){.id = space->id, .first = now.first};
		same = false;
	}
	if (same && now.adds == space->adds)
		return;
	if (same)
		n = chord_rt_pass(ctl, space, 1, space->known);
	else if (space->hooked && now.subs - space->subs < space->hooked && ctl->nlist == 1)
		space->hooked -= (uint32_t)(now.subs - space->subs); /* the first ones are still the same */
	else
		space->hooked = 0;
	if (!n) {
		space->hooked = same ? 0 : space->hooked;
		n = chord_rt_scan_all(ctl, space);
	}
	space->known = n;
	space->adds = now.adds;
	space->subs = now.subs;
}
