/* SPDX-License-Identifier: MIT */
/* Jumps to computed addresses. An indirect jump is understood if it can lead only to labels whose addresses are taken. Its operand
 * is then a label's address, an address from memory, or a base plus a distance that was written as the difference of two labels. A
 * condition may have replaced any of these by 0 or -1 (`sbb %rax, %rax; or %rax, %r8`). A label plus anything else (`lea 2f(%rip),
 * %rdx; sub %rcx, %rdx`) leads into the middle of code whose length weaving changes.
 *
 * The kind of value of each register is followed through the graph; where paths meet, the worst kind holds. Memory and callers are
 * assumed to have unchanged addresses, so text by hand must not store or push a computed one. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <string.h>

/* Kinds of values; the larger the kind, the less is allowed with the value. */
enum kind {
	AS_IS,      /* from memory, a caller, a callee; a place in data; a distance by name */
	MASK,       /* 0 or -1: combined with an address, it gives that address or one that is not code */
	NUMBER,     /* counted, or computed from something that is no address of code */
	BASE,       /* the address of a label from which data states distances */
	LABEL,      /* the address of another label in code */
	COMPUTED,   /* computed from an address of code */
};

struct word {
	uint8_t kind;
	uint32_t proc;  /* from BASE on: the procedure of that address */
};

enum { REGS = 16 };

struct state {
	struct word reg[REGS];
	bool reached;
};

struct computed {
	struct unit *u;
	struct proc_text *p;
	struct state *at;   /* by vertex: before it */
};

/* A value that is a mask on one path and something else on the other is a number. */
static struct word
worse(struct word a, struct word b)
{
	struct word w = a.kind >= b.kind ? a : b;

	if (a.kind != b.kind && w.kind == MASK)
		w.kind = NUMBER;
	return w;
}

static struct word
any_of(const struct state *s, uint16_t regs)
{
	struct word w = {0};
	bool any = false;

	for (unsigned i = 0; i < REGS; i++) {
		if (!(regs >> i & 1))
			continue;
		w = any ? worse(w, s->reg[i]) : s->reg[i];
		any = true;
	}
	return w;
}

/* ---- addresses that an instruction holds ---- */

/* The kind of a place: an address of code, or a place in data. Compilers write distances only as differences of labels, so in their
 * text each label is a base. */
static struct word
word_at(const struct unit *u, struct dest d)
{
	uint32_t proc, part, i;
	bool base;

	if (!d.section || (i = u->code[d.section]->at[d.off]) == UINT32_MAX || !unit_find(u, d.section, d.off, &proc, &part))
		return (struct word){0};
	base = u->text->compiler || u->code[d.section]->insns.at[i].leader & LEADER_BASE;
	return (struct word){base ? BASE : LABEL, proc};
}

/* The kind of an operand by itself. *named: its number is an address or distance that is written by names. */
static struct word
own_word(const struct unit *u, const struct code *c, const struct insn *in, bool *named)
{
	const struct obj_reloc *r = in->attr & INSN_RELOC ? reloc_in(u->object, c->section, in->off, in->off + in->len) : NULL;

	*named = in->attr & (INSN_RELOC | INSN_DISTANCE);
	if (r && r->distance)
		return (struct word){0};
	return word_at(u, dest_of(u, c, in));
}

/* ---- sums ---- */

static bool
is_code(struct word w)
{
	return w.kind >= BASE;
}

/* A base plus an unchanged distance is an unchanged address. */
static struct word
add(struct word a, struct word b)
{
	struct word code = is_code(a) ? a : b, other = is_code(a) ? b : a;

	if (!is_code(code))
		return (struct word){a.kind | b.kind ? NUMBER : AS_IS, 0};
	if (code.kind == BASE && other.kind == AS_IS)
		return (struct word){AS_IS, 0};
	code.kind = COMPUTED;
	return code;
}

static struct word
multiple(struct word w)
{
	w.kind = is_code(w) ? COMPUTED : NUMBER;
	return w;
}

