/* SPDX-License-Identifier: MIT */
/* Path profiles: which edges get which code.
 *
 * The graph is cut where paths end inside of the procedure (back edges, calls that may return twice, edges into a hub that may
 * leave the procedure, cold edges if there are too many paths), and paths are numbered. Each edge then starts a path, adds to its
 * number, or ends it. Where the number is known there is no code at all.
 *
 * A path that ends is counted or, if paths are traced, written down. Writing costs so much more than anything else that only the
 * edges are cut that are needed to break all loops. */
#include "weave/internal.h"

#include <string.h>

/* Sums, with their increments, have to fit 31 bits. */
static const uint64_t MOST_PATHS = INT32_MAX;
/* Tables up to this many entries have one for each path. */
enum { DENSE = 4096 };
/* The largest share of paths that may be cut in two for a dense table. */
static const double CUT_FOR_DENSE = 0.1;
/* The price of writing a path down, in additions. */
static const double WRITE = 9;
enum { LEAST_BITS = 6, MOST_BITS = 12 };
/* Dense tables of traced procedures have up to so many entries. */
static const uint64_t MOST_TRACED = 1 << 24;
/* Bits of outcomes between two places where a word can be written. */
enum { MOST_OUTCOMES = 12 };

static bool
refuse(struct woven *w, const char *why)
{
	w->proc->reason = why;
	return false;
}

/* ---- where ---- */

/* The first instruction of the procedure's first block before which code can stand. What comes before it sets up the frame and
 * changes no arguments. */
static uint32_t
start_of(const struct woven *w)
{
	const struct block_text *b = &w->proc->block_text.at[0];
	uint32_t i = b->first;

	while (i + 1 < b->last && woven_insn(w, 0, i)->attr & (INSN_FIRST | INSN_ALONE))
		i++;
	return i;
}

static bool
is_start(const struct woven *w, const struct site *s)
{
	return (s->where == SITE_BLOCK || s->where == SITE_SPLIT) && !s->block && s->insn <= start_of(w) && !s->live.flags_live;
}

/* If the procedure may be a signal handler, its first code stands where the arguments are as at the entry. */
static void
strike_at_start(const struct unit *u, struct woven *w, struct site *s)
{
	struct site start = s->where == SITE_BLOCK ? place_between(u, w, 0, start_of(w), start_of(w)) : *s;

	if (!is_start(w, &start))
		return;
	*s = start;
	w->paths->strikes = true;
}

/* Finds the place for the code at the beginning of an activation's first path: jumps to the procedure's start skip it, and no call
 * comes before it. */
static void
find_entry(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;
	struct edge *entry = &p->graph->edge[0];
	struct site *s = &w->edge[0];

	if (entry->from != p->entry || proc_lands(p, entry->to) != 0)
		bug("the first edge of %s is not that to its first block", p->name);
	if (!entry->to)
		*s = place_entry(u, w);
	if (!entry->to && w->paths->traced && p->address_taken)
		strike_at_start(u, w, s);
	entry->fixed = s->where == SITE_NONE;
	entry->cost = entry->fixed ? 1 : s->price;
}

/* The place before one of the instructions [lo, hi] of a block where a path is written down most cheaply: that takes two registers
 * in addition to the path's own, and flags. */
static struct site
place_write(const struct unit *u, const struct woven *w, uint32_t block, uint32_t lo, uint32_t hi)
{
	enum { WANTED = 3 };
	struct site best = {.where = SITE_NONE, .block = block};
	int most = -1;

	for (uint32_t i = lo; i <= hi; i++) {
		struct site s = place_between(u, w, block, i, i);
		int dead = __builtin_popcount(u->machine->all_regs & ~s.live.regs_live & ~(1u << u->machine->sp));
		int good = 2 * (dead < WANTED ? dead : WANTED) + (s.live.flags_live ? 0 : 4);

		if (s.where != SITE_NONE && s.price < PLACE_FAR && good > most) {
			most = good;
			best = s;
		}
	}
	return best.where == SITE_NONE ? place_between(u, w, block, lo, hi) : best;
}

/* Finds better places for paths that end where the procedure is left, or before a call. */
static void
find_writes(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		bool twice = p->arc_text.at[e].twice;
		struct site *s = twice ? &w->early[e] : &w->edge[e];

		if ((twice || p->graph->edge[e].to == p->exit) && s->where == SITE_BLOCK && s->block == p->graph->edge[e].from)
			*s = place_write(u, w, s->block, p->block_text.at[s->block].first, p->block_text.at[s->block].last - 1);
	}
}

