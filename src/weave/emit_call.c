/* SPDX-License-Identifier: MIT */
/* Labels after calls, and code before jumps into other activations. */
#include "weave/measure.h"

#include <string.h>

/* Can a label be put at the return address of the call? */
static bool
can_label_return(const struct emitter *m, const struct code *c, const struct insn *in, uint32_t stmt)
{
	uint32_t next = in->off + in->len;

	if (stmt == UINT32_MAX || m->u->text->stmts.at[stmt].kind != STMT_CODE)
		return false;
	return next >= c->nbyte || c->at[next] == UINT32_MAX || c->insns.at[c->at[next]].stmt != UINT32_MAX;
}

bool
emit_is_glued(const struct emitter *m, uint32_t block, uint32_t i)
{
	const struct part *t = &m->w->proc->parts.at[m->w->proc->blocks.at[block].part];

	return t->code->insns.at[i].attr & INSN_GLUED || (i + 1 < t->last && t->code->insns.at[i + 1].attr & INSN_GLUED);
}

void
emit_calls(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;
	bool *leaves = pool_array(m->u->pool, p->graph->nvert, sizeof *leaves);
	bool *twice = pool_array(m->u->pool, p->graph->nvert, sizeof *twice);

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		leaves[p->graph->edge[e].from] |= p->graph->edge[e].to == p->exit;
		twice[p->graph->edge[e].from] |= p->arc_text.at[e].twice && m->w->early;
	}
	for (uint32_t b = 0; b < p->blocks.n; b++)
		for (uint32_t i = p->block_text.at[b].first; i < p->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(m->w, b, i);
			uint32_t stmt, flags = 0;
			bool labelled;

			if (in->cls != CHORD_INSN_CALL && in->cls != CHORD_INSN_ICALL)
				continue;
			if (i + 1 == p->block_text.at[b].last && leaves[b])
				flags = CHORD_CALL_NORETURN;
			if (i + 1 == p->block_text.at[b].last && twice[b])
				flags = CHORD_CALL_TWICE;
			stmt = in->stmt == UINT32_MAX ? UINT32_MAX : code_end_stmt(m->u, emit_code(m, b), in);
			labelled = can_label_return(m, emit_code(m, b), in, stmt);
			if (labelled) {
				emit_label(&m->b, 'R', m->w->number, m->w->call_sites.n);
				emit_text(m, emit_behind(m, stmt), RANK_RETURN, stmt);
			}
			VEC_PUSH(m->w->call_sites,
			         (struct call){.block = b, .insn = i - p->block_text.at[b].first, .flags = flags});
			VEC_PUSH(m->w->labelled, labelled);
			measures_at_call(m, (uint32_t)m->w->call_sites.n - 1, stmt);
			if (labelled && m->o->stamps)
				emit_stamp(m, &m->w->call_sites.at[m->w->call_sites.n - 1], stmt);
		}
}

/* Before a jump into another activation's frame, the runtime records what the jump abandons. */
void
emit_aways(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;
	struct nonlocal a;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		uint32_t from = p->graph->edge[e].from;

		if (p->arcs.at[e].kind != CHORD_EDGE_NONLOCAL || !nonlocal_find(m->u, p, from, &a))
			continue;
		m->u->machine->away(&m->b, a.sp, a.pc, a.on_stack);
		emit_text(m, emit_before(m, from, a.insn), RANK_BEFORE, woven_insn(m->w, from, a.insn)->stmt);
		emit_segment(m, from, a.insn);
	}
}
