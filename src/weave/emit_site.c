/* SPDX-License-Identifier: MIT */
/* The code at the places that were chosen: in blocks, after them, in stubs and at splits; and the jumps that are turned to it. */
#include "asm/dest.h"
#include "weave/measure.h"

#include <ctype.h>
#include <string.h>

bool
emit_far(struct emitter *m, uint32_t block, uint32_t stmt, const struct buf *stub)
{
	const struct proc_text *p = m->w->proc;
	uint32_t part = p->blocks.at[block].part;
	struct buf there = {0}, back = {0};
	bool moves = stmt != UINT32_MAX &&
	             cfi_move(m->u->cfi, stmt_behind(m->u->text, p->parts.at[part].last_stmt) + 1, stmt, &there, &back);

	if (moves) {
		buf_add(&m->cold[part], there.at, there.n);
		buf_add(&m->cold[part], stub->at, stub->n);
		buf_add(&m->cold[part], back.at, back.n);
	}
	buf_free(&there);
	buf_free(&back);
	return moves;
}

uint32_t
emit_stmt_at(const struct emitter *m, const struct site *s)
{
	const struct insn *last = emit_last(m, s->block);

	if (s->where == SITE_AFTER)
		return stmt_behind(m->u->text, code_end_stmt(m->u, emit_code(m, s->block), last)) + 1;
	return s->where == SITE_STUB ? last->stmt : woven_insn(m->w, s->block, s->insn)->stmt;
}

static void
load_base(struct emitter *m, struct buf *b, const struct site *s, unsigned what, const char *label)
{
	uint8_t reg = s->base[what];

	if (s->lends >> what & 1)
		m->u->machine->lend(b, reg, m->w->lent[reg - 1]);
	if (s->load >> what & 1)
		m->u->machine->load_base(b, label, reg);
}

static uint64_t
offset_of(uint32_t counter)
{
	return (uint64_t)(counter - 1) * 8;
}

/* Adds n once for all promotions in the list that share the number of executions under way. */
static void
add_open(struct emitter *m, struct buf *b, const struct count_code *list, int32_t n, const struct site *s)
{
	for (const struct count_code *c = list; c; c = c->next) {
		uint32_t open = m->w->promotions.at[c->promotion - 1].open;
		const struct count_code *first = list;

		while (m->w->promotions.at[first->promotion - 1].open != open)
			first = first->next;
		if (first == c)
			m->u->machine->add(b, m->counters, offset_of(open), n, 0, s->live);
	}
}

struct counted_steps
emit_steps(const struct promotion *p)
{
	int64_t stride = p->stride < 0 ? -p->stride : p->stride;

	return (struct counted_steps){.var = (uint8_t)(p->var - 1), .reg = (uint8_t)(p->reg - 1), .below = p->below,
	                              .shift = (uint8_t)__builtin_ctzll((uint64_t)stride), .down = p->stride < 0};
}

static struct counted_steps
steps_at(const struct promotion *p, const struct count_code *c)
{
	struct counted_steps s = emit_steps(p);

	s.reg = (uint8_t)((p->reg ? p->reg : c->temp) - 1);
	s.scratch = c->scratch;
	s.more = c->more;
	return s;
}

static void
end_counts(struct emitter *m, struct buf *b, const struct site *s)
{
	for (const struct count_code *c = s->ends; c; c = c->next) {
		const struct promotion *p = &m->w->promotions.at[c->promotion - 1];
		struct counted_steps steps = steps_at(p, c);

		if (p->var)
			m->u->machine->end_steps(b, &steps, m->counters, offset_of(p->counter));
		else
			m->u->machine->add_count(b, (uint8_t)(p->reg - 1), m->counters, offset_of(p->counter), s->live);
	}
	add_open(m, b, s->ends, -1, s);
}

