/* SPDX-License-Identifier: MIT */
/* Base registers: which additions find their counter by a register.
 *
 * In a loop of few instructions an addition waits for the addition of the round before, because no processor forwards a store at no
 * cost to a load whose address is PC-relative. If a register has the address, the processor does (docs/design.md, section 4). So a
 * register that is dead throughout some blocks gets the address on the edges that lead to these blocks. All counters in them, and
 * on the edges between them, are then found by the register. A cheapest cut, between the blocks that gain by the register and all
 * others, decides which blocks these are.
 *
 * Control that comes from a vertex that is not a block (ENTRY, the hub) has nothing in registers, so such an edge has a load. Calls
 * and system calls leave nothing in registers.
 *
 * Intel's processors forget at each interrupt which stores they can forward at no cost, and often do not learn it again before
 * the next one. So in the innermost short loops a counter consists of cells, and each addition goes to the next cell: addb to the
 * lowest byte of the register. No addition waits for another.
 *
 * Where no register is dead in such a loop, one may be lent that the program needs only behind it: its value waits below the stack
 * pointer, and comes back on the edges out of the loop. */
#include "weave/base.h"

#include <stdlib.h>
#include <string.h>

/* Prices in instructions, for the processors that wait. IN_LOOP, IN_LONG_LOOP, ELSEWHERE: what an addition saves by a base in a
 * loop, in a very long one, and in no loop, where it is only shorter. WAIT: cycles that a PC-relative addition takes; it holds up a
 * loop of which a round takes less. WIDTH: instructions that run in a cycle. LOAD: a load of a base; in a loop that is not short it
 * has to run less often than the additions that gain by it. */
static const double WAIT = 6, WIDTH = 3, IN_LOOP = 0.9, IN_LONG_LOOP = 0.5, ELSEWHERE = 0.1, LOAD = 1;
/* A counter consists of cells in loops of so many instructions at most, unless the values that registers hand on make a round
 * longer than so many cycles. */
enum { CELLS_INSNS = 14, CELLS_LATENCY = 3 };
/* The same where an addition borrows a register. */
enum { BORROW_INSNS = 24 };
/* Base registers of each kind in a procedure, at most. */
enum { MOST = 4 };

/* ---- what a base saves ---- */

static double
gain_in(struct cycle cycle)
{
	double round = cycle.insns / WIDTH;

	if (cycle.insns >= CYCLE_LONG)
		return IN_LONG_LOOP;
	if (round < cycle.latency)
		round = cycle.latency;
	return IN_LOOP + (round < WAIT ? WAIT - round : 0);
}

/* Is there a loop that contains both? */
static bool
in_one_loop(const struct bases *b, uint32_t v, uint32_t to)
{
	uint32_t loop = b->loops->inner[v];

	while (loop != GRAPH_NONE && !loops_contain(b->loops, loop, to))
		loop = b->loops->parent[loop];
	return loop != GRAPH_NONE;
}

/* Does it count a path by the counter's address alone? */
static bool
counts_path(const struct bases *b, const struct site *s)
{
	return s->path && !s->path->op.traced &&
	       (s->path->op.record == PATH_RECORD_KNOWN || (s->path->op.mark && s->path->op.to == b->u->machine->sp));
}

/* Cells are of the site's counter if it has one, otherwise of its path. */
static bool
adds_there(const struct bases *b, const struct site *s)
{
	if (b->what == BASE_CELLS)
		return (s->counter || (s->path && s->path->one)) && !s->promoted && !s->live.flags_live;
	if (b->what == BASE_COUNTERS)
		return s->of_cells ? s->counter && counts_path(b, s) : !s->promoted && (s->counter || counts_path(b, s));
	for (uint32_t k = 0; s->add && k < b->box->n; k++)
		if (s->add[b->box->axis[k].event])
			return true;
	return false;
}

/* Are both vertices in one innermost loop of so many instructions at most, of which a round takes few cycles? */
static bool
in_short_loop(const struct bases *b, uint32_t v, uint32_t to, uint32_t insns)
{
	uint32_t loop = b->loops->inner[v];
	struct cycle c = cycle_of(b->cycles, v);

	return loops_contain(b->loops, loop, to) && b->loops->end[loop] == loop + 1 && c.insns <= insns &&
	       c.latency <= CELLS_LATENCY;
}