static struct word
sum(const struct computed *x, const struct code *c, const struct insn *in, const struct value *v, const struct state *s)
{
	bool named, any = false;
	struct word total = own_word(x->u, c, in, &named);

	any = is_code(total);
	if (v->number && !named)
		total = any ? add(total, (struct word){NUMBER, 0}) : (struct word){NUMBER, 0};
	any |= v->number || v->loads;
	for (unsigned i = 0; i < REGS; i++) {
		struct word w = v->scaled >> i & 1 ? multiple(s->reg[i]) : s->reg[i];

		if (!(v->plus >> i & 1))
			continue;
		total = any ? add(total, w) : w;
		any = true;
	}
	return v->loads ? add(total, (struct word){0}) : total;
}

/* The difference of two labels is a distance by name. */
static struct word
difference(struct word a, struct word b)
{
	if (is_code(a) && is_code(b) && a.kind != COMPUTED && b.kind != COMPUTED)
		return (struct word){0};
	return multiple(worse(a, b));
}

/* A copy may have only half of the bits, so the copy of a mask is a number. */
static struct word
copy(struct word w)
{
	w.kind = w.kind == MASK ? NUMBER : w.kind;
	return w;
}

/* The bitwise combination of two registers: if one is a mask, the kind of the other. */
static struct word
masked(const struct state *s, uint16_t regs)
{
	struct word w = {0};
	bool mask = false, other = false;

	for (unsigned i = 0; i < REGS; i++) {
		if (!(regs >> i & 1))
			continue;
		if (s->reg[i].kind == MASK && !mask) {
			mask = true;
		} else {
			other = true;
			w = worse(w, s->reg[i]);
		}
	}
	return mask && other ? w : multiple(any_of(s, regs));
}

/* ---- instructions ---- */

/* Does the instruction pop the address that a call of the next instruction has pushed? It is glued to that call. */
static bool
pops_pc(const struct code *c, uint32_t i)
{
	const struct insn *in = &c->insns.at[i];

	return in->attr & INSN_GLUED && in->attr & INSN_PUSHES && i && in[-1].target == in->off && in[-1].len == 5;
}

static struct word
value_of(const struct computed *x, const struct code *c, uint32_t i, const struct value *v, const struct state *s)
{
	const struct insn *in = &c->insns.at[i];
	uint16_t reads = in->regs_read & (uint16_t)~(1u << x->u->machine->sp);

	switch (v->how) {
	case VALUE_SAME: return copy(any_of(s, v->plus));
	case VALUE_EITHER: return copy(any_of(s, reads | v->to));
	case VALUE_MASK: return (struct word){MASK, 0};
	case VALUE_MASKED: return masked(s, v->plus);
	case VALUE_LOADED:
		return pops_pc(c, i) ? word_at(x->u, (struct dest){c->section, in->off, false}) : (struct word){0};
	case VALUE_SUM: return copy(sum(x, c, in, v, s));
	case VALUE_DIFFERENCE: {
		struct word a = any_of(s, v->plus), b = any_of(s, v->minus);

		return v->minus && !v->number ? difference(a, b) : multiple(worse(a, b));
	}
	default: return multiple(any_of(s, reads));
	}
}

static void
step(const struct computed *x, const struct code *c, uint32_t i, struct state *s)
{
	const struct insn *in = &c->insns.at[i];
	struct value v;
	struct word w;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		for (unsigned k = 0; k < REGS; k++)
			if ((x->u->machine->clobbered | 1u) >> k & 1)
				s->reg[k] = (struct word){0};
		return;
	}
	if (!x->u->machine->value(x->u->object->sections[c->section].data + in->off, in->len, &v) || !v.to)
		return;
	w = value_of(x, c, i, &v, s);
	for (unsigned k = 0; k < REGS; k++)
		if (v.to >> k & 1)
			s->reg[k] = w;
}

