/* SPDX-License-Identifier: MIT */
/* What an object takes from others: relocations of its tables, and the libraries that it needs. */
#include "image/internal.h"

#include <stdlib.h>
#include <string.h>

/* The name of a symbol in the table to which the relocations belong. */
static const char *
symbol_name(struct image *im, Elf_Scn *symbols, size_t number)
{
	Elf_Data *d = symbols ? image_elf_data(symbols) : NULL;
	GElf_Shdr h;
	GElf_Sym sym;

	if (!d || number > INT32_MAX || !image_elf_header(symbols, &h) || !gelf_getsym(d, (int)number, &sym))
		return NULL;
	return image_elf_string(im->elf, h.sh_link, sym.st_name);
}

static void
add_import(struct image *im, Elf_Scn *symbols, const GElf_Rela *r)
{
	struct image_import in = {.slot = r->r_offset};

	unsigned kind = im->machine->object->reloc((uint32_t)GELF_R_TYPE(r->r_info));

	if (kind & RELOC_SYMBOL && (in.name = symbol_name(im, symbols, GELF_R_SYM(r->r_info))) && *in.name)
		VEC_PUSH(im->import, in);
	if (kind & RELOC_ADDRESS) {
		in.addr = (uint64_t)r->r_addend;
		VEC_PUSH(im->import, in);
	}
}

static void
read_relocations(struct image *im, Elf_Scn *s, const GElf_Shdr *h)
{
	Elf_Data *d = image_elf_data(s);
	Elf_Scn *symbols = h->sh_link ? elf_getscn(im->elf, h->sh_link) : NULL;
	size_t n = d && h->sh_entsize ? d->d_size / sizeof(Elf64_Rela) : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Rela r;

		if (gelf_getrela(d, (int)i, &r))
			add_import(im, symbols, &r);
	}
}

static void
read_needed(struct image *im, Elf_Scn *s, const GElf_Shdr *h)
{
	Elf_Data *d = image_elf_data(s);
	size_t n = d ? d->d_size / sizeof(Elf64_Dyn) : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Dyn dyn;
		const char *name;

		if (!gelf_getdyn(d, (int)i, &dyn) || dyn.d_tag == DT_NULL)
			return;
		name = dyn.d_tag == DT_NEEDED ? image_elf_string(im->elf, h->sh_link, dyn.d_un.d_val) : NULL;
		if (name)
			VEC_PUSH(im->needed, name);
	}
}

static int
by_slot(const void *a, const void *b)
{
	const struct image_import *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Reads relocations that the loader will apply. Those that --emit-relocs keeps are not in loaded sections. */
static void
read_imports(struct image *im)
{
	if (im->imports_read)
		return;
	im->imports_read = true;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(im->elf, s));) {
		GElf_Shdr h;

		if (!image_elf_header(s, &h) || !(h.sh_flags & SHF_ALLOC))
			continue;
		if (h.sh_type == SHT_RELA)
			read_relocations(im, s, &h);
		else if (h.sh_type == SHT_DYNAMIC)
			read_needed(im, s, &h);
	}
	if (im->import.n)
		qsort(im->import.at, im->import.n, sizeof *im->import.at, by_slot);
}

bool
image_import(struct image *im, uint64_t slot, struct image_import *import)
{
	const struct image_import key = {.slot = slot}, *found;

	read_imports(im);
	found = im->import.n ? bsearch(&key, im->import.at, im->import.n, sizeof key, by_slot) : NULL;
	if (found)
		*import = *found;
	return found;
}

bool
image_takes(struct image *im, const char *name)
{
	read_imports(im);
	for (size_t i = 0; i < im->import.n; i++)
		if (im->import.at[i].name && !strcmp(im->import.at[i].name, name))
			return true;
	return false;
}

size_t
image_needed(struct image *im, const char *const **name)
{
	read_imports(im);
	*name = im->needed.at;
	return im->needed.n;
}
