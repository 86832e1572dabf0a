/* SPDX-License-Identifier: MIT */
/* How much of the stack a frame takes, by the unwind table. */
#include "image/internal.h"

#include <dwarf.h>
#include <stdlib.h>

/* By how much the rule says that the stack pointer is below the CFA; 0: it goes by another register or an expression. */
static uint64_t
below_cfa(Dwarf_Frame *frame, unsigned sp)
{
	Dwarf_Op *op;
	size_t n;

	if (dwarf_frame_cfa(frame, &op, &n) || n != 1)
		return 0;
	if (op->atom == DW_OP_bregx && op->number == sp)
		return op->number2;
	return op->atom == DW_OP_breg0 + sp ? op->number : 0;
}

/* How far below the CFA the register is saved; 0: it is not, or another rule says where. */
static uint64_t
saved_below(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *op;
	size_t n;
	int64_t off;

	if (dwarf_frame_register(frame, reg, memory, &op, &n) || n != 2 || op[0].atom != DW_OP_call_frame_cfa ||
	    op[1].atom != DW_OP_plus_uconst)
		return 0;
	off = (int64_t)op[1].number;
	return off < 0 ? -(uint64_t)off : 0;
}

static uint64_t
lowest_saved(Dwarf_Frame *frame, int ncolumn)
{
	uint64_t most = 0;

	for (int reg = 0; reg < ncolumn; reg++) {
		uint64_t below = saved_below(frame, reg);

		most = below > most ? below : most;
	}
	return most;
}

uint64_t
image_frame_size(struct image *im, uint64_t addr)
{
	const struct machine_unwind *u = im->machine->unwind;
	Dwarf_Frame *frame = image_frame(im, addr);
	uint64_t size;

	if (!frame)
		return 0;
	size = below_cfa(frame, u->sp);
	if (!size)
		size = lowest_saved(frame, u->ncolumn);
	free(frame);
	return size <= INT32_MAX ? size : 0;
}
