/* SPDX-License-Identifier: MIT */
/* Which flags and registers still matter before every instruction.
 *
 * What a call or a return leaves behind is not what the ABI says: gcc allocates
 * registers across procedures (-fipa-ra), so all registers are live there. Flags
 * are never passed by compilers; in text that no compiler claims they may be. */
#include "asm/asm.h"

#include <stdlib.h>
#include <string.h>

struct flow {
	const struct unit *u;
	struct proc *p;
	uint16_t landing;      /* registers live at some landing pad: any instruction may fault and lead there */
	struct gap *in;        /* by vertex */
};

/* Does the instruction pass flags to code that is not seen? */
static bool
passes_flags(const struct flow *f, const struct insn *in)
{
	return !f->u->text->compiler ||
	       (in->stmt != UINT32_MAX && f->u->text->stmts.at[in->stmt].flags & STMT_INLINE);
}

static struct gap
before(const struct flow *f, const struct insn *in, struct gap after)
{
	uint8_t all = f->u->machine->all_flags;
	uint8_t kill = in->flags_kill, read = in->flags_read;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		if (passes_flags(f, in))
			read = all;
		kill = all;
	}
	return (struct gap){(uint8_t)((after.flags_live & ~kill) | read),
		(uint16_t)((after.regs_live & ~in->regs_kill) | in->regs_read)};
}

/* What code outside may read when control leaves. */
static struct gap
at_exit(const struct flow *f)
{
	return (struct gap){f->u->text->compiler ? 0 : f->u->machine->all_flags, f->u->machine->all_regs};
}

static const struct insn *
last_insn(const struct flow *f, uint32_t v)
{
	const struct block *b = &f->p->blocks.at[v];

	return &f->p->parts.at[b->part].code->insns.at[b->last - 1];
}

static struct gap
after_block(const struct flow *f, uint32_t v)
{
	const struct graph *g = f->p->graph;
	struct gap live = {0};

	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
		uint32_t to = g->edge[g->out[k]].to;
		struct gap in = f->in[to];

		if (to == f->p->exit && v < f->p->blocks.n && passes_flags(f, last_insn(f, v)))
			in.flags_live = f->u->machine->all_flags;
		live.flags_live |= in.flags_live;
		live.regs_live |= in.regs_live;
	}
	return live;
}

static bool
visit(struct flow *f, uint32_t v)
{
	struct gap live = after_block(f, v), old = f->in[v];

	if (v < f->p->blocks.n) {
		const struct block *b = &f->p->blocks.at[v];
		const struct code *c = f->p->parts.at[b->part].code;

		for (uint32_t i = b->last; i-- > b->first;) {
			live = before(f, &c->insns.at[i], live);
			live.regs_live |= f->landing;
		}
		if (c->insns.at[b->first].lead & LEAD_LAND)
			f->landing |= live.regs_live;
	}
	f->in[v] = live;
	return live.flags_live != old.flags_live || live.regs_live != old.regs_live;
}

static void
fill(struct flow *f)
{
	struct proc *p = f->p;
	uint32_t n = 0;

	p->gap_base = pool_array(f->u->pool, p->parts.n, sizeof *p->gap_base);
	for (uint32_t t = 0; t < p->parts.n; t++) {
		p->gap_base[t] = n;
		n += p->parts.at[t].last - p->parts.at[t].first + 1;
	}
	p->gaps = pool_array(f->u->pool, n + 1, sizeof *p->gaps);
	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block *b = &p->blocks.at[v];
		const struct code *c = p->parts.at[b->part].code;
		struct gap live = after_block(f, v);

		for (uint32_t i = b->last; i-- > b->first;) {
			live = before(f, &c->insns.at[i], live);
			live.regs_live |= f->landing;
			p->gaps[p->gap_base[b->part] + i - p->parts.at[b->part].first] = live;
		}
	}
}

void
live_find(struct unit *u, struct proc *p)
{
	struct flow f = {.u = u, .p = p, .in = pool_array(u->pool, p->graph->nvert, sizeof *f.in)};
	bool again = true;

	graph_index(p->graph);
	f.in[p->exit] = at_exit(&f);
	while (again) {
		again = false;
		for (uint32_t v = p->graph->nvert; v-- > 0;)
			if (v != p->exit && v != p->entry)
				again |= visit(&f, v);
	}
	fill(&f);
}

struct gap
gap_on_edge(const struct unit *u, const struct proc *p, uint32_t from, uint32_t to)
{
	struct flow f = {.u = u, .p = (struct proc *)p};
	struct gap gap = {u->machine->all_flags, u->machine->all_regs};

	if (to == p->exit) {
		gap = at_exit(&f);
		if (passes_flags(&f, last_insn(&f, from)))
			gap.flags_live = u->machine->all_flags;
	} else if (to < p->blocks.n) {
		gap = gap_before(p, p->blocks.at[to].part, p->blocks.at[to].first);
	}
	return gap;
}
