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

struct chord_rt_object {
	uint64_t bias;
	const char *name;
	const Elf64_Phdr *phdr;
	uint32_t phnum;
	bool main;
};

typedef bool chord_rt_note_fn(void *arg, uint32_t type, const char *name, size_t namesz,
	unsigned char *desc, size_t size);

/* Calls f for the notes of a segment until it gives true. */
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

/* Some linkers put notes of both alignments into one segment: what is not found
 * with the segment's own is looked for with the other. */
static bool
chord_rt_find_note(const struct chord_rt_object *o, chord_rt_note_fn *f, void *arg)
{
	const Elf64_Phdr *h = o->phdr;

	for (uint32_t i = 0; i < o->phnum; i++, h++) {
		unsigned char *p = (unsigned char *)(o->bias + h->p_vaddr);

		if (h->p_type == PT_NOTE && (chord_rt_notes(p, h->p_memsz, h->p_align == 8 ? 8 : 4, f, arg) ||
		    chord_rt_notes(p, h->p_memsz, h->p_align == 8 ? 4 : 8, f, arg)))
			return true;
	}
	return false;
}

static bool
chord_rt_note_module(void *arg, uint32_t type, const char *name, size_t namesz, unsigned char *desc, size_t size)
{
	struct chord_rt_desc *d;
	int32_t off;

	if (type != CHORD_NOTE_MODULE || namesz != sizeof CHORD_NOTE_NAME || size != 4 ||
	    !chord_rt_equal(name, CHORD_NOTE_NAME, sizeof CHORD_NOTE_NAME))
		return false;
	chord_rt_copy(&off, desc, 4);
	d = (struct chord_rt_desc *)(desc + off);
	if (d->magic != CHORD_RT_DESC_MAGIC || d->version != CHORD_FORMAT_VERSION || d->nhook != CHORD_RT_NHOOK)
		return false;
	*(struct chord_rt_desc **)arg = d;
	return true;
}

