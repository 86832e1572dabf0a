/* SPDX-License-Identifier: MIT */
/* Where counters can go, and what they cost there. The measures decide which are needed.
 *
 * The code of an edge stands at the end of its source (if that has one successor), at the start of its target (if that has one
 * predecessor), or on a split edge. There must be no call between the edge and its counter: an activation that ends in the call
 * would be counted wrongly. */
#include "asm/dest.h"
#include "weave/internal.h"

#include <ctype.h>
#include <string.h>

enum { LOOP_LEAST = 4 }; /* it matters where the counter stands in loops of more instructions than this */

static const double PRICE_JUMP = 1.3;   /* of one more jump */

struct degrees {
	uint32_t *in, *out;   /* by vertex, without edges that never run */
	bool *stuck;          /* by vertex: entered by a jump that cannot be changed */
	bool *loop;           /* by vertex: an edge leads from it to itself */
};

/* Can code be put before the instruction? That may be padding or data, if it is run. */
static bool
is_open(const struct insn *in)
{
	return in->stmt != UINT32_MAX && !(in->attr & (INSN_GLUED | INSN_ALONE));
}

/* The site with its price. A place that has no price (it is below 0) can have no code. */
static struct site
priced(struct site s, double price, double more)
{
	if (price < 0)
		return (struct site){.where = SITE_NONE, .block = s.block};
	s.price = price + more;
	return s;
}

/* What is live before an instruction, and the registers by which unwinders find the frame there. Nothing else may be in these
 * registers, even if the program no longer reads them. */
static struct liveness
live_at(const struct unit *u, const struct woven *w, uint32_t block, uint32_t i)
{
	struct liveness live = live_before(w->proc, w->proc->block_text.at[block].part, i);
	uint32_t stmt = woven_insn(w, block, i)->stmt;

	if (stmt != UINT32_MAX)
		cfi_need(u->cfi, stmt, &live);
	return live;
}

/* The same on an edge. stmt: where the code on it stands in the text, as far as directives are concerned. */
static struct liveness
live_between(const struct unit *u, const struct woven *w, uint32_t block, uint32_t to, uint32_t stmt)
{
	struct liveness live = live_on_edge(u, w->proc, block, to);

	cfi_need(u->cfi, stmt, &live);
	return live;
}

/* Inline assembly may count on its own layout: a place inside it is a last resort. Below 0: no code can be put there. */
static double
price_before(const struct unit *u, const struct woven *w, uint32_t block, uint32_t i)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	const struct stmt *s = &u->text->stmts.at[woven_insn(w, block, i)->stmt];
	bool inside = s->flags & STMT_INLINE && i > b->first &&
		woven_insn(w, block, i - 1)->stmt != UINT32_MAX &&
		u->text->stmts.at[woven_insn(w, block, i - 1)->stmt].flags & STMT_INLINE;

	double price = u->machine->price(live_at(u, w, block, i));

	return price < 0 ? price : price + (inside ? PLACE_FAR : 0);
}

struct site
place_between(const struct unit *u, const struct woven *w, uint32_t block, uint32_t lo, uint32_t hi)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	struct site best = {.where = SITE_NONE, .block = block};

	for (uint32_t i = lo; i <= hi && i < b->last; i++) {
		const struct insn *in = woven_insn(w, block, i);

		if (!is_open(in) || (in->attr & INSN_FIRST && i == b->first))
			continue;
		double price = price_before(u, w, block, i);
		if (price < 0)
			continue;
		if (best.where == SITE_NONE || price < best.price)
			best = (struct site){.where = SITE_BLOCK, .block = block, .insn = i,
			                     .live = live_at(u, w, block, i), .price = price};
		if (price <= 1)
			break;
	}
	return best;
}

/* Places between the start of a block and its first call or last instruction. */
static struct site
start_site(const struct unit *u, const struct woven *w, uint32_t block)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	uint32_t hi = b->first;

	while (hi + 1 < b->last && !insn_is_call(woven_insn(w, block, hi)))
		hi++;
	return place_between(u, w, block, b->first, hi);
}

/* The place of a block's own counter. In a loop of one block it is not before the first instruction: there Zen 5 may take a fifth
 * longer (docs/experiments.md). */
static struct site
block_site(const struct unit *u, const struct woven *w, uint32_t block, bool loop)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	struct site first = start_site(u, w, block), later;

	if (!loop || first.where == SITE_NONE || first.insn != b->first || b->last - b->first <= LOOP_LEAST ||
	    insn_is_call(woven_insn(w, block, b->first)))
		return first;
	later = place_between(u, w, block, b->first + 1, b->first + 1);
	return later.where == SITE_NONE || later.price > first.price ? first : later;
}

