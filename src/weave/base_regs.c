/* SPDX-License-Identifier: MIT */
/* Where registers are dead, or are left alone, so that they can be used for counters. */
#include "weave/base.h"

static bool
may_be_entered(const struct bases *b, uint32_t block)
{
	return woven_insn(b->w, block, b->w->proc->block_text.at[block].first)->leader &
	       (LEADER_ADDRESS | LEADER_LAND | LEADER_RECEIVE | LEADER_ENTRY | LEADER_BASE | LEADER_LISTED);
}

/* Does the graph have an edge for each way in which control can enter the block? */
static bool
ways_are_known(const struct bases *b, uint32_t block)
{
	if (!may_be_entered(b, block))
		return true;
	for (uint32_t i = b->g->in_at[block]; i < b->g->in_at[block + 1]; i++)
		if (b->g->edge[b->g->in[i]].from >= b->w->proc->blocks.n)
			return true;
	return false;
}

static uint16_t
block_avail(const struct bases *b, uint32_t block)
{
	const struct block_text *k = &b->w->proc->block_text.at[block];
	uint16_t avail = (uint16_t)(b->u->machine->base_regs & ~b->never);

	if (!ways_are_known(b, block))
		return 0;
	for (uint32_t i = k->first; i < k->last && avail; i++) {
		const struct insn *in = woven_insn(b->w, block, i);

		avail &= (uint16_t)~(live_before(b->w->proc, k->part, i).regs_live | in->regs_kill);
		if (in->cls == CHORD_INSN_SYSCALL || insn_is_call(in))
			return 0;
	}
	return avail;
}

/* Can nothing in the block use what is below the stack pointer? */
static bool
block_still(const struct bases *b, uint32_t block)
{
	const struct machine *m = b->u->machine;
	const struct block_text *k = &b->w->proc->block_text.at[block];

	for (uint32_t i = k->first; i < k->last; i++) {
		const struct insn *in = woven_insn(b->w, block, i);

		if (in->cls == CHORD_INSN_SYSCALL || insn_is_call(in) || in->regs_kill >> m->sp & 1 ||
		    live_before(b->w->proc, k->part, i).no_stack)
			return false;
	}
	return ways_are_known(b, block);
}

/* Registers that the block leaves alone, if words below the stack pointer are left alone, too. An unwinder that starts at a signal
 * may look for the caller's values in callee-saved ones. */
static uint16_t
block_idle(const struct bases *b, uint32_t block)
{
	const struct machine *m = b->u->machine;
	const struct block_text *k = &b->w->proc->block_text.at[block];
	uint16_t idle = (uint16_t)(m->base_regs & (m->clobbered | m->results) & ~b->never);

	for (uint32_t i = k->first; i < k->last && idle; i++) {
		const struct insn *in = woven_insn(b->w, block, i);

		idle &= (uint16_t)~(in->regs_read | in->regs_kill);
	}
	return b->still[block] ? idle : 0;
}

/* Keeps words below the stack pointer out of the way of code that uses all of them. */
static void
find_overwritten(struct bases *b)
{
	for (uint32_t e = 0; e < b->w->proc->arcs.n; e++) {
		const struct site *s = &b->w->edge[e];

		if (s->path && s->path->overwrites)
			b->still[b->g->edge[e].from] = b->still[b->g->edge[e].to] = false;
	}
}

static void
find_avail(struct bases *b)
{
	const struct proc_text *p = b->w->proc;

	for (uint32_t v = 0; v < p->blocks.n; v++) {
		b->avail[v] = block_avail(b, v);
		b->still[v] = block_still(b, v);
	}
	find_overwritten(b);
	for (uint32_t v = 0; v < p->blocks.n; v++)
		b->idle[v] = block_idle(b, v);
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->arcs.at[e].kind == CHORD_EDGE_NONLOCAL || p->arcs.at[e].kind == CHORD_EDGE_LOST)
			b->avail[p->graph->edge[e].from] = b->idle[p->graph->edge[e].from] = b->still[p->graph->edge[e].from] = 0;
}

/* Registers by which call frames are found, or all registers if directives are not understood; registers that measures hold; and
 * those that the compiler was told to leave alone, because a signal handler may read them at any moment. */
static uint16_t
find_never(const struct unit *u, const struct woven *w)
{
	const struct proc_text *p = w->proc;
	uint16_t never = w->held | u->reserved;
	uint32_t kept, frame;

	for (size_t t = 0; t < p->parts.n; t++) {
		const struct part *part = &p->parts.at[t];

		if (!cfi_kept(u->cfi, part->first_stmt + 1, part->last_stmt, &kept))
			continue;
		/* Unwinders expect the caller's values in callee-saved registers, even if the procedure never returns. */
		never |= (uint16_t)(u->machine->all_regs & ~u->machine->clobbered & ~u->machine->results & ~kept);
		for (uint32_t i = part->first; i < part->last; i++) {
			uint32_t stmt = part->code->insns.at[i].stmt;

			if (stmt == UINT32_MAX)
				continue;
			if (!cfi_frame_regs(u->cfi, stmt, &frame))
				return UINT16_MAX;
			never |= (uint16_t)frame;
		}
	}
	return never;
}

/* ---- all of it ---- */

static bool
has_loops(const struct loops *l)
{
	return l->nloop > 0;
}

bool
base_has_landing_pads(const struct bases *b)
{
	for (uint32_t v = 0; v < b->w->proc->blocks.n; v++)
		if (woven_insn(b->w, v, b->w->proc->block_text.at[v].first)->leader & (LEADER_LAND | LEADER_RECEIVE))
			return true;
	return false;
}

void
base_exclude(struct bases *b, uint16_t never)
{
	b->never |= never;
	for (uint32_t v = 0; v < b->g->nvert; v++) {
		b->avail[v] &= (uint16_t)~b->never;
		b->idle[v] &= (uint16_t)~b->never;
	}
}

static void
find_runs(struct bases *b)
{
	for (uint32_t e = 0; e < b->w->proc->arcs.n; e++)
		if (b->g->edge[e].to < b->w->proc->blocks.n)
			b->runs[b->g->edge[e].to] += b->w->weight[e];
}

bool
bases_prepare(struct bases *b)
{
	struct graph *g = b->w->proc->graph;
	uint32_t n;

	graph_index(g);
	b->g = g;
	b->loops = loops_find(g, order_dfs(g));
	if (!has_loops(b->loops))
		return false;
	b->nlent = b->w->below;
	n = g->nvert;
	place_weights(b->u, b->w);
	b->never = find_never(b->u, b->w);
	b->avail = pool_array(b->pool, n, sizeof *b->avail);
	b->still = pool_array(b->pool, n, sizeof *b->still);
	b->idle = pool_array(b->pool, n, sizeof *b->idle);
	b->counting = pool_array(b->pool, n, sizeof *b->counting);
	b->place = pool_array(b->pool, b->g->nedge, sizeof *b->place);
	b->is_placed = pool_array(b->pool, b->g->nedge, sizeof *b->is_placed);
	b->runs = pool_array(b->pool, n, sizeof *b->runs);
	b->cycles = cycles_new(b->pool, b->u, b->w);
	for (unsigned i = 0; i < BASES_OF; i++)
		b->held[i] = pool_array(b->pool, n, sizeof *b->held[i]);
	find_runs(b);
	find_avail(b);
	return true;
}
