/* SPDX-License-Identifier: MIT */
/* Where the stack pointer points to a stack, so that memory below its red zone is free. Compilers keep it so. By hand it may be
 * made a pointer to data for a while: everywhere behind an instruction that sets it to what is not known to come from it,
 * nothing that is woven in may use it.
 *
 * Addresses on the stack are followed through registers and the graph. One that is stored, and loaded by the same operand, is
 * taken for the same if the procedure stores nothing else there. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>

/* An operand that stores something. */
struct slot {
	int8_t base, index;
	uint8_t scale;
	int64_t disp;
	bool spoilt;      /* something else is stored there, too */
};

struct stacks {
	const struct unit *u;
	struct proc *p;
	uint32_t *at;     /* by vertex: registers with addresses on the stack */
	bool *reached;
	VEC(struct slot) slots;
	uint32_t *writes; /* by procedure: registers that it changes, plus KNOWN; 0: not looked at yet */
	bool strays;      /* the stack pointer is lost somewhere */
};

static const uint8_t *
bytes_of(const struct stacks *s, const struct code *c, const struct insn *in)
{
	return s->u->object->sections[c->section].data + in->off;
}

/* A store or load of 64 bits between a register and an operand that has a base. */
static bool
is_access(const struct stacks *s, const struct code *c, const struct insn *in, bool store, struct move *m)
{
	if (!s->u->machine->move(bytes_of(s, c, in), in->len, m) || m->address || m->stores != store)
		return false;
	return m->base >= 0 && m->base < 16 && !m->segment && (store ? m->from >= 0 : m->to >= 0);
}

static struct slot *
slot_of(struct stacks *s, const struct move *m)
{
	for (size_t i = 0; i < s->slots.n; i++)
		if (s->slots.at[i].base == m->base && s->slots.at[i].disp == m->disp && s->slots.at[i].index == m->index &&
		    s->slots.at[i].scale == m->scale)
			return &s->slots.at[i];
	return NULL;
}

static bool
by_hand(const struct stacks *s, const struct insn *in)
{
	return !s->u->text->compiler || (in->stmt != UINT32_MAX && s->u->text->stmts.at[in->stmt].flags & STMT_INLINE);
}

static const uint32_t KNOWN = 1u << 16, VECTORS = 0xffff0000;

static bool
leads_elsewhere(const struct stacks *s, uint32_t proc, const struct code *c, const struct insn *in)
{
	struct dest d;
	uint32_t to, part;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL || in->cls == CHORD_INSN_IJUMP)
		return true;
	if (in->cls != CHORD_INSN_JUMP && in->cls != CHORD_INSN_BRANCH)
		return false;
	d = dest_of(s->u, c, in);
	return !d.section || !unit_find(s->u, d.section, d.off, &to, &part) || to != proc;
}

/* The registers that a procedure of the text changes, as the ABI has it if it calls others. */
static uint32_t
writes_of(struct stacks *s, uint32_t proc)
{
	const struct proc *p = &s->u->procs.at[proc];
	uint32_t writes = 0;
	struct value v;

	for (size_t t = 0; t < p->parts.n; t++)
		for (uint32_t i = p->parts.at[t].first; i < p->parts.at[t].last; i++) {
			const struct insn *in = &p->parts.at[t].code->insns.at[i];

			if (leads_elsewhere(s, proc, p->parts.at[t].code, in) ||
			    !s->u->machine->value(bytes_of(s, p->parts.at[t].code, in), in->len, &v))
				return s->u->machine->clobbered | 1u;
			writes |= v.to;
		}
	return writes;
}

/* What a call leaves nothing of. */
static uint32_t
called_writes(struct stacks *s, const struct code *c, const struct insn *in)
{
	struct dest d = in->cls == CHORD_INSN_CALL ? dest_of(s->u, c, in) : (struct dest){0};
	uint32_t proc, part;

	if (!d.section || s->u->text->compiler || !unit_find(s->u, d.section, d.off, &proc, &part))
		return s->u->machine->clobbered | 1u | VECTORS;
	if (!s->writes)
		s->writes = pool_array(s->u->pool, s->u->procs.n, sizeof *s->writes);
	if (!s->writes[proc])
		s->writes[proc] = writes_of(s, proc) | KNOWN;
	return (s->writes[proc] & 0xffff) | VECTORS;
}

