/* SPDX-License-Identifier: MIT */
/* Prologues, as debuggers see them. */
#include "asm/asm.h"

static bool
pushes_frame_pointer(const struct unit *u, const struct insn *in)
{
	return in->attr & INSN_PUSHES && in->regs_read >> u->machine->fp & 1 && !(in->regs_kill >> u->machine->fp & 1) &&
	       in->len == 1;
}

/* Does the instruction set up the frame pointer (*done), or is it one that may come before that: a push, or an alignment of the
 * stack? */
static bool
sets_up(const struct unit *u, const struct code *c, const struct insn *in, bool *done)
{
	struct move m;

	*done = false;
	if (u->machine->move(u->object->sections[c->section].data + in->off, in->len, &m)) {
		*done = m.to == u->machine->fp && m.from == u->machine->sp;
		return *done || (m.address && m.base == u->machine->sp);
	}
	return in->attr & (INSN_PUSHES | INSN_FIRST) || in->regs_kill == 1u << u->machine->sp;
}

/* If a procedure begins with `push %rbp; mov %rsp, %rbp`, or with the push alone, gdb stops after it. Otherwise gdb stops at its
 * beginning, where arguments are not in the frame yet. */
static void
keep_prologue(struct unit *u, const struct part *t)
{
	enum { LONGEST = 7 };
	struct insn *in = &t->code->insns.at[t->first];
	uint32_t n = t->last - t->first, i = 0, first = in->attr & INSN_FIRST ? 1 : 0, last = first;
	bool done = false;

	while (i < n && i < LONGEST && !done && sets_up(u, t->code, &in[i], &done))
		i++;
	if (done)
		last = i;
	else if (first < n && pushes_frame_pointer(u, &in[first]))
		last = first + 1;
	for (i = first; i < last; i++)
		in[i].attr |= INSN_ALONE;
}

/* Where jumps lead back to the procedure's start, as calls of itself at its end do, code may have to be put before the start that
 * only the activation's beginning executes. */
void
prologues_keep(struct unit *u)
{
	for (size_t i = 0; i < u->procs.n; i++) {
		const struct part *t = &u->procs.at[i].parts.at[0];

		if (!(t->code->insns.at[t->first].leader & LEADER_JUMP))
			keep_prologue(u, t);
	}
}
