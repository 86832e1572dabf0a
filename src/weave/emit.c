/* SPDX-License-Identifier: MIT */
/* The changes to the text that put the chosen counters in place. Labels, with
 * p the number of the procedure and LABEL_PREFIX before them:
 *   Ap_k, Zp_k  start and end of part k       Cp    its counters
 *   Bp_s        segment s                     Rp_c  return address of call c
 *   Xp_e        stub of edge e                Op_e  behind a stub that stands in line
 *   Tp_b        block b behind its split      Jp_b  block b, for stubs that jump to it
 *   Qp_c        asks who is called at call c  Kp_c  where that goes on
 *   Gp_n, Hp_n  guard of a path's memory, and where that goes on; n: number of the code for paths
 *   Ip_n, Dp_n  a path that has to look for its entry, and where that goes on
 *   Vp_n        behind these, if they stand in line
 *   Yp          describes the table of paths
 *   Ep_k        asks whether a timer is due   Fp_k  where that goes on
 *   Sp_k, Up_k  what the runtime has to know of part k for timers */
#include "weave/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define L LABEL_PREFIX

struct emitter {
	const struct unit *u;
	struct woven *w;
	struct edits *e;
	struct buf b;
	const struct weave_options *o;
	char counters[32];
	const char **event;     /* symbols of the events' counters */
	bool *target;           /* by block: needs a J label */
	struct buf *stubs;      /* by part */
	struct buf *cold;       /* by part: stubs that are rarely run */
	struct path_counters table;
	char table_desc[32];
	const char **due;       /* by event: the routine that knows its timers */
	uint32_t nask;
};

void
label_add(struct buf *b, char kind, uint32_t proc, size_t number)
{
	buf_str(b, L);
	buf_char(b, kind);
	buf_number(b, proc);
	buf_char(b, '_');
	buf_number(b, number);
}

static void
label_define(struct buf *b, char kind, uint32_t proc, size_t number)
{
	label_add(b, kind, proc, number);
	buf_char(b, ':');
}

static const struct insn *
last_of(const struct emitter *m, uint32_t block)
{
	return woven_insn(m->w, block, m->w->proc->blocks.at[block].last - 1);
}

static uint32_t
stmt_end(const struct emitter *m, uint32_t stmt)
{
	const struct stmt *s = &m->u->text->stmts.at[stmt];

	return s->at + s->len;
}

/* The last statement that an instruction is written in: a prefix may be one of its own. */
static uint32_t
end_stmt(const struct emitter *m, const struct code *c, const struct insn *in)
{
	size_t lo = 0, hi = c->stmts.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->u->place[c->stmts.at[mid]].off < in->off + in->len)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && m->u->text->stmts.at[c->stmts.at[lo - 1]].kind == STMT_LABEL)
		lo--;
	if (!lo || (in->stmt != UINT32_MAX && m->u->place[c->stmts.at[lo - 1]].off <= in->off))
		return in->stmt;
	return c->stmts.at[lo - 1];
}

static const struct code *
code_of(const struct emitter *m, uint32_t block)
{
	const struct proc *p = m->w->proc;

	return p->parts.at[p->blocks.at[block].part].code;
}

static uint32_t
before_insn(const struct emitter *m, uint32_t block, uint32_t i)
{
	return m->u->text->stmts.at[woven_insn(m->w, block, i)->stmt].at;
}

/* Text in another syntax than ours goes between switches. */
static void
put(struct emitter *m, uint32_t at, uint32_t rank, uint32_t stmt)
{
	bool intel = m->u->text->stmts.at[stmt].flags & STMT_INTEL;
	struct buf all = {0};

	if (!m->b.n)
		return;
	if (rank <= RANK_END)
		buf_char(&all, '\n');
	if (intel)
		buf_str(&all, "\t.att_syntax prefix\n");
	buf_add(&all, m->b.at, m->b.n);
	if (intel)
		buf_str(&all, "\t.intel_syntax noprefix\n");
	buf_char(&all, ' ');
	edit_add(m->e, at, 0, rank, &all);
	buf_free(&all);
	m->b.n = 0;
}

