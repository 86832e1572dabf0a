/* SPDX-License-Identifier: MIT */
/* Functions of the source, by the addresses of their code; also inlined ones. */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 256, AT_GNU_DISCRIMINATOR = 0x2136 };

/* A range of addresses of a scope. */
struct span {
	uint64_t low, high;
	uint32_t scope, depth;
};

/* A debugging entry that may have functions in it, and the one around it in the list. */
struct holder {
	Dwarf_Die die;
	uint32_t in;             /* IMAGE_NO_SCOPE: a unit */
};

/* Those of a unit, by address. */
struct holders { struct holder *at; size_t n, cap; };

struct reader {
	struct image *im;
	struct strmap holders;   /* from the addresses of units to the lists that are known */
	VEC(struct holders *) listed; /* all of these */
	const char *dir;         /* of the current unit; or NULL */
	uint64_t unit;           /* its number */
	VEC(struct span) span;
	struct strmap begun;     /* from the addresses at which functions begin to the units that describe them */
	struct strmap origin;    /* from the address of an entry to what is known of it */
};

/* What an instance takes from its origin. */
struct origin {
	const char *name;
	struct image_place at;
};

/* ---- names ---- */

/* The origin of an instance. The limit only matters in damaged files. */
static Dwarf_Die
origin_of(Dwarf_Die *die)
{
	Dwarf_Die at = *die, next;
	Dwarf_Attribute a;

	for (int i = 0; i < 8 && dwarf_attr(&at, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &next); i++)
		at = next;
	return at;
}

static const char *
string_of(Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr_integrate(die, attr, &a));
}

static bool
is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
	case DW_LANG_C: case DW_LANG_C89: case DW_LANG_C99: case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

static const char *
part_of_name(Dwarf_Die *scope)
{
	const char *name = string_of(scope, DW_AT_name);

	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_subprogram: case DW_TAG_module:
		return name;
	default:
		return NULL;
	}
}

static bool
may_hold(int tag)
{
	switch (tag) {
	case DW_TAG_module: case DW_TAG_lexical_block: case DW_TAG_with_stmt: case DW_TAG_catch_block: case DW_TAG_try_block:
	case DW_TAG_entry_point: case DW_TAG_inlined_subroutine: case DW_TAG_subprogram: case DW_TAG_namespace:
	case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_interface_type:
		return true;
	default:
		return false;
	}
}