static void
refuse(struct computed *x, struct word w, uint32_t off)
{
	const char *why = "an indirect jump to an address that is computed from a label";
	struct proc_text *other = &x->u->procs.at[w.proc];

	if (!x->p->reason)
		x->p->reason = pool_printf(x->u->pool, "%s at +0x%x", why, off);
	if (!other->reason)
		other->reason = pool_printf(x->u->pool, "%s in it, by %s", why, x->p->name);
}

/* Does the instruction jump to a computed address or, in text by hand, put one where it is not followed? */
static void
look_at(struct computed *x, const struct part *part, uint32_t i, const struct state *s)
{
	const struct code *c = part->code;
	const struct insn *in = &c->insns.at[i];
	bool compiled = x->u->text->compiler && !insn_is_inline(x->u, in);
	struct value v;
	struct word w;

	if (!x->u->machine->value(x->u->object->sections[c->section].data + in->off, in->len, &v))
		return;
	w = any_of(s, v.led | (compiled ? 0 : v.given));
	if (w.kind == COMPUTED)
		refuse(x, w, in->off - part->lo);
	else if (v.led && copy(w).kind == NUMBER && !compiled && x->p->hub != GRAPH_NONE && in->cls == CHORD_INSN_IJUMP)
		refuse(x, (struct word){NUMBER, (uint32_t)(x->p - x->u->procs.at)}, in->off - part->lo);
}

/* ---- the graph ---- */

static bool
meet(struct state *to, const struct state *from)
{
	bool changed = !to->reached;

	for (unsigned i = 0; i < REGS; i++) {
		struct word w = to->reached ? worse(to->reg[i], from->reg[i]) : from->reg[i];

		changed |= w.kind != to->reg[i].kind;
		to->reg[i] = w;
	}
	to->reached = true;
	return changed;
}

static struct state
behind(const struct computed *x, uint32_t v)
{
	struct state s = x->at[v];

	if (v < x->p->blocks.n) {
		const struct block_text *b = &x->p->block_text.at[v];

		for (uint32_t i = b->first; i < b->last; i++)
			step(x, x->p->parts.at[b->part].code, i, &s);
	}
	return s;
}

/* Passes on what is known after a vertex. True: something has changed. */
static bool
pass(struct computed *x, uint32_t v)
{
	const struct graph *g = x->p->graph;
	struct state s = behind(x, v);
	bool changed = false;

	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++)
		changed |= g->out[k] < x->p->arcs.n && meet(&x->at[g->edge[g->out[k]].to], &s);
	return changed;
}

/* Is there anything to follow: an instruction that has an address of code and, in compilers' text, an indirect jump? */
static bool
is_suspect(const struct unit *u, const struct proc_text *p)
{
	bool has = false, leads = !u->text->compiler, named;

	for (size_t t = 0; t < p->parts.n; t++)
		for (uint32_t i = p->parts.at[t].first; i < p->parts.at[t].last; i++) {
			const struct insn *in = &p->parts.at[t].code->insns.at[i];

			leads |= in->cls == CHORD_INSN_IJUMP || in->cls == CHORD_INSN_ICALL;
			has |= pops_pc(p->parts.at[t].code, i);
			has |= !(in->attr & INSN_REL) && is_code(own_word(u, p->parts.at[t].code, in, &named));
		}
	return leads && (has || (p->hub != GRAPH_NONE && !u->text->compiler));
}

void
computed_find(struct unit *u, struct proc_text *p)
{
	struct computed x = {.u = u, .p = p};
	bool again = true;

	if (!is_suspect(u, p))
		return;
	graph_index(p->graph);
	x.at = pool_array(u->pool, p->graph->nvert, sizeof *x.at);
	x.at[p->entry].reached = true;
	while (again) {
		again = false;
		for (uint32_t v = 0; v < p->graph->nvert; v++)
			if (x.at[v].reached && v != p->exit)
				again |= pass(&x, v);
	}
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		const struct part *part = &p->parts.at[p->blocks.at[b].part];
		struct state s = x.at[b];

		for (uint32_t i = p->block_text.at[b].first; i < p->block_text.at[b].last; i++) {
			look_at(&x, part, i, &s);
			step(&x, part->code, i, &s);
		}
	}
}
