/* SPDX-License-Identifier: MIT */
/* Code that informs the runtime of system calls in the text that may make, end or confine a thread or process. */
#include "weave/emit.h"

#include <string.h>

static const uint8_t *
bytes_of(const struct emitter *m, uint32_t block, const struct insn *in)
{
	return m->u->object->sections[emit_code(m, block)->section].data + in->off;
}

/* The number of the system call at instruction i of a block, if an earlier instruction of the block sets it. */
static bool
find_number(const struct emitter *m, uint32_t block, uint32_t i, uint32_t *number)
{
	uint16_t reg = 1; /* bit of the machine's first register, which holds the number */

	while (i-- > m->w->proc->block_text.at[block].first) {
		const struct insn *in = woven_insn(m->w, block, i);
		struct value v;

		if (m->u->machine->trap_number(bytes_of(m, block, in), in->len, number))
			return !(in->attr & INSN_RELOC);
		if (insn_is_call(in) || in->cls == CHORD_INSN_SYSCALL ||
		    !m->u->machine->value(bytes_of(m, block, in), in->len, &v) || v.to & reg)
			return false;
	}
	return false;
}

static bool
goes_by_runtime(const struct emitter *m, uint32_t block, uint32_t i)
{
	const struct insn *in = woven_insn(m->w, block, i);
	uint32_t number;
	bool other;

	if (in->cls != CHORD_INSN_SYSCALL || in->stmt == UINT32_MAX ||
	    !m->u->machine->trap(bytes_of(m, block, in), in->len, &other) || other)
		return false;
	return !find_number(m, block, i, &number) || m->u->machine->trap_makes(number) || m->u->machine->trap_ends(number) ||
	    m->u->machine->trap_confines(number);
}

void
emit_traps(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;
	uint32_t n = 0;

	for (uint32_t b = 0; b < p->blocks.n; b++)
		for (uint32_t i = p->block_text.at[b].first; i < p->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(m->w, b, i);
			struct trap_at t;

			if (!goes_by_runtime(m, b, i) || live_before(p, p->blocks.at[b].part, i).no_stack)
				continue;
			t = (struct trap_at){emit_name(m, 'M', n), emit_name(m, 'N', n), emit_name(m, 'U', n),
			                     emit_name(m, 'P', n)};
			m->u->machine->around_trap(&m->b, &t);
			emit_text(m, emit_before(m, b, i), RANK_CALL, in->stmt);
			emit_segment(m, b, i);
			emit_label(&m->b, 'P', m->w->number, n++);
			emit_text(m, emit_behind(m, code_end_stmt(m->u, emit_code(m, b), in)), RANK_RETURN, in->stmt);
		}
}