bool
base_waits_still(const struct bases *b, uint32_t v, uint32_t to)
{
	return in_short_loop(b, v, to, CELLS_INSNS);
}

/* Does the code of a site run only on the edge? */
static bool
is_on_edge(const struct site *s)
{
	return s->where != SITE_BLOCK;
}

static void
add_use(struct bases *b, struct site *s, uint32_t edge, double weight)
{
	const struct edge *d = edge == GRAPH_NONE ? NULL : &b->g->edge[edge];
	struct use use = {.site = s, .edge = is_on_edge(s) ? edge : GRAPH_NONE};
	uint32_t v = use.edge == GRAPH_NONE ? s->block : d->from;
	bool in_loop;

	if (s->where == SITE_NONE || !adds_there(b, s))
		return;
	in_loop = use.edge == GRAPH_NONE ? b->loops->depth[v] > 0 : in_one_loop(b, v, d->to);
	use.waits = in_loop && base_waits_still(b, v, use.edge == GRAPH_NONE ? v : d->to);
	use.waits_alone = in_loop && in_short_loop(b, v, use.edge == GRAPH_NONE ? v : d->to, BORROW_INSNS);
	if (b->what == BASE_CELLS && !use.waits)
		return;
	use.price = (in_loop ? gain_in(cycle_of(b->cycles, v)) : ELSEWHERE) * (weight + 1e-9);
	VEC_PUSH(b->uses, use);
}

void
base_find_uses(struct bases *b, uint8_t what)
{
	struct woven *w = b->w;
	const struct proc_text *p = w->proc;

	b->what = what;
	b->uses.n = 0;
	for (uint32_t e = 0; e < p->arcs.n; e++) {
		add_use(b, &w->edge[e], e, w->weight[e]);
		if (w->early)
			add_use(b, &w->early[e], e, w->weight[e]);
	}
	for (uint32_t v = 0; v < p->blocks.n; v++)
		add_use(b, &w->block[v], GRAPH_NONE, b->runs[v]);
	for (size_t i = 0; i < w->call_free.n; i++)
		add_use(b, &w->call_free.at[i].site, GRAPH_NONE, b->runs[w->call_free.at[i].block]);
}

/* ---- loads ---- */

static double
price_of_load(const struct bases *b, uint32_t e, uint8_t base)
{
	uint32_t loop = b->loops->inner[b->g->edge[e].to];
	struct site s = base_load_site(b, e, base);

	/* In each round it would cost more than it saves. */
	if (s.lends && loop != GRAPH_NONE && loops_contain(b->loops, loop, b->g->edge[e].from))
		return GRAPH_NEVER;
	return base_price_at(b, e, &s, s.lends ? 2 * LOAD : LOAD);
}

/* Does the program need the register behind the edge? */
static bool
needed_behind(const struct bases *b, uint32_t e, uint8_t base)
{
	uint32_t to = b->g->edge[e].to;
	const struct block_text *k;

	if (to >= b->w->proc->blocks.n)
		return true;
	k = &b->w->proc->block_text.at[to];
	return live_before(b->w->proc, k->part, k->first).regs_live >> (base - 1) & 1;
}

/* The site on the edge where a register that was lent comes back. */
static struct site
back_site(const struct bases *b, uint32_t e, uint8_t base)
{
	struct site s = base_load_site(b, e, base);

	if (b->g->edge[e].to >= b->w->proc->blocks.n || s.live.no_stack ||
	    (s.where == SITE_BLOCK && s.block == b->g->edge[e].from) || (is_on_edge(&s) && b->w->edge[e].gets_back))
		s.where = SITE_NONE;
	return s;
}

static double
price_of_back(const struct bases *b, uint32_t e, uint8_t base)
{
	struct site s;

	if (!needed_behind(b, e, base))
		return 0;
	s = back_site(b, e, base);
	return base_price_at(b, e, &s, LOAD);
}

/* On an edge with code of its own the load comes first, and the code finds its counter by the register. */
static void
add_load(struct bases *b, uint32_t e, uint8_t base)
{
	struct site s = base_load_site(b, e, base), *at;

	at = base_put(b, e, &s, s.where != SITE_BLOCK || s.block == b->g->edge[e].from);
	at->load |= (uint8_t)(1u << b->what);
	at->base[b->what] = base;
	at->lends |= s.lends;
}