/* If a call may return twice, the path is recorded before the call; otherwise it would end twice. */
static void
find_early(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;

	w->early = pool_array(u->pool, p->arcs.n, sizeof *w->early);
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->arc_text.at[e].twice)
			w->early[e] = place_end(u, w, p->graph->edge[e].from);
}

/* Does it jump to another activation? */
static bool
is_away(const struct proc_text *p, uint32_t e)
{
	return p->arcs.at[e].kind == CHORD_EDGE_NONLOCAL || p->arcs.at[e].kind == CHORD_EDGE_LOST;
}

/* Does the edge have code that has an order among other edges' code? Guards have none. */
static bool
has_code(const struct woven *w, uint32_t e)
{
	return w->paths->act[e].record || w->paths->act[e].next || (!e && w->paths->strikes);
}

/* The last of the edges that lead into a block and have code in it; GRAPH_NONE: there is none. */
static uint32_t
last_code_in(const struct woven *w, uint32_t block)
{
	const struct graph *g = w->proc->graph;
	uint32_t last = GRAPH_NONE;

	for (uint32_t i = g->in_at[block]; i < g->in_at[block + 1]; i++) {
		uint32_t e = g->in[i];

		if (e < w->proc->arcs.n && w->edge[e].where == SITE_BLOCK && w->edge[e].block == block && has_code(w, e) &&
		    (last == GRAPH_NONE || w->edge[e].insn > w->edge[last].insn))
			last = e;
	}
	return last;
}

/* Code of edges that lead into a block comes before code of those that leave it, for which other places were looked for
 * (find_writes(), find_aways()). */
static void
put_in_order(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		struct site *s = p->arc_text.at[e].twice ? &w->early[e] : &w->edge[e];
		uint32_t from = p->graph->edge[e].from, in;

		if (s->where != SITE_BLOCK || s->block != from || !has_code(w, e))
			continue;
		in = last_code_in(w, from);
		if (in == GRAPH_NONE || w->edge[in].insn <= s->insn)
			continue;
		if (is_away(p, e))
			w->edge[in] = place_between(u, w, from, p->block_text.at[from].first, s->insn);
		else
			*s = place_write(u, w, from, w->edge[in].insn, p->block_text.at[from].last - 1);
	}
}

/* A nonlocal jump ends this activation, so its path ends before the jump. */
static void
find_aways(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;
	struct nonlocal a;

	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (is_away(p, e)) {
			uint32_t from = p->graph->edge[e].from;

			if (!nonlocal_find(u, p, from, &a))
				a.insn = p->block_text.at[from].first;
			w->edge[e] = place_end_before(u, w, from, a.insn);
		}
}

/* Can the code of a jump stand before its target block, so that everything else that enters the block skips it? only: this jump has
 * an operand that cannot be changed; GRAPH_NONE: the operand can be changed. */
static bool
can_stand_before(const struct woven *w, uint32_t block, uint32_t only)
{
	const struct proc_text *p = w->proc;
	const struct graph *g = p->graph;
	const struct insn *first = woven_insn(w, block, p->block_text.at[block].first);

	if (w->split[block] || first->stmt == UINT32_MAX || first->attr & (INSN_GLUED | INSN_FIRST | INSN_ALONE))
		return false;
	for (uint32_t i = g->in_at[block]; i < g->in_at[block + 1]; i++) {
		uint32_t e = g->in[i];

		if (e < p->arcs.n && e != only &&
		    (g->edge[e].from >= p->blocks.n || (p->arc_text.at[e].jump && p->arc_text.at[e].stuck)))
			return false;
	}
	return true;
}

static void
stand_before(struct woven *w, uint32_t e)
{
	struct site *s = &w->edge[e];

	s->where = SITE_SPLIT;
	s->block = w->proc->graph->edge[e].to;
	s->insn = w->proc->block_text.at[s->block].first;
}

/* A jump whose operand cannot be changed leads to the label before the block. The jump's own code may stand between the label and
 * the block. */