static bool
falls(const struct woven *w, uint32_t block)
{
	const struct insn *in = woven_insn(w, block, w->proc->block_text.at[block].last - 1);

	return in->cls != CHORD_INSN_BRANCH && in->attr & INSN_FALLS;
}

static bool
is_glued_behind(const struct woven *w, uint32_t block)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	const struct part *t = &w->proc->parts.at[b->part];

	return b->last < t->last && t->code->insns.at[b->last].attr & INSN_GLUED;
}

uint32_t
padding_at_end(const struct woven *w, uint32_t block)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	uint32_t i = b->last;

	while (i > b->first && woven_insn(w, block, i - 1)->cls == CHORD_INSN_PAD)
		i--;
	return i;
}

/* The place after the last instruction, if that falls through to vertex `to`. It is before padding, so that what follows stays
 * aligned. */
static struct site
after_site(const struct unit *u, const struct woven *w, uint32_t block, uint32_t to)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	const struct insn *in = woven_insn(w, block, b->last - 1);
	uint32_t padding = padding_at_end(w, block), behind;
	struct liveness live;

	if (padding < b->last && is_open(woven_insn(w, block, padding)))
		return place_between(u, w, block, padding, padding);
	if (in->stmt == UINT32_MAX || is_glued_behind(w, block))
		return (struct site){.where = SITE_NONE, .block = block};
	behind = stmt_behind(u->text, code_end_stmt(u, w->proc->parts.at[b->part].code, in)) + 1;
	live = live_between(u, w, block, to, behind);
	return priced((struct site){.where = SITE_AFTER, .block = block, .live = live}, u->machine->price(live), 0);
}

/* Places between the last call of a block and its end. A call that leads to EXIT does not come back, so its counter stands before
 * it. */
static struct site
end_site(const struct unit *u, const struct woven *w, uint32_t block, uint32_t to, bool jump)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	uint32_t last = b->last - 1, lo = last;
	bool past = falls(w, block) && !jump && !(to == w->proc->exit && insn_is_call(woven_insn(w, block, last)));
	struct site site, after;

	if (past && insn_is_call(woven_insn(w, block, last)))
		return after_site(u, w, block, to);
	while (lo > b->first && !insn_is_call(woven_insn(w, block, lo - 1)))
		lo--;
	site = place_between(u, w, block, lo, last);
	if (!past || (site.where != SITE_NONE && site.price <= 1))
		return site;
	after = after_site(u, w, block, to);
	return site.where == SITE_NONE || (after.where != SITE_NONE && after.price < site.price) ? after : site;
}

/* Does a jump out of the procedure name a label like `1f`? Somewhere else that may be another label. */
static bool
leaves_by_number(const struct unit *u, const struct woven *w, uint32_t to, const struct insn *in)
{
	struct str operand = stmt_rest(u->text, &u->text->stmts.at[jump_stmt(u, in)]);

	return proc_lands(w->proc, to) >= w->proc->blocks.n && operand.n && isdigit((unsigned char)*operand.at);
}

static struct site
stub_site(const struct unit *u, const struct woven *w, uint32_t block, uint32_t to, const struct arc_text *arc)
{
	const struct proc_text *p = w->proc;
	const struct insn *in = woven_insn(w, block, p->block_text.at[block].last - 1);
	struct buf there = {0}, back = {0};
	struct liveness live;
	bool moves;

	if (arc->stuck)
		return (struct site){.where = SITE_NONE, .block = block};
	live = live_between(u, w, block, to, in->stmt);
	moves = !(in->attr & INSN_NEAR) && !leaves_by_number(u, w, to, in) &&
		cfi_move(u->cfi, stmt_behind(u->text, p->parts.at[p->blocks.at[block].part].last_stmt) + 1, in->stmt, &there,
		         &back);
	buf_free(&there);
	buf_free(&back);
	return priced((struct site){.where = SITE_STUB, .inline_stub = !moves, .block = block, .live = live},
	              u->machine->price(live), PRICE_JUMP);
}

static struct site
split_site(const struct unit *u, const struct woven *w, uint32_t block, bool stuck)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	uint32_t i = b->first;
	struct liveness live;

	if (woven_insn(w, block, i)->attr & INSN_FIRST && i + 1 < b->last)
		i++;
	if (stuck || !is_open(woven_insn(w, block, i)))
		return (struct site){.where = SITE_NONE, .block = block};
	live = live_at(u, w, block, i);
	return priced((struct site){.where = SITE_SPLIT, .block = block, .insn = i, .live = live}, u->machine->price(live),
	              2 * PRICE_JUMP);
}