/* The same of another version, which is not measured. */
static bool
chord_rt_note_guest(void *arg, uint32_t type, const char *name, size_t namesz, unsigned char *desc, size_t size)
{
	struct chord_rt_desc *d;
	int32_t off;

	if (type != CHORD_NOTE_MODULE || namesz != sizeof CHORD_NOTE_NAME || size != 4 ||
	    !chord_rt_equal(name, CHORD_NOTE_NAME, sizeof CHORD_NOTE_NAME))
		return false;
	chord_rt_copy(&off, desc, 4);
	d = (struct chord_rt_desc *)(desc + off);
	*(struct chord_rt_desc **)arg = d;
	return d->magic == CHORD_RT_DESC_MAGIC && (d->version != CHORD_FORMAT_VERSION || d->nhook != CHORD_RT_NHOOK);
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

/* The counters whose values exits record, by address. */
static void
chord_rt_find_sums(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	const int32_t *p = (const int32_t *)CHORD_RT_NEAR(d->sum), *end = (const int32_t *)CHORD_RT_NEAR(d->sum_end);
	uint64_t at;
	uint32_t i;

	for (; p < end; p++) {
		at = *p ? CHORD_RT_NEAR(*p) : 0;
		if (!at || m->nsum == CHORD_SUMS)
			continue;
		for (i = m->nsum++; i > 0 && m->sum[i - 1] > at; i--)
			m->sum[i] = m->sum[i - 1];
		m->sum[i] = at;
	}
}

/* Entries without a table say what a text has: bits 0 all paths of its procedures, 1 some. Linkers may have dropped these
 * entries, then all. */
static void
chord_rt_find_unfinished(struct chord_rt_mod *m, const struct chord_rt_desc *d)
{
	const struct chord_path_table *p = (const struct chord_path_table *)CHORD_RT_NEAR(d->path);
	const struct chord_path_table *end = (const struct chord_path_table *)CHORD_RT_NEAR(d->path_end);
	bool some = false;

	for (; p < end; p++) {
		m->unfinished |= p->distance || !p->bits;
		some |= !p->distance && p->bits == 1;
	}
	m->unfinished |= !some;
}

/* Fills m from what is loaded. */
static void
chord_rt_describe(struct chord_rt_mod *m, struct chord_rt_desc *d, const struct chord_rt_object *o)
{
	uint64_t start = CHORD_RT_NEAR(d->start), stop = CHORD_RT_NEAR(d->stop), lo;
	const Elf64_Phdr *h = o->phdr;

	m->desc = d;
	m->bias = o->bias;
	m->main = o->main;
	m->path_hash = chord_rt_hash(o->name);
	m->first = start & -(uint64_t)CHORD_PAGE;
	m->size = ((stop + CHORD_PAGE - 1) & -(uint64_t)CHORD_PAGE) - m->first;
	m->text = ~0ull;
	for (uint32_t i = 0; i < o->phnum; i++, h++) {
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		lo = o->bias + h->p_vaddr;
		m->text = lo < m->text ? lo : m->text;
		m->text_end = lo + h->p_memsz > m->text_end ? lo + h->p_memsz : m->text_end;
	}
	m->begins = CHORD_RT_NEAR(d->sum_end) - CHORD_RT_NEAR(d->sum) > sizeof(int32_t); /* module.s has one */
	m->shadow = CHORD_RT_NEAR(d->shadow);
	m->paths = CHORD_RT_NEAR(d->path_end) - CHORD_RT_NEAR(d->path) > sizeof(struct chord_path_table) || d->shadowed;
	chord_rt_find_unfinished(m, d);
	chord_rt_find_note(o, chord_rt_note_id, m);
	chord_rt_find_sums(m, d);
}

/* The hash tables of paths. */
static void
chord_rt_find_tables(struct chord_rt_ctl *ctl, struct chord_rt_mod *m, struct chord_rt_desc *d)
{
	const struct chord_path_table *p = (const struct chord_path_table *)CHORD_RT_NEAR(d->path);
	const struct chord_path_table *end = (const struct chord_path_table *)CHORD_RT_NEAR(d->path_end);

	m->table = ctl->ntable;
	for (; p < end; p++) {
		if (!p->distance)
			continue;
		if (ctl->ntable == CHORD_RT_TABLES) {
			d->lost++;
			return;
		}
		ctl->table[ctl->ntable++] = (struct chord_path_at){CHORD_RT_NEAR(p->distance) - m->bias, p->bits};
		m->ntable++;
	}
}

/* Keeps the path of a module for its extent, and for that in a forked child's
 * file, where libc's list cannot be asked. */
static uint32_t
chord_rt_keep_path(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	uint32_t at = ctl->nnames;
	char *path = ctl->names + at;
	const size_t room = CHORD_PAGE - sizeof(struct chord_extent_head) - 32 - 1;
	const char *s = o->main ? ctl->prog : o->name;

	if (at + room >= sizeof ctl->names)
		return 0;
	if (!o->main || chord_rt_failed(chord_rt_call(SYS_readlink, "/proc/self/exe", path, room)))
		chord_rt_append(path, room, s, chord_rt_length(s));
	ctl->nnames = at + (uint32_t)chord_rt_length(path) + 1;
	return at;
}

static void
chord_rt_module_extent(struct chord_rt_ctl *ctl, uint32_t i)
{
	struct chord_rt_mod *m = &ctl->module[i];
	struct chord_extent_head h = {
		.type = CHORD_EXTENT_MODULE, .module = i, .size = CHORD_PAGE,
		.a = m->first - m->bias, .b = m->size, .c = m->idlen,
	};
	const char *path = ctl->names + m->name;
	uint64_t at;

	chord_rt_clear(ctl->page, CHORD_PAGE);
	chord_rt_copy(ctl->page, &h, sizeof h);
	chord_rt_copy(ctl->page + sizeof h, m->id, 32);
	chord_rt_copy(ctl->page + sizeof h + 32, path, chord_rt_length(path));
	at = chord_rt_extent(ctl, ctl->page, CHORD_PAGE, CHORD_PAGE);
	if (at)
		chord_rt_publish(ctl, at + CHORD_PAGE);
}

static void
chord_rt_tables_extent(struct chord_rt_ctl *ctl, uint32_t i)
{
	const struct chord_rt_mod *m = &ctl->module[i];
	uint64_t size = m->ntable * sizeof *ctl->table, at;
	struct chord_extent_head h = {.type = CHORD_EXTENT_TABLES, .module = i, .a = m->ntable};

	if (!m->ntable)
		return;
	h.size = (sizeof h + size + CHORD_PAGE - 1) & -(uint64_t)CHORD_PAGE;
	at = chord_rt_extent(ctl, &h, sizeof h, h.size);
	if (at && chord_rt_call(SYS_pwrite64, chord_rt_fd(ctl), ctl->table + m->table, size, at + sizeof h) == (long)size)
		chord_rt_publish(ctl, at + h.size);
}

static void
chord_rt_extents_of_modules(struct chord_rt_ctl *ctl)
{
	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		chord_rt_module_extent(ctl, i);
		chord_rt_tables_extent(ctl, i);
	}
}

