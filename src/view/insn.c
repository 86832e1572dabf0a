/* SPDX-License-Identifier: MIT */
/* Details of an instruction in a listing. */
#include "view/view.h"

const char *
view_insn_mnemonic(const struct view_insn *in)
{
	struct facts f;

	if (in->kind == CHORD_INSN_PAD)
		return "nop";
	return in->addr && image_facts(in->binary->image, in->addr, &f) ? f.mnemonic : NULL;
}

bool
view_insn_text(const struct view_insn *in, struct buf *out)
{
	struct str bytes = in->addr ? image_bytes(in->binary->image, in->addr) : STR("");

	return bytes.n && image_machine(in->binary->image)->print(out, (const uint8_t *)bytes.at, bytes.n, in->addr);
}

struct callee
view_insn_callee(const struct view_insn *in)
{
	struct binary *bin = (struct binary *)(uintptr_t)in->binary;
	struct insn decoded;

	if ((in->kind != CHORD_INSN_CALL && in->kind != CHORD_INSN_ICALL && in->kind != CHORD_INSN_JUMP) || !in->addr ||
	    !image_insn(bin->image, in->addr, &decoded))
		return (struct callee){0};
	return callee_of(bin, in->proc, &decoded, in->addr);
}

uint32_t
view_insn_scope(const struct view_insn *in)
{
	return in->addr && in->kind != CHORD_INSN_PAD ? image_scope_at(in->binary->image, in->addr) : IMAGE_NO_SCOPE;
}
