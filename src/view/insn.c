/* SPDX-License-Identifier: MIT */
/* What an instruction of a listing says. */
#include "view/view.h"

const char *
view_insn_mnemonic(const struct view_insn *in)
{
	struct facts f;

	if (in->kind == CHORD_INSN_PAD)
		return "nop";
	return in->addr && image_facts(in->unit->image, in->addr, &f) ? f.mnemonic : NULL;
}

bool
view_insn_text(const struct view_insn *in, struct buf *out)
{
	struct str bytes = in->addr ? image_bytes(in->unit->image, in->addr) : STR("");

	return bytes.n && image_machine(in->unit->image)->print(out, (const uint8_t *)bytes.at, bytes.n, in->addr);
}

struct callee
view_insn_callee(const struct view_insn *in)
{
	struct unit *u = (struct unit *)(uintptr_t)in->unit;
	struct insn decoded;

	if ((in->kind != CHORD_INSN_CALL && in->kind != CHORD_INSN_ICALL && in->kind != CHORD_INSN_JUMP) || !in->addr ||
	    !image_insn(u->image, in->addr, &decoded))
		return (struct callee){0};
	return callee_of(u, in->proc, &decoded, in->addr);
}
