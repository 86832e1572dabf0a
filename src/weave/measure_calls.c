/* SPDX-License-Identifier: MIT */
/* Measure calls: what is counted between each call and its return, and which procedures are called through pointers. */
#include "weave/measure.h"

#include <string.h>

/* What is live after an instruction that falls through. */
static struct liveness
live_behind(const struct emitter *m, uint32_t part, uint32_t i)
{
	if (i + 1 < m->w->proc->parts.at[part].last)
		return live_before(m->w->proc, part, i + 1);
	return (struct liveness){.flags_live = m->u->machine->all_flags, .regs_live = m->u->machine->all_regs};
}

/* The operand of a call through a pointer. Empty: it is no such call, or the pointer cannot be loaded before the call. */
static struct str
pointer_of(const struct emitter *m, const struct insn *in)
{
	const struct stmt *s = &m->u->text->stmts.at[in->stmt];

	if (in->cls != CHORD_INSN_ICALL || s->flags & (STMT_FOREIGN | STMT_INLINE) || !m->u->text->compiler)
		return STR("");
	return m->u->machine->text->pointer(stmt_word(m->u->text, s), stmt_rest(m->u->text, s));
}

/* Puts a stub where the call is, if the call frame state cannot be stated elsewhere. */
static void
emit_over(struct emitter *m, uint32_t number, const struct buf *stub)
{
	const char *over = emit_name(m, 'V', number);

	m->u->machine->jump(&m->b, over);
	buf_add(&m->b, stub->at, stub->n);
	buf_printf(&m->b, "%s:\n", over);
}

/* The callee of a call through a pointer is counted before the call, in a slot that the runtime finds or makes. The counter after
 * the sums holds the slot of the thread's last call there. */
static void
emit_pointer(struct emitter *m, struct call *c, uint32_t number, struct liveness live)
{
	uint32_t part = m->w->proc->blocks.at[c->block].part;
	const struct insn *in = block_insn(m->w, c->block, c->insn);
	struct str operand = pointer_of(m, in);
	struct buf stub = {0}, there = {0}, back = {0};
	struct pointer_at at = {.label = m->counters, .offset = (uint64_t)m->w->ncounter * 8};
	struct buf ask = {0}, on = {0};
	uint32_t behind = stmt_behind(m->u->text, m->w->proc->parts.at[part].last_stmt) + 1;

	if (!operand.n || live.flags_live)
		return;
	bool far = cfi_move(m->u->cfi, behind, in->stmt, &there, &back);
	c->flags |= CHORD_CALL_POINTER;
	label_add(&ask, 'Q', m->w->number, number);
	label_add(&on, 'K', m->w->number, number);
	buf_char(&ask, 0);
	buf_char(&on, 0);
	at.ask = ask.at;
	at.on = on.at;
	emit_label(&stub, 'Q', m->w->number, number);
	buf_add(&stub, there.at, there.n);
	m->u->machine->pointer(&m->b, &stub, operand, at, live);
	buf_add(&stub, back.at, back.n);
	if (far)
		buf_add(&m->stubs[part], stub.at, stub.n);
	else
		emit_over(m, number, &stub);
	m->w->ncounter++;
	buf_free(&stub);
	buf_free(&there);
	buf_free(&back);
	buf_free(&ask);
	buf_free(&on);
}

/* Adds what was counted so far to the sums of a call, or subtracts it. */
static void
add_sums(struct emitter *m, const struct call *c, bool subtract, bool below, struct liveness live)
{
	for (uint32_t k = 0; k < m->o->events.n; k++)
		m->u->machine->add_sum(&m->b, m->numbers[k], m->counters, (uint64_t)(c->sum - 1 + k) * 8, subtract, below, live);
}

/* Before the call, the counter is subtracted from the sum of the call, and after the call it is added. What remains is what was
 * counted in between. No activation has to keep anything, even with recursion. */
static void
emit_sum(struct emitter *m, struct call *c, uint32_t number, uint32_t stmt)
{
	const struct block_text *b = &m->w->proc->block_text.at[c->block];
	uint32_t i = b->first + c->insn, last = emit_returned(m, c->block, i, stmt);
	const struct insn *in = woven_insn(m->w, c->block, i);
	struct liveness before = live_before(m->w->proc, b->part, i);
	struct liveness after = live_behind(m, b->part, i);
	/* Compilers keep nothing below the stack pointer in procedures that call. */
	bool compiled = m->u->text->compiler && !(m->u->text->stmts.at[stmt].flags & STMT_INLINE);
	const char *callee = woven_callee(m->u, emit_code(m, c->block), in, m->w->proc);

	cfi_need(m->u->cfi, in->stmt, &before);
	cfi_need(m->u->cfi, last + 1, &after);
	c->sum = m->w->ncounter + 1;
	c->callee = callee ? callee : "";
	m->w->ncounter += m->o->events.n;
	add_sums(m, c, true, true, before);
	if (!callee)
		emit_pointer(m, c, number, before);
	emit_text(m, emit_before(m, c->block, i), RANK_CALL, in->stmt);
	emit_segment(m, c->block, i);
	if (c->flags & CHORD_CALL_NORETURN)
		return;
	add_sums(m, c, false, compiled, after);
	emit_text(m, emit_behind(m, last), RANK_RETURNED, stmt);
	if (i + 1 < b->last)
		emit_segment(m, c->block, i + 1);
}

/* A call to a place in the procedure itself has no sum, because data may come after it. */
static void
at_call(struct emitter *m, uint32_t number, uint32_t stmt)
{
	struct call *c = &m->w->call_sites.at[number];
	const struct block_text *b = &m->w->proc->block_text.at[c->block];
	uint32_t i = b->first + c->insn;

	if (m->w->labelled.at[number] && woven_insn(m->w, c->block, i)->stmt == stmt && !emit_is_glued(m, c->block, i) &&
	    !(i + 1 == b->last && calls_within(m->w, c->block)))
		emit_sum(m, c, number, stmt);
}

const struct weave_measure weave_calls = {.at_call = at_call};
