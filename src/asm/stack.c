/* SPDX-License-Identifier: MIT */
/* Where the stack pointer points to a stack, so that memory below its red zone is free. Compilers ensure that. Assembly by hand may
 * let it point to data for a while: after an instruction that sets it to a value not known to be a stack address, woven-in code
 * must not use it.
 *
 * Addresses on the stack are followed through registers and the graphs, and by direct jumps from one procedure into the middle of
 * another. If a stored address is loaded by the same operand, it is assumed to be the same, as long as the procedure, and those
 * that jump into it, store nothing else there.
 *
 * Then the same is done once more to find returns and jumps on other stacks. There the question is where a stack pointer comes
 * from, and what was loaded from the stack, or from where the procedure saved its stack pointer, is taken for an address on it. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>

/* An operand by which an address is stored. */
struct slot {
	int8_t base, index;
	uint8_t scale;
	int64_t disp;
	bool spoilt;      /* something else is stored there, too */
};

struct text_stacks;

/* A procedure that is analysed. */
struct stacks {
	struct text_stacks *all;
	const struct unit *u;
	struct proc_text *p;
	uint32_t *at;     /* by vertex: registers with addresses on the stack */
	bool *reached;
	bool *outside;    /* by vertex: unknown code may jump there from outside */
	VEC(struct slot) slots;
	bool strays;      /* the stack pointer is lost somewhere */
	bool inside;      /* so it may also be lost where unknown code jumps in */
	bool again;       /* something has changed, and has to be passed on */
};