/* The same file opened once more goes on with the counters it had. */
static bool
chord_rt_was_open(const struct chord_rt_mod *old, const struct chord_rt_mod *m)
{
	return old->life == CHORD_LIFE_CLOSED && old->path_hash == m->path_hash && old->size == m->size &&
	    old->first - old->bias == m->first - m->bias && old->idlen == m->idlen && chord_rt_equal(old->id, m->id, 32);
}

/* Whether exits at a PC are counted, and where, may be another thing now. */
static void
chord_rt_forget_known(struct chord_rt_ctl *ctl)
{
	__atomic_fetch_add(&ctl->epoch, 1, __ATOMIC_RELAXED);
}

static void chord_rt_forget_callees(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m);
static void chord_rt_choose_mask(struct chord_rt_ctl *ctl);

static void
chord_rt_close_module(struct chord_rt_ctl *ctl, uint32_t i)
{
	chord_rt_forget_known(ctl);
	chord_rt_forget_callees(ctl, &ctl->module[i]);
	chord_rt_unmap_module(ctl, i);
	ctl->module[i].life = CHORD_LIFE_CLOSED;
}

static void
chord_rt_add(struct chord_rt_ctl *ctl, struct chord_rt_desc *d, const struct chord_rt_object *o)
{
	struct chord_rt_mod fresh;
	uint32_t i;

	chord_rt_clear(&fresh, sizeof fresh);
	chord_rt_describe(&fresh, d, o);
	for (i = 0; i < ctl->nmodule && !chord_rt_was_open(&ctl->module[i], &fresh); i++)
		;
	if (i == CHORD_RT_MODULES)
		return;
	chord_rt_forget_known(ctl);
	chord_rt_forget_callees(ctl, &fresh);
	ctl->sums |= fresh.nsum;
	fresh.life = CHORD_LIFE_LOADED;
	fresh.seen = 1;
	fresh.space = (uint64_t)&chord_rt_dl_iterate_phdr;
	fresh.name = ctl->module[i].name;
	fresh.table = ctl->module[i].table;
	fresh.ntable = ctl->module[i].ntable;
	if (i == ctl->nmodule)
		chord_rt_find_tables(ctl, &fresh, d);
	if (fresh.paths && !ctl->mask)
		chord_rt_choose_mask(ctl);
	ctl->paths |= fresh.paths;
	ctl->module[i] = fresh;
	if (i == ctl->nmodule) {
		ctl->module[i].name = chord_rt_keep_path(ctl, o);
		ctl->nmodule++;
		if (ctl->head) {
			chord_rt_module_extent(ctl, i);
			chord_rt_tables_extent(ctl, i);
		}
	}
	chord_rt_evict(ctl, &ctl->module[i]);
	if (ctl->nregion)
		chord_rt_map_module(ctl, i);
	d->index = i;
	d->ctl = (uint64_t)ctl;
}