static void
find_stuck(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		struct edge *d = &p->graph->edge[e];

		if (w->edge[e].where != SITE_NONE || !p->arc_text.at[e].jump || !p->arc_text.at[e].stuck || d->to >= p->blocks.n ||
		    !can_stand_before(w, d->to, e))
			continue;
		stand_before(w, e);
		w->edge[e].live = live_on_edge(u, p, d->from, d->to);
		w->edge[e].price = d->cost = u->machine->price(w->edge[e].live);
		d->fixed = false;
	}
}

/* ---- the DAG ---- */

bool
leaves_unseen(const struct proc_text *p, uint32_t e)
{
	uint32_t from = p->graph->edge[e].from;

	return from >= p->blocks.n && from != p->entry && from != p->exit && p->graph->edge[e].to == p->exit;
}

static bool *
edges_to_cut(const struct unit *u, const struct proc_text *p)
{
	bool *cut = pool_array(u->pool, p->graph->nedge, sizeof *cut);
	bool *leaves = pool_array(u->pool, p->graph->nvert, sizeof *leaves);

	for (uint32_t e = 0; e < p->arcs.n; e++)
		leaves[p->graph->edge[e].from] |= leaves_unseen(p, e);
	for (uint32_t e = 0; e < p->arcs.n; e++)
		cut[e] = p->arc_text.at[e].twice || leaves[p->graph->edge[e].to];
	return cut;
}

/* The ends of paths that are due to unnecessary cuts, per end of a path that is there anyway. */
static double
share_cut(const struct woven *w, const struct dag *d, const struct dag *least)
{
	const struct graph *g = w->proc->graph;
	double more = 0, all = 0;

	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		more += d->cut[e] && !least->cut[e] ? w->weight[e] : 0;
		all += e != g->close && (least->cut[e] || g->edge[e].to == g->exit) ? w->weight[e] : 0;
	}
	return all > 0 ? more / all : 0;
}

/* Cuts edges that are cold enough if that allows a dense table, which is cheaper than a hash table. */
static struct dag *
cut_paths(const struct unit *u, const struct woven *w, const char **why)
{
	struct graph *g = w->proc->graph;
	struct order *o = order_dfs(g);
	const bool *cut = edges_to_cut(u, w->proc);
	struct dag *least = dag_new(g, o, w->weight, cut, 0, why), *d;

	if (!least)
		return NULL;
	d = dag_new(g, o, w->weight, cut, DENSE, why);
	return d && share_cut(w, d, least) <= CUT_FOR_DENSE ? d : dag_new(g, o, w->weight, cut, MOST_PATHS, why);
}

/* Adds the cheapest edges that break all loops to those that have to be cut. */
static bool
break_loops(const struct unit *u, const struct woven *w, bool *cut, const char **why)
{
	const struct graph *g = w->proc->graph;
	double *price = pool_array(u->pool, g->nedge, sizeof *price);
	const bool *chosen;
	uint32_t bad;

	for (uint32_t e = 0; e < g->nedge; e++) {
		price[e] = g->edge[e].fixed ? GRAPH_NEVER : w->weight[e] * (WRITE + g->edge[e].cost);
		if (e == g->close || g->edge[e].phantom || cut[e])
			price[e] = -1;
	}
	chosen = feedback_place(g, price, &bad);
	if (!chosen)
		*why = pool_printf(u->pool, "a loop through block %u in which no path can end", bad);
	for (uint32_t e = 0; chosen && e < g->nedge; e++)
		cut[e] |= chosen[e];
	return chosen;
}

/* Every path has an entry, even if the table has to be larger for that. bits: between two places where a word can be written there
 * are few outcomes. */
static struct dag *
cut_traced(const struct unit *u, const struct woven *w, bool bits, const char **why)
{
	struct graph *g = w->proc->graph;
	bool *cut = edges_to_cut(u, w->proc);
	struct dag *d = NULL;
	struct order *o;

	if (!break_loops(u, w, cut, why))
		return NULL;
	if (bits)
		outcomes_cut(g, cut, MOST_OUTCOMES);
	o = dag_order(g, cut);
	for (uint64_t most = DENSE; most <= MOST_TRACED && !d; most *= 4)
		d = dag_new_priced(g, o, w->weight, cut, most, WRITE, why);
	return d;
}

/* False: outcomes cannot be written here, and paths are written in their place. */
static bool
number_outcomes(const struct unit *u, struct woven *w)
{
	const char *why = "";
	struct dag *d = cut_traced(u, w, true, &why);

	w->paths->paths = d ? paths_number(d, &why) : NULL;
	return w->paths->paths && place_bits(u, w, edges_to_cut(u, w->proc));
}

