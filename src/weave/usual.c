/* SPDX-License-Identifier: MIT */
/* Short loops around which there is one path only.
 *
 * Their back edge counts by the path register and sets it anew. In the first round it counts another path than in later rounds.
 * That addition has another address, so a processor that forwards the store of one round to the load of the next guesses wrongly.
 * So the register is marked: the back edge leaves an address in it with one of the lowest bits set. This bit is clear in every
 * other value that the register may have when control comes there. If the bit is set, the path is the usual one, whose counter has
 * one address, and the register stays as it is. A stub does all else.
 *
 * A marked register may come to other ends of paths; their code clears the bits first. It is never put into the shadow of the
 * stack, where the runtime would read it. */
#include "weave/internal.h"

#include <string.h>

/* SHORT: instructions of such a loop, at most. MOST: marked loops of a procedure. BITS: bits for marks; loops that cannot be
 * mistaken for each other share a bit. */
enum { SHORT = 24, MOST = 8, BITS = 3 };
/* The largest sum that fits an operand in bytes. */
static const int64_t MOST_SUM = INT32_MAX / 16;

struct usual {
	const struct unit *u;
	const struct woven *w;
	const struct graph *g;
	uint32_t *stack;
	uint32_t edge[MOST], n;  /* marked loops: their back edge, */
	uint8_t bit[MOST];
	bool *ahead[MOST];       /* and the vertices that the marked register may come to */
};

/* Does a path go on over the edge? */
static bool
is_way(const struct usual *x, uint32_t e)
{
	return e < x->w->proc->arcs.n && x->g->edge[e].to != x->g->exit && e != x->g->close &&
	       !x->w->paths->paths->dag->cut[e] && !x->w->paths->act[e].record;
}

/* The vertices that a path from `start` leads to or, if not `ahead`, those from which a path leads to it; in the pool. */
static bool *
reach(const struct usual *x, uint32_t start, bool ahead)
{
	bool *set = pool_array(x->u->pool, x->g->nvert, sizeof *set);
	const uint32_t *at = ahead ? x->g->out_at : x->g->in_at, *list = ahead ? x->g->out : x->g->in;
	uint32_t n = 0;

	set[start] = true;
	x->stack[n++] = start;
	while (n) {
		uint32_t v = x->stack[--n];

		for (uint32_t i = at[v]; i < at[v + 1]; i++) {
			uint32_t to = ahead ? x->g->edge[list[i]].to : x->g->edge[list[i]].from;

			if (is_way(x, list[i]) && !set[to]) {
				set[to] = true;
				x->stack[n++] = to;
			}
		}
	}
	return set;
}

static bool
in_shadow(const struct usual *x, uint32_t v)
{
	return x->w->paths->assigned[v] < 0 && !x->w->paths->paths->probes->known[v];
}

static uint32_t
length_of(const struct usual *x, uint32_t v)
{
	const struct block_text *k = &x->w->proc->block_text.at[v];

	return v < x->w->proc->blocks.n ? k->last - k->first : 0;
}

/* Does a path begin, or is something added, on an edge to a vertex of the loop? */
static bool
changes(const struct usual *x, uint32_t e, uint32_t back, const bool *ahead, const bool *behind)
{
	const struct edge *d = &x->g->edge[e];
	const struct path_act *a = &x->w->paths->act[e];

	if (e == back || e == x->g->close || !ahead[d->to] || !behind[d->to])
		return false;
	/* Another back edge: the rounds are not alike. */
	if (!is_way(x, e))
		return d->from != x->w->proc->entry;
	return ahead[d->from] && (a->next == PATH_SET || a->n);
}

/* Does the register have one home all around the loop, and does nothing change it? */
static bool
is_one_path(const struct usual *x, uint32_t back, const bool *ahead)
{
	const struct edge *d = &x->g->edge[back];
	const bool *behind = reach(x, d->from, false);
	uint32_t n = 0;

	for (uint32_t v = 0; v < x->g->nvert; v++) {
		if (ahead[v] && in_shadow(x, v))
			return false;
		if (!ahead[v] || !behind[v])
			continue;
		n += length_of(x, v);
		if (n > SHORT || x->w->paths->assigned[v] != x->w->paths->assigned[d->to])
			return false;
	}
	for (uint32_t e = 0; e < x->w->proc->arcs.n; e++)
		if (changes(x, e, back, ahead, behind))
			return false;
	return ahead[d->from];
}

static bool
is_small(int64_t n)
{
	return n <= MOST_SUM && n >= -MOST_SUM;
}

/* Does a path that is held in a register end on the edge, and is the register then set to begin another? */
static bool
is_back(const struct usual *x, uint32_t e)
{
	const struct path_act *a = &x->w->paths->act[e];
	const struct edge *d = &x->g->edge[e];
	int8_t place = x->w->paths->assigned[d->to];
	struct site s;

	if (e == x->g->close || !x->w->paths->paths->dag->cut[e] || x->w->proc->arc_text.at[e].twice ||
	    a->record != PATH_RECORD_HELD || a->next != PATH_SET || !is_small(a->sum) || !is_small(a->n) || place < 0 ||
	    place != x->w->paths->assigned[d->from] || length_of(x, d->to) > SHORT || length_of(x, d->from) > SHORT)
		return false;
	s = assign_site(x->u, x->w, e, place, place);
	return s.where != SITE_NONE && !s.live.flags_live;
}

/* A bit that can be told from those of other loops; 0: there is none. */
static uint8_t
bit_for(const struct usual *x, uint32_t back, const bool *ahead)
{
	uint8_t taken = 0;

	for (uint32_t i = 0; i < x->n; i++)
		if (ahead[x->g->edge[x->edge[i]].from] || x->ahead[i][x->g->edge[back].from])
			taken |= x->bit[i];
	for (unsigned k = 0; k < BITS; k++)
		if (!(taken >> k & 1))
			return (uint8_t)(1u << k);
	return 0;
}

static void
mark(struct usual *x, uint32_t back)
{
	bool *ahead = reach(x, x->g->edge[back].to, true);
	uint8_t bit;

	if (!is_one_path(x, back, ahead) || !(bit = bit_for(x, back, ahead)))
		return;
	x->edge[x->n] = back;
	x->bit[x->n] = bit;
	x->ahead[x->n++] = ahead;
	x->w->paths->mark[back] = bit;
	for (uint32_t v = 0; v < x->g->nvert; v++)
		x->w->paths->marked[v] |= ahead[v];
}

void
mark_usual(const struct unit *u, struct woven *w)
{
	const struct graph *g = w->proc->graph;
	struct usual x = {.u = u, .w = w, .g = g, .stack = pool_array(u->pool, g->nvert, sizeof *x.stack)};

	w->paths->mark = pool_array(u->pool, w->proc->arcs.n, sizeof *w->paths->mark);
	w->paths->marked = pool_array(u->pool, g->nvert, sizeof *w->paths->marked);
	if (w->paths->kind == CHORD_PATH_HASHED || w->paths->traced)
		return;
	for (uint32_t e = 0; e < w->proc->arcs.n && x.n < MOST; e++)
		if (is_back(&x, e))
			mark(&x, e);
}
