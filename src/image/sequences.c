/* SPDX-License-Identifier: MIT */
/* Which rows of a line table describe code of the program.
 *
 * A table consists of sequences, each with a row that ends it. The linker gives a place to a sequence as a whole. A sequence of
 * code that it dropped begins at 0 (some linkers: at -1), and later rows of it may have addresses of other code. If another
 * object's copy of that code was kept and is as long, the sequence begins where the kept copy does. The first copy is the kept
 * one, and its table comes first.
 *
 * libdw sorts rows by address, which mixes sequences. So the sequences are read here, and sorted as libdw sorts them.
 */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct line_row {
	uint64_t addr;
	size_t number; /* in the order of the table */
	bool end, kept;
};

struct reader {
	struct image *im;
	uint64_t table;             /* the offset of the table */
	const unsigned char *at, *end;
	bool damaged;

	unsigned version, least, opcode_base, line_range;
	const unsigned char *operands; /* of each standard opcode, how many; from opcode 1 on */
	uint64_t addr;
	size_t first;               /* the first row of the sequence */
	VEC(struct line_row) row;
};

/* ---- numbers ---- */

static uint64_t
fixed(struct reader *r, size_t n)
{
	uint64_t v = 0;

	if (n > sizeof v || (size_t)(r->end - r->at) < n) {
		r->damaged = true;
		r->at = r->end;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)r->at[i] << 8 * i;
	r->at += n;
	return v;
}

static uint64_t
uleb(struct reader *r)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = fixed(r, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static void
skip(struct reader *r, uint64_t n)
{
	if (n > (uint64_t)(r->end - r->at))
		r->damaged = true;
	r->at = r->damaged ? r->end : r->at + n;
}

/* ---- the program of a table ---- */

/* Does a sequence that begins here describe code of the program, and is it no later copy of another? */
static bool
is_kept(struct reader *r, uint64_t addr)
{
	struct str key = {(const char *)&addr, sizeof addr};
	uint64_t table;

	if (!image_is_code(r->im, addr))
		return false;
	if (strmap_get(&r->im->begun, key, &table))
		return table == r->table;
	key.at = pool_strndup(r->im->pool, key.at, key.n);
	strmap_put(&r->im->begun, key, r->table);
	return true;
}

static void
add_row(struct reader *r, bool end)
{
	size_t number = r->row.n;

	VEC_PUSH(r->row, (struct line_row){r->addr, number, end, true});
	if (!end)
		return;
	if (r->row.n - r->first > 1 && !is_kept(r, r->row.at[r->first].addr))
		for (size_t i = r->first; i < r->row.n; i++)
			r->row.at[i].kept = false;
	r->first = r->row.n;
	r->addr = 0;
}

static void
extended(struct reader *r)
{
	uint64_t n = uleb(r);
	uint64_t opcode = n ? fixed(r, 1) : 0;

	if (opcode == DW_LNE_set_address) {
		r->addr = fixed(r, n - 1);
		return;
	}
	if (opcode == DW_LNE_end_sequence)
		add_row(r, true);
	skip(r, n ? n - 1 : 0);
}

static void
standard(struct reader *r, unsigned opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		add_row(r, false);
		break;
	case DW_LNS_advance_pc:
		r->addr += r->least * uleb(r);
		break;
	case DW_LNS_const_add_pc:
		r->addr += r->least * ((255 - r->opcode_base) / r->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		r->addr += fixed(r, 2);
		break;
	default:
		for (unsigned i = r->operands[opcode - 1]; i; i--)
			uleb(r);
		break;
	}
}

static void
run(struct reader *r)
{
	while (r->at < r->end) {
		unsigned opcode = (unsigned)fixed(r, 1);

		if (opcode >= r->opcode_base) {
			r->addr += r->least * ((opcode - r->opcode_base) / r->line_range);
			add_row(r, false);
		} else if (opcode) {
			standard(r, opcode);
		} else {
			extended(r);
		}
	}
}

/* Goes to the program behind the header, and no further than the end of the table. False: it cannot be read. */
static bool
begin(struct reader *r)
{
	uint64_t n = fixed(r, 4);
	size_t word = n == UINT32_MAX ? 8 : 4;
	const unsigned char *program;

	n = word == 8 ? fixed(r, 8) : n;
	if (n > (uint64_t)(r->end - r->at))
		return false;
	r->end = r->at + n;
	r->version = (unsigned)fixed(r, 2);
	if (r->version < 2 || r->version > 5)
		return false;
	skip(r, r->version == 5 ? 2 : 0); /* sizes of addresses */
	n = fixed(r, word);
	if (n > (uint64_t)(r->end - r->at))
		return false;
	program = r->at + n;
	r->least = (unsigned)fixed(r, 1);
	if (r->version >= 4 && fixed(r, 1) != 1)
		return false;
	skip(r, 2); /* is a row a statement, and the least advance of the line */
	r->line_range = (unsigned)fixed(r, 1);
	r->opcode_base = (unsigned)fixed(r, 1);
	r->operands = r->at;
	if (!r->line_range || !r->opcode_base || r->opcode_base > (size_t)(r->end - r->at))
		return false;
	r->at = program;
	return !r->damaged;
}

static bool
find_table(struct reader *r, Elf *elf)
{
	Elf_Data *data;
	Elf_Scn *s;
	GElf_Shdr h;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	s = image_section_named(elf, strings, ".debug_line", &h);
	s = s ? s : image_section_named(elf, strings, ".zdebug_line", &h);
	data = s ? image_elf_data(s) : NULL;
	if (!data || !data->d_buf || r->table >= data->d_size)
		return false;
	r->at = (const unsigned char *)data->d_buf + r->table;
	r->end = (const unsigned char *)data->d_buf + data->d_size;
	return true;
}

static int
as_libdw(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Are these the rows that libdw has? It takes the last one for an end, whatever that is. */
static bool
same_rows(const struct reader *r, Dwarf_Lines *lines, size_t n)
{
	if (r->row.n != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		Dwarf_Addr addr;
		bool end;

		if (dwarf_lineaddr(l, &addr) || dwarf_lineendsequence(l, &end) || addr != r->row.at[i].addr ||
		    (end != r->row.at[i].end && i + 1 < n))
			return false;
	}
	return true;
}

bool
image_kept_rows(struct image *im, Elf *elf, Dwarf_Die *unit, Dwarf_Lines *lines, size_t n, bool *kept)
{
	struct reader r = {.im = im};
	Dwarf_Attribute a;
	bool ok;

	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &a), &r.table) || !find_table(&r, elf) || !begin(&r))
		return false;
	run(&r);
	if (r.row.n)
		qsort(r.row.at, r.row.n, sizeof *r.row.at, as_libdw);
	ok = !r.damaged && same_rows(&r, lines, n);
	for (size_t i = 0; ok && i < n; i++)
		kept[i] = r.row.at[i].kept;
	free(r.row.at);
	return ok;
}
