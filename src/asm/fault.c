/* SPDX-License-Identifier: MIT */
/* Instructions after which a signal handler may continue the program elsewhere. They are those that tables written by hand name
 * (`.quad 1b, 3b`: if 1 faults, go on at 3). If only the fixups are known, they are all instructions of the surrounding inline
 * assembly that access memory or divide. */
#include "asm/asm.h"

#include <stdlib.h>

static const struct insn *
insn_of(const struct part *t, uint32_t i)
{
	return &t->code->insns.at[i];
}

static bool
may_fault(const struct unit *u, const struct part *t, const struct insn *in)
{
	const struct obj_section *s = &u->object->sections[t->code->section];
	struct facts f;

	if (in->cls == CHORD_INSN_TRAP)
		return true;
	if ((in->cls != CHORD_INSN_OTHER && in->cls != CHORD_INSN_REP) || in->stmt == UINT32_MAX)
		return false;
	return u->machine->facts(s->data + in->off, s->size - in->off, &f) && (f.loads || f.stores || f.divide);
}

/* What a procedure has. */
struct seen {
	bool jumps, places, named;   /* indirect jumps; fixups; faults that a table names */
	bool returns;                /* returns in inline assembly */
};

static bool
is_named_fault(const struct unit *u, const struct part *t, const struct insn *in)
{
	return in->leader & LEADER_LISTED && may_fault(u, t, in);
}

static struct seen
look(const struct unit *u, const struct proc_text *p)
{
	struct seen s = {0};

	for (size_t k = 0; k < p->parts.n; k++)
		for (uint32_t i = p->parts.at[k].first; i < p->parts.at[k].last; i++) {
			const struct insn *in = insn_of(&p->parts.at[k], i);
			bool named = is_named_fault(u, &p->parts.at[k], in);

			s.jumps |= in->cls == CHORD_INSN_IJUMP;
			s.returns |= in->cls == CHORD_INSN_RET && insn_is_inline(u, in);
			s.named |= named;
			s.places |= in->leader & LEADER_ADDRESS && !named && (insn_is_inline(u, in) || !u->text->compiler);
		}
	return s;
}

bool
fault_find(struct unit *u, struct proc_text *p)
{
	struct seen s = look(u, p);
	bool all = u->text->compiler && !s.named && !s.jumps;

	/* Text by hand that has indirect jumps uses tables of addresses for them, so its fixups are not known. */
	if (!s.places || (!u->text->compiler && (s.jumps || !s.named)))
		return false;
	/* Inline assembly may return to a place whose address it pushed, or that waits on another stack. */
	if (s.returns && !s.named)
		return false;
	for (size_t k = 0; k < p->parts.n; k++)
		for (uint32_t i = p->parts.at[k].first; i < p->parts.at[k].last; i++) {
			const struct part *t = &p->parts.at[k];
			struct insn *in = &t->code->insns.at[i];

			if (is_named_fault(u, t, in) ||
			    (all && insn_is_inline(u, in) && !(in->leader & LEADER_ADDRESS) && may_fault(u, t, in)))
				in->leader |= LEADER_FAULT;
			if (in->leader & LEADER_FAULT && in->cls != CHORD_INSN_TRAP)
				in->attr |= INSN_ALONE;
		}
	return true;
}