static const char *
label_of(struct emitter *m, char kind, size_t number)
{
	return pool_printf(m->u->pool, L "%c%u_%zu", kind, m->w->number, number);
}

/* What is rarely run goes to the end of the part, with the call frame state of a statement where it is jumped from. False:
 * that cannot be stated there. */
static bool
add_far(struct emitter *m, uint32_t block, uint32_t stmt, const struct buf *stub)
{
	const struct proc *p = m->w->proc;
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

static void
add_cold(struct emitter *m, struct buf *b, const struct site *s, const struct buf *stub)
{
	const char *over;

	if (add_far(m, s->block, s->path->stmt, stub))
		return;
	over = label_of(m, 'V', s->path->number);
	m->u->machine->jump(b, over);
	buf_add(b, stub->at, stub->n);
	buf_printf(b, "%s:\n", over);
}

/* The statement at whose call frame state a site's code runs. */
static uint32_t
stmt_at(const struct emitter *m, const struct site *s)
{
	const struct insn *last = last_of(m, s->block);

	if (s->where == SITE_AFTER)
		return stmt_behind(m->u->text, end_stmt(m, code_of(m, s->block), last)) + 1;
	return s->where == SITE_STUB ? last->stmt : woven_insn(m->w, s->block, s->insn)->stmt;
}

/* An event with timers. The stub asks whether one is due. */
static void
add_timed(struct emitter *m, struct buf *b, const struct site *s, uint32_t event)
{
	uint32_t at = stmt_at(m, s), number = m->nask++;
	struct timed_at t = {.ask = label_of(m, 'E', number), .on = label_of(m, 'F', number), .due = m->due[event],
		.lag = s->lag[event], .by_sp = !cfi_by_frame_pointer(m->u->cfi, at)};
	struct buf none = {0}, stub = {0};

	t.in_line = !add_far(m, s->block, at, &none);
	m->u->machine->add_timed(b, &stub, m->event[event], s->way * 16u, (int32_t)s->add[event], &t, s->gap);
	if (!t.in_line)
		add_far(m, s->block, at, &stub);
	buf_free(&stub);
}

static void
add_path(struct emitter *m, struct buf *b, const struct site *s)
{
	struct path_place place = s->path->place;
	struct buf stub = {0};

	place.guard = label_of(m, 'G', s->path->number);
	place.guarded = label_of(m, 'H', s->path->number);
	place.miss = label_of(m, 'I', s->path->number);
	place.counted = label_of(m, 'D', s->path->number);
	m->u->machine->path(b, &stub, &s->path->op, &m->table, &place);
	if (stub.n)
		add_cold(m, b, s, &stub);
	buf_free(&stub);
}

static void
add_counter(struct emitter *m, struct buf *b, const struct site *s)
{
	if (s->path)
		add_path(m, b, s);
	if (s->counter)
		m->u->machine->add(b, m->counters, (uint64_t)(s->counter - 1) * 8, 1, s->gap);
	for (uint32_t k = 0; s->add && k < m->o->events.n; k++)
		if (s->add[k] && m->o->events.at[k].timed)
			add_timed(m, b, s, k);
		else if (s->add[k])
			m->u->machine->add(b, m->event[k], s->way * 8u, (int32_t)s->add[k], s->gap);
}

/* ---- jumps ---- */

static void
replace_operand(struct emitter *m, const struct insn *in, char kind, uint32_t number)
{
	const struct text *t = m->u->text;
	struct str rest = stmt_rest(t, &t->stmts.at[in->stmt]);

	label_add(&m->b, kind, m->w->number, number);
	edit_add(m->e, (uint32_t)(rest.at - t->at), (uint32_t)rest.n, RANK_OPERAND, &m->b);
}

/* Operands that count bytes: woven code changes what they mean. */
static bool
is_distance(struct str operand)
{
	return memchr(operand.at, '+', operand.n) || memchr(operand.at, '-', operand.n) || str_is(operand, ".");
}

/* Operands that mean the same wherever the jump stands. */
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
	uint32_t from = m->w->proc->graph->edge[e].from, to = m->w->proc->graph->edge[e].to;
	struct str operand = stmt_rest(t, &t->stmts.at[last_of(m, from)->stmt]);
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

/* A stub out of line, at the end of the part, with the call frame state of where it is jumped from. */
static void
far_stub(struct emitter *m, uint32_t e)
{
	const struct proc *p = m->w->proc;
	uint32_t from = p->graph->edge[e].from, part = p->blocks.at[from].part;
	struct buf *b = &m->stubs[part], back = {0};

	label_define(b, 'X', m->w->number, e);
	if (!cfi_move(m->u->cfi, stmt_behind(m->u->text, p->parts.at[part].last_stmt) + 1, last_of(m, from)->stmt, b, &back))
		bug("call frame state of %s lost", p->name);
	add_counter(m, b, &m->w->edge[e]);
	jump_on(m, b, e);
	buf_add(b, back.at, back.n);
	buf_free(&back);
}

static void
near_stub(struct emitter *m, uint32_t e)
{
	const struct insn *in = last_of(m, m->w->proc->graph->edge[e].from);
	struct buf jump = {0};

	label_add(&jump, 'O', m->w->number, e);
	buf_char(&jump, 0);
	m->u->machine->jump(&m->b, jump.at);
	label_define(&m->b, 'X', m->w->number, e);
	add_counter(m, &m->b, &m->w->edge[e]);
	jump_on(m, &m->b, e);
	label_define(&m->b, 'O', m->w->number, e);
	put(m, stmt_end(m, in->stmt), RANK_INLINE, in->stmt);
	buf_free(&jump);
}

/* ---- counters ---- */

static void
add_segment(struct emitter *m, uint32_t block, uint32_t insn)
{
	VEC_PUSH(m->w->segments, (struct segment){block, insn});
}

static void
after_block(struct emitter *m, uint32_t block, uint32_t rank)
{
	uint32_t stmt = stmt_behind(m->u->text, end_stmt(m, code_of(m, block), last_of(m, block)));

	put(m, stmt_end(m, stmt), rank, stmt);
}

static void
emit_site(struct emitter *m, const struct site *s, uint32_t e)
{
	switch (s->where) {
	case SITE_BLOCK:
		add_counter(m, &m->b, s);
		put(m, before_insn(m, s->block, s->insn), RANK_BEFORE, woven_insn(m->w, s->block, s->insn)->stmt);
		add_segment(m, s->block, s->insn);
		break;
	case SITE_AFTER:
		add_counter(m, &m->b, s);
		after_block(m, s->block, RANK_AFTER);
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

/* A block with a split: who falls into it jumps over the counter; see turn_jumps(). */
static void
emit_split(struct emitter *m, uint32_t e)
{
	const struct site *s = &m->w->edge[e];

	if (m->w->proc->arcs.at[e].jump)
		label_define(&m->b, 'X', m->w->number, e);
	add_counter(m, &m->b, s);
	put(m, before_insn(m, s->block, s->insn), RANK_BEFORE, woven_insn(m->w, s->block, s->insn)->stmt);
}

static void
emit_split_label(struct emitter *m, uint32_t block, uint32_t insn)
{
	label_define(&m->b, 'T', m->w->number, block);
	put(m, before_insn(m, block, insn), RANK_BEFORE, woven_insn(m->w, block, insn)->stmt);
	add_segment(m, block, insn);
}

static void
emit_splits(struct emitter *m)
{
	const struct proc *p = m->w->proc;
	uint32_t *insn = pool_array(m->u->pool, p->blocks.n + 1, sizeof *insn);

	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (site_used(&m->w->edge[e]) && m->w->edge[e].where == SITE_SPLIT) {
			/* Two counters before one label would both count: the hub and ENTRY share one site only if one is fixed. */
			if (insn[m->w->edge[e].block])
				bug("two splits of a block in %s", p->name);
			insn[m->w->edge[e].block] = m->w->edge[e].insn + 1;
			emit_split(m, e);
		}
	for (uint32_t b = 0; b < p->blocks.n; b++)
		if (insn[b])
			emit_split_label(m, b, insn[b] - 1);
}

/* Jumps to a block that is split go behind its counter, and to a stub where the edge has one. */
static void
turn_jumps(struct emitter *m)
{
	const struct proc *p = m->w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		const struct edge *edge = &p->graph->edge[e];
		bool split = edge->to < p->blocks.n && m->w->split[edge->to];
		const struct site *s = &m->w->edge[e];

		if (site_used(s) && s->where == SITE_SPLIT && p->arcs.at[e].jump && p->arcs.at[e].stuck)
			continue; /* it comes to the label before its code */
		if (site_used(s) && (s->where == SITE_STUB || (s->where == SITE_SPLIT && p->arcs.at[e].jump))) {
			replace_operand(m, last_of(m, edge->from), 'X', e);
		} else if (split && p->arcs.at[e].jump) {
			replace_operand(m, last_of(m, edge->from), 'T', edge->to);
		} else if (split && p->arcs.at[e].kind == CHORD_EDGE_FALL) {
			struct buf label = {0};

			label_add(&label, 'T', m->w->number, edge->to);
			buf_char(&label, 0);
			m->u->machine->jump(&m->b, label.at);
			buf_free(&label);
			after_block(m, edge->from, RANK_OVER);
		} else if (edge->to < p->blocks.n && p->arcs.at[e].jump && !p->arcs.at[e].stuck &&
		           is_distance(stmt_rest(m->u->text, &m->u->text->stmts.at[last_of(m, edge->from)->stmt]))) {
			m->target[edge->to] = true;
			replace_operand(m, last_of(m, edge->from), 'J', edge->to);
		}
	}
}

/* ---- labels by which woven code can be told from the original's offsets ---- */

static int
by_segment(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Is there anything between the instruction and the one before that aligns it? In woven code that is of another
 * length, and may be there only then. */
static bool
is_aligned(const struct emitter *m, const struct code *c, uint32_t insn)
{
	uint32_t to = c->insns.at[insn].stmt, stmt = to, i = insn;

	while (i-- > 0 && stmt == to)
		if (c->insns.at[i].stmt != UINT32_MAX)
			stmt = c->insns.at[i].stmt;
	for (; to != UINT32_MAX && stmt < to; stmt++)
		if (m->u->text->stmts.at[stmt].flags & STMT_PAD)
			return true;
	return false;
}

static void
emit_segments(struct emitter *m)
{
	struct woven *w = m->w;
	size_t n = 0;

	for (uint32_t b = 0; b < w->proc->blocks.n; b++) {
		const struct block *k = &w->proc->blocks.at[b];

		for (uint32_t i = k->first; i < k->last; i++)
			if (i == k->first || is_aligned(m, code_of(m, b), i))
				add_segment(m, b, i);
	}
	qsort(w->segments.at, w->segments.n, sizeof *w->segments.at, by_segment);
	for (size_t i = 0; i < w->segments.n; i++)
		if (!i || by_segment(&w->segments.at[i], &w->segments.at[n - 1]))
			w->segments.at[n++] = w->segments.at[i];
	w->segments.n = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct segment *s = &w->segments.at[i];
		uint32_t stmt = woven_insn(m->w, s->block, s->insn)->stmt;

		if (stmt == UINT32_MAX)
			continue;
		label_define(&m->b, 'B', w->number, i);
		put(m, m->u->text->stmts.at[stmt].at, RANK_SEGMENT, stmt);
	}
}

/* A call whose return address a label can be put at. */
static bool
can_label_return(const struct emitter *m, const struct code *c, const struct insn *in, uint32_t stmt)
{
	uint32_t next = in->off + in->len;

	if (stmt == UINT32_MAX || m->u->text->stmts.at[stmt].kind != STMT_CODE)
		return false;
	return next >= c->nbyte || c->at[next] == UINT32_MAX || c->insns.at[c->at[next]].stmt != UINT32_MAX;
}

/* Linkers, or the code itself (`call 1f; 1: pop`), want nothing before the call or behind it. */
static bool
is_glued(const struct emitter *m, uint32_t block, uint32_t i)
{
	const struct part *t = &m->w->proc->parts.at[m->w->proc->blocks.at[block].part];

	return t->code->insns.at[i].attr & INSN_GLUED || (i + 1 < t->last && t->code->insns.at[i + 1].attr & INSN_GLUED);
}

/* What is live behind an instruction that falls through. */
static struct gap
gap_behind(const struct emitter *m, uint32_t part, uint32_t i)
{
	if (i + 1 < m->w->proc->parts.at[part].last)
		return gap_before(m->w->proc, part, i + 1);
	return (struct gap){m->u->machine->all_flags, m->u->machine->all_regs};
}

/* The operand of a call through a pointer, without the star. Empty: it is none that can be loaded before the call. */
static struct str
pointer_of(const struct emitter *m, const struct insn *in)
{
	const struct stmt *s = &m->u->text->stmts.at[in->stmt];
	struct str word = stmt_word(m->u->text, s), rest = stmt_rest(m->u->text, s);

	if (in->cls != CHORD_INSN_ICALL || s->flags & (STMT_INTEL | STMT_INLINE) || !m->u->text->compiler ||
	    !(str_is(word, "call") || str_is(word, "callq")) || rest.n < 2 || *rest.at != '*' ||
	    memchr(rest.at, '@', rest.n) || memchr(rest.at, '#', rest.n) || memchr(rest.at, '"', rest.n) ||
	    memmem(rest.at, rest.n, "%e", 2))
		return STR("");
	return (struct str){rest.at + 1, rest.n - 1};
}

/* Who is called through a pointer is counted before the call, in a slot that the runtime finds or makes. The number
 * behind the sums holds the slot of the thread's last call there. */
static void
emit_pointer(struct emitter *m, struct call *c, uint32_t number, struct gap gap)
{
	uint32_t part = m->w->proc->blocks.at[c->block].part;
	const struct insn *in = woven_insn(m->w, c->block, c->insn);
	struct str operand = pointer_of(m, in);
	struct buf stub = {0}, back = {0}, *b = &m->stubs[part];
	struct pointer_at at = {.label = m->counters, .offset = (uint64_t)m->w->ncounter * 8};
	struct buf ask = {0}, on = {0};
	uint32_t behind = stmt_behind(m->u->text, m->w->proc->parts.at[part].last_stmt) + 1;

	if (!operand.n || gap.flags_live)
		return;
	if (!cfi_move(m->u->cfi, behind, in->stmt, &stub, &back))
		bug("call frame state of %s lost", m->w->proc->name);
	c->flags |= CHORD_CALL_POINTER;
	label_add(&ask, 'Q', m->w->number, number);
	label_add(&on, 'K', m->w->number, number);
	buf_char(&ask, 0);
	buf_char(&on, 0);
	label_define(b, 'Q', m->w->number, number);
	buf_add(b, stub.at, stub.n);
	at.ask = ask.at;
	at.on = on.at;
	m->u->machine->pointer(&m->b, b, operand, at, gap);
	buf_add(b, back.at, back.n);
	m->w->ncounter++;
	buf_free(&stub);
	buf_free(&back);
	buf_free(&ask);
	buf_free(&on);
}

/* Before the call what was counted so far is subtracted from its sum, behind it added: what remains is what was
 * counted meanwhile. Nothing of the activation has to be kept, whatever recursion there is. */
static void
emit_sum(struct emitter *m, struct call *c, uint32_t number, uint32_t stmt)
{
	const struct block *b = &m->w->proc->blocks.at[c->block];
	const struct insn *in = woven_insn(m->w, c->block, c->insn);
	struct gap before = gap_before(m->w->proc, b->part, c->insn);
	struct gap after = gap_behind(m, b->part, c->insn);
	/* Compilers keep nothing below the stack pointer in procedures that call. */
	bool compiled = m->u->text->compiler && !(m->u->text->stmts.at[stmt].flags & STMT_INLINE);
	uint64_t at = (uint64_t)m->w->ncounter * 8;

	c->sum = m->w->ncounter + 1;
	c->callee = woven_callee(m->u, code_of(m, c->block), in, m->w->proc);
	m->w->ncounter += m->o->events.n;
	for (uint32_t k = 0; k < m->o->events.n; k++)
		m->u->machine->add_sum(&m->b, m->event[k], CHORD_WAYS, m->counters, at + 8 * k, true, true, before);
	if (!c->callee)
		emit_pointer(m, c, number, before);
	put(m, before_insn(m, c->block, c->insn), RANK_CALL, in->stmt);
	add_segment(m, c->block, c->insn);
	if (c->flags & CHORD_CALL_NORETURN)
		return;
	for (uint32_t k = 0; k < m->o->events.n; k++)
		m->u->machine->add_sum(&m->b, m->event[k], CHORD_WAYS, m->counters, at + 8 * k, false, compiled, after);
	put(m, stmt_end(m, stmt_behind(m->u->text, stmt)), RANK_RETURNED, stmt);
	if (c->insn + 1 < b->last)
		add_segment(m, c->block, c->insn + 1);
}

static void
emit_calls(struct emitter *m)
{
	const struct proc *p = m->w->proc;
	bool *leaves = pool_array(m->u->pool, p->graph->nvert, sizeof *leaves);
	bool *twice = pool_array(m->u->pool, p->graph->nvert, sizeof *twice);

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		leaves[p->graph->edge[e].from] |= p->graph->edge[e].to == p->exit;
		twice[p->graph->edge[e].from] |= p->arcs.at[e].twice && m->w->paths;
	}
	for (uint32_t b = 0; b < p->blocks.n; b++)
		for (uint32_t i = p->blocks.at[b].first; i < p->blocks.at[b].last; i++) {
			const struct insn *in = woven_insn(m->w, b, i);
			uint32_t stmt, flags = 0;
			bool labelled;

			if (in->cls != CHORD_INSN_CALL && in->cls != CHORD_INSN_ICALL)
				continue;
			if (i + 1 == p->blocks.at[b].last && leaves[b])
				flags = CHORD_CALL_NORETURN;
			if (i + 1 == p->blocks.at[b].last && twice[b])
				flags = CHORD_CALL_TWICE;
			stmt = in->stmt == UINT32_MAX ? UINT32_MAX : end_stmt(m, code_of(m, b), in);
			labelled = can_label_return(m, code_of(m, b), in, stmt);
			if (labelled) {
				label_define(&m->b, 'R', m->w->number, m->w->calls.n);
				put(m, stmt_end(m, stmt), RANK_RETURN, stmt);
			}
			VEC_PUSH(m->w->calls, (struct call){b, i, flags, labelled, 0, NULL});
			if (m->o->calls && labelled && in->stmt == stmt && !is_glued(m, b, i))
				emit_sum(m, &m->w->calls.at[m->w->calls.n - 1], (uint32_t)m->w->calls.n - 1, stmt);
		}
}

/* The runtime records what a jump into another activation's frame abandons. */
static void
emit_aways(struct emitter *m)
{
	const struct proc *p = m->w->proc;
	struct away a;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		uint32_t from = p->graph->edge[e].from;

		if (p->arcs.at[e].kind != CHORD_EDGE_AWAY || !away_find(m->u, p, from, &a))
			continue;
		m->u->machine->away(&m->b, a.sp, a.pc, a.on_stack);
		put(m, before_insn(m, from, a.insn), RANK_BEFORE, woven_insn(m->w, from, a.insn)->stmt);
		add_segment(m, from, a.insn);
	}
}

