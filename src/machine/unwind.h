/* SPDX-License-Identifier: MIT */
/* What has to be known of a machine's call frames: registers as DWARF and .cfi directives name them, and the frame at a procedure's
 * entry.
 *
 * The slot of an activation (format.h): while it runs, each activation has a word of its own at its CFA - CHORD_SLOT. The CFA is
 * the stack pointer in the caller before the call, as always in DWARF. No other activation has the word just below the CFA: if a
 * call pushes the return address, the word has it; if the return address is in a register, a procedure that calls another one first
 * has to save that register below its own CFA, so that its callee's CFA is lower. Nothing is read from the slot or written to it:
 * only its address is used, to find the place of the path register in the shadow. So it does not matter who else uses the word. */
#ifndef CHORD_MACHINE_UNWIND_H
#define CHORD_MACHINE_UNWIND_H

#include "base/base.h"

struct machine_unwind {
	uint8_t ncolumn;         /* columns from 0 on whose rules are followed */
	uint8_t sp;              /* column of the stack pointer */
	uint8_t ra;              /* column of the return address */
	uint8_t entry;           /* at a procedure's entry the CFA is the stack pointer plus this */
	bool pushed;             /* at a procedure's entry the return address is at CFA - entry; otherwise it is in the register
	                          * `ra` */
	/* The number of the general register with that column; -1: none. */
	int (*general)(unsigned column);
	/* The column of a register by its name in a directive, with or without the assembler's prefix; -1: none. */
	int (*column)(struct str name);
};

#endif
