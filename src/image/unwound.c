/* SPDX-License-Identifier: MIT */
/* What the unwind table says of where functions begin and end, of stripped files, too. */
#include "image/internal.h"

#include <stdlib.h>

bool
image_unwound(struct image *im, uint64_t addr, uint64_t *from, uint64_t *to)
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