static void
emit_targets(struct emitter *m)
{
	for (uint32_t b = 0; b < m->w->proc->blocks.n; b++) {
		uint32_t i = m->w->proc->blocks.at[b].first;

		if (!m->target[b])
			continue;
		label_define(&m->b, 'J', m->w->number, b);
		put(m, before_insn(m, b, i), RANK_TARGET, woven_insn(m->w, b, i)->stmt);
	}
}

/* ---- parts ---- */

static void
emit_part_start(struct emitter *m, uint32_t part)
{
	uint32_t stmt = m->w->proc->parts.at[part].first_stmt;

	label_define(&m->b, 'A', m->w->number, part);
	put(m, m->u->text->stmts.at[stmt].at, RANK_TARGET, stmt);
}

static void
emit_part_end(struct emitter *m, uint32_t part)
{
	const struct part *t = &m->w->proc->parts.at[part];
	const struct insn *last = &t->code->insns.at[t->last - 1];
	uint32_t stmt = stmt_behind(m->u->text, t->last_stmt);
	struct buf name = {0};

	buf_add(&m->stubs[part], m->cold[part].at, m->cold[part].n);
	buf_free(&m->cold[part]);
	if (m->stubs[part].n && last->attr & INSN_FALLS) {
		label_add(&name, 'Z', m->w->number, part);
		buf_char(&name, 0);
		m->u->machine->jump(&m->b, name.at);
	}
	buf_add(&m->b, m->stubs[part].at, m->stubs[part].n);
	label_define(&m->b, 'Z', m->w->number, part);
	if (part == 0) {
		map_record(m->u, m->w, m->o, &m->b);
		timer_record(m->u, m->w, m->o, &m->b);
	}
	put(m, stmt_end(m, stmt), RANK_END, stmt);
	buf_free(&m->stubs[part]);
	buf_free(&name);
}