/* On an edge with code of its own the register comes back last. */
static void
add_back(struct bases *b, uint32_t e, uint8_t base)
{
	struct site s = back_site(b, e, base);

	base_put(b, e, &s, s.where != SITE_BLOCK)->gets_back = base;
}

/* ---- which blocks ---- */

static bool
can_have(const struct bases *b, uint32_t v, uint8_t base)
{
	uint16_t could = v >= b->w->proc->blocks.n ? 0 : b->lending ? b->avail[v] | b->idle[v] : b->avail[v];

	/* A register is lent for one cut only, and if it is nowhere a base without that. */
	if (b->lending && b->w->bases[b->what] >> (base - 1) & 1)
		return false;
	return could >> (base - 1) & 1 && !b->held[b->what][v];
}

/* The vertex that must have the register for a site to use it. GRAPH_NONE: there is none, or the site has a base already. */
static uint32_t
vertex_of(const struct bases *b, const struct use *use, uint8_t base)
{
	uint32_t v = use->edge == GRAPH_NONE ? use->site->block : b->g->edge[use->edge].from;

	if (use->site->base[b->what])
		return GRAPH_NONE;
	if (can_have(b, v, base))
		return v;
	v = use->edge == GRAPH_NONE ? v : b->g->edge[use->edge].to;
	return can_have(b, v, base) ? v : GRAPH_NONE;
}

/* A register is lent only for additions that wait still. */
static bool
may_use(const struct bases *b, const struct use *use)
{
	return !b->lending || use->waits;
}

static double
most_to_gain(const struct bases *b, uint8_t base)
{
	double sum = 0;

	for (size_t i = 0; i < b->uses.n; i++)
		if (may_use(b, &b->uses.at[i]) && vertex_of(b, &b->uses.at[i], base) != GRAPH_NONE)
			sum += b->uses.at[i].price;
	return sum;
}

/* Finds the best use of one register. Returns what it saves; *in: by vertex, whether the register is a base there. */
static double
try_register(const struct bases *b, uint8_t base, double most, struct pool *pool, bool **in)
{
	uint32_t n = b->g->nvert, narc = 0;
	struct cut_arc *arc = pool_array(pool, b->uses.n + 2 * b->w->proc->arcs.n, sizeof *arc);
	double price;

	for (size_t i = 0; i < b->uses.n; i++) {
		uint32_t v = vertex_of(b, &b->uses.at[i], base);

		if (v != GRAPH_NONE && may_use(b, &b->uses.at[i]))
			arc[narc++] = (struct cut_arc){n, v, b->uses.at[i].price};
	}
	for (uint32_t e = 0; e < b->w->proc->arcs.n; e++) {
		const struct edge *d = &b->g->edge[e];

		uint32_t from = can_have(b, d->from, base) ? d->from : n + 1;

		if (d->from != d->to && can_have(b, d->to, base))
			arc[narc++] = (struct cut_arc){d->to, from, price_of_load(b, e, base)};
		if (b->lending && d->from != d->to && from == d->from)
			arc[narc++] = (struct cut_arc){from, can_have(b, d->to, base) ? d->to : n + 1, price_of_back(b, e, base)};
	}
	*in = graph_cut(pool, n + 2, arc, narc, n, n + 1, NULL, &price);
	return most - price;
}

static void
take_register(struct bases *b, uint8_t base, const bool *in)
{
	uint8_t *held = b->held[b->what];

	for (uint32_t v = 0; v < b->g->nvert; v++)
		if (in[v] && can_have(b, v, base))
			held[v] = base;
	for (uint32_t e = 0; e < b->w->proc->arcs.n; e++) {
		bool from = held[b->g->edge[e].from] == base, to = in[b->g->edge[e].to] && held[b->g->edge[e].to] == base;

		if (to && !from)
			add_load(b, e, base);
		else if (b->lending && from && !to && needed_behind(b, e, base))
			add_back(b, e, base);
	}
	for (size_t i = 0; i < b->uses.n; i++) {
		struct use *use = &b->uses.at[i];
		bool on_edge = use->edge != GRAPH_NONE;

		/* A site that has a base already may be the site that loads it. */
		if (!use->site->base[b->what] &&
		    held[on_edge ? b->g->edge[use->edge].from : use->site->block] == base)
			use->site->base[b->what] = base;
	}
	b->w->bases[b->what] |= (uint16_t)(1u << (base - 1));
	if (b->lending)
		b->w->lent[base - 1] = (uint8_t)(PATH_ROOM - 8 * b->nlent);
}