static void
begin_counts(struct emitter *m, struct buf *b, const struct site *s)
{
	add_open(m, b, s->begins, 1, s);
	for (const struct count_code *c = s->begins; c; c = c->next) {
		const struct promotion *p = &m->w->promotions.at[c->promotion - 1];
		struct counted_steps steps = steps_at(p, c);

		if (p->var)
			m->u->machine->begin_steps(b, &steps);
		else
			m->u->machine->begin_count(b, (uint8_t)(p->reg - 1));
	}
}

static void
add_counter(struct emitter *m, struct buf *b, const struct site *at)
{
	struct site site = *at, *s = &site;

	cfi_need(m->u->cfi, emit_stmt_at(m, s), &s->live);
	end_counts(m, b, s);
	load_base(m, b, s, BASE_COUNTERS, m->counters);
	load_base(m, b, s, BASE_CELLS, m->counters);
	if (s->base[BASE_NUMBERS])
		load_base(m, b, s, BASE_NUMBERS, m->numbers[0]);
	measures_probe(m, b, s);
	if (s->gets_back)
		m->u->machine->get_back(b, s->gets_back, m->w->lent[s->gets_back - 1]);
	begin_counts(m, b, s);
}

/* ---- jumps ---- */

static void
replace_operand(struct emitter *m, const struct insn *in, char kind, uint32_t number)
{
	const struct text *t = m->u->text;
	struct str rest = stmt_rest(t, &t->stmts.at[jump_stmt(m->u, in)]);

	label_add(&m->b, kind, m->w->number, number);
	edit_add(m->e, (uint32_t)(rest.at - t->at), (uint32_t)rest.n, RANK_OPERAND, &m->b);
}

/* Is the operand a distance in bytes? Woven code changes what it means. */
static bool
is_distance(struct str operand)
{
	return memchr(operand.at, '+', operand.n) || memchr(operand.at, '-', operand.n) || str_is(operand, ".");
}

/* Does the operand mean the same wherever the jump stands? */
static bool
is_movable(struct str operand)
{
	return operand.n && !isdigit((unsigned char)*operand.at) && !is_distance(operand) &&
	       !memchr(operand.at, ' ', operand.n);
}

static void
jump_on(struct emitter *m, struct buf *b, uint32_t e)
{
	const struct text *t = m->u->text;
	uint32_t from = m->w->proc->graph->edge[e].from, to = proc_lands(m->w->proc, m->w->proc->graph->edge[e].to);
	struct str operand = stmt_rest(t, &t->stmts.at[jump_stmt(m->u, emit_last(m, from))]);
	struct buf label = {0};

	if (to < m->w->proc->blocks.n && m->w->split[to]) {
		label_add(&label, 'T', m->w->number, to);
	} else if (to < m->w->proc->blocks.n && !is_movable(operand)) {
		m->target[to] = true;
		label_add(&label, 'J', m->w->number, to);
	} else {
		for (size_t i = 0; i < operand.n && operand.at[i] != ' ' && operand.at[i] != '\t'; i++)
			buf_char(&label, operand.at[i]);
	}
	buf_char(&label, 0);
	m->u->machine->jump(b, label.at);
	buf_free(&label);
}

/* A stub out of line, at the end of the part, with the call frame state of the place that jumps to it. */
static void
far_stub(struct emitter *m, uint32_t e)
{
	const struct proc_text *p = m->w->proc;
	uint32_t from = p->graph->edge[e].from, part = p->blocks.at[from].part;
	struct buf *b = &m->stubs[part], back = {0};

	emit_label(b, 'X', m->w->number, e);
	if (!cfi_move(m->u->cfi, stmt_behind(m->u->text, p->parts.at[part].last_stmt) + 1, emit_last(m, from)->stmt, b, &back))
		bug("call frame state of %s lost", p->name);
	add_counter(m, b, &m->w->edge[e]);
	jump_on(m, b, e);
	buf_add(b, back.at, back.n);
	buf_free(&back);
}

