/* SPDX-License-Identifier: MIT */
/* Where functions are declared, by the addresses at which their code begins. (The first instruction of a function may be inlined
 * from another one.) */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH = 64 };

struct reader {
	struct image *im;
	const char *dir, *unit_file; /* of the current unit; or NULL */
};

/* dwarf_decl_file() ends the process if there are no files. */
const char *
image_attr_file(Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;
	Dwarf_Files *files;
	Dwarf_Die unit;
	Dwarf_Word number;
	size_t n;

	if (!dwarf_attr_integrate(die, attr, &a) || dwarf_formudata(&a, &number) ||
	    !dwarf_cu_die(a.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &n) || number >= n)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

struct image_place
image_declaration(struct image *im, const char *dir, Dwarf_Die *die)
{
	struct image_place place = {NULL, 0};
	const char *file;
	int line;

	if (!dwarf_decl_line(die, &line) && line > 0 && (file = image_attr_file(die, DW_AT_decl_file)))
		place = (struct image_place){image_file_name(im, dir, file), (unsigned)line};
	return place;
}

static void
add_function(struct reader *r, Dwarf_Die *die)
{
	struct image_function f = {.at = image_declaration(r->im, r->dir, die), .unit_file = r->unit_file};
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
		f.addr = begin;
		/* Code that the linker dropped keeps its entry, at 0. */
		if (begin < end && image_is_code(r->im, begin))
			VEC_PUSH(r->im->function, f);
	}
}

/* Functions may be nested: in namespaces, modules, types, other functions and their blocks. */
static void
add_children(struct reader *r, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;

	if (depth == DEPTH || dwarf_child(die, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_function(r, &child);
			add_children(r, &child, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			add_children(r, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

static void
add_unit(struct reader *r, Dwarf_Die *unit, Dwarf_Die *split)
{
	Dwarf_Die *whole = dwarf_tag(split) == DW_TAG_compile_unit ? split : unit;
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr(whole, DW_AT_name, &a));

	/* The unit in the program has the folder in which it was compiled. */
	r->dir = image_unit_folder(r->im, unit);
	r->unit_file = name ? image_file_name(r->im, r->dir, name) : NULL;
	add_children(r, whole, 0);
}

/* By address; entries with a declaration come first. */
static int
functions_by_addr(const void *a, const void *b)
{
	const struct image_function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return !x->at.file - !y->at.file;
}

static void
read_functions(struct image *im)
{
	struct reader r = {.im = im};
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;

	im->functions_read = true;
	if (!image_has_lines(im))
		return;
	while (!dwarf_get_units(im->dwarf, cu, &cu, NULL, NULL, &unit, &split))
		add_unit(&r, &unit, &split);
	if (im->function.n)
		qsort(im->function.at, im->function.n, sizeof *im->function.at, functions_by_addr);
}

bool
image_function(struct image *im, uint64_t addr, struct image_function *function)
{
	size_t lo = 0, hi;

	if (!im->functions_read)
		read_functions(im);
	for (hi = im->function.n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (im->function.at[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == im->function.n || im->function.at[lo].addr != addr)
		return false;
	*function = im->function.at[lo];
	return true;
}

struct image_place
image_declared(struct image *im, uint64_t addr)
{
	struct image_function f;
	struct image_place place;

	if (image_function(im, addr, &f) && f.at.file)
		return f.at;
	return image_opening(im, addr, &place) ? place : (struct image_place){NULL, 0};
}
