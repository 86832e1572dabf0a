/* SPDX-License-Identifier: MIT */
/* Function symbols, by address, with the source file of each. */
#include "image/internal.h"

#include <stdlib.h>
#include <string.h>

static Elf_Scn *
section_of_type(Elf *elf, unsigned type, GElf_Shdr *header)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
		if (image_elf_header(s, header) && header->sh_type == type)
			return s;
	return NULL;
}

/* file: the last one that was named; local symbols belong to it. */
static void
add_symbol(struct image *im, Elf *elf, size_t strings, const GElf_Sym *sym, const char **file)
{
	int type = GELF_ST_TYPE(sym->st_info);
	const char *name;

	if (type == STT_FILE)
		*file = image_elf_string(elf, strings, sym->st_name);
	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return;
	if (sym->st_shndx == SHN_UNDEF || !image_is_code(im, sym->st_value))
		return;
	name = image_elf_string(elf, strings, sym->st_name);
	if (name && *name)
		VEC_PUSH(im->symbol, (struct image_symbol){name, sym->st_value, sym->st_size,
			GELF_ST_BIND(sym->st_info) == STB_LOCAL ? *file ? *file : "" : NULL});
}

/* False: there is no such table. */
static bool
read_table(struct image *im, Elf *elf, unsigned type)
{
	GElf_Shdr h;
	Elf_Scn *s = elf ? section_of_type(elf, type, &h) : NULL;
	Elf_Data *d = s ? image_elf_data(s) : NULL;
	size_t n = d && h.sh_entsize ? d->d_size / sizeof(Elf64_Sym) : 0;
	const char *file = "";

	if (s && !d)
		say_warning(im->path, "its symbol table cannot be read: %s", elf_errmsg(-1));
	if (!d || n > INT32_MAX)
		return false;
	for (size_t i = 1; i < n; i++) {
		GElf_Sym sym;

		if (gelf_getsym(d, (int)i, &sym))
			add_symbol(im, elf, h.sh_link, &sym, &file);
	}
	return n > 0;
}

static int
symbols_by_place(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
read_symbols(struct image *im)
{
	if (im->symbols_read)
		return;
	im->symbols_read = true;
	if (!read_table(im, im->elf, SHT_SYMTAB) && !read_table(im, image_debug_elf(im), SHT_SYMTAB)) {
		im->stripped = true;
		read_table(im, im->elf, SHT_DYNSYM);
	}
	if (im->symbol.n)
		qsort(im->symbol.at, im->symbol.n, sizeof *im->symbol.at, symbols_by_place);
}

size_t
image_symbols(struct image *im, const struct image_symbol **symbol)
{
	read_symbols(im);
	*symbol = im->symbol.at;
	return im->symbol.n;
}

bool
image_stripped(struct image *im)
{
	read_symbols(im);
	return im->stripped;
}
