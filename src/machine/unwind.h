/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's call frames: its registers as DWARF and .cfi directives know them, and the frame as
 * a procedure is entered.
 *
 * The contract of the slot of an activation: each activation has a word of its own at its CFA - CHORD_SLOT, as long as it runs
 * (format.h). The CFA is the value of the stack pointer in the caller before the call, as everywhere in DWARF. A word just
 * below it is no other activation's: where a call pushes the return address it is there; where a register has it, the
 * procedure that calls another one has first to save that register below its CFA, so that the CFA of the one that it
 * calls is lower. Nothing is ever read or written in the stack itself: the slot is only an address, by which the path
 * register's place in the shadow is found. So it does not matter who else uses the word. */
#ifndef CHORD_MACHINE_UNWIND_H
#define CHORD_MACHINE_UNWIND_H

#include "base/base.h"

struct machine_unwind {
	uint8_t ncolumn;         /* columns whose rules are followed, from 0 */
	uint8_t sp;              /* column of the stack pointer */
	uint8_t ra;              /* of the return address */
	uint8_t entry;           /* as a procedure is entered the CFA is the stack pointer plus so much */
	bool pushed;             /* then the return address is at the CFA - entry, else in the register `ra` */
	/* Which general register, by its bit in masks, a column is; -1: none. */
	int (*general)(unsigned column);
	/* The column of a register by its name in a directive, with or without the assembler's prefix; -1: none. */
	int (*column)(struct str name);
};

#endif