static void
step(struct stacks *s, const struct code *c, const struct insn *in, uint32_t *regs)
{
	uint32_t was = *regs, sp = 1u << s->u->machine->sp;
	struct slot *slot;
	struct move m;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		*regs &= ~called_writes(s, c, in);
		return;
	}
	s->u->machine->derived(bytes_of(s, c, in), in->len, regs);
	if (is_access(s, c, in, false, &m) && was >> m.base & 1 && (slot = slot_of(s, &m)) && !slot->spoilt)
		*regs |= 1u << m.to;
	if (!(*regs & sp) && in->regs_kill & sp && !by_hand(s, in))
		*regs |= sp;
	s->strays |= !(*regs & sp);
}

/* Remembers what is stored where, from what is known so far. True: that has changed. */
static bool
find_slots(struct stacks *s)
{
	bool changed = false;

	for (uint32_t v = 0; v < s->p->blocks.n; v++) {
		const struct block *b = &s->p->blocks.at[v];
		const struct code *c = s->p->parts.at[b->part].code;
		uint32_t regs = s->at[v];

		for (uint32_t i = b->first; i < b->last && s->reached[v]; i++) {
			struct move m;
			struct slot *slot;
			bool good;

			if (is_access(s, c, &c->insns.at[i], true, &m) && regs >> m.base & 1) {
				good = regs >> m.from & 1;
				slot = slot_of(s, &m);
				if (!slot) {
					VEC_PUSH(s->slots, (struct slot){m.base, m.index, m.scale, m.disp, !good});
					changed = true;
				} else if (!good && !slot->spoilt) {
					slot->spoilt = changed = true;
				}
			}
			step(s, c, &c->insns.at[i], &regs);
		}
	}
	return changed;
}

/* Passes on what holds behind a vertex. True: something has changed. */
static bool
pass(struct stacks *s, uint32_t v)
{
	const struct graph *g = s->p->graph;
	uint32_t regs = s->at[v];
	bool changed = false;

	if (v < s->p->blocks.n) {
		const struct block *b = &s->p->blocks.at[v];
		const struct code *c = s->p->parts.at[b->part].code;

		for (uint32_t i = b->first; i < b->last; i++)
			step(s, c, &c->insns.at[i], &regs);
	}
	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
		uint32_t to = g->edge[g->out[k]].to, now = s->reached[to] ? s->at[to] & regs : regs;

		if (g->out[k] >= s->p->arcs.n || (s->reached[to] && now == s->at[to]))
			continue;
		s->at[to] = now;
		s->reached[to] = changed = true;
	}
	return changed;
}

/* Whoever jumps in from outside may do so from where the stack pointer is lost. */
static void
follow(struct stacks *s, bool inside)
{
	const struct proc *p = s->p;
	uint32_t sp = 1u << s->u->machine->sp;
	bool again = true;

	memset(s->reached, 0, p->graph->nvert * sizeof *s->reached);
	memset(s->at, 0, p->graph->nvert * sizeof *s->at);
	s->strays = false;
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->graph->edge[e].from == p->entry) {
			s->at[p->graph->edge[e].to] = e && inside ? 0 : sp;
			s->reached[p->graph->edge[e].to] = true;
		}
	while (again) {
		again = false;
		for (uint32_t v = 0; v < p->graph->nvert; v++)
			if (s->reached[v] && v != p->exit && v != p->entry)
				again |= pass(s, v);
	}
}

static void
mark_gaps(struct stacks *s)
{
	struct proc *p = s->p;

	p->strays = true;
	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block *b = &p->blocks.at[v];
		const struct part *part = &p->parts.at[b->part];
		uint32_t regs = s->at[v];

		for (uint32_t i = b->first; i < b->last; i++) {
			p->gaps[p->gap_base[b->part] + i - part->first].no_stack = !(regs >> s->u->machine->sp & 1);
			step(s, part->code, &part->code->insns.at[i], &regs);
		}
	}
}

static bool
sets_stack_pointer(const struct stacks *s)
{
	for (size_t t = 0; t < s->p->parts.n; t++)
		for (uint32_t i = s->p->parts.at[t].first; i < s->p->parts.at[t].last; i++) {
			const struct insn *in = &s->p->parts.at[t].code->insns.at[i];

			if (in->regs_kill >> s->u->machine->sp & 1 && by_hand(s, in))
				return true;
		}
	return false;
}

void
stack_find(struct unit *u, struct proc *p)
{
	struct stacks s = {.u = u, .p = p};

	if (!sets_stack_pointer(&s))
		return;
	graph_index(p->graph);
	s.at = pool_array(u->pool, p->graph->nvert, sizeof *s.at);
	s.reached = pool_array(u->pool, p->graph->nvert, sizeof *s.reached);
	do
		follow(&s, false);
	while (find_slots(&s));
	if (s.strays) {
		do
			follow(&s, true);
		while (find_slots(&s));
		mark_gaps(&s);
	}
	free(s.slots.at);
}