static bool
take_best(struct bases *b)
{
	static const uint8_t order[] = {11, 10, 9, 8, 7, 6, 1, 2, 3, 14, 15, 12, 13};
	struct pool *pool = pool_new();
	bool *best = NULL, *in;
	double most = 0;
	uint8_t base = 0;

	for (size_t i = 0; i < sizeof order; i++) {
		uint8_t r = (uint8_t)(order[i] + 1);
		double could = most_to_gain(b, r), gain;

		if (could <= most * 1.05)
			continue;
		gain = try_register(b, r, could, pool, &in);
		if (gain > most * 1.001) {
			most = gain;
			best = in;
			base = r;
		}
	}
	if (best)
		take_register(b, base, best);
	pool_free(pool);
	return best;
}

/* ---- liveness ---- */

static uint16_t
bits_at(const struct bases *b, uint32_t v)
{
	uint16_t bits = 0;

	for (unsigned what = 0; what < BASES_OF; what++)
		bits |= (uint16_t)(b->held[what][v] ? 1u << (b->held[what][v] - 1) : 0);
	return bits;
}

static uint16_t
bits_of(const struct site *s)
{
	uint16_t bits = 0;

	for (unsigned what = 0; what < BASES_OF; what++)
		bits |= (uint16_t)(s->base[what] ? 1u << (s->base[what] - 1) : 0);
	return bits;
}

/* Keeps other woven-in code from using registers that are bases at the site or after it. */
static void
mark_site(const struct bases *b, struct site *s, uint32_t edge)
{
	uint32_t v = edge != GRAPH_NONE && is_on_edge(s) ? b->g->edge[edge].to : s->block;
	uint16_t bits = (uint16_t)(bits_of(s) | bits_at(b, v));

	if (s->where == SITE_NONE)
		return;
	s->live.regs_live |= bits;
	if (s->path)
		s->path->place.live.regs_live |= bits;
}

/* Code that begins or ends counts of a loop on an edge may stand before or behind code that loads a base there. */
static void
mark_load(const struct bases *b, struct base_load *l)
{
	const struct edge *d = &b->g->edge[l->edge];

	mark_site(b, &l->site, l->edge);
	if (l->site.where != SITE_NONE)
		l->site.live.regs_live |= (uint16_t)(bits_of(&b->w->edge[l->edge]) | bits_at(b, d->from) | bits_at(b, d->to));
}

static void
mark_live(const struct bases *b)
{
	struct woven *w = b->w;
	const struct proc_text *p = w->proc;

	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *k = &p->block_text.at[v];
		uint16_t bits = bits_at(b, v);

		for (uint32_t i = k->first; i < k->last && bits; i++)
			p->live[p->live_base[k->part] + i - p->parts.at[k->part].first].regs_live |= bits;
		mark_site(b, &w->block[v], GRAPH_NONE);
	}
	for (uint32_t e = 0; e < p->arcs.n; e++) {
		mark_site(b, &w->edge[e], e);
		if (w->early)
			mark_site(b, &w->early[e], e);
	}
	for (size_t i = 0; i < w->call_free.n; i++)
		mark_site(b, &w->call_free.at[i].site, GRAPH_NONE);
	for (size_t i = 0; i < w->loads.n; i++)
		mark_load(b, &w->loads.at[i]);
}

/* ---- all of it ---- */

static void
forget_site(struct site *s)
{
	memset(s->base, 0, sizeof s->base);
	s->load = s->lends = s->gets_back = 0;
	s->of_cells = s->turns = false;
	s->begins = s->ends = NULL;
}

/* Removes all bases again. split: by block, whether it was split before. */
static void
forget_bases(struct woven *w, const bool *split)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		forget_site(&w->edge[e]);
		if (w->early)
			forget_site(&w->early[e]);
	}
	for (uint32_t v = 0; v < p->blocks.n; v++)
		forget_site(&w->block[v]);
	for (size_t i = 0; i < w->call_free.n; i++)
		forget_site(&w->call_free.at[i].site);
	w->loads.n = 0;
	forget_promotions(w);
	memset(w->bases, 0, sizeof w->bases);
	w->turns = false;
	memset(w->lent, 0, sizeof w->lent);
	memcpy(w->split, split, p->blocks.n * sizeof *split);
}

