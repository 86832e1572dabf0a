/* SPDX-License-Identifier: MIT */
/* How long a round of a loop takes at least. For the shortest cycle through a block this is the number of its instructions, and the
 * number of cycles by which a round has to begin before the next one, because registers hand values from one to the other. */
#include "weave/internal.h"

#include <string.h>

/* A call counts as so many instructions. */
enum { CALL = 12 };
/* ROUNDS: rounds that are run until the start no longer matters, and then as many rounds that are counted. */
enum { ROUNDS = 8, REGS = 16 };
/* All searches in a procedure take so many steps at most. */
enum { STEPS_MOST = 1 << 26 };

struct cycles {
	const struct woven *w;
	const struct graph *g;
	uint16_t sp;             /* the stack pointer's bit */
	struct cycle *found;     /* by vertex */
	bool *looked;            /* by vertex: it is found */
	uint8_t *far;            /* by vertex, in a search: instructions on the way there; CYCLE_LONG: not reached */
	uint32_t *from;          /* by vertex, in a search: its predecessor */
	uint32_t *queue, *been;
	uint32_t *enters;        /* by vertex: the last start of a search to which it leads, and 1 */
	uint64_t steps;          /* edges that the searches have looked at */
};

struct cycles *
cycles_new(struct pool *pool, const struct unit *u, const struct woven *w)
{
	const struct graph *g = w->proc->graph;
	struct cycles *c = pool_array(pool, 1, sizeof *c);

	*c = (struct cycles){.w = w, .g = g, .sp = (uint16_t)(1u << u->machine->sp)};
	c->found = pool_array(pool, g->nvert, sizeof *c->found);
	c->looked = pool_array(pool, g->nvert, sizeof *c->looked);
	c->far = pool_array(pool, g->nvert, sizeof *c->far);
	c->from = pool_array(pool, g->nvert, sizeof *c->from);
	c->queue = pool_array(pool, g->nvert, sizeof *c->queue);
	c->been = pool_array(pool, g->nvert, sizeof *c->been);
	c->enters = pool_array(pool, g->nvert, sizeof *c->enters);
	memset(c->far, CYCLE_LONG, g->nvert);
	return c;
}

static uint32_t
length_of(const struct cycles *c, uint32_t v)
{
	const struct block_text *k;
	uint32_t n = 0;

	if (v >= c->w->proc->blocks.n)
		return 0;
	k = &c->w->proc->block_text.at[v];
	for (uint32_t i = k->first; i < k->last && n < CYCLE_LONG; i++)
		n += insn_is_call(woven_insn(c->w, v, i)) ? CALL : 1;
	return n;
}

static bool
is_way(const struct cycles *c, uint32_t e)
{
	return e < c->w->proc->arcs.n && c->w->proc->arcs.at[e].kind != CHORD_EDGE_CLOSE;
}

/* Marks the vertices that lead to v. */
static void
mark_enters(struct cycles *c, uint32_t v)
{
	for (uint32_t i = c->g->in_at[v]; i < c->g->in_at[v + 1]; i++)
		if (is_way(c, c->g->in[i]))
			c->enters[c->g->edge[c->g->in[i]].from] = v + 1;
}

/* The length of the shortest cycle through v, or CYCLE_LONG if that is not less. c->from leads from *last back to v. */
static uint32_t
shortest(struct cycles *c, uint32_t v, uint32_t *last)
{
	uint32_t head = 0, tail = 0, nbeen = 0, least = CYCLE_LONG, size = c->g->nvert;

	mark_enters(c, v);
	c->far[v] = 0;
	c->been[nbeen++] = v;
	c->queue[tail++] = v;
	while (head != tail) {
		uint32_t at = c->queue[head++ % size], n = c->far[at] + length_of(c, at);

		/* A vertex may lead to thousands: the edge to v is not sought among these. */
		if (c->enters[at] == v + 1 && n < least) {
			least = n;
			*last = at;
		}
		for (uint32_t i = c->g->out_at[at]; i < c->g->out_at[at + 1] && n < least; i++) {
			uint32_t e = c->g->out[i], to = c->g->edge[e].to;

			c->steps++;
			if (!is_way(c, e) || n >= c->far[to])
				continue;
			if (c->far[to] == CYCLE_LONG)
				c->been[nbeen++] = to;
			c->far[to] = (uint8_t)n;
			c->from[to] = at;
			if (tail - head < size)
				c->queue[tail++ % size] = to;
		}
	}
	while (nbeen)
		c->far[c->been[--nbeen]] = CYCLE_LONG;
	return least;
}

/* ready[r]: the cycle in which register r has its value, before the instruction and then after it. */
static void
run_insn(const struct insn *in, uint16_t sp, uint32_t *ready)
{
	uint32_t begin = 0;

	for (unsigned regs = in->regs_read; regs; regs &= regs - 1)
		if (ready[__builtin_ctz(regs)] > begin)
			begin = ready[__builtin_ctz(regs)];
	for (unsigned regs = in->regs_kill & ~sp; regs; regs &= regs - 1)
		ready[__builtin_ctz(regs)] = begin + in->latency;
}

/* The cycle in which all registers have their values after so many more rounds of the n blocks in c->queue. The last block in the
 * queue runs first. */
static uint32_t
run_rounds(const struct cycles *c, uint32_t n, uint32_t rounds, uint32_t *ready)
{
	uint32_t end = 0;

	for (uint32_t k = rounds * n; k-- > 0;) {
		uint32_t v = c->queue[k % n];

		for (uint32_t i = c->w->proc->block_text.at[v].first; i < c->w->proc->block_text.at[v].last; i++)
			run_insn(woven_insn(c->w, v, i), c->sp, ready);
	}
	for (unsigned r = 0; r < REGS; r++)
		end = ready[r] > end ? ready[r] : end;
	return end;
}

/* The cycles of a round of the path that c->from gives from last back to v. Values that are handed on through memory, flags or
 * other registers than general ones are left out, so the result is never too large. */
static uint32_t
latency_of(struct cycles *c, uint32_t v, uint32_t last)
{
	uint32_t ready[REGS] = {0}, n = 0, before;

	for (uint32_t at = last; at != v; at = c->from[at])
		if (at < c->w->proc->blocks.n)
			c->queue[n++] = at;
	c->queue[n++] = v;
	before = run_rounds(c, n, ROUNDS, ready);
	return (run_rounds(c, n, ROUNDS, ready) - before) / ROUNDS;
}

struct cycle
cycle_of(struct cycles *c, uint32_t v)
{
	uint32_t last = v;

	if (!c->looked[v]) {
		c->looked[v] = true;
		/* Blocks that reach a hub with thousands of labels reach all of them. */
		c->found[v].insns = c->steps < STEPS_MOST ? shortest(c, v, &last) : CYCLE_LONG;
		if (c->found[v].insns < CYCLE_LONG && v < c->w->proc->blocks.n)
			c->found[v].latency = latency_of(c, v, last);
	}
	return c->found[v];
}