/* All procedures of a text. */
struct text_stacks {
	struct unit *u;
	struct stacks **of; /* by procedure; NULL: it need not be analysed */
	uint32_t *writes;   /* by procedure: registers that it changes, plus KNOWN; 0: not computed yet */
	bool trusts;        /* what is loaded from the stack is taken for an address on it */
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
by_hand(const struct unit *u, const struct insn *in)
{
	return !u->text->compiler || insn_is_inline(u, in);
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

/* The registers of which the ABI says that calls keep them, and that a procedure pushes before anything else. */
static uint32_t
saved_by(const struct stacks *s, const struct proc_text *p)
{
	const struct part *t = &p->parts.at[0];
	uint32_t saved = 0;
	struct value v;

	for (uint32_t i = t->first; i < t->last; i++) {
		const struct insn *in = &t->code->insns.at[i];

		if (in->cls == CHORD_INSN_PAD)
			continue;
		if (!(in->attr & INSN_PUSHES) || !s->u->machine->value(bytes_of(s, t->code, in), in->len, &v) || v.to)
			break;
		saved |= v.given;
	}
	return saved & ~s->u->machine->clobbered & ~(1u << s->u->machine->sp);
}

/* The registers that a procedure of the text changes. If it calls others, they are those that the ABI lets it change. A register
 * that it pushes first, and takes from memory again, is taken to be as before. */
static uint32_t
writes_of(struct stacks *s, uint32_t proc)
{
	const struct proc_text *p = &s->u->procs.at[proc];
	uint32_t writes = 0, taken = 0;
	struct value v;

	for (size_t t = 0; t < p->parts.n; t++)
		for (uint32_t i = p->parts.at[t].first; i < p->parts.at[t].last; i++) {
			const struct insn *in = &p->parts.at[t].code->insns.at[i];

			if (leads_elsewhere(s, proc, p->parts.at[t].code, in) ||
			    !s->u->machine->value(bytes_of(s, p->parts.at[t].code, in), in->len, &v))
				return s->u->machine->clobbered | 1u;
			writes |= v.to;
			/* pop; a load; leave, which sets the stack pointer, too */
			if (in->attr & INSN_PUSHES || v.loads || in->regs_kill >> s->u->machine->sp & 1)
				taken |= v.to;
		}
	return writes & ~(taken & saved_by(s, p));
}

/* The registers that are lost by a call. */
static uint32_t
called_writes(struct stacks *s, const struct code *c, const struct insn *in)
{
	struct dest d = in->cls == CHORD_INSN_CALL ? dest_of(s->u, c, in) : (struct dest){0};
	uint32_t proc, part;

	if (!d.section || s->u->text->compiler || !unit_find(s->u, d.section, d.off, &proc, &part))
		return s->u->machine->clobbered | 1u | VECTORS;
	if (!s->all->writes[proc])
		s->all->writes[proc] = writes_of(s, proc) | KNOWN;
	return (s->all->writes[proc] & 0xffff) | VECTORS;
}

/* Is the address that this load reads, given the registers with addresses on the stack, itself one on the stack? */
static bool
loads_address(struct stacks *s, const struct move *m, uint32_t was)
{
	bool on_stack = was >> m->base & 1;
	const struct slot *slot;

	if (s->all->trusts && on_stack)
		return true;
	slot = on_stack || s->all->trusts ? slot_of(s, m) : NULL;
	return slot && !slot->spoilt;
}

static void
step(struct stacks *s, const struct code *c, const struct insn *in, uint32_t *regs)
{
	uint32_t was = *regs, sp = 1u << s->u->machine->sp;
	struct move m;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		*regs &= ~called_writes(s, c, in);
		return;
	}
	s->u->machine->derived(bytes_of(s, c, in), in->len, regs);
	if (is_access(s, c, in, false, &m) && loads_address(s, &m, was))
		*regs |= 1u << m.to;
	if (s->all->trusts && in->attr & INSN_PUSHES && was & sp)
		*regs |= in->regs_kill;
	if (!(*regs & sp) && in->regs_kill & sp && !by_hand(s->u, in))
		*regs |= sp;
	s->strays |= !(*regs & sp);
}

/* The block that begins at a place; 0 if none does. */
static uint32_t
block_at(const struct proc_text *p, uint32_t part, uint32_t off)
{
	for (uint32_t v = 1; v < p->blocks.n; v++)
		if (p->blocks.at[v].part == part && p->parts.at[part].code->insns.at[p->block_text.at[v].first].off == off)
			return v;
	return 0;
}

/* The target of a direct jump or call, if it is in the middle of another procedure that is analysed. */
static struct stacks *
jumped_into(struct stacks *s, const struct code *c, const struct insn *in, uint32_t *block)
{
	struct dest d;
	uint32_t proc, part;

	if (in->cls != CHORD_INSN_JUMP && in->cls != CHORD_INSN_BRANCH && in->cls != CHORD_INSN_CALL)
		return NULL;
	d = dest_of(s->u, c, in);
	if (!d.section || !unit_find(s->u, d.section, d.off, &proc, &part) || !s->all->of[proc] || s->all->of[proc] == s)
		return NULL;
	*block = block_at(&s->u->procs.at[proc], part, d.off);
	return *block ? s->all->of[proc] : NULL;
}

/* Notes that something else is stored by an operand. True: that is new. */
static bool
spoil(struct stacks *s, const struct slot *slot)
{
	const struct move m = {.base = slot->base, .index = slot->index, .scale = slot->scale, .disp = slot->disp};
	struct slot *mine = slot_of(s, &m);

	if (mine && mine->spoilt)
		return false;
	if (mine)
		mine->spoilt = true;
	else
		VEC_PUSH(s->slots, *slot);
	return true;
}

/* What a procedure has stored is still there in the procedure that it jumps to. */
static bool
spoil_all(struct stacks *s, const struct stacks *from)
{
	bool changed = false;

	for (size_t i = 0; i < from->slots.n; i++)
		changed |= from->slots.at[i].spoilt && spoil(s, &from->slots.at[i]);
	return changed;
}

/* Notes what an operand stores. True: that is new. */
static bool
note_store(struct stacks *s, const struct move *m, uint32_t regs)
{
	bool good = regs >> m->from & 1, on_stack = regs >> m->base & 1;
	struct slot *slot = slot_of(s, m);

	if (slot && (good || slot->spoilt))
		return false;
	if (slot) {
		slot->spoilt = on_stack || s->all->trusts;
		return slot->spoilt;
	}
	if (!on_stack && !(s->all->trusts && good))
		return false;
	VEC_PUSH(s->slots, (struct slot){m->base, m->index, m->scale, m->disp, !good});
	return true;
}

/* Notes what operands store, by what is known so far. True: something has changed. */
static bool
find_slots(struct stacks *s)
{
	bool changed = false;
	struct stacks *to;
	uint32_t block;

	for (uint32_t v = 0; v < s->p->blocks.n; v++) {
		const struct block_text *b = &s->p->block_text.at[v];
		const struct code *c = s->p->parts.at[b->part].code;
		uint32_t regs = s->at[v];

		for (uint32_t i = b->first; i < b->last && s->reached[v]; i++) {
			struct move m;

			if (is_access(s, c, &c->insns.at[i], true, &m))
				changed |= note_store(s, &m, regs);
			to = jumped_into(s, c, &c->insns.at[i], &block);
			changed |= to && spoil_all(to, s);
			step(s, c, &c->insns.at[i], &regs);
		}
	}
	return changed;
}

/* Notes that control reaches a vertex with these registers. */
static void
meet(struct stacks *s, uint32_t v, uint32_t regs)
{
	uint32_t now = s->reached[v] ? s->at[v] & regs : regs;

	if (s->reached[v] && now == s->at[v])
		return;
	s->at[v] = now;
	s->reached[v] = s->again = true;
}

/* A jump keeps the registers. At the target of a call only the stack pointer is known. */
static void
leave(struct stacks *s, const struct code *c, const struct insn *in, uint32_t regs)
{
	uint32_t block;
	struct stacks *to = jumped_into(s, c, in, &block);

	if (to)
		meet(to, block, in->cls == CHORD_INSN_CALL ? regs & 1u << s->u->machine->sp : regs);
}

/* Passes on what holds after a vertex. */
static void
pass(struct stacks *s, uint32_t v)
{
	const struct graph *g = s->p->graph;
	uint32_t regs = s->at[v];

	if (v < s->p->blocks.n) {
		const struct block_text *b = &s->p->block_text.at[v];
		const struct code *c = s->p->parts.at[b->part].code;

		for (uint32_t i = b->first; i < b->last; i++) {
			leave(s, c, &c->insns.at[i], regs);
			step(s, c, &c->insns.at[i], &regs);
		}
	}
	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++)
		if (g->out[k] < s->p->arcs.n)
			meet(s, g->edge[g->out[k]].to, regs);
}

