/* SPDX-License-Identifier: MIT */
/* The register assignment: where the path register is while control is in a block.
 *
 * In the shadow of the stack an operation costs three instructions or more. In a register that is dead throughout a block it costs
 * one. In a word below the stack pointer it costs one or two, if the block does not move the stack pointer and nothing else is kept
 * there. In what follows, "register" means that word, too: its number is the stack pointer's.
 *
 * In blocks with calls the path register is in the shadow, since callees may use any register. Local search finds which blocks have
 * which register: first all blocks that could have it do; then each block is changed as long as that makes the code cheaper; a set
 * of blocks that does not pay as a whole is undone. */
#include "weave/internal.h"

#include <string.h>

/* Prices in instructions, for operations in the shadow, in a register, and in the word below the stack pointer. */
enum kept { SHADOW, REGISTER, ROOM, PLACES };
static const double ADD[PLACES] = {3, 1, 1.2}, SET[PLACES] = {4, 1, 2}, RECORD[PLACES] = {4, 1, 2};
static const double TRANSFER[PLACES][PLACES] = {{0, 3, 4}, {3, 1, 1}, {4, 1, 0}};
static const double MOVE = 1, HASHED = 6, KNOWN = 1, TRACED = 8, FULL = 1, FLAGS = 4, SPILL = 2, JUMP = 0.7;
/* The price of what is impossible. */
static const double NEVER = 1e30;

enum { PASSES = 8 };

struct assignment {
	const struct unit *u;
	struct woven *w;
	const struct graph *g;
	const struct probes *r;
	uint16_t *avail;          /* by vertex: registers that are dead all through it */
	bool *in_set;             /* by vertex: may have the register that is tried */
	uint32_t *part;           /* by vertex: connected set it belongs to, plus 1 */
	int8_t *assigned, *before; /* by vertex: now; before the register was tried */
};

/* The instruction before which all paths through the block end, or the block's end. */
static uint32_t
last_needed(const struct assignment *h, uint32_t block)
{
	uint32_t end = h->w->proc->block_text.at[block].last, only = GRAPH_NONE;
	const struct site *s;

	for (uint32_t i = h->g->out_at[block]; i < h->g->out_at[block + 1]; i++) {
		if (h->g->out[i] >= h->w->proc->arcs.n)
			continue;
		if (only != GRAPH_NONE)
			return end;
		only = h->g->out[i];
	}
	if (only == GRAPH_NONE || (h->g->edge[only].to != h->w->proc->exit && !h->w->proc->arc_text.at[only].twice))
		return end;
	s = h->w->proc->arc_text.at[only].twice ? &h->w->early[only] : &h->w->edge[only];
	return s->where == SITE_BLOCK && s->block == block ? s->insn : end;
}

static uint16_t
all_avail(const struct assignment *h)
{
	uint16_t all = h->u->machine->path_regs;

	if (h->w->paths->traced)
		all &= (uint16_t)~h->u->machine->cursor_reg;
	return (uint16_t)(all | (h->w->paths->room ? 1u << h->u->machine->sp : 0));
}

/* Registers that are dead at a place, and the stack pointer. */
static uint16_t
free_at(const struct unit *u, struct liveness live)
{
	return (uint16_t)(~live.regs_live | 1u << u->machine->sp);
}

/* Registers by which unwinders, and code for the shadow, find the frame at an instruction. Nothing else may be in them there, even
 * if the program no longer reads them. */
static uint16_t
framing(const struct assignment *h, uint32_t block, uint32_t i)
{
	const struct block_text *b = &h->w->proc->block_text.at[block];
	uint32_t stmt = woven_insn(h->w, block, i)->stmt;
	struct cfi_frame f;
	uint32_t found = 0;

	if (stmt != UINT32_MAX)
		cfi_frame_regs(h->u->cfi, stmt, &found);
	if ((i == b->first || i + 1 == b->last) && frame_before(h->w->paths->frames, block, i, &f))
		found |= 1u << f.reg;
	return (uint16_t)(found & ~(1u << h->u->machine->sp));
}

static uint16_t
block_avail(const struct assignment *h, uint32_t block)
{
	const struct block_text *b = &h->w->proc->block_text.at[block];
	uint16_t avail = all_avail(h);
	uint32_t end = last_needed(h, block);

	for (uint32_t i = b->first; i < end; i++) {
		const struct insn *in = woven_insn(h->w, block, i);

		avail &= free_at(h->u, live_before(h->w->proc, b->part, i)) & (uint16_t)~framing(h, block, i);
		if (in->cls == CHORD_INSN_SYSCALL || insn_is_call(in))
			return 0;
		avail &= (uint16_t)~in->regs_kill;
	}
	if (end < b->last)
		avail &= free_at(h->u, live_before(h->w->proc, b->part, end)) & (uint16_t)~framing(h, block, end);
	return avail;
}