static void
near_stub(struct emitter *m, uint32_t e)
{
	const struct insn *in = emit_last(m, m->w->proc->graph->edge[e].from);
	struct buf jump = {0};

	label_add(&jump, 'O', m->w->number, e);
	buf_char(&jump, 0);
	m->u->machine->jump(&m->b, jump.at);
	emit_label(&m->b, 'X', m->w->number, e);
	add_counter(m, &m->b, &m->w->edge[e]);
	jump_on(m, &m->b, e);
	emit_label(&m->b, 'O', m->w->number, e);
	emit_text(m, emit_behind(m, jump_stmt(m->u, in)), RANK_INLINE, in->stmt);
	buf_free(&jump);
}

static void
emit_site(struct emitter *m, const struct site *s, uint32_t e)
{
	switch (s->where) {
	case SITE_BLOCK:
		add_counter(m, &m->b, s);
		emit_text(m, emit_before(m, s->block, s->insn), RANK_BEFORE, woven_insn(m->w, s->block, s->insn)->stmt);
		emit_segment(m, s->block, s->insn);
		break;
	case SITE_AFTER:
		add_counter(m, &m->b, s);
		emit_after(m, s->block, RANK_AFTER);
		break;
	case SITE_STUB:
		if (s->inline_stub)
			near_stub(m, e);
		else
			far_stub(m, e);
		break;
	default:
		break;
	}
}

/* A block with a split: control that falls into it jumps over the counter; see emit_jumps(). */
static void
emit_split(struct emitter *m, uint32_t e)
{
	const struct site *s = &m->w->edge[e];

	if (m->w->proc->arc_text.at[e].jump)
		emit_label(&m->b, 'X', m->w->number, e);
	add_counter(m, &m->b, s);
	emit_text(m, emit_before_line(m, s->block, s->insn), RANK_BEFORE, woven_insn(m->w, s->block, s->insn)->stmt);
}

static void
emit_split_label(struct emitter *m, uint32_t block, uint32_t insn)
{
	emit_label(&m->b, 'T', m->w->number, block);
	emit_text(m, emit_before(m, block, insn), RANK_BEFORE, woven_insn(m->w, block, insn)->stmt);
	emit_segment(m, block, insn);
}

static void
emit_splits(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;
	uint32_t *insn = pool_array(m->u->pool, p->blocks.n + 1, sizeof *insn);

	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (site_used(&m->w->edge[e]) && m->w->edge[e].where == SITE_SPLIT) {
			/* If two counters stood before one label, both would count. The hub and ENTRY share one site only if one of
			 * them is fixed. */
			if (insn[m->w->edge[e].block])
				bug("two splits of a block in %s", p->name);
			insn[m->w->edge[e].block] = m->w->edge[e].insn + 1;
			emit_split(m, e);
		}
	for (uint32_t b = 0; b < p->blocks.n; b++)
		if (insn[b])
			emit_split_label(m, b, insn[b] - 1);
}

/* A jump that cannot reach its target with woven code in between leads to another jump right behind it. */
static void
lengthen(struct emitter *m, uint32_t e)
{
	const struct insn *in = emit_last(m, m->w->proc->graph->edge[e].from);
	const struct site *s = &m->w->edge[e];
	struct buf label = {0};

	replace_operand(m, in, 'l', e);
	label_add(&label, 'm', m->w->number, e);
	buf_char(&label, 0);
	m->u->machine->jump(&m->b, label.at);
	emit_label(&m->b, 'l', m->w->number, e);
	if (site_used(s) && s->where == SITE_SPLIT) {
		label.n = 0;
		label_add(&label, 'X', m->w->number, e);
		buf_char(&label, 0);
		m->u->machine->jump(&m->b, label.at);
	} else {
		jump_on(m, &m->b, e);
	}
	emit_label(&m->b, 'm', m->w->number, e);
	emit_text(m, emit_behind(m, jump_stmt(m->u, in)), RANK_INLINE, in->stmt);
	buf_free(&label);
}