static void
list_holders(struct holders *h, Dwarf_Die *die, uint32_t in, uint32_t depth)
{
	uint32_t at = (uint32_t)h->n;
	Dwarf_Die child;

	VEC_PUSH(*h, (struct holder){*die, in});
	if (depth == DEPTH || dwarf_child(die, &child))
		return;
	do {
		if (may_hold(dwarf_tag(&child)))
			list_holders(h, &child, at, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

/* The list of the unit of an entry, which is made once: libdw would search the unit from its beginning for each entry. */
static const struct holders *
holders_of(struct reader *r, Dwarf_Die *die)
{
	struct holders *h;
	struct str key;
	Dwarf_Die unit;
	uint64_t have;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return NULL;
	key = (struct str){(const char *)&unit.addr, sizeof unit.addr};
	if (strmap_get(&r->holders, key, &have))
		return (const struct holders *)(uintptr_t)have;
	h = pool_alloc(r->im->pool, sizeof *h);
	*h = (struct holders){0};
	list_holders(h, &unit, IMAGE_NO_SCOPE, 0);
	key.at = pool_strndup(r->im->pool, key.at, key.n);
	strmap_put(&r->holders, key, (uintptr_t)h);
	VEC_PUSH(r->listed, h);
	return h;
}

static void
free_holders(struct reader *r)
{
	for (size_t i = 0; i < r->listed.n; i++)
		free(r->listed.at[i]->at);
	free(r->listed.at);
	strmap_free(&r->holders);
}

/* The number of an entry in its list, or IMAGE_NO_SCOPE. */
static uint32_t
holder_at(const struct holders *h, const void *addr)
{
	size_t lo = 0, hi = h->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if ((uintptr_t)h->at[mid].die.addr < (uintptr_t)addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < h->n && h->at[lo].die.addr == addr ? (uint32_t)lo : IMAGE_NO_SCOPE;
}

/* Writes the names of what is around an entry, the outermost first. */
static void
write_around(struct buf *b, const struct holders *h, uint32_t at)
{
	uint32_t in = h->at[at].in;
	const char *part;

	if (in == IMAGE_NO_SCOPE)
		return;
	write_around(b, h, in);
	part = part_of_name(&h->at[in].die);
	if (part)
		buf_printf(b, "%s::", part);
}

/* The name with the name spaces, classes and functions around its declaration. */
static const char *
qualified(struct reader *r, Dwarf_Die *die, const char *name)
{
	Dwarf_Die declared = *die, next;
	const struct holders *h;
	Dwarf_Attribute a;
	struct buf b = {0};
	uint32_t at;

	if (dwarf_attr(die, DW_AT_specification, &a) && dwarf_formref_die(&a, &next))
		declared = next;
	h = holders_of(r, &declared);
	at = h ? holder_at(h, declared.addr) : IMAGE_NO_SCOPE;
	if (at != IMAGE_NO_SCOPE)
		write_around(&b, h, at);
	buf_str(&b, name);
	name = pool_strndup(r->im->pool, b.at, b.n);
	buf_free(&b);
	return name;
}

static const char *
name_of(struct reader *r, Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	if (name)
		return name;
	name = string_of(die, DW_AT_name);
	return name && !is_c(die) ? qualified(r, die, name) : name;
}

/* The folder of the unit of an origin. With -flto an instance is often in another unit than its origin. */
static const char *
folder_of(struct reader *r, Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Die unit, own;

	if (!dwarf_diecu(origin, &unit, NULL, NULL) || !dwarf_diecu(die, &own, NULL, NULL) || unit.addr == own.addr)
		return r->dir;
	return image_unit_folder(r->im, &unit);
}

/* Each origin is looked up once. */
static const struct origin *
known_origin(struct reader *r, Dwarf_Die *die)
{
	Dwarf_Die at = origin_of(die);
	struct str key = {(const char *)&at.addr, sizeof at.addr};
	struct origin *o;
	uint64_t have;

	if (strmap_get(&r->origin, key, &have))
		return (const struct origin *)(uintptr_t)have;
	o = pool_alloc(r->im->pool, sizeof *o);
	o->name = name_of(r, &at);
	o->name = o->name ? o->name : "?";
	o->at = image_declaration(r->im, folder_of(r, die, &at), &at);
	key.at = pool_strndup(r->im->pool, key.at, key.n);
	strmap_put(&r->origin, key, (uintptr_t)o);
	return o;
}

/* ---- scopes ---- */

static struct image_place
call_of(struct reader *r, Dwarf_Die *die)
{
	const char *file = image_attr_file(die, DW_AT_call_file);
	Dwarf_Attribute a;
	Dwarf_Word line;

	if (!file || dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &a), &line) || !line || line > UINT32_MAX)
		return (struct image_place){NULL, 0};
	return (struct image_place){image_file_name(r->im, r->dir, file), (unsigned)line};
}

/* Only clang writes it. */
static unsigned
call_discriminator(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word n;

	return dwarf_formudata(dwarf_attr(die, AT_GNU_DISCRIMINATOR, &a), &n) || n > UINT32_MAX ? 0 : (unsigned)n;
}

/* Does another unit describe the function that begins at this address? That was the copy that the linker kept; of this one it
 * dropped the code. */
static bool
is_copy(struct reader *r, uint64_t addr)
{
	struct str key = {(const char *)&addr, sizeof addr};
	uint64_t unit;

	if (strmap_get(&r->begun, key, &unit))
		return unit != r->unit;
	key.at = pool_strndup(r->im->pool, key.at, key.n);
	strmap_put(&r->begun, key, r->unit);
	return false;
}

/* False: the entry has no code. */
static bool
add_spans(struct reader *r, Dwarf_Die *die, bool inlined, uint32_t depth)
{
	Dwarf_Addr base, begin, end;
	size_t before = r->span.n;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;)
		if (begin < end && image_is_code(r->im, begin) && (inlined || !is_copy(r, begin)))
			VEC_PUSH(r->span, (struct span){begin, end, (uint32_t)r->im->scope.n, depth});
	return r->span.n > before;
}

/* Returns the new scope, or if there is none, the one around it. Nothing is around a function, nor around what was inlined into one
 * that the linker dropped: that may have addresses of other code. */
static uint32_t
add_scope(struct reader *r, Dwarf_Die *die, uint32_t in, uint32_t depth)
{
	bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
	struct image_scope s = {.in = inlined ? in : IMAGE_NO_SCOPE};
	const struct origin *origin;

	if (inlined && in == IMAGE_NO_SCOPE)
		return in;
	if (!add_spans(r, die, inlined, depth))
		return inlined ? in : IMAGE_NO_SCOPE;
	origin = known_origin(r, die);
	s.name = origin->name;
	s.at = origin->at;
	if (inlined) {
		s.call = call_of(r, die);
		s.call_discriminator = call_discriminator(die);
	}
	VEC_PUSH(r->im->scope, s);
	return (uint32_t)r->im->scope.n - 1;
}

/* Functions may be nested: in name spaces, modules, types, other functions and their blocks. */
static void
add_children(struct reader *r, Dwarf_Die *die, uint32_t in, uint32_t depth)
{
	Dwarf_Die child;

	if (depth == DEPTH || dwarf_child(die, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			add_children(r, &child, add_scope(r, &child, in, depth), depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			add_children(r, &child, in, depth + 1);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

/* ---- by address ---- */

/* Outer scopes come first. */
static int
by_low(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->scope > y->scope) - (x->scope < y->scope);
}

static void
put(struct image *im, uint64_t addr, uint32_t scope)
{
	if (im->scope_at.n && im->scope_at.at[im->scope_at.n - 1].addr == addr)
		im->scope_at.n--;
	VEC_PUSH(im->scope_at, (struct scope_at){addr, scope});
}

struct stack { const struct span **at; size_t n, cap; };

/* Ends the scopes that end at an address or before it. */
static void
end_before(struct image *im, struct stack *open, uint64_t addr)
{
	while (open->n && open->at[open->n - 1]->high <= addr) {
		uint64_t end = open->at[open->n - 1]->high;

		while (open->n && open->at[open->n - 1]->high <= end)
			open->n--;
		put(im, end, open->n ? open->at[open->n - 1]->scope : IMAGE_NO_SCOPE);
	}
}

static void
sort_spans(struct reader *r)
{
	struct stack open = {0};

	if (r->span.n)
		qsort(r->span.at, r->span.n, sizeof *r->span.at, by_low);
	for (size_t i = 0; i < r->span.n; i++) {
		end_before(r->im, &open, r->span.at[i].low);
		VEC_PUSH(open, &r->span.at[i]);
		put(r->im, r->span.at[i].low, r->span.at[i].scope);
	}
	end_before(r->im, &open, UINT64_MAX);
	free(open.at);
}

static void
read_scopes(struct image *im)
{
	struct reader r = {.im = im};
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;

	im->scopes_read = true;
	if (!image_has_lines(im))
		return;
	while (!dwarf_get_units(im->dwarf, cu, &cu, NULL, NULL, &unit, &split)) {
		Dwarf_Die *whole = dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &unit;

		/* The unit in the program has the folder in which it was compiled. */
		r.dir = image_unit_folder(im, &unit);
		r.unit++;
		add_children(&r, whole, IMAGE_NO_SCOPE, 0);
	}
	sort_spans(&r);
	free(r.span.at);
	free_holders(&r);
	strmap_free(&r.origin);
	strmap_free(&r.begun);
}

uint32_t
image_scope_at(struct image *im, uint64_t addr)
{
	size_t lo = 0, hi;

	if (!im->scopes_read)
		read_scopes(im);
	for (hi = im->scope_at.n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (im->scope_at.at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? im->scope_at.at[lo - 1].scope : IMAGE_NO_SCOPE;
}

uint32_t
image_scope_around(struct image *im, uint64_t addr)
{
	uint32_t scope = image_scope_at(im, addr);

	while (scope != IMAGE_NO_SCOPE && im->scope.at[scope].in != IMAGE_NO_SCOPE)
		scope = im->scope.at[scope].in;
	return scope;
}

uint32_t
image_scopes(struct image *im)
{
	if (!im->scopes_read)
		read_scopes(im);
	return (uint32_t)im->scope.n;
}

const struct image_scope *
image_scope(const struct image *im, uint32_t scope)
{
	return &im->scope.at[scope];
}