/* Each register that is lent has a word of its own below the stack pointer. Handlers of exceptions might look for the value in the
 * register. */
static void
lend_registers(struct bases *b)
{
	bool nothing;

	if (base_has_landing_pads(b) || !below_room(b->u, b->w, &nothing))
		return;
	b->lending = true;
	while (b->nlent < (nothing ? LENT_MOST : 1) && b->uses.n && take_best(b))
		b->nlent++;
	b->lending = false;
}

static void
place_base(struct bases *b, uint8_t what)
{
	base_find_uses(b, what);
	for (int i = 0; i < MOST && b->uses.n && take_best(b); i++)
		;
	if (what != BASE_COUNTERS)
		lend_registers(b);
	/* Within a procedure a register is the base of one address only. */
	base_exclude(b, b->w->bases[what]);
}

static void
place_all(struct bases *b, const struct weave_options *o)
{
	struct number_boxes boxes;

	if (o->promote)
		place_promotions(b, o);
	place_base(b, BASE_CELLS);
	for (size_t i = 0; i < b->uses.n; i++)
		b->uses.at[i].site->of_cells = b->uses.at[i].site->base[BASE_CELLS] != 0;
	place_base(b, BASE_COUNTERS);
	if (!o->events.n || !b->w->query)
		return;
	boxes = number_boxes(b->pool, &o->events, at_calls(o));
	b->box = &boxes.at[0];
	place_base(b, BASE_NUMBERS);
	for (size_t i = 0; i < b->uses.n; i++) {
		const struct use *use = &b->uses.at[i];

		use->site->turns = number_box_has_cells(b->box) && use->site->base[BASE_NUMBERS] && use->waits &&
		                   !use->site->live.flags_live;
		b->w->turns |= use->site->turns;
	}
}

/* ---- cells ---- */

/* A new counter of cells; returns its number. of: 0, or the counter to which its count belongs. */
static uint32_t
new_cells(struct woven *w, uint32_t of)
{
	uint32_t first;

	if (!w->ncells) {
		w->cells = (w->ncounter + CHORD_CELLS - 1) / CHORD_CELLS * CHORD_CELLS;
		w->spare = w->cells - w->ncounter;
		w->align = CHORD_CELLS * sizeof(uint64_t);
	}
	first = w->cells + w->ncells++ * CHORD_CELLS;
	w->ncounter = w->cells + w->ncells * CHORD_CELLS;
	w->spare += CHORD_CELLS;
	VEC_PUSH(w->cells_of, of);
	return first + 1;
}

static void
take_cells(struct woven *w, struct site *s, uint32_t *counter)
{
	if (s->of_cells && s->counter)
		*counter = s->counter = new_cells(w, 0);
	else if (s->of_cells)
		s->path->cells = new_cells(w, s->path->one);
}

/* Gives their cells to the counters that consist of them. Old words of edges and blocks are not used; those of paths are, too. */
static void
number_cells(struct woven *w)
{
	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		take_cells(w, &w->edge[e], &w->proc->arcs.at[e].counter);
	for (uint32_t v = 0; v < w->proc->blocks.n; v++)
		take_cells(w, &w->block[v], &w->proc->blocks.at[v].counter);
}

/* Bases only in compilers' text: assembly by hand may use registers and the stack against all conventions. */
void
place_bases(const struct unit *u, struct woven *w, const struct weave_options *o)
{
	struct bases b = {.u = u, .w = w, .pool = pool_new()};

	if (!bases_prepare(&b)) {
		pool_free(b.pool);
		return;
	}
	if (u->text->compiler && !w->proc->strays) {
		bool *split = pool_array(b.pool, w->proc->blocks.n, sizeof *split);

		memcpy(split, w->split, w->proc->blocks.n * sizeof *split);
		place_all(&b, o);
		if (bases_hold(u, w)) {
			mark_live(&b);
			mark_promotions(&b);
			number_promotions(w);
			number_cells(w);
		} else {
			forget_bases(w, split);
		}
	}
	place_borrows(&b);
	free(b.uses.at);
	pool_free(b.pool);
}