static bool
number_paths(const struct unit *u, struct woven *w)
{
	struct woven_paths *x = w->paths;
	const char *why = "";
	struct dag *d;

	if (x->encoding == WEAVE_WITNESSES || x->encoding == WEAVE_BRANCHES)
		return place_witnesses(u, w, edges_to_cut(u, w->proc), &why) || refuse(w, why);
	if (x->encoding == WEAVE_BITS && number_outcomes(u, w))
		return true;
	x->encoding = WEAVE_PATHS;
	d = x->traced ? cut_traced(u, w, false, &why) : cut_paths(u, w, &why);
	x->paths = d ? paths_number(d, &why) : NULL;
	return x->paths || refuse(w, why);
}

static void
choose_table(struct woven *w)
{
	struct woven_paths *x = w->paths;

	if (x->selected) {
		x->kind = CHORD_PATH_SELECTED;
		x->size = w->ncounter = (uint32_t)x->paths->n;
		return;
	}
	x->kind = x->paths->n <= DENSE || x->traced ? CHORD_PATH_DENSE : CHORD_PATH_HASHED;
	if (x->encoding == WEAVE_WITNESSES || x->encoding == WEAVE_BRANCHES)
		x->kind = CHORD_PATH_WITNESS;
	if (x->outcomes)
		x->kind = CHORD_PATH_BITS;
	if (x->kind != CHORD_PATH_HASHED) {
		x->size = (uint32_t)x->paths->n;
		w->ncounter = x->size;
		return;
	}
	x->size = LEAST_BITS;
	while (x->size < MOST_BITS && (1u << x->size) < w->proc->blocks.n * 4)
		x->size++;
	w->ncounter = 2u << x->size;
}

/* ---- what ---- */

/* All code of an edge, at one place, except for guards. */
static struct path_op
op_of(const struct woven *w, uint32_t e)
{
	const struct path_act *a = &w->paths->act[e];
	const struct edge *d = &w->proc->graph->edge[e];
	struct path_op op = {.record = a->record, .next = a->next, .sum = a->sum, .n = a->n, .from = -1, .to = -1,
	                     .traced = w->paths->traced, .outcomes = w->paths->outcomes, .shift = a->shift, .more = a->more};

	if (a->record >= PATH_RECORD_HELD || a->next == PATH_ADD)
		op.from = w->paths->assigned[d->from];
	if (a->next)
		op.to = w->paths->assigned[d->to];
	if (a->record == PATH_RECORD_FULL)
		op.full = bits_full(w);
	if (a->next == PATH_ADD && !a->n && op.from == op.to && !op.full)
		op.next = PATH_NOTHING;
	if (a->record == PATH_RECORD_HELD && w->paths->mark) {
		op.mark = w->paths->mark[e];
		op.marked = w->paths->marked[d->from];
	}
	return op;
}

/* Does the code need the path register's place in memory? */
static bool
uses_memory(const struct path_op *op)
{
	return op->guard || (op->record >= PATH_RECORD_HELD && op->from < 0) ||
	       (op->next && (op->to < 0 || (op->next == PATH_ADD && op->from < 0)));
}

/* Does the code put the path register into memory, where it was not before? */
static bool
enters_memory(const struct woven *w, uint32_t e, const struct path_op *op)
{
	uint32_t u = w->proc->graph->edge[e].from;
	bool was = !w->paths->paths->probes->known[u] && w->paths->assigned[u] < 0;

	return op->next && op->to < 0 && !was;
}

/* The price of a guard, in instructions. */
static const double GUARD = 5;

/* Puts the guard of the memory where the procedure begins, or where the memory is first used if that runs less often. The guard is
 * also there if nothing can be put where the procedure begins (a loop right after the prologue). Returns the price. */
static double
choose_guards(struct woven *w)
{
	double begins = 0, enters = 0;
	bool lazy = false;

	w->paths->memory = false;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		struct path_op op = op_of(w, e);

		if (w->proc->arcs.at[e].kind == CHORD_EDGE_ENTRY) {
			begins += w->weight[e];
			lazy |= w->edge[e].where == SITE_NONE;
		}
		if (e != w->proc->graph->close && enters_memory(w, e, &op))
			enters += w->weight[e];
		w->paths->memory |= e != w->proc->graph->close && uses_memory(&op);
	}
	w->paths->lazy = lazy || enters < begins;
	return w->paths->memory ? GUARD * (w->paths->lazy ? enters : begins) : 0;
}

