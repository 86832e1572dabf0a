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

/* unit.c */
struct dest dest_of(const struct unit *u, const struct code *c, const struct insn *in);
/* Where a relocation leads; `end`: where the instruction that has it ends. */
struct dest reloc_dest(const struct unit *u, const struct obj_reloc *r, uint64_t end);
/* The first relocation of [lo, hi), or NULL. */
const struct obj_reloc *reloc_in(const struct object *o, uint32_t section, uint64_t lo, uint64_t hi);

/* nonlocal.c: what an address that instruction i takes is for: LEADER_ADDRESS, LEADER_RECEIVE, or both if that
 * cannot be told. */
uint8_t nonlocal_mention(const struct unit *u, const struct code *c, uint32_t i, struct dest d);

#endif