/* Begins anew at the entries. Unknown code may jump in from outside with a lost stack pointer. */
static void
begin(struct stacks *s)
{
	const struct proc_text *p = s->p;
	uint32_t sp = 1u << s->u->machine->sp;

	if (s->all->trusts)
		sp |= 1u << s->u->machine->fp;
	memset(s->reached, 0, p->graph->nvert * sizeof *s->reached);
	memset(s->at, 0, p->graph->nvert * sizeof *s->at);
	s->strays = false;
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->graph->edge[e].from == p->entry && (!e || s->outside[p->graph->edge[e].to]))
			meet(s, p->graph->edge[e].to, e && s->inside ? 0 : sp);
}

static void
follow(struct stacks *s)
{
	while (s->again) {
		s->again = false;
		for (uint32_t v = 0; v < s->p->graph->nvert; v++)
			if (s->reached[v] && v != s->p->exit && v != s->p->entry)
				pass(s, v);
	}
}

static void
mark_no_stack(struct stacks *s)
{
	struct proc_text *p = s->p;

	p->strays = true;
	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *b = &p->block_text.at[v];
		const struct part *part = &p->parts.at[b->part];
		uint32_t regs = s->at[v];

		for (uint32_t i = b->first; i < b->last; i++) {
			p->live[p->live_base[b->part] + i - part->first].no_stack = !(regs >> s->u->machine->sp & 1);
			step(s, part->code, &part->code->insns.at[i], &regs);
		}
	}
}

/* Does the block end in a return or an indirect jump, written by hand, on another stack? */
static bool
leaves_stack(struct stacks *s, uint32_t v)
{
	const struct block_text *b = &s->p->block_text.at[v];
	const struct code *c = s->p->parts.at[b->part].code;
	const struct insn *last = &c->insns.at[b->last - 1];
	uint32_t regs = s->at[v];

	if (!s->reached[v] || !by_hand(s->u, last) || (last->cls != CHORD_INSN_RET && last->cls != CHORD_INSN_IJUMP))
		return false;
	for (uint32_t i = b->first; i + 1 < b->last; i++)
		step(s, c, &c->insns.at[i], &regs);
	return !(regs >> s->u->machine->sp & 1);
}

static void
mark_lost(struct stacks *s)
{
	struct proc_text *p = s->p;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		uint32_t from = p->graph->edge[e].from;

		if (p->arcs.at[e].kind == CHORD_EDGE_EXIT && from < p->blocks.n && leaves_stack(s, from))
			p->arcs.at[e].kind = CHORD_EDGE_LOST;
	}
}

static bool
sets_stack_pointer(const struct unit *u, const struct proc_text *p)
{
	for (size_t t = 0; t < p->parts.n; t++)
		for (uint32_t i = p->parts.at[t].first; i < p->parts.at[t].last; i++) {
			const struct insn *in = &p->parts.at[t].code->insns.at[i];

			if (in->regs_kill >> u->machine->sp & 1 && by_hand(u, in))
				return true;
		}
	return false;
}

/* ---- all procedures ---- */

static bool
find_all_slots(struct text_stacks *all)
{
	bool changed = false;

	for (size_t i = 0; i < all->u->procs.n; i++)
		changed |= all->of[i] && find_slots(all->of[i]);
	return changed;
}