static bool
needs_guard(const struct woven *w, uint32_t e, const struct path_op *op)
{
	if (w->paths->lazy)
		return enters_memory(w, e, op);
	return w->paths->memory && w->proc->arcs.at[e].kind == CHORD_EDGE_ENTRY;
}

/* The instruction at which the frame is as it is at a site. False: there is none. */
static bool
frame_of_site(const struct woven *w, const struct site *s, uint32_t e, uint32_t *block, uint32_t *i)
{
	const struct proc_text *p = w->proc;
	uint32_t to = p->graph->edge[e].to;

	switch (s->where) {
	case SITE_BLOCK: case SITE_SPLIT:
		*block = s->block;
		*i = s->insn;
		return true;
	case SITE_STUB:
		*block = s->block;
		*i = p->block_text.at[s->block].last - 1;
		return true;
	default:
		*block = to;
		*i = to < p->blocks.n ? p->block_text.at[to].first : 0;
		return to < p->blocks.n;
	}
}

/* Finds where the slot of the activation is, at a site. False: it is not known. */
static bool
find_frame(const struct unit *u, struct woven *w, const struct site *s, uint32_t e, struct path_code *c)
{
	struct cfi_frame f;
	uint32_t block, i;

	c->place = (struct path_place){.live = s->live, .reserved = u->reserved, .reg = u->machine->sp, .below = w->paths->below};
	c->stmt = UINT32_MAX;
	if (!frame_of_site(w, s, e, &block, &i))
		return false;
	c->stmt = woven_insn(w, block, i)->stmt;
	if (!frame_before(w->paths->frames, block, i, &f))
		return false;
	c->place.reg = f.reg;
	c->place.loaded = f.loaded;
	c->place.off = f.loaded ? f.off : f.off - CHORD_SLOT;
	return true;
}

/* The number of the only counter in which the code can count. A marked path is the one with which the path began. */
static uint32_t
only_counter(const struct woven *w, const struct path_op *op)
{
	if (op->traced || w->paths->kind == CHORD_PATH_HASHED || (op->record != PATH_RECORD_KNOWN && !op->mark))
		return 0;
	return (uint32_t)(op->mark ? op->n + op->sum : op->sum) + 1;
}

static bool
add_op(const struct unit *u, struct woven *w, uint32_t e, struct site *s, struct path_op op)
{
	struct path_code *c;

	if (!op.guard && !op.record && !op.next && !op.strikes)
		return true;
	if (s->where == SITE_NONE)
		return refuse(w, "a path ends or begins where nothing can be put");
	c = s->path = pool_alloc(u->pool, sizeof *c);
	s->probes = 1u << w->paths->measure;
	c->op = op;
	c->number = w->paths->ncode++;
	if (s->where == SITE_SPLIT)
		w->split[s->block] = true;
	if (!find_frame(u, w, s, e, c) && uses_memory(&op))
		return refuse(w, "it is not known where its frame is, and a path has to be remembered there");
	c->op.strikes &= !c->place.loaded;
	c->one = only_counter(w, &op);
	c->overwrites = op.guard || op.strikes || op.traced || (op.record && w->paths->kind == CHORD_PATH_HASHED);
	return true;
}

static bool
add_ops(const struct unit *u, struct woven *w)
{
	const struct proc_text *p = w->proc;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		struct path_op op;

		/* A path that leaves by a hub has ended before the hub. */
		if (p->arcs.at[e].kind == CHORD_EDGE_CLOSE || leaves_unseen(p, e))
			continue;
		op = op_of(w, e);
		op.guard = needs_guard(w, e, &op);
		if (p->arc_text.at[e].twice) {
			struct path_op ends = {.record = op.record, .sum = op.sum, .from = op.from, .to = -1, .marked = op.marked,
			                       .traced = op.traced, .outcomes = op.outcomes, .shift = op.shift, .more = op.more};

			if (!add_op(u, w, e, &w->early[e], ends))
				return false;
			op.record = PATH_NO_RECORD;
			op.from = -1;
		}
		if (op.from >= 0 || op.to >= 0)
			w->edge[e] = assign_site(u, w, e, op.from, op.to);
		op.strikes = !e && w->paths->strikes && (!op.record || w->paths->encoding != WEAVE_PATHS) &&
		             is_start(w, &w->edge[e]);
		op.compiled = u->text->compiler;
		if (!add_op(u, w, e, &w->edge[e], op))
			return false;
	}
	return true;
}