static struct site
edge_site(const struct unit *u, const struct woven *w, const struct degrees *d, uint32_t e)
{
	const struct proc_text *p = w->proc;
	const struct edge *edge = &p->graph->edge[e];
	const struct arc_text *arc = &p->arc_text.at[e];
	bool from_block = edge->from < p->blocks.n, to_block = edge->to < p->blocks.n;

	if (edge->fixed)
		return (struct site){.where = SITE_NONE};
	if (from_block && d->out[edge->from] == 1)
		return end_site(u, w, edge->from, edge->to, arc->jump);
	if (to_block && d->in[edge->to] == 1)
		return start_site(u, w, edge->to);
	if (!from_block)
		return to_block ? split_site(u, w, edge->to, d->stuck[edge->to]) : (struct site){.where = SITE_NONE};
	if (arc->jump)
		return stub_site(u, w, edge->from, edge->to, arc);
	return after_site(u, w, edge->from, edge->to);
}

static struct degrees
degrees_of(const struct unit *u, const struct proc_text *p)
{
	const struct graph *g = p->graph;
	struct degrees d = {pool_array(u->pool, g->nvert, sizeof *d.in), pool_array(u->pool, g->nvert, sizeof *d.out),
		pool_array(u->pool, g->nvert, sizeof *d.stuck),
		pool_array(u->pool, g->nvert, sizeof *d.loop)};

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		d.out[g->edge[e].from]++;
		d.in[g->edge[e].to]++;
		d.loop[g->edge[e].to] |= g->edge[e].from == g->edge[e].to;
		d.stuck[g->edge[e].to] |= p->arc_text.at[e].jump && p->arc_text.at[e].stuck;
	}
	return d;
}

void
place_sites(const struct unit *u, struct woven *w)
{
	struct graph *g = w->proc->graph;
	struct degrees d = degrees_of(u, w->proc);

	w->edge = pool_array(u->pool, g->nedge, sizeof *w->edge);
	w->block = pool_array(u->pool, w->proc->blocks.n, sizeof *w->block);
	w->split = pool_array(u->pool, w->proc->blocks.n, sizeof *w->split);
	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		w->edge[e] = edge_site(u, w, &d, e);
		if (w->edge[e].where == SITE_NONE)
			g->edge[e].fixed = true;
		else
			g->edge[e].cost = w->edge[e].price;
	}
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		w->block[b] = block_site(u, w, b, d.loop[b]);
}

uint32_t
place_behind_landing(const struct woven *w, uint32_t block)
{
	const struct block_text *b = &w->proc->block_text.at[block];
	const struct graph *g = w->proc->graph;

	if (b->last - b->first != 1 || !(woven_insn(w, block, b->first)->attr & INSN_FIRST))
		return GRAPH_NONE;
	for (uint32_t i = g->out_at[block]; i < g->out_at[block + 1]; i++)
		if (g->out[i] < w->proc->arcs.n && w->edge[g->out[i]].where == SITE_AFTER)
			return g->out[i];
	return GRAPH_NONE;
}

struct site
place_entry(const struct unit *u, const struct woven *w)
{
	struct degrees d = degrees_of(u, w->proc);
	const struct proc_text *p = w->proc;

	if (d.in[0] == 1)
		return start_site(u, w, 0);
	for (uint32_t e = 0; e < p->arcs.n; e++)
		d.stuck[0] |= p->graph->edge[e].to == 0 && p->graph->edge[e].from == p->hub;
	return split_site(u, w, 0, d.stuck[0]);
}

struct site
place_at_edge(const struct unit *u, const struct woven *w, uint32_t edge)
{
	const struct site *s = &w->edge[edge];
	const struct edge *d = &w->proc->graph->edge[edge];
	const struct block_text *b = &w->proc->block_text.at[s->block];

	if (s->where != SITE_BLOCK)
		return *s;
	if (s->block != d->from)
		return place_between(u, w, s->block, b->first, b->first);
	if (falls(w, s->block) && d->to != w->proc->exit)
		return after_site(u, w, s->block, d->to);
	return place_between(u, w, s->block, b->last - 1, b->last - 1);
}

struct site
place_end_before(const struct unit *u, const struct woven *w, uint32_t block, uint32_t insn)
{
	uint32_t lo = w->proc->block_text.at[block].last - 1;

	while (lo > w->proc->block_text.at[block].first && !insn_is_call(woven_insn(w, block, lo - 1)))
		lo--;
	return place_between(u, w, block, lo, insn > lo ? insn : lo);
}

