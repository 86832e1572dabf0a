/* SPDX-License-Identifier: MIT */
/* Finds the functions that are hooked in the symbol tables of loaded objects. */

struct chord_rt_dynamic {
	const Elf64_Rela *rela, *plt;
	uint64_t nrela, nplt, nrelr;
	const Elf64_Sym *sym;
	const char *str;
	const uint32_t *hash;
	const uint16_t *version;
	const Elf64_Verneed *need;
	const Elf64_Verdef *def;
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
		else if (e->d_tag == DT_RELRSZ)
			d->nrelr = e->d_un.d_val;
		else if (e->d_tag == DT_SYMTAB)
			d->sym = (const Elf64_Sym *)p;
		else if (e->d_tag == DT_STRTAB)
			d->str = (const char *)p;
		else if (e->d_tag == DT_GNU_HASH)
			d->hash = (const uint32_t *)p;
		else if (e->d_tag == DT_VERSYM)
			d->version = (const uint16_t *)p;
		else if (e->d_tag == DT_VERNEED)
			d->need = (const Elf64_Verneed *)p;
		else if (e->d_tag == DT_VERDEF)
			d->def = (const Elf64_Verdef *)p;
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

/* ---- which functions these are ---- */

/* The version of a name that an object does not define and wants; "": any. */
static const char *
chord_rt_needed(const struct chord_rt_dynamic *d, uint32_t i)
{
	const Elf64_Verneed *n = d->need;
	const Elf64_Vernaux *a;
	uint16_t index = d->version ? d->version[i] & 0x7fff : 0;

	for (; n && index > 1; n = n->vn_next ? (const Elf64_Verneed *)((const char *)n + n->vn_next) : NULL) {
		a = (const Elf64_Vernaux *)((const char *)n + n->vn_aux);
		for (uint32_t k = n->vn_cnt; k-- > 0; a = (const Elf64_Vernaux *)((const char *)a + a->vna_next))
			if (a->vna_other == index)
				return d->str + a->vna_name;
	}
	return "";
}

/* Does the object define the wanted version of the name? NULL: the default version. An object that wants any version gets the
 * oldest from the loader. */
static bool
chord_rt_has_version(const struct chord_rt_dynamic *d, uint32_t i, const char *want)
{
	const Elf64_Verdef *v = d->def;
	uint16_t index;

	if (!d->version || !v)
		return true;
	index = d->version[i] & 0x7fff;
	if (!want)
		return index == d->version[i];
	if (!*want)
		return index < 3;
	while (v->vd_ndx != index && v->vd_next)
		v = (const Elf64_Verdef *)((const char *)v + v->vd_next);
	return v->vd_ndx == index && chord_rt_same(d->str + ((const Elf64_Verdaux *)((const char *)v + v->vd_aux))->vda_name, want);
}

static bool
chord_rt_defines(const struct chord_rt_dynamic *d, uint32_t i, const char *name, const char *version)
{
	return d->sym[i].st_shndx != SHN_UNDEF && chord_rt_same(d->str + d->sym[i].st_name, name) &&
	    chord_rt_has_version(d, i, version);
}

static uint32_t
chord_rt_hash_name(const char *s)
{
	uint32_t h = 5381;

	for (; *s; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

/* The address that an object defines for a name; 0: none. */
static uint64_t
chord_rt_lookup_in(const struct chord_rt_dynamic *d, uint64_t bias, const char *name, uint32_t hash, const char *version)
{
	const uint64_t *bloom = (const uint64_t *)(d->hash + 4);
	const uint32_t *bucket = d->hash + 4 + 2 * d->hash[2], *chain = bucket + d->hash[0];
	uint64_t word = bloom[hash / 64 & (d->hash[2] - 1)];
	uint32_t i;

	if (!(word >> hash % 64 & word >> (hash >> d->hash[3]) % 64 & 1) || (i = bucket[hash % d->hash[0]]) < d->hash[1])
		return 0;
	do
		if ((chain[i - d->hash[1]] | 1) == (hash | 1) && chord_rt_defines(d, i, name, version))
			return bias + d->sym[i].st_value;
	while (!(chain[i++ - d->hash[1]] & 1));
	return 0;
}

static bool
chord_rt_has_address(const struct dl_phdr_info *info, uint64_t at)
{
	for (uint32_t i = 0; i < info->phnum; i++)
		if (info->phdr[i].p_type == PT_LOAD && at - info->addr - info->phdr[i].p_vaddr < info->phdr[i].p_memsz)
			return true;
	return false;
}

/* Functions to find: their names, and the hashes of these. */
struct chord_rt_lookup {
	const char *names;
	const uint16_t *name;
	const uint32_t *hash;
	uint64_t *found;
	uint32_t n;
	const char *version;             /* as of chord_rt_has_version */
	uint64_t in;                     /* an address: only in the object that has it; 0: in any */
	uint32_t skip;                   /* objects to skip */
};

/* Finds each function as the dynamic linker would: in the first object that defines it. A reference from the runtime would not do.
 * A local symbol of the surrounding text could have that name, and in a program that is not position independent the reference
 * could lead to the program's own PLT entry, and so to the hook. */
static int
chord_rt_lookup_all(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_lookup *l = arg;
	struct chord_rt_dynamic d;

	(void)size;
	if (l->skip && l->skip--)
		return 0;
	if ((l->in && !chord_rt_has_address(info, l->in)) || !chord_rt_dynamic(info, &d) || !d.hash || !d.hash[0])
		return 0;
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->found[i])
			l->found[i] = chord_rt_lookup_in(&d, info->addr, l->names + l->name[i], l->hash[i], l->version);
	return 0;
}

static uint64_t
chord_rt_lookup_one(const char *name, const char *version, uint64_t in)
{
	uint16_t first = 0;
	uint32_t hash = chord_rt_hash_name(name);
	uint64_t found = 0;
	struct chord_rt_lookup l = {name, &first, &hash, &found, 1, version, in, 0};

	chord_rt_dl_iterate_phdr(chord_rt_lookup_all, &l);
	return found;
}

static uint64_t
chord_rt_lookup(const char *name)
{
	return chord_rt_lookup_one(name, NULL, 0);
}

static const char chord_rt_names[] =
#define CHORD_RT_NAME(name) #name "\0"
	CHORD_RT_HOOKS(CHORD_RT_NAME, CHORD_RT_NAME);

/* Allows a quick test, because most names begin with other letters. */
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

/* Learns the addresses of the hooked functions. The first `skip` objects have been searched already. */
static void
chord_rt_learn(struct chord_rt_ctl *ctl, uint32_t skip)
{
	struct chord_rt_lookup l = {chord_rt_names, ctl->name, ctl->hash, ctl->real, CHORD_RT_NHOOK, NULL, 0, skip};
	const char *name = chord_rt_names;

	if (!ctl->dynamic) {
		for (int i = 0; i < CHORD_RT_NHOOK; i++)
			if (!ctl->real[i])
				ctl->real[i] = chord_rt_links[i];
		return;
	}
	if (!chord_rt_dl_iterate_phdr)
		return;
	if (!ctl->space)
		ctl->space = (uint64_t)&chord_rt_dl_iterate_phdr;
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
