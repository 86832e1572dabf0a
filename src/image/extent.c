/* SPDX-License-Identifier: MIT */
/* Where functions begin and end: by the unwind table, which stripped files have, too, or else by symbols. */
#include "image/internal.h"

#include <stdlib.h>

static bool
in_table(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	Dwarf_Frame *frame;
	Dwarf_Addr start, end;
	bool is_signal, found;

	if (!im->cfi)
		im->cfi = dwarf_getcfi_elf(im->elf);
	if (!im->cfi || dwarf_cfi_addrframe(im->cfi, addr, &frame))
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

	/* The last that begins there or before. */
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

bool
image_extent(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
{
	return in_table(im, addr, from, to) || in_symbols(im, addr, from, to);
}