static void
follow_all(struct text_stacks *all)
{
	bool again = true;

	for (size_t i = 0; i < all->u->procs.n; i++)
		if (all->of[i])
			begin(all->of[i]);
	while (again) {
		again = false;
		for (size_t i = 0; i < all->u->procs.n; i++)
			if (all->of[i] && all->of[i]->again) {
				follow(all->of[i]);
				again = true;
			}
	}
}

/* True: one more procedure may set its stack pointer to data. */
static bool
find_strays(struct text_stacks *all)
{
	bool more = false;

	for (size_t i = 0; i < all->u->procs.n; i++)
		if (all->of[i] && all->of[i]->strays && !all->of[i]->inside)
			all->of[i]->inside = more = true;
	return more;
}

static struct stacks *
look_at(struct text_stacks *all, struct proc_text *p)
{
	struct stacks *s = pool_array(all->u->pool, 1, sizeof *s);
	const struct graph *g = p->graph;

	graph_index(p->graph);
	*s = (struct stacks){.all = all, .u = all->u, .p = p};
	s->at = pool_array(all->u->pool, g->nvert, sizeof *s->at);
	s->reached = pool_array(all->u->pool, g->nvert, sizeof *s->reached);
	s->outside = pool_array(all->u->pool, g->nvert, sizeof *s->outside);
	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *b = &p->block_text.at[v];
		unsigned lead = p->parts.at[b->part].code->insns.at[b->first].leader;

		s->outside[v] = (lead & ~(unsigned)(LEADER_JUMP | LEADER_AFTER | LEADER_START)) != LEADER_ENTRY;
	}
	return s;
}

/* The procedures at both ends of a jump. False: one of them is not known, or the target is not measured. */
static bool
ends_of(const struct unit *u, const struct way *w, uint32_t *from, uint32_t *to, uint32_t *block)
{
	uint32_t part;

	if (!unit_find(u, w->from, u->code[w->from]->insns.at[w->insn].off, from, &part) ||
	    !unit_find(u, w->section, w->off, to, &part) || u->procs.at[*to].reason)
		return false;
	*block = block_at(&u->procs.at[*to], part, w->off);
	return true;
}

/* Procedures that jump into one another are analysed together, if one of them sets the stack pointer. */
static void
choose(struct text_stacks *all)
{
	struct unit *u = all->u;
	uint32_t from, to, block;
	bool more = true;

	for (size_t i = 0; i < u->procs.n; i++)
		if (!u->procs.at[i].reason && sets_stack_pointer(u, &u->procs.at[i]))
			all->of[i] = look_at(all, &u->procs.at[i]);
	while (more) {
		more = false;
		for (size_t i = 0; i < u->ways.n; i++) {
			if (!ends_of(u, &u->ways.at[i], &from, &to, &block) || u->procs.at[from].reason ||
			    !all->of[from] == !all->of[to])
				continue;
			to = all->of[to] ? from : to;
			all->of[to] = look_at(all, &u->procs.at[to]);
			more = true;
		}
	}
	for (size_t i = 0; i < u->ways.n; i++)
		if (ends_of(u, &u->ways.at[i], &from, &to, &block) && all->of[to] && (u->procs.at[from].reason || !all->of[from]))
			all->of[to]->outside[block] = true;
}

/* Follows addresses until nothing changes. */
static void
find_addresses(struct text_stacks *all)
{
	do
		follow_all(all);
	while (find_all_slots(all));
}

static void
forget_slots(struct text_stacks *all)
{
	for (size_t i = 0; i < all->u->procs.n; i++)
		if (all->of[i]) {
			free(all->of[i]->slots.at);
			memset(&all->of[i]->slots, 0, sizeof all->of[i]->slots);
			all->of[i]->inside = false;
		}
}

void
stack_find(struct unit *u)
{
	struct text_stacks all = {.u = u, .of = pool_array(u->pool, u->procs.n, sizeof *all.of)};
	bool strays = false;

	all.writes = pool_array(u->pool, u->procs.n, sizeof *all.writes);
	choose(&all);
	do
		find_addresses(&all);
	while (find_strays(&all));
	for (size_t i = 0; i < u->procs.n; i++)
		if (all.of[i] && all.of[i]->strays) {
			mark_no_stack(all.of[i]);
			strays = true;
		}
	forget_slots(&all);
	if (!strays)
		return;
	all.trusts = true;
	find_addresses(&all);
	for (size_t i = 0; i < u->procs.n; i++)
		if (all.of[i])
			mark_lost(all.of[i]);
	forget_slots(&all);
}
