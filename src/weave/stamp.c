/* SPDX-License-Identifier: MIT */
/* Stamps in traces: growing numbers that are written before and after calls of chosen functions. They put what different threads
 * did around these calls in order. */
#include "weave/measure.h"

#include <fnmatch.h>
#include <string.h>

static bool
matches(const struct emitter *m, struct str name)
{
	char *function = pool_strndup(m->u->pool, name.at, name.n);
	const char *p = m->o->stamps;
	bool found = false;

	for (size_t n; *p && !found; p += n + (p[n] != 0)) {
		n = strcspn(p, ",");
		found = !fnmatch(pool_strndup(m->u->pool, p, n), function, 0);
	}
	return found;
}

/* Does the statement call such a function? Inline assembly does not count: its author may rely on all that is there. */
static bool
is_chosen(const struct emitter *m, uint32_t stmt)
{
	const struct text *t = m->u->text;
	const struct stmt *s = stmt == UINT32_MAX ? NULL : &t->stmts.at[stmt];
	struct text_callee o;

	return s && s->kind == STMT_CODE && !(s->flags & (STMT_FOREIGN | STMT_INLINE)) &&
	       t->machine->callee(stmt_word(t, s), stmt_rest(t, s), &o) && matches(m, o.name);
}

static void
emit_before_call(struct emitter *m, uint32_t block, uint32_t i)
{
	m->u->machine->stamp(&m->b);
	emit_text(m, emit_before(m, block, i), RANK_CALL, woven_insn(m->w, block, i)->stmt);
	emit_segment(m, block, i);
}

void
emit_stamp(struct emitter *m, const struct call *c, uint32_t stmt)
{
	const struct block_text *b = &m->w->proc->block_text.at[c->block];
	uint32_t i = b->first + c->insn;

	if (!is_chosen(m, stmt) || woven_insn(m->w, c->block, i)->stmt != stmt || emit_is_glued(m, c->block, i) ||
	    (i + 1 == b->last && calls_within(m->w, c->block)))
		return;
	emit_before_call(m, c->block, i);
	if (c->flags & CHORD_CALL_NORETURN)
		return;
	m->u->machine->stamp(&m->b);
	emit_text(m, emit_behind(m, emit_returned(m, c->block, i, stmt)), RANK_RETURNED, stmt);
	if (i + 1 < b->last)
		emit_segment(m, c->block, i + 1);
}

void
emit_tail_stamps(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;

	for (uint32_t b = 0; b < p->blocks.n && m->o->stamps; b++) {
		uint32_t i = p->block_text.at[b].last - 1;
		const struct insn *in = emit_last(m, b);

		if ((in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_IJUMP) && is_chosen(m, in->stmt) &&
		    !emit_is_glued(m, b, i))
			emit_before_call(m, b, i);
	}
}