/* A hub has no code: a register is dead there if it is dead wherever the hub leads. */
static uint16_t
hub_avail(const struct assignment *h, uint32_t hub)
{
	uint16_t avail = all_avail(h);

	for (uint32_t i = h->g->out_at[hub]; i < h->g->out_at[hub + 1]; i++) {
		uint32_t to = h->g->edge[h->g->out[i]].to;
		const struct block_text *b = &h->w->proc->block_text.at[to];

		if (to >= h->w->proc->blocks.n)
			return 0;
		avail &= free_at(h->u, live_before(h->w->proc, b->part, b->first)) & (uint16_t)~framing(h, to, b->first);
	}
	return avail;
}

static void
find_avail(struct assignment *h)
{
	const struct proc_text *p = h->w->proc;

	for (uint32_t v = 0; v < p->graph->nvert; v++)
		if (v != p->exit && v != p->entry)
			h->avail[v] = v < p->blocks.n ? block_avail(h, v) : hub_avail(h, v);
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->arcs.at[e].kind == CHORD_EDGE_NONLOCAL || p->arcs.at[e].kind == CHORD_EDGE_LOST)
			h->avail[p->graph->edge[e].from] = 0;
}

/* ---- sites ---- */

static bool
has(uint16_t set, int8_t reg)
{
	return reg < 0 || set >> reg & 1;
}

/* The site of an edge with the register in `from` before it and in `to` after it. */
static struct site
site_for(const struct unit *u, const struct woven *w, const uint16_t *avail, uint32_t e, int8_t from, int8_t to)
{
	struct site s = w->edge[e];
	const struct edge *d = &w->proc->graph->edge[e];

	if (s.where == SITE_BLOCK &&
	    (s.block == d->from ? from != to && !has(avail[d->from], to) : !has(avail[d->to], from)))
		s = place_at_edge(u, w, e);
	if (s.where != SITE_NONE && !(has(free_at(u, s.live), from) && has(free_at(u, s.live), to)))
		s.where = SITE_NONE;
	return s;
}

struct site
assign_site(const struct unit *u, const struct woven *w, uint32_t e, int8_t from, int8_t to)
{
	return site_for(u, w, w->paths->avail, e, from, to);
}

/* ---- prices ---- */

static bool
is_arc(const struct assignment *h, uint32_t e)
{
	return e < h->w->proc->arcs.n && e != h->g->close;
}

static bool
ends(const struct assignment *h, uint32_t e)
{
	return h->w->paths->paths->dag->cut[e] || h->g->edge[e].to == h->g->exit;
}

static enum kept
kept_at(const struct assignment *h, int8_t assigned)
{
	return assigned < 0 ? SHADOW : assigned == h->u->machine->sp ? ROOM : REGISTER;
}

static double
price_of_record(const struct woven_paths *x, const struct path_act *a, enum kept from)
{
	bool hashed = x->kind == CHORD_PATH_HASHED;
	double more = x->traced ? TRACED : 0;

	if (a->record == PATH_RECORD_FULL)
		return FULL;
	if (a->record == PATH_RECORD_WORD)
		more += TRACED;
	if (a->record == PATH_RECORD_KNOWN)
		return more + (hashed ? 3 * KNOWN : KNOWN);
	return a->record ? more + RECORD[from] + (hashed ? HASHED : 0) : 0;
}

static double
price_of_next(const struct path_act *a, enum kept from, enum kept to, bool same)
{
	if (a->next == PATH_SET)
		return SET[to];
	if (a->next == PATH_ADD && same)
		return a->n ? ADD[to] : 0;
	if (a->next == PATH_ADD)
		return TRANSFER[from][to] + (a->n && (from != REGISTER || to != REGISTER) ? MOVE : 0);
	return 0;
}

/* The number of scratch registers that the code of an edge needs. */
static int
scratch(const struct assignment *h, const struct path_act *a, enum kept from, enum kept to, bool same)
{
	if (a->record && a->record != PATH_RECORD_FULL && h->w->paths->traced)
		return 2;
	if ((a->record >= PATH_RECORD_HELD || a->next == PATH_ADD) && from == SHADOW)
		return 1;
	if (a->record == PATH_RECORD_HELD && from == ROOM)
		return 1;
	return a->next && (to == SHADOW || (to == ROOM && a->next == PATH_SET)) && !same;
}

