/* SPDX-License-Identifier: MIT */
/* dest: where an instruction goes, or what address it mentions. */
#ifndef CHORD_DEST_H
#define CHORD_DEST_H

#include "asm/asm.h"

struct dest {
	uint32_t section;   /* 0: not in this object's code */
	uint32_t off;
	bool named;         /* by a symbol that the linker may replace */
};

struct dest dest_of(const struct unit *u, const struct code *c, const struct insn *in);

#endif