static void
name_events(struct emitter *m)
{
	const struct event_list *list = &m->o->events;
	struct buf b = {0};

	m->event = pool_array(m->u->pool, list->n, sizeof *m->event);
	m->due = pool_array(m->u->pool, list->n, sizeof *m->due);
	for (uint32_t i = 0; i < list->n; i++) {
		b.n = 0;
		event_symbol(&b, &list->at[i], m->o->calls);
		m->event[i] = pool_strndup(m->u->pool, b.at, b.n);
		b.n = 0;
		event_symbol_of(&b, "due", &list->at[i]);
		m->due[i] = pool_strndup(m->u->pool, b.at, b.n);
	}
	buf_free(&b);
}

/* At one place the code of an edge into the block has to come before that of one out of it. */
static void
emit_edges(struct emitter *m, bool in)
{
	struct woven *w = m->w;

	for (uint32_t i = 0; i < w->proc->arcs.n; i++) {
		const struct site *s = &w->edge[i];

		if (site_used(s) && (s->where == SITE_BLOCK && w->proc->graph->edge[i].from != s->block) == in)
			emit_site(m, s, i);
	}
	for (uint32_t i = 0; i < w->proc->arcs.n && w->paths && !in; i++)
		if (site_used(&w->paths->before[i]))
			emit_site(m, &w->paths->before[i], i);
}