/* How many live registers have to be saved for so many scratch registers. */
static int
spilled(const struct assignment *h, const struct site *s, int wanted, int8_t from, int8_t to)
{
	uint16_t free = (uint16_t)(h->u->machine->all_regs & ~s->live.regs_live & ~(1u << h->u->machine->sp));

	free &= (uint16_t)~((from >= 0 ? 1u << from : 0) | (to >= 0 ? 1u << to : 0));
	return wanted > __builtin_popcount(free) ? wanted - __builtin_popcount(free) : 0;
}

/* The price of the code of an edge at a site. */
static double
price_at(const struct assignment *h, const struct site *s, const struct path_act *a, int8_t from, int8_t to)
{
	bool same = a->next == PATH_ADD && from == to;
	enum kept at = kept_at(h, from), then = kept_at(h, to);
	double n = price_of_record(h->w->paths, a, at) + price_of_next(a, at, then, same);

	if (!(n > 0))
		return 0;
	if (s->live.flags_live && (a->record || (a->next == PATH_ADD && at != REGISTER) || (a->next && then == SHADOW)))
		n += FLAGS;
	n += SPILL * spilled(h, s, scratch(h, a, at, then, same), from, to);
	return n + (s->where == SITE_STUB ? JUMP : s->where == SITE_SPLIT ? 2 * JUMP : 0);
}

/* The price of the code on an edge, times how often it runs. */
static double
price(const struct assignment *h, uint32_t e)
{
	struct path_act a = h->w->paths->act[e];
	const struct edge *d = &h->g->edge[e];
	int8_t from = a.record >= PATH_RECORD_HELD || a.next == PATH_ADD ? h->assigned[d->from] : -1;
	int8_t to = a.next ? h->assigned[d->to] : -1;
	double early = 0;
	struct site s = h->w->edge[e];

	if (h->w->proc->arc_text.at[e].twice && a.record) {
		struct path_act ends = {.record = a.record, .sum = a.sum};

		early = price_at(h, &h->w->early[e], &ends, from, -1);
		a.record = PATH_NO_RECORD;
		from = -1;
	}
	if (price_at(h, &s, &a, from, to) > 0 && (from >= 0 || to >= 0)) {
		s = site_for(h->u, h->w, h->avail, e, from, to);
		if (s.where == SITE_NONE)
			return NEVER;
	}
	return (early + price_at(h, &s, &a, from, to)) * (h->w->weight[e] + 1e-9);
}

static double
price_around(const struct assignment *h, uint32_t v)
{
	double sum = 0;

	for (uint32_t i = h->g->out_at[v]; i < h->g->out_at[v + 1]; i++)
		sum += is_arc(h, h->g->out[i]) ? price(h, h->g->out[i]) : 0;
	for (uint32_t i = h->g->in_at[v]; i < h->g->in_at[v + 1]; i++)
		if (is_arc(h, h->g->in[i]) && h->g->edge[h->g->in[i]].from != v)
			sum += price(h, h->g->in[i]);
	return sum;
}

static double
price_of_part(const struct assignment *h, uint32_t part)
{
	double sum = 0;

	for (uint32_t e = 0; e < h->w->proc->arcs.n; e++)
		if (is_arc(h, e) && (h->part[h->g->edge[e].from] == part || h->part[h->g->edge[e].to] == part))
			sum += price(h, e);
	return sum;
}

/* ---- search ---- */

static void
improve(struct assignment *h, int8_t reg)
{
	bool again = true;

	for (int pass = 0; pass < PASSES && again; pass++) {
		again = false;
		for (uint32_t v = 0; v < h->g->nvert; v++) {
			if (!h->in_set[v])
				continue;
			int8_t old = h->assigned[v];
			double before = price_around(h, v), after;

			h->assigned[v] = old == reg ? h->before[v] : reg;
			after = price_around(h, v);
			if (after < before)
				again = true;
			else
				h->assigned[v] = old;
		}
	}
}

