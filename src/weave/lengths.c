/* SPDX-License-Identifier: MIT */
/* Numbers in instructions that the assembler finds by subtracting places in code, as in `addq $end-start, %rax`. The text need not
 * show them: macros, included files and names that are defined anew stand for others. So the woven text is assembled, and the
 * instructions that the text itself makes are compared with what they are without counters. */
#include "weave/internal.h"

#include "asm/mention.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a distance from the PC. */
enum { PC_SIZE = 4 };

/* What is compared: a section of the object that the text makes, and the same in woven text's. */
struct pair {
	const struct unit *u;
	const struct code *code;
	const struct obj_section *plain, *woven;
	uint32_t at, to;      /* offsets that correspond */
};

/* ---- does the text subtract places? ---- */

static bool
is_macro(const struct text *t, const struct stmt *s)
{
	return s->kind == STMT_DIRECTIVE && word_is(stmt_word(t, s), ".macro");
}

bool
lengths_stated(const struct unit *u)
{
	const struct text *t = u->text;

	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];
		bool unseen = s->kind == STMT_OPAQUE && t->unseen && u->place[i].section;

		if (unseen || ((s->kind == STMT_CODE || s->kind == STMT_OPAQUE || is_macro(t, s) || defines_name(t, s)) &&
		               subtracts_name(stmt_rest(t, s))))
			return true;
	}
	return false;
}

/* ---- comparing ---- */

static uint32_t
skip_nops(const struct machine *m, const struct obj_section *s, uint32_t at)
{
	struct insn in;

	while (at < s->size && m->decode(s->data + at, s->size - at, at, &in) && in.attr & INSN_NOP)
		at += in.len;
	return at;
}

/* Is the instruction the same, apart from how far it is to where it leads? Advances p->to. */
static bool
is_same(struct pair *p, const struct insn *in)
{
	const uint8_t *a = p->plain->data + in->off, *b = p->woven->data + p->to;
	uint32_t pc = in->attr & INSN_MENTIONS ? in->pc_at : in->len, behind = pc + PC_SIZE;
	struct insn other;

	if (p->to >= p->woven->size || !p->u->machine->decode(b, p->woven->size - p->to, p->to, &other))
		return false;
	p->to += other.len;
	if (in->attr & INSN_REL)
		return other.attr & INSN_REL;
	if (in->len != other.len || memcmp(a, b, pc))
		return false;
	return behind >= in->len || !memcmp(a + behind, b + behind, in->len - behind);
}

/* Passes over padding, which may be longer or shorter. */
static void
skip_padding(struct pair *p)
{
	p->at = skip_nops(p->u->machine, p->plain, p->at);
	p->to = skip_nops(p->u->machine, p->woven, p->to);
}

/* Are the instructions from p->at up to hi the same? Data may have changed. */
static bool
are_same(struct pair *p, uint32_t hi)
{
	for (skip_padding(p); p->at < hi; skip_padding(p)) {
		uint32_t i = p->code->at[p->at];
		const struct insn *in = i == UINT32_MAX ? NULL : &p->code->insns.at[i];

		if (in && !is_same(p, in))
			return false;
		p->at += in ? in->len : 1;
		p->to += in ? 0 : 1;
	}
	return true;
}

static bool
is_compared(const struct unit *u, uint32_t stmt)
{
	const struct stmt *s = &u->text->stmts.at[stmt];

	return (s->kind == STMT_CODE || s->kind == STMT_OPAQUE) && u->place[stmt].section && u->code[u->place[stmt].section];
}

/* Has an instruction of the statement other numbers in woven code? hi: where the next statement's bytes begin. */
static bool
has_changed(const struct unit *u, uint32_t stmt, uint32_t hi, const struct object *woven, const struct place *to)
{
	const struct place *at = &u->place[stmt];
	struct pair p = {u, u->code[at->section], &u->object->sections[at->section], &woven->sections[to->section], at->off,
		to->off};

	return !to->section || !p.woven->data || !are_same(&p, hi);
}

/* ---- refusing ---- */

/* Refuses more with each round: the procedures that have such numbers; if they are refused, all in these sections; all. */
static void
refuse(struct lengths *l, const struct unit *u, const bool *section, const bool *proc)
{
	bool more = false;

	for (uint32_t i = 0; i < u->procs.n; i++)
		if (proc[i] && !u->procs.at[i].reason)
			more = l->proc[i] = true;
	for (; !more && l->round < 2; l->round++)
		for (uint32_t i = 0; i < u->procs.n; i++)
			if (!u->procs.at[i].reason && (l->round || section[u->procs.at[i].parts.at[0].code->section]))
				more = l->proc[i] = true;
	l->again = more;
}

void
lengths_label(const struct unit *u, struct edits *e)
{
	struct buf b = {0};

	for (uint32_t i = 0; i < u->text->stmts.n; i++)
		if (is_compared(u, i)) {
			label_statement(&b, i);
			edit_add(e, u->text->stmts.at[i].at, 0, RANK_SEGMENT, &b);
		}
	buf_free(&b);
}

void
lengths_find(struct lengths *l, const struct unit *u, const struct object *woven)
{
	const struct place *to = label_places(u->text, woven, u->pool);
	bool *section = pool_array(u->pool, u->ncode + 1u, sizeof *section);
	bool *proc = pool_array(u->pool, u->procs.n + 1, sizeof *proc);
	uint32_t number, part;
	bool any = false;

	for (uint32_t s = 0; s < u->ncode; s++) {
		const struct code *c = u->code[s];
		uint32_t hi = c ? c->nbyte : 0;

		for (size_t i = c ? c->stmts.n : 0; i-- > 0; hi = u->place[c->stmts.at[i]].off) {
			uint32_t stmt = c->stmts.at[i];

			if (!is_compared(u, stmt) || !has_changed(u, stmt, hi, woven, &to[stmt]))
				continue;
			any = section[s] = true;
			if (unit_find(u, s, u->place[stmt].off, &number, &part))
				proc[number] = true;
		}
	}
	if (any)
		refuse(l, u, section, proc);
}