static void
emit_sites(struct emitter *m)
{
	struct woven *w = m->w;

	emit_splits(m);
	emit_edges(m, true);
	emit_edges(m, false);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		if (site_used(&w->block[b]))
			emit_site(m, &w->block[b], 0);
	for (size_t i = 0; i < w->pieces.n; i++)
		if (site_used(&w->pieces.at[i].site))
			emit_site(m, &w->pieces.at[i].site, 0);
}

void
emit_proc(const struct unit *u, struct woven *w, struct edits *e, const struct weave_options *o)
{
	struct emitter m = {.u = u, .w = w, .e = e, .o = o};
	struct proc *p = w->proc;

	m.target = pool_array(u->pool, p->blocks.n, sizeof *m.target);
	m.stubs = pool_array(u->pool, p->parts.n, sizeof *m.stubs);
	name_events(&m);
	snprintf(m.counters, sizeof m.counters, L "C%u", w->number);
	m.cold = pool_array(u->pool, p->parts.n, sizeof *m.cold);
	snprintf(m.table_desc, sizeof m.table_desc, L "Y%u", w->number);
	if (w->paths)
		m.table = (struct path_counters){.label = m.counters, .kind = w->paths->kind, .bits = (uint8_t)w->paths->size,
		                              .size = w->paths->size, .desc = m.table_desc};
	emit_sites(&m);
	turn_jumps(&m);
	emit_aways(&m);
	emit_calls(&m);
	emit_segments(&m);
	emit_targets(&m);
	for (uint32_t t = 0; t < p->parts.n; t++)
		emit_part_start(&m, t);
	for (uint32_t t = (uint32_t)p->parts.n; t-- > 0;)
		emit_part_end(&m, t);
	buf_free(&m.b);
}