static void
mark_part(struct assignment *h, uint32_t start, uint32_t number, uint32_t *stack)
{
	int8_t reg = h->assigned[start];
	uint32_t n = 0;

	stack[n++] = start;
	h->part[start] = number;
	while (n) {
		uint32_t v = stack[--n];

		for (uint32_t i = h->g->out_at[v]; i < h->g->out_at[v + 1] + h->g->in_at[v + 1] - h->g->in_at[v]; i++) {
			bool out = i < h->g->out_at[v + 1];
			uint32_t e = out ? h->g->out[i] : h->g->in[h->g->in_at[v] + i - h->g->out_at[v + 1]];
			uint32_t to = out ? h->g->edge[e].to : h->g->edge[e].from;

			if (is_arc(h, e) && !ends(h, e) && h->in_set[to] && h->assigned[to] == reg && !h->part[to]) {
				h->part[to] = number;
				stack[n++] = to;
			}
		}
	}
}

static uint32_t
find_parts(struct assignment *h, int8_t reg)
{
	uint32_t *stack = pool_array(h->u->pool, h->g->nvert, sizeof *stack), n = 0;

	memset(h->part, 0, h->g->nvert * sizeof *h->part);
	for (uint32_t v = 0; v < h->g->nvert; v++)
		if (h->in_set[v] && h->assigned[v] == reg && !h->part[v])
			mark_part(h, v, ++n, stack);
	return n;
}

static double
total(const struct assignment *h)
{
	double sum = 0;

	for (uint32_t e = 0; e < h->w->proc->arcs.n; e++)
		sum += is_arc(h, e) ? price(h, e) : 0;
	return sum;
}

/* Gives up connected sets that cost more than they save, if there are fewer than 64 sets. */
static void
drop_parts(struct assignment *h, int8_t reg)
{
	uint32_t n = find_parts(h, reg);
	int8_t *kept = pool_array(h->u->pool, h->g->nvert, sizeof *kept);

	for (uint32_t part = 1; part <= n && n < 64; part++) {
		double with = price_of_part(h, part), without;

		memcpy(kept, h->assigned, h->g->nvert);
		for (uint32_t v = 0; v < h->g->nvert; v++)
			if (h->part[v] == part)
				h->assigned[v] = h->before[v];
		without = price_of_part(h, part);
		if (with < without)
			memcpy(h->assigned, kept, h->g->nvert);
	}
}

/* Finds the best use of one more register. Returns what it saves. */
static double
try_register(struct assignment *h, int8_t reg)
{
	double before = total(h);
	int8_t room = (int8_t)h->u->machine->sp;
	bool any = false;

	memcpy(h->before, h->assigned, h->g->nvert);
	for (uint32_t v = 0; v < h->g->nvert; v++) {
		h->in_set[v] = !h->r->known[v] && (h->assigned[v] < 0 || (h->assigned[v] == room && reg != room)) &&
		    h->avail[v] >> reg & 1;
		any |= h->in_set[v];
		if (h->in_set[v])
			h->assigned[v] = reg;
	}
	if (!any)
		return 0;
	improve(h, reg);
	drop_parts(h, reg);
	return before - total(h);
}

/* Takes the register that saves most. False: no register saves anything. */
static bool
take_best(struct assignment *h)
{
	int8_t *old = pool_array(h->u->pool, h->g->nvert, sizeof *old), *best = pool_array(h->u->pool, h->g->nvert, sizeof *best);
	double most = 0;

	memcpy(old, h->assigned, h->g->nvert);
	for (int8_t reg = 0; reg < 16; reg++) {
		double gain = try_register(h, reg);

		if (gain > most) {
			most = gain;
			memcpy(best, h->assigned, h->g->nvert);
		}
		memcpy(h->assigned, old, h->g->nvert);
	}
	if (most > 0)
		memcpy(h->assigned, best, h->g->nvert);
	return most > 0;
}

double
assign_registers(const struct unit *u, struct woven *w)
{
	const struct graph *g = w->proc->graph;
	struct assignment h = {.u = u, .w = w, .g = g, .r = w->paths->paths->probes};

	h.avail = w->paths->avail = pool_array(u->pool, g->nvert, sizeof *h.avail);
	h.assigned = w->paths->assigned = pool_array(u->pool, g->nvert, sizeof *h.assigned);
	h.before = pool_array(u->pool, g->nvert, sizeof *h.before);
	h.in_set = pool_array(u->pool, g->nvert, sizeof *h.in_set);
	h.part = pool_array(u->pool, g->nvert, sizeof *h.part);
	memset(h.assigned, -1, g->nvert);
	find_avail(&h);
	for (int i = 0; i < 16 && take_best(&h); i++)
		;
	return total(&h);
}