/* The hottest jump to the block that has its code in a stub, if it is hotter than all that falls into the block. */
static uint32_t
hottest_stub(const struct woven *w, uint32_t block)
{
	const struct proc_text *p = w->proc;
	const struct graph *g = p->graph;
	uint32_t best = GRAPH_NONE;
	double falls = 0;

	for (uint32_t i = g->in_at[block]; i < g->in_at[block + 1]; i++) {
		uint32_t e = g->in[i];

		if (e >= p->arcs.n)
			continue;
		falls += p->arc_text.at[e].jump ? 0 : w->weight[e];
		if (w->edge[e].path && w->edge[e].where == SITE_STUB && (best == GRAPH_NONE || w->weight[e] > w->weight[best]))
			best = e;
	}
	return best != GRAPH_NONE && w->weight[best] > falls ? best : GRAPH_NONE;
}

/* A back edge would jump to a stub and from there to the loop. Its code can stand before the loop instead, and the entry jumps over
 * it. */
static void
move_stubs(struct woven *w)
{
	const struct proc_text *p = w->proc;

	for (uint32_t b = 0; b < p->blocks.n; b++) {
		uint32_t e = can_stand_before(w, b, GRAPH_NONE) ? hottest_stub(w, b) : GRAPH_NONE;

		if (e == GRAPH_NONE)
			continue;
		stand_before(w, e);
		w->edge[e].path->stmt = woven_insn(w, b, w->edge[e].insn)->stmt;
		w->split[b] = true;
	}
}

/* The shadow memory of these sanitizers is where the shadow of stacks would be. */
const char *
paths_shadow_taken(const struct object *o)
{
	for (uint32_t i = 0; i < o->nsymbol; i++) {
		struct str name = str_of(o->symbols[i].name);

		if (str_starts(name, "__tsan_") || str_starts(name, "__msan_"))
			return "code for ThreadSanitizer or MemorySanitizer, whose shadow memory is where that of paths would be";
	}
	return "";
}

double
plan_paths(const struct unit *u, struct woven *w)
{
	double gain;

	choose_table(w);
	gain = assign_registers(u, w);
	return gain + choose_guards(w);
}

static bool
place_all(const struct unit *u, struct woven *w)
{
	struct woven_paths *x = w->paths;

	if (!x->paths && !number_paths(u, w))
		return false;
	if (!x->paths->probes->known[w->proc->entry])
		return refuse(w, "a path begins where nothing can be put");
	if (!x->act)
		x->act = dag_acts(x->paths->dag, x->paths->probes);
	put_in_order(u, w);
	plan_paths(u, w);
	mark_usual(u, w);
	if (x->memory && !frames_as_stated(x->frames))
		return refuse(w, "its directives have its frame at a call elsewhere than its instructions do");
	if (!add_ops(u, w))
		return false;
	for (uint32_t v = 0; v < w->proc->graph->nvert; v++)
		if (x->assigned[v] >= 0)
			w->held |= (uint16_t)(1u << x->assigned[v]);
	if (!x->traced && !x->memory && x->kind != CHORD_PATH_HASHED)
		w->below = w->held >> u->machine->sp & 1;
	move_stubs(w);
	return true;
}

bool
place_paths(const struct unit *u, struct woven *w, const struct selection *interest, uint32_t measure, enum weave_encoding encoding)
{
	w->paths = pool_alloc(u->pool, sizeof *w->paths);
	w->paths->measure = measure;
	w->paths->traced = measure == CHORD_TRACE;
	w->paths->encoding = encoding;
	w->align = sizeof(struct chord_path_entry);
	w->paths->room = below_room(u, w, &w->paths->below);
	w->below = PATH_ROOM / 8;
	find_entry(u, w);
	find_early(u, w);
	if (w->paths->traced)
		find_writes(u, w);
	find_aways(u, w);
	if (!interest)
		place_weights(u, w);
	graph_index(w->proc->graph);
	w->paths->frames = frames_find(u, w->proc);
	find_stuck(u, w);
	if (interest && !select_paths(u, w, interest))
		return false;
	if (!w->proc->reason)
		place_all(u, w);
	if (interest && w->proc->reason)
		select_refused(u, w, interest);
	return true;
}