struct site
place_end(const struct unit *u, const struct woven *w, uint32_t block)
{
	return place_end_before(u, w, block, w->proc->block_text.at[block].last - 1);
}

/* The likelihood of edges, relative to the others of their source. */
static const double FALLS = 1.5, COLD = 0.01, ENDS = 0.1, CALLS = 0.7;

/* Marks blocks that end in a trap or in a call that does not return. */
static void
mark_dead_ends(const struct woven *w, bool *dead)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		uint32_t from = p->graph->edge[e].from, to = p->graph->edge[e].to;

		if (from < p->blocks.n && (to == p->exit || proc_lands(p, to) != to)) {
			const struct insn *in = woven_insn(w, from, p->block_text.at[from].last - 1);

			dead[from] = in->cls == CHORD_INSN_TRAP || insn_is_call(in);
		}
	}
}

/* A branch to a block with a call is less likely: frequent work is seldom left to another procedure. */
static bool
chooses_call(const struct woven *w, const struct edge *e)
{
	const struct proc_text *p = w->proc;

	if (e->from >= p->blocks.n || e->to >= p->blocks.n ||
	    woven_insn(w, e->from, p->block_text.at[e->from].last - 1)->cls != CHORD_INSN_BRANCH)
		return false;
	for (uint32_t i = p->block_text.at[e->to].first; i < p->block_text.at[e->to].last; i++)
		if (insn_is_call(woven_insn(w, e->to, i)))
			return true;
	return false;
}

static bool
leads_to_cold(const struct proc_text *p, const struct edge *e)
{
	if (e->to >= p->blocks.n)
		return false;
	if (e->from == p->entry)
		return proc_lands(p, e->to) != 0;
	return e->from < p->blocks.n && p->blocks.at[e->to].part && !p->blocks.at[e->from].part;
}

/* Compilers let likely code fall through, and put unlikely code elsewhere. */
static void
guess_shares(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;
	bool *dead = pool_array(u->pool, p->graph->nvert, sizeof *dead);

	mark_dead_ends(w, dead);
	for (uint32_t e = 0; e < p->arcs.n; e++) {
		struct edge *edge = &p->graph->edge[e];

		edge->share = p->arcs.at[e].kind == CHORD_EDGE_FALL ? FALLS : 1;
		if (leads_to_cold(p, edge))
			edge->share *= COLD;
		if (dead[edge->to])
			edge->share *= ENDS;
		if (chooses_call(w, edge))
			edge->share *= CALLS;
	}
}

struct proc
woven_proc(const struct unit *u, const struct woven *w)
{
	struct proc_text *p = w->proc;

	return (struct proc){.name = p->name, .file = u->text->source, .refused = p->reason, .ncounter = w->ncounter,
	                     .npart = (uint32_t)p->parts.n, .nblock = (uint32_t)p->blocks.n, .narc = (uint32_t)p->arcs.n,
	                     .nvert = p->graph ? p->graph->nvert : 0,
	                     .ncall = (uint32_t)w->call_sites.n, .nseg = (uint32_t)w->segments.n,
	                     .block = p->blocks.at, .arc = p->arcs.at, .call = w->call_sites.at, .seg = w->segments.at};
}

const struct selection_proc *
place_find(const struct unit *u, const struct woven *w, const struct selection *in, const struct selection_proc **other)
{
	struct proc p = woven_proc(u, w);

	return selection_find(in, p.name, p.file, proc_hash(&p), other);
}

/* The weight of an edge is how often it ran. The guesses, all together less than one, order the edges that did not run. */
static void
take_before(const struct selection_proc *before, const struct graph *g, double *weight)
{
	double sum = 1;

	for (uint32_t e = 0; e < g->nedge; e++)
		sum += weight[e];
	for (uint32_t e = 0; e < g->nedge; e++)
		weight[e] = weight[e] / sum + (e < before->nran ? (double)before->ran[e] : 0);
}

const double *
place_weights(const struct unit *u, struct woven *w)
{
	struct graph *g = w->proc->graph;
	struct order *o;

	if (w->weight)
		return w->weight;
	guess_shares(u, w);
	graph_index(g);
	o = order_dfs(g);
	w->weight = weight_heuristic(g, o, loops_find(g, o));
	if (w->before && w->before->nran == w->proc->arcs.n)
		take_before(w->before, g, w->weight);
	return w->weight;
}
