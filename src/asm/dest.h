/* SPDX-License-Identifier: MIT */
/* dest: where an instruction leads, or which address it mentions. */
#ifndef CHORD_DEST_H
#define CHORD_DEST_H

#include "asm/asm.h"

struct dest {
	uint32_t section;   /* 0: not in the code of this object */
	uint32_t off;
	bool named;         /* given by a symbol that the linker may replace */
};

/* unit.c: the destination, or the mentioned address, of an instruction. */
struct dest dest_of(const struct unit *u, const struct code *c, const struct insn *in);
/* Where a relocation leads. end: section offset after the instruction that has it. */
struct dest reloc_dest(const struct unit *u, const struct obj_reloc *r, uint64_t end);
/* The first relocation in [lo, hi), or NULL. */
const struct obj_reloc *reloc_in(const struct object *o, uint32_t section, uint64_t lo, uint64_t hi);

/* unit.c: may there be data that a macro, .rept or the like makes, so that the text does not show what they hold? */
bool unit_makes_data(const struct unit *u);
/* Is the byte of a section part of an instruction? */
bool unit_is_in_insn(const struct unit *u, uint32_t section, uint64_t off);

/* distance.c: how the target of a jump, or a mentioned address, is given as a number of bytes. */
enum distance {
	DISTANCE_NONE,
	DISTANCE_WRITTEN,   /* the instruction itself is written as bytes */
	DISTANCE_COUNTED,   /* its operand counts bytes, and the weaver cannot put a label there */
};
/* For an instruction of procedure `proc` that has no relocation. */
enum distance distance_of(const struct unit *u, uint32_t proc, const struct code *c, const struct insn *in);
/* Is it a number (`.uleb128 b-a`) whose length depends on how far places are from each other? */
bool has_any_length(const struct text *t, const struct stmt *s);
/* Is a name subtracted in operands? Most have no minus but in front of a number. */
bool subtracts_name(struct str s);

/* pad.c: the offset from which on nothing may be woven in if the number of bytes from lo to hi has to stay. It is lo, or before:
 * the length of padding in between depends on code before it. *behind: where the padding begins behind which that length does not
 * change, or UINT32_MAX. */
uint32_t pad_start(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi, uint32_t *behind);
/* The number of bytes from lo to hi that may be padding. */
uint32_t pad_room(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi);

/* The statement with a jump's mnemonic and its only operand, or UINT32_MAX if it has none. The jump begins before that statement if
 * its prefixes are statements of their own (`.byte 0x3e`, as a hint that it is taken). */
uint32_t jump_stmt(const struct unit *u, const struct insn *in);
/* True if the instruction is a jump that can be given another operand. */
bool can_retarget(const struct unit *u, const struct insn *in);

/* nonlocal.c: what nonlocal_mention() keeps of its last answers, in unit.holdings. */
struct holding *holdings_new(struct pool *pool);
/* nonlocal.c: what the address that instruction i takes is used for: LEADER_ADDRESS, LEADER_RECEIVE, or both if that cannot be
 * told. */
uint8_t nonlocal_mention(const struct unit *u, const struct code *c, uint32_t i, struct dest d);

#endif
