/* SPDX-License-Identifier: MIT */
/* The changes to the text that put the chosen counters in place. Labels, with p the number of the procedure and LABEL_PREFIX before
 * them. No two kinds have the same letter and the same form, so each new kind is listed here:
 *   Ap_k, Zp_k  start and end of part k       Cp    its counters
 *   Bp_s        segment s                     Rp_c  return address of call c
 *   Xp_e        stub of edge e                Op_e  after a stub that stands in line
 *   Tp_b        block b after its split       Jp_b  block b, for stubs that jump to it
 *   Qp_c        stub of call c that asks which procedure is called; Kp_c: the code after it
 *   Gp_n, Hp_n  guard of a path's memory, and the code after it; n: number of the code for paths
 *   Ip_n, Dp_n  stub of a path that has to look for its entry, and the code after it
 *   jp_n, kp_n  stub of a path that may begin a signal handler, and the code after it
 *   vp_n        after these stubs of paths, if they stand in line
 *   Vp_c        after the stub of call c, if it stands in line
 *   Yp          describes the table of paths
 *   Ep_k        stub that asks whether a timer is due; Fp_k: the code after it
 *   Lp_n, Wp_n  stub by which the runtime writes down registers, and the code after it; n: number of the record
 *   Mp_k, Np_k, Up_k, Pp_k  code around system call k
 *   sp_k, up_k  what the runtime has to know of part k for timers; up_k: behind it
 *   lp_e, mp_e  a jump in place of a short one on edge e, and the code after it
 *   Mp, Np      the procedure's map, and the end of the map
 *   Wk          loop of query k, which belongs to the text
 * The text is first assembled with labels Sk before its statements (asm/label.c); woven text has them only
 * where it is compared with that one (lengths.c). */
#include "weave/emit.h"

#include <stdlib.h>

#define L LABEL_PREFIX

/* ---- labels that give instructions of woven code their offsets in the original ---- */

static int
by_segment(const void *a, const void *b)
{
	const struct seg *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Is there anything between the instruction and the one before that aligns it? Such padding has another length in woven code, or is
 * only there. */
static bool
is_aligned(const struct emitter *m, const struct code *c, uint32_t insn)
{
	uint32_t to = c->insns.at[insn].stmt, stmt = to, i = insn;

	while (to != UINT32_MAX && i-- > 0 && stmt == to)
		if (c->insns.at[i].stmt != UINT32_MAX)
			stmt = c->insns.at[i].stmt;
	for (; stmt < to; stmt++)
		if (m->u->text->stmts.at[stmt].flags & (STMT_PAD | STMT_ALIGNS))
			return true;
	return insn && c->insns.at[insn].loose != c->insns.at[insn - 1].loose;
}

static void
emit_segments(struct emitter *m)
{
	struct woven *w = m->w;
	size_t n = 0;

	for (uint32_t b = 0; b < w->proc->blocks.n; b++) {
		const struct block_text *k = &w->proc->block_text.at[b];

		for (uint32_t i = k->first; i < k->last; i++)
			if (i == k->first || is_aligned(m, emit_code(m, b), i))
				emit_segment(m, b, i);
	}
	qsort(w->segments.at, w->segments.n, sizeof *w->segments.at, by_segment);
	for (size_t i = 0; i < w->segments.n; i++)
		if (!i || by_segment(&w->segments.at[i], &w->segments.at[n - 1]))
			w->segments.at[n++] = w->segments.at[i];
	w->segments.n = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct seg *s = &w->segments.at[i];
		uint32_t stmt = block_insn(m->w, s->block, s->insn)->stmt;

		if (stmt == UINT32_MAX)
			continue;
		emit_label(&m->b, 'B', w->number, i);
		emit_text(m, m->u->text->stmts.at[stmt].at, RANK_SEGMENT, stmt);
	}
}

/* The block of the procedure that begins at an offset in a section's code. */
static uint32_t
block_from(const struct emitter *m, const struct code *c, uint32_t off)
{
	for (uint32_t b = 0; b < m->w->proc->blocks.n; b++)
		if (emit_code(m, b) == c && woven_insn(m->w, b, m->w->proc->block_text.at[b].first)->off == off)
			return b;
	bug("nothing begins at +0x%x of %s", off, m->w->proc->name);
}