void
emit_refused(const struct unit *u, struct woven *w, struct edits *e, const struct weave_options *o)
{
	struct emitter m = {.u = u, .w = w, .e = e};
	const struct proc *p = w->proc;
	uint32_t stmt = p->parts.at[0].last_stmt;

	if (stmt == UINT32_MAX)
		return;
	for (uint32_t t = 0; t < p->parts.n; t++)
		if (p->parts.at[t].first_stmt != UINT32_MAX) {
			emit_part_start(&m, t);
			label_define(&m.b, 'Z', w->number, t);
			if (t == 0)
				map_refused(u, w, o, &m.b);
			put(&m, stmt_end(&m, stmt_behind(u->text, p->parts.at[t].last_stmt)), RANK_END, p->parts.at[t].last_stmt);
		}
	buf_free(&m.b);
}

/* Functions that the runtime has to see called. In programs with a dynamic section it sees them by itself. */
static bool
is_watched(struct str name)
{
	static const char *const names[] = {"pthread_create", "vfork", "_Fork", "_exit", "_Exit", "quick_exit", "pthread_exit",
		"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "execve", "execv", "execvp", "execvpe", "fexecve", "execl",
		"execlp", "execle", "thrd_exit", "setcontext", "swapcontext", "prctl", "syscall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

/* The function stays wanted by code that nothing runs, so that an archive's member that has it is linked. */
static void
keep_wanted(struct buf *tail, struct str name)
{
	buf_printf(tail, "\t.section .text.chord_want,\"axG\",@progbits,__chord_want.%.*s,comdat\n\tjmp\t%.*s@PLT\n",
	           (int)name.n, name.at, (int)name.n, name.at);
}

void
emit_watched(const struct text *t, struct edits *e, struct buf *tail)
{
	struct buf b = {0};

	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		struct str word, name;

		if (s->kind != STMT_CODE || (t->at[s->at] != 'c' && t->at[s->at] != 'j'))
			continue;
		word = stmt_word(t, s);
		name = stmt_rest(t, s);
		if (!str_is(word, "call") && !str_is(word, "jmp") && !str_is(word, "callq") && !str_is(word, "jmpq"))
			continue;
		if (str_ends(name, "@PLT"))
			name.n -= 4;
		if (!is_watched(name))
			continue;
		keep_wanted(tail, name);
		buf_str(&b, "__chord_");
		edit_add(e, (uint32_t)(name.at - t->at), 0, RANK_OPERAND, &b);
	}
	buf_free(&b);
}
