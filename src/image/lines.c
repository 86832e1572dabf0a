/* SPDX-License-Identifier: MIT */
/* The line tables of all units, as one sorted array. Looking units up by .debug_aranges would be shorter, but clang writes none. */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>

static void
add_line(struct image *im, const char *dir, Dwarf_Line *l)
{
	struct row r = {0};
	bool end;
	int line;

	if (dwarf_lineaddr(l, &r.addr) || dwarf_lineendsequence(l, &end))
		return;
	if (!end && !image_is_code(im, r.addr))
		return;
	if (!end && !dwarf_lineno(l, &line) && line > 0) {
		r.file = dwarf_linesrc(l, NULL, NULL);
		r.file = r.file ? image_file_name(im, dir, r.file) : NULL;
		r.line = (unsigned)line;
		if (dwarf_linediscriminator(l, &r.discriminator))
			r.discriminator = 0;
	}
	r.seq = (unsigned)im->row.n;
	VEC_PUSH(im->row, r);
}

/* False: the unit has lines, but they cannot be read. *mixed is increased if some of them may be of code that the linker
 * dropped. */
static bool
add_unit(struct image *im, Elf *elf, Dwarf_Die *unit, size_t *mixed)
{
	const char *dir = image_unit_folder(im, unit);
	Dwarf_Lines *lines;
	bool *kept, all;
	size_t n;

	if (!dwarf_hasattr(unit, DW_AT_stmt_list))
		return true;
	if (dwarf_getsrclines(unit, &lines, &n))
		return false;
	kept = xcalloc(n, sizeof *kept);
	all = !image_kept_rows(im, elf, unit, lines, n, kept);
	*mixed += all;
	for (size_t i = 0; i < n; i++)
		if (all || kept[i])
			add_line(im, dir, dwarf_onesrcline(lines, i));
	free(kept);
	return true;
}

/* A row that ends a sequence comes before one that begins at the same address. Otherwise the order of the table is kept, because
 * the last row for an address is the valid one. */
static int
rows_by_addr(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->file != !y->file)
		return x->file ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static bool
sorted(const struct image *im)
{
	for (size_t i = 1; i < im->row.n; i++)
		if (rows_by_addr(&im->row.at[i - 1], &im->row.at[i]) > 0)
			return false;
	return true;
}

static bool
has_lines(Elf *elf)
{
	GElf_Shdr h;
	size_t strings;

	return !elf_getshdrstrndx(elf, &strings) &&
	       (image_section_named(elf, strings, ".debug_line", &h) || image_section_named(elf, strings, ".zdebug_line", &h)) &&
	       h.sh_type != SHT_NOBITS;
}

static void
read_lines(struct image *im)
{
	Elf *elf = has_lines(im->elf) ? im->elf : image_debug_elf(im);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	size_t mixed = 0;
	int more = -1;

	im->lines_read = true;
	if (!elf)
		return;
	im->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	while (im->dwarf && !(more = dwarf_get_units(im->dwarf, cu, &cu, NULL, NULL, &unit, NULL)))
		if (!add_unit(im, elf, &unit, &mixed))
			break;
	if (more <= 0 && has_lines(elf))
		say_warning(im->path, "its line table cannot be read whole: %s", dwarf_errmsg(-1));
	if (mixed)
		say_warning(im->path, "%zu of its line tables cannot be told from those of code that the linker dropped: some "
		            "places may be of other code", mixed);
	if (im->row.n && !sorted(im))
		qsort(im->row.at, im->row.n, sizeof *im->row.at, rows_by_addr);
}

bool
image_has_lines(struct image *im)
{
	if (!im->lines_read)
		read_lines(im);
	return im->row.n > 0;
}

/* The number of rows before the address; with `at`, also those at the address. */
static size_t
rows_up_to(struct image *im, uint64_t addr, bool at)
{
	size_t lo = 0, hi = image_has_lines(im) ? im->row.n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (im->row.at[mid].addr < addr || (at && im->row.at[mid].addr == addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool
image_opening(struct image *im, uint64_t addr, struct image_place *place)
{
	size_t i = rows_up_to(im, addr, false);

	while (i < im->row.n && im->row.at[i].addr == addr && !im->row.at[i].file)
		i++;
	if (i == im->row.n || im->row.at[i].addr != addr)
		return image_place(im, addr, place);
	*place = (struct image_place){im->row.at[i].file, im->row.at[i].line};
	return true;
}

bool
image_place(struct image *im, uint64_t addr, struct image_place *place)
{
	size_t lo = rows_up_to(im, addr, true);

	if (!lo || !im->row.at[lo - 1].file)
		return false;
	*place = (struct image_place){im->row.at[lo - 1].file, im->row.at[lo - 1].line};
	return true;
}

unsigned
image_discriminator(struct image *im, uint64_t addr)
{
	size_t lo = rows_up_to(im, addr, true);

	return lo ? im->row.at[lo - 1].discriminator : 0;
}
