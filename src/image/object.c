/* SPDX-License-Identifier: MIT */
/* Relocatable objects: sections, symbols, relocations, groups. */
#include "image/object.h"
#include "image/internal.h"

#include <stdlib.h>

static int
by_offset(const void *a, const void *b)
{
	const struct obj_reloc *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

/* Makes room for n more. */
static struct obj_reloc *
relocs_grow(struct object *o, struct pool *pool, size_t n)
{
	struct obj_reloc *r;

	if (o->nreloc + n <= o->reloc_room)
		return o->relocs;
	o->reloc_room = (o->nreloc + n) * 2;
	r = pool_array(pool, o->reloc_room, sizeof *r);
	for (uint32_t i = 0; i < o->nreloc; i++)
		r[i] = o->relocs[i];
	return o->relocs = r;
}

static bool
read_relocs(struct object *o, struct pool *pool, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = image_elf_data(scn);
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	struct obj_reloc *r;

	if (!d || sh->sh_info >= o->nsection)
		return false;
	r = relocs_grow(o, pool, n);
	o->sections[sh->sh_info].reloc = o->nreloc;
	for (size_t i = 0; i < n; i++) {
		GElf_Rela a;
		unsigned kind;

		if (!gelf_getrela(d, (int)i, &a) || GELF_R_SYM(a.r_info) >= o->nsymbol)
			return false;
		kind = o->machine->object->reloc((uint32_t)GELF_R_TYPE(a.r_info));
		r[o->nreloc + i] = (struct obj_reloc){a.r_offset, a.r_addend, (uint32_t)GELF_R_SYM(a.r_info), kind & RELOC_PCREL,
			kind & RELOC_DISTANCE};
	}
	if (n)
		qsort(r + o->nreloc, n, sizeof *r, by_offset);
	o->sections[sh->sh_info].nreloc = (uint32_t)n;
	o->nreloc += (uint32_t)n;
	return true;
}

/* Section indices of symbols in objects with more sections than fit 16 bits. */
static Elf_Data *
wide_indices(Elf *elf, size_t symtab)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (image_elf_header(scn, &sh) && sh.sh_type == SHT_SYMTAB_SHNDX && sh.sh_link == symtab)
			return image_elf_data(scn);
	}
	return NULL;
}

static struct obj_symbol
symbol(const struct object *o, Elf *elf, const GElf_Shdr *sh, const GElf_Sym *s, Elf32_Word wide)
{
	const char *name = image_elf_string(elf, sh->sh_link, s->st_name);
	uint32_t section = s->st_shndx == SHN_XINDEX ? wide : s->st_shndx < SHN_LORESERVE ? s->st_shndx : 0;
	unsigned type = GELF_ST_TYPE(s->st_info);

	return (struct obj_symbol){
		.name = name ? name : "", .value = s->st_value, .size = s->st_size,
		.section = section < o->nsection ? section : 0,
		.global = GELF_ST_BIND(s->st_info) != STB_LOCAL,
		.func = type == STT_FUNC || type == STT_GNU_IFUNC,
		.is_section = type == STT_SECTION,
		.absolute = s->st_shndx == SHN_ABS && type != STT_FILE,
		.object = type == STT_OBJECT,
		.ifunc = type == STT_GNU_IFUNC,
	};
}

static bool
read_symbols(struct object *o, struct pool *pool, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = image_elf_data(scn), *wide = wide_indices(elf, elf_ndxscn(scn));
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	if (!d)
		return false;
	o->nsymbol = (uint32_t)n;
	o->symbols = pool_array(pool, n + 1, sizeof *o->symbols);
	for (size_t i = 0; i < n; i++) {
		GElf_Sym s;
		Elf32_Word index = 0;

		if (!gelf_getsymshndx(d, wide, (int)i, &s, &index))
			return false;
		o->symbols[i] = symbol(o, elf, sh, &s, index);
	}
	return true;
}

static bool
read_section(struct object *o, Elf *elf, size_t strings, Elf_Scn *scn, const GElf_Shdr *sh)
{
	size_t i = elf_ndxscn(scn);
	struct obj_section *s = &o->sections[i];
	Elf_Data *d;

	s->name = image_elf_string(elf, strings, sh->sh_name);
	if (!s->name)
		s->name = "";
	s->alloc = sh->sh_flags & SHF_ALLOC;
	s->exec = sh->sh_flags & SHF_EXECINSTR;
	s->write = sh->sh_flags & SHF_WRITE;
	s->type = sh->sh_type;
	s->size = sh->sh_size;
	if (!s->alloc || sh->sh_type == SHT_NOBITS || !sh->sh_size)
		return true;
	d = image_elf_raw(scn);
	if (!d || d->d_size != sh->sh_size)
		return false;
	s->data = d->d_buf;
	return true;
}

/* Reads a group. Symbols have to be read before, because a symbol names the group. */
static bool
read_group(struct object *o, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = image_elf_data(scn);
	const Elf32_Word *member = d ? d->d_buf : NULL;

	if (!member || d->d_size < sizeof *member || sh->sh_info >= o->nsymbol)
		return false;
	for (size_t i = 1; *member & GRP_COMDAT && i < d->d_size / sizeof *member; i++)
		if (member[i] < o->nsection)
			o->sections[member[i]].comdat = o->symbols[sh->sh_info].name;
	return true;
}

/* Three rounds: sections, symbols, relocations of sections that are loaded. */
static bool
read_round(struct object *o, struct pool *pool, Elf *elf, size_t strings, int round)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		bool ok = true;

		if (!image_elf_header(scn, &sh))
			return false;
		if (round == 0)
			ok = read_section(o, elf, strings, scn, &sh);
		else if (round == 1 && sh.sh_type == SHT_SYMTAB)
			ok = read_symbols(o, pool, elf, scn, &sh);
		else if (round == 2 && sh.sh_type == SHT_RELA && sh.sh_info < o->nsection && o->sections[sh.sh_info].alloc)
			ok = read_relocs(o, pool, scn, &sh);
		else if (round == 2 && sh.sh_type == SHT_GROUP)
			ok = read_group(o, scn, &sh);
		if (!ok)
			return false;
	}
	return true;
}

struct object *
object_read(struct pool *pool, char *data, size_t n, const char **why)
{
	struct object *o = pool_alloc(pool, sizeof *o);
	size_t nsection, strings;
	GElf_Ehdr eh;
	Elf *elf;
	bool ok;

	elf_version(EV_CURRENT);
	elf = image_elf_memory(data, n);
	if (!elf || !gelf_getehdr(elf, &eh) || eh.e_type != ET_REL || !(o->machine = machine_of_elf(eh.e_machine)) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || elf_getshdrnum(elf, &nsection) || elf_getshdrstrndx(elf, &strings)) {
		*why = "not a 64-bit object of a machine that Chord knows";
		elf_end(elf);
		return NULL;
	}
	o->nsection = (uint32_t)nsection;
	o->sections = pool_array(pool, nsection + 1, sizeof *o->sections);
	/* If a file was cut off before its table of sections, libelf reports no sections. */
	ok = nsection > 0;
	for (int round = 0; round < 3 && ok; round++)
		ok = read_round(o, pool, elf, strings, round);
	if (!ok) {
		*why = "it cannot be read whole";
		elf_end(elf);
		return NULL;
	}
	o->elf = elf;
	return o;
}

void
object_free(struct object *o)
{
	if (o)
		elf_end(o->elf);
}