/* In an instruction that loads an address by a distance in numbers, a label replaces the distance. */
static void
emit_addresses(struct emitter *m, const struct part *part)
{
	const struct text *t = m->u->text;

	for (uint32_t i = part->first; i < part->last; i++) {
		const struct insn *in = &part->code->insns.at[i];
		const struct stmt *s = in->stmt == UINT32_MAX ? NULL : &t->stmts.at[in->stmt];
		int n = s && (in->attr & (INSN_MENTIONS | INSN_RELOC)) == INSN_MENTIONS ? stmt_pc_number(t, s) : -1;
		uint32_t b;

		if (n < 0)
			continue;
		b = block_from(m, part->code, in->target);
		m->target[b] = true;
		label_add(&m->b, 'J', m->w->number, b);
		edit_add(m->e, (uint32_t)(stmt_rest(t, s).at - t->at), (uint32_t)n, RANK_OPERAND, &m->b);
	}
}

static void
emit_targets(struct emitter *m)
{
	for (uint32_t b = 0; b < m->w->proc->blocks.n; b++) {
		uint32_t i = m->w->proc->block_text.at[b].first;

		if (!m->target[b])
			continue;
		emit_label(&m->b, 'J', m->w->number, b);
		emit_text(m, emit_before(m, b, i), RANK_TARGET, woven_insn(m->w, b, i)->stmt);
	}
}

/* ---- parts ---- */

static void
emit_part_start(struct emitter *m, uint32_t part)
{
	uint32_t stmt = m->w->proc->parts.at[part].first_stmt;

	emit_label(&m->b, 'A', m->w->number, part);
	emit_text(m, m->u->text->stmts.at[stmt].at, RANK_TARGET, stmt);
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
	emit_label(&m->b, 'Z', m->w->number, part);
	if (part == 0) {
		map_record(m->u, m->w, m->o, &m->b);
		timer_record(m->u, m->w, m->o, &m->b);
	}
	emit_text(m, emit_behind(m, stmt), RANK_END, stmt);
	buf_free(&m->stubs[part]);
	buf_free(&name);
}

static void
name_events(struct emitter *m)
{
	const struct event_list *list = &m->o->events;
	struct buf b = {0};

	m->boxes = number_boxes(m->u->pool, list, at_calls(m->o));
	m->numbers = pool_array(m->u->pool, m->boxes.n, sizeof *m->numbers);
	m->due = pool_array(m->u->pool, list->n, sizeof *m->due);
	for (uint32_t i = 0; i < list->n; i++) {
		b.n = 0;
		event_symbol_of(&b, "due", &list->at[i]);
		m->due[i] = pool_strndup(m->u->pool, b.at, b.n);
	}
	for (uint32_t i = 0; i < m->boxes.n; i++) {
		b.n = 0;
		number_symbol(&b, &m->boxes.at[i], list, at_calls(m->o));
		m->numbers[i] = pool_strndup(m->u->pool, b.at, b.n);
	}
	buf_free(&b);
}

void
emit_proc(const struct unit *u, struct woven *w, struct edits *e, const struct weave_options *o)
{
	struct emitter m = {.u = u, .w = w, .e = e, .o = o};
	struct proc_text *p = w->proc;
	size_t first = e->list.n;

	m.target = pool_array(u->pool, p->blocks.n, sizeof *m.target);
	m.stubs = pool_array(u->pool, p->parts.n, sizeof *m.stubs);
	name_events(&m);
	snprintf(m.counters, sizeof m.counters, L "C%u", w->number);
	m.cold = pool_array(u->pool, p->parts.n, sizeof *m.cold);
	emit_sites(&m);
	emit_jumps(&m);
	emit_aways(&m);
	emit_traps(&m);
	emit_calls(&m);
	emit_tail_stamps(&m);
	emit_segments(&m);
	for (uint32_t i = 0; i < w->proc->parts.n; i++)
		emit_addresses(&m, &w->proc->parts.at[i]);
	emit_targets(&m);
	emit_aligned(&m, first);
	for (uint32_t t = 0; t < p->parts.n; t++)
		emit_part_start(&m, t);
	for (uint32_t t = (uint32_t)p->parts.n; t-- > 0;)
		emit_part_end(&m, t);
	buf_free(&m.b);
}

void
emit_refused(const struct unit *u, struct woven *w, struct edits *e)
{
	struct emitter m = {.u = u, .w = w, .e = e};
	const struct proc_text *p = w->proc;
	uint32_t stmt = p->parts.at[0].last_stmt;

	if (stmt == UINT32_MAX)
		return;
	for (uint32_t t = 0; t < p->parts.n; t++)
		if (p->parts.at[t].first_stmt != UINT32_MAX) {
			emit_part_start(&m, t);
			emit_label(&m.b, 'Z', w->number, t);
			if (t == 0)
				map_refused(u, w, &m.b);
			emit_text(&m, emit_behind(&m, stmt_behind(u->text, p->parts.at[t].last_stmt)), RANK_END,
			          p->parts.at[t].last_stmt);
		}
	buf_free(&m.b);
}