/* What an object in the list is: known, new, or a new one where an old one was. */
static void
chord_rt_see(struct chord_rt_ctl *ctl, const struct chord_rt_object *o)
{
	struct chord_rt_desc *d = NULL;
	struct chord_rt_mod *m;

	if (!chord_rt_find_note(o, chord_rt_note_module, &d))
		return;
	for (m = ctl->module; m < ctl->module + ctl->nmodule; m++) {
		if (m->desc != d || m->life != CHORD_LIFE_LOADED)
			continue;
		if (d->ctl) {
			m->seen = 1;
			return;
		}
		chord_rt_close_module(ctl, (uint32_t)(m - ctl->module));
	}
	/* A new one is added after all that are gone have been found. */
}

/* Where the program is: it is never closed. */
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
	uint32_t pass, n;
};

static int
chord_rt_scan_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_scan *scan = arg;
	struct chord_rt_ctl *ctl = scan->ctl;
	struct chord_rt_object o = {info->addr, info->name, info->phdr, info->phnum, false};
	struct chord_rt_desc *d = NULL;

	(void)size;
	/* The first of the list, but not of that of another name space. */
	o.main = scan->n++ == 0 && (!ctl->phdr || ctl->phdr == (uint64_t)info->phdr);
	if (o.main && !ctl->main)
		chord_rt_see_main(ctl, &o);
	for (uint32_t i = 0; i < o.phnum; i++) {
		uint64_t end = o.bias + o.phdr[i].p_vaddr + o.phdr[i].p_memsz;

		ctl->dynamic |= o.phdr[i].p_type == PT_INTERP;
		if (o.phdr[i].p_type == PT_LOAD && end > ctl->highest && end < ctl->stack)
			ctl->highest = end;
	}
	if (scan->pass == 0)
		chord_rt_see(ctl, &o);
	else if (chord_rt_find_note(&o, chord_rt_note_guest, &d))
		chord_rt_join(ctl, CHORD_RT_NEAR(d->start), CHORD_RT_NEAR(d->stop));
	else if (chord_rt_find_note(&o, chord_rt_note_module, &d) && !d->ctl)
		chord_rt_add(ctl, d, &o);
	return 0;
}

static struct chord_rt_mod *
chord_rt_me(struct chord_rt_ctl *ctl)
{
	for (struct chord_rt_mod *m = ctl->module; m < ctl->module + ctl->nmodule; m++)
		if (m->desc == &chord_rt_desc && m->life == CHORD_LIFE_LOADED)
			return m;
	return NULL;
}

/* This module alone, where there is no list of them. */
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

static void
chord_rt_pass(struct chord_rt_ctl *ctl, uint32_t pass)
{
	struct chord_rt_scan scan = {ctl, pass, 0};
	struct dl_phdr_info alone;

	if (chord_rt_dl_iterate_phdr) {
		chord_rt_dl_iterate_phdr(chord_rt_scan_one, &scan);
	} else {
		chord_rt_alone(&alone);
		chord_rt_scan_one(&alone, sizeof alone, &scan);
	}
}

/* Brings the list of modules up to date. Run under dlopen's lock (from a
 * constructor) everything in the list has been relocated. */
static void
chord_rt_scan(struct chord_rt_ctl *ctl)
{
	/* With dlmopen each name space has a libc and a list of its own. */
	for (struct chord_rt_mod *m = ctl->module; m < ctl->module + ctl->nmodule; m++)
		m->seen = m->space != (uint64_t)&chord_rt_dl_iterate_phdr;
	chord_rt_pass(ctl, 0);
	for (uint32_t i = 0; i < ctl->nmodule; i++)
		if (ctl->module[i].life == CHORD_LIFE_LOADED && !ctl->module[i].seen)
			chord_rt_close_module(ctl, i);
	chord_rt_pass(ctl, 1);
}
