/* SPDX-License-Identifier: MIT */
/* Where functions begin and end: by the unwind table, which stripped files also have, or else by symbols, or by Go's own table.
 * Stripped programs of Go have no other. */
#include "image/internal.h"

#include <stdlib.h>
#include <string.h>

Dwarf_Frame *
image_frame(struct image *im, uint64_t addr)
{
	Dwarf_Frame *frame;

	if (!im->cfi)
		im->cfi = dwarf_getcfi_elf(im->elf);
	return im->cfi && !dwarf_cfi_addrframe(im->cfi, addr, &frame) ? frame : NULL;
}

static bool
in_table(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	Dwarf_Frame *frame = image_frame(im, addr);
	Dwarf_Addr start, end;
	bool is_signal, found;

	if (!frame)
		return false;
	found = dwarf_frame_info(frame, &start, &end, &is_signal) >= 0 && start <= addr && addr < end;
	free(frame);
	*from = start;
	*to = end;
	return found;
}

static bool
in_symbols(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	const struct image_symbol *symbol;
	size_t n = image_symbols(im, &symbol), low = 0;

	/* Finds the last one that begins at the address or before it. */
	while (n - low > 1) {
		size_t mid = low + (n - low) / 2;

		if (symbol[mid].addr <= addr)
			low = mid;
		else
			n = mid;
	}
	if (low >= n || symbol[low].addr > addr || addr - symbol[low].addr >= symbol[low].size)
		return false;
	*from = symbol[low].addr;
	*to = symbol[low].addr + symbol[low].size;
	return true;
}

/* ---- Go's table (debug/gosym of its library): a head, and the functions in the order of their addresses ---- */

enum { GO_2 = 0xfffffffb, GO_116 = 0xfffffffa, GO_118 = 0xfffffff0, GO_120 = 0xfffffff1, WORD = 8 };

struct go_table {
	const char *at;          /* pairs of numbers, of which the first is an address; the end of the last function follows them */
	uint64_t n, base;        /* base: to be added to the addresses */
	size_t size;             /* of each number */
};

static uint64_t
number(const char *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size);
	return v;
}

static uint64_t
go_addr(const struct go_table *t, uint64_t i)
{
	return t->base + number(t->at + 2 * i * t->size, t->size);
}

/* Are all functions in the section .text? They are not if .text is to be loaded elsewhere and the loader has not relocated the
 * table. */
static bool
is_in_text(const struct image *im, const struct go_table *t)
{
	GElf_Shdr h;

	return image_section_named(im->elf, im->shstrndx, ".text", &h) && go_addr(t, 0) >= h.sh_addr &&
	       go_addr(t, t->n) >= go_addr(t, 0) && go_addr(t, t->n) - h.sh_addr <= h.sh_size;
}

/* False: there is none, or its version is not known. */
static bool
go_table(struct image *im, struct go_table *t)
{
	struct str s;
	const char *why;
	uint64_t word[9] = {0}, at;

	if ((!image_section(im, ".gopclntab", &s, &why) && !image_section(im, ".data.rel.ro.gopclntab", &s, &why)) ||
	    s.n < 2 * WORD || s.at[7] != WORD)
		return false;
	memcpy(word, s.at, s.n < sizeof word ? s.n : sizeof word);
	*t = (struct go_table){.n = word[1], .size = WORD};
	switch ((uint32_t)word[0]) {
	case GO_2: at = 2 * WORD; break;
	case GO_116: at = word[7]; break;
	case GO_118: case GO_120:
		at = word[8];
		t->base = word[3];
		t->size = 4;
		break;
	default: return false;
	}
	if (!t->n || at > s.n || t->n > (s.n - at) / t->size / 2 || (2 * t->n + 1) * t->size > s.n - at)
		return false;
	t->at = s.at + at;
	return is_in_text(im, t);
}

static bool
in_go_table(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	struct go_table t;
	uint64_t low = 0, n;

	if (!go_table(im, &t) || addr < go_addr(&t, 0) || addr >= go_addr(&t, t.n))
		return false;
	for (n = t.n; n - low > 1;) {
		uint64_t mid = low + (n - low) / 2;

		if (go_addr(&t, mid) <= addr)
			low = mid;
		else
			n = mid;
	}
	*from = go_addr(&t, low);
	*to = go_addr(&t, low + 1);
	return *from <= addr && addr < *to;
}

bool
image_extent(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	return in_table(im, addr, from, to) || in_symbols(im, addr, from, to) || in_go_table(im, addr, from, to);
}