static bool
is_too_far(const struct emitter *m, uint32_t e)
{
	const struct site *s = &m->w->edge[e];

	return m->w->proc->arc_text.at[e].jump && emit_last(m, m->w->proc->graph->edge[e].from)->attr & INSN_TOO_FAR &&
	       !(site_used(s) && s->where == SITE_STUB);
}

/* Jumps to a block that is split lead to the place after its counter, or to a stub if the edge has one. */
void
emit_jumps(struct emitter *m)
{
	const struct proc_text *p = m->w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		const struct edge *edge = &p->graph->edge[e];
		uint32_t to = proc_lands(p, edge->to);
		bool split = to < p->blocks.n && m->w->split[to];
		const struct site *s = &m->w->edge[e];

		if (site_used(s) && s->where == SITE_SPLIT && p->arc_text.at[e].jump && p->arc_text.at[e].stuck)
			continue; /* it leads to the label before its code */
		if (is_too_far(m, e)) {
			lengthen(m, e);
			continue;
		}
		if (site_used(s) && (s->where == SITE_STUB || (s->where == SITE_SPLIT && p->arc_text.at[e].jump))) {
			replace_operand(m, emit_last(m, edge->from), 'X', e);
		} else if (split && p->arc_text.at[e].jump) {
			replace_operand(m, emit_last(m, edge->from), 'T', to);
		} else if (split && edge->from < p->blocks.n && p->arcs.at[e].kind == CHORD_EDGE_FALL) {
			struct buf label = {0};

			label_add(&label, 'T', m->w->number, to);
			buf_char(&label, 0);
			m->u->machine->jump(&m->b, label.at);
			buf_free(&label);
			emit_after(m, edge->from, RANK_OVER);
		} else if (to < p->blocks.n && p->arc_text.at[e].jump && !p->arc_text.at[e].stuck &&
		           is_distance(stmt_rest(m->u->text, &m->u->text->stmts.at[jump_stmt(m->u, emit_last(m, edge->from))]))) {
			m->target[to] = true;
			replace_operand(m, emit_last(m, edge->from), 'J', to);
		}
	}
}

/* If code of an edge into a block and of an edge out of it stands at one place, the code of the edge into it has to come first. */
static void
emit_edges(struct emitter *m, bool in)
{
	struct woven *w = m->w;

	for (uint32_t i = 0; i < w->proc->arcs.n; i++) {
		const struct site *s = &w->edge[i];

		if (site_used(s) && (s->where == SITE_BLOCK && w->proc->graph->edge[i].from != s->block) == in)
			emit_site(m, s, i);
	}
	for (uint32_t i = 0; i < w->proc->arcs.n && w->early && !in; i++)
		if (site_used(&w->early[i]))
			emit_site(m, &w->early[i], i);
}

static void
emit_loads(struct emitter *m, bool last)
{
	for (size_t i = 0; i < m->w->loads.n; i++)
		if (m->w->loads.at[i].last == last)
			emit_site(m, &m->w->loads.at[i].site, m->w->loads.at[i].edge);
}

void
emit_sites(struct emitter *m)
{
	struct woven *w = m->w;

	/* This is the first record that an activation writes to a trace. */
	if (w->begins)
		emit_site(m, &w->data.at[0].site, 0);
	emit_splits(m);
	emit_loads(m, false);
	emit_edges(m, true);
	emit_edges(m, false);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		if (site_used(&w->block[b]))
			emit_site(m, &w->block[b], 0);
	for (size_t i = 0; i < w->call_free.n; i++)
		if (site_used(&w->call_free.at[i].site))
			emit_site(m, &w->call_free.at[i].site, 0);
	emit_loads(m, true);
	for (size_t i = w->begins; i < w->data.n; i++)
		emit_site(m, &w->data.at[i].site, 0);
}
