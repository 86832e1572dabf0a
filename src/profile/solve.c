/* SPDX-License-Identifier: MIT */
/* From counters to counts. In the graph of a procedure, each block that has a counter is two vertices with an edge of known count
 * between them, so counters of blocks and of edges are treated alike. If counters do not determine all edges, each block is split,
 * because its own count is needed. */
#include "profile/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char SOLVE_EVENTS_ONLY[] = "only events are counted in it";

static bool
add_words(const struct module *m, const struct proc *p, uint32_t first, uint32_t n, uint64_t *v)
{
	uint64_t at = (p->counters - m->base) / 8 + first;

	if (at + n > m->ncount)
		return false;
	for (uint32_t i = 0; m->count && i < n; i++)
		if (!checked_add(v, m->count[at + i]))
			return false;
	return true;
}

/* Adds what cells have of a counter that is a word of its own. */
static bool
add_cells(const struct module *m, const struct proc *p, uint32_t c, uint64_t *v)
{
	uint32_t first = 0;
	bool ok = true;

	for (uint32_t end = p->ncells; first < end;) {
		uint32_t middle = first + (end - first) / 2;

		if (p->cells_of[middle].of < c)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < p->ncells && p->cells_of[first].of == c; first++)
		ok &= add_words(m, p, p->cells + p->cells_of[first].at * CHORD_CELLS, CHORD_CELLS, v);
	return ok;
}

static bool
has_counters(const struct module *m, const struct proc *p)
{
	return p->counters && p->counters >= m->base && !((p->counters - m->base) % 8);
}

bool
proc_is_zero(const struct module *m, const struct proc *p)
{
	uint64_t at = (p->counters - m->base) / 8;

	if (p->ncounter && (!has_counters(m, p) || at + p->ncounter > m->ncount))
		return false;
	for (uint32_t i = 0; m->count && i < p->ncounter; i++)
		if (m->count[at + i])
			return false;
	return true;
}

bool
proc_counter(const struct module *m, const struct proc *p, uint32_t c, uint64_t *v)
{
	uint32_t first = c - 1;

	*v = 0;
	if (!m)
		return true;
	if (!has_counters(m, p))
		return false;
	if (first >= p->cells && first - p->cells < p->ncells * CHORD_CELLS)
		return add_words(m, p, first - (first - p->cells) % CHORD_CELLS, CHORD_CELLS, v);
	return add_words(m, p, first, 1, v) && add_cells(m, p, c, v);
}

/* Were activations resumed that a signal had interrupted? The child of a process that forks in a signal's handler has the register
 * with what its parent had counted in it. */
static bool
any_resumed(const struct counts *counts)
{
	for (const struct cut *k = counts->cut; k; k = k->next)
		if (k->back)
			return true;
	return false;
}

bool
solve_skewed(const struct profile *f)
{
	return f && f->flags & CHORD_PROFILE_SINCE;
}

bool
proc_lacks(const struct module *m, const struct proc *p, const struct counts *counts, uint32_t c, uint64_t *least)
{
	const struct promoted *r = m ? proc_promoted(p, c) : NULL;
	uint64_t open = 0;

	if (!r || !has_counters(m, p) || !add_words(m, p, r->open - 1, 1, &open))
		return false;
	*least = 0;
	if (counts->skewed || any_resumed(counts) || (int64_t)open < 0)
		return true;
	proc_counter(m, p, c, least);
	return open > 0;
}

bool
proc_any_lacks(const struct module *m, const struct proc *p, const struct counts *counts)
{
	uint64_t least;

	for (uint32_t i = 0; i < p->npromoted; i++)
		if (proc_lacks(m, p, counts, p->promoted[i].counter, &least))
			return true;
	return false;
}

/* Do all counters that consist of cells have a sum? */
static bool
cells_fit(const struct proc *p, const struct module *m)
{
	uint64_t n;

	for (uint32_t k = 0; k < p->ncells; k++)
		if (!proc_counter(m, p, p->cells + k * CHORD_CELLS + 1, &n))
			return false;
	return true;
}

static bool
is_split(const struct proc *p, uint32_t v)
{
	return v < p->nblock && (p->block[v].counter || !measures_with(p->measures, CHORD_FLOW_EDGES));
}

static void
build(struct system *s)
{
	const struct proc *p = s->proc;
	uint32_t e;

	s->graph = graph_new(s->pool, p->nvert, PROC_ENTRY(p), PROC_EXIT(p));
	s->behind = pool_array(s->pool, p->nvert, sizeof *s->behind);
	for (uint32_t v = 0; v < p->nvert; v++)
		s->behind[v] = is_split(p, v) ? graph_vertex(s->graph) : v;
	for (uint32_t i = 0; i < p->narc; i++) {
		if (i == p->close)
			graph_close(s->graph);
		else
			graph_edge(s->graph, s->behind[p->arc[i].from], p->arc[i].to);
	}
	s->inside = pool_array(s->pool, p->nblock, sizeof *s->inside);
	for (uint32_t v = 0; v < p->nblock; v++)
		if (is_split(p, v)) {
			e = s->inside[v] = graph_edge(s->graph, v, s->behind[v]);
			s->graph->edge[e].fixed = true;
		}
	graph_index(s->graph);
	s->known = pool_array(s->pool, s->graph->nedge, sizeof *s->known);
	s->count = pool_array(s->pool, s->graph->nedge, sizeof *s->count);
	s->source = pool_array(s->pool, s->graph->nvert, sizeof *s->source);
}

static const char *
fill_known(struct system *s, const struct module *m)
{
	const struct proc *p = s->proc;

	for (uint32_t i = 0; i < p->narc; i++) {
		s->known[i] = p->arc[i].counter != 0;
		if (s->known[i] && !proc_counter(m, p, p->arc[i].counter, &s->count[i]))
			return "the profile does not hold its counters";
	}
	for (uint32_t v = 0; v < p->nblock; v++) {
		if (!p->block[v].counter)
			continue;
		s->known[s->inside[v]] = true;
		if (!proc_counter(m, p, p->block[v].counter, &s->count[s->inside[v]]))
			return "the profile does not hold its counters";
	}
	return NULL;
}

/* Moves n units of flow from one vertex to another, outside the graph. */
static bool
divert(struct system *s, uint32_t from, uint32_t to, uint64_t n)
{
	return n <= INT64_MAX && !__builtin_sub_overflow(s->source[from], (int64_t)n, &s->source[from]) &&
	       !__builtin_add_overflow(s->source[to], (int64_t)n, &s->source[to]);
}

/* Activations that end in a block go to EXIT, and resumed ones come back from there, so the closing edge counts each of them
 * once. */
static bool
leave(struct system *s, uint32_t block, uint64_t left, uint64_t back)
{
	uint32_t v = s->behind[block], exit = PROC_EXIT(s->proc);

	return divert(s, v, exit, left) && divert(s, exit, v, back);
}

static const char *
fill_sources(struct system *s, const struct counts *c, const struct woven_code *woven)
{
	const struct proc *p = s->proc;
	const char *why = NULL;

	for (uint32_t i = 0; c->left && i < p->ncall; i++) {
		if (!leave(s, p->call[i].block, c->left[i], c->back[i]))
			return "more activations ended early than can be counted";
	}
	for (const struct cut *k = c->cut; k && !why; k = k->next)
		if (!leave(s, k->block, k->left, k->back) || !cut_settle(s, k, woven))
			why = "more activations ended between calls than came there";
	return why;
}

/* Do the unknown edges form a forest, so that conservation determines them all? */
static bool
is_forest(const struct system *s)
{
	const struct graph *g = s->graph;
	uint32_t *set = pool_array(s->pool, g->nvert, sizeof *set);

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t a = graph_root(set, g->edge[e].from), b = graph_root(set, g->edge[e].to);

		if (s->known[e])
			continue;
		if (a == b)
			return false;
		set[a] = b;
	}
	return true;
}

static const char *
propagate(struct system *s)
{
	const char *why = NULL;

	if (!is_forest(s))
		return measures_with(s->proc->measures, CHORD_FLOW_EDGES) ? "its counters do not determine its counts" :
		       solve_deduce(s);
	if (!flow_propagate(s->graph, s->known, s->count, s->source, &why))
		return why ? why : "flow is not conserved";
	memset(s->known, true, s->graph->nedge * sizeof *s->known);
	return flow_check(s->graph, s->count, s->source);
}

/* The counts of blocks: that of the edge inside, or else the sum of the edges in. */
static const char *
fill_blocks(const struct system *s, struct counts *c)
{
	const struct proc *p = s->proc;

	for (uint32_t v = 0; v < p->nblock; v++) {
		if (is_split(p, v) && s->known[s->inside[v]])
			c->block[v] = s->count[s->inside[v]];
		else if (!solve_vertex(s, v, &c->block[v]))
			return "its counters do not determine how often each block ran";
	}
	return NULL;
}

/* Activations begin on edges from ENTRY; an edge to a landing pad continues one. */
static bool
sum_arcs(const struct proc *p, struct counts *c)
{
	c->activations_known = c->jumps_known = true;
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *a = &p->arc[i];
		bool *known = a->kind == CHORD_EDGE_ENTRY ? &c->activations_known : &c->jumps_known;
		uint64_t *sum = a->kind == CHORD_EDGE_ENTRY ? &c->activations : &c->jumps;

		if (a->kind != CHORD_EDGE_ENTRY && (a->from >= p->nblock || a->to == PROC_EXIT(p)))
			continue;
		*known &= c->arc_known[i];
		if (c->arc_known[i] && !checked_add(sum, c->arc[i]))
			return false;
	}
	return true;
}

bool
insn_is_call(uint8_t insn)
{
	return insn >> 4 == CHORD_INSN_CALL || insn >> 4 == CHORD_INSN_ICALL;
}

/* Changes the count of what follows a place where activations ended or were resumed. */
static bool
change(uint64_t *n, uint64_t left, uint64_t back)
{
	return checked_add(n, back) && !__builtin_sub_overflow(*n, left, n);
}

/* Adds the instructions that a block executed. */
static const char *
sum_block(const struct proc *p, struct counts *c, uint32_t v)
{
	const struct block *b = &p->block[v];
	uint64_t n = c->block[v];
	uint32_t k = b->call;

	if (!checked_add(&c->blocks, n))
		return "its counts do not fit 64 bits";
	for (uint32_t i = 0; i < b->ninsn; i++) {
		for (const struct cut *cut = c->cut; cut; cut = cut->next)
			if (cut->block == v && cut->insn == i && !change(&n, cut->left, cut->back))
				return "more activations ended at an instruction than reached it";
		if (b->insn[i] & 15 &&
		    (!checked_add(&c->insns, n) || (insn_is_call(b->insn[i]) && !checked_add(&c->call_insns, n))))
			return "its counts do not fit 64 bits";
		if (k == b->call + b->ncall || p->call[k].insn != i)
			continue;
		if (c->left && !change(&n, c->left[k], c->back[k]))
			return "more activations ended at a call than reached it";
		k++;
	}
	return NULL;
}

static const char *
sum_up(const struct proc *p, struct counts *c)
{
	const char *why = sum_arcs(p, c) ? NULL : "its counts do not fit 64 bits";

	for (uint32_t v = 0; v < p->nblock && !why; v++)
		why = sum_block(p, c, v);
	return why;
}

/* Solves a procedure whose activations in flight are not known. If even that fails, c->why says why. */
static void
solve_flight(struct pool *pool, const struct proc *p, const struct module *m, const struct woven_code *woven, struct standing s,
             struct counts *c)
{
	const char *why = flight_solve(pool, p, m, woven, s, c);

	c->why = why ? pool_strdup(pool, why) : NULL;
}

static void
solve_proc(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, const struct woven_code *woven,
           struct counts *c)
{
	const struct profile_measure *records = measure_solving(p);
	struct system s = {.pool = pool_new(), .proc = p};
	const char *why;

	build(&s);
	why = fill_known(&s, m);
	if (!why)
		why = fill_sources(&s, c, woven);
	if (!why && records)
		why = records->solve(pool, &s, f, m, woven, c);
	if (!why)
		why = propagate(&s);
	c->block = pool_array(pool, p->nblock, sizeof *c->block);
	c->arc = pool_array(pool, p->narc, sizeof *c->arc);
	c->arc_known = pool_array(pool, p->narc, sizeof *c->arc_known);
	if (p->narc) {
		memcpy(c->arc, s.count, p->narc * sizeof *c->arc);
		memcpy(c->arc_known, s.known, p->narc * sizeof *c->arc_known);
	}
	if (!why)
		why = fill_blocks(&s, c);
	if (!why)
		why = sum_up(p, c);
	c->why = why;
	if (why && !counts_by_design(c))
		c->why = pool_strdup(pool, why);
	pool_free(s.pool);
}

void
solve_one(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, const struct woven_code *woven,
          struct counts *c)
{
	struct standing s = {c->lost, COUNT_NO_BOUND};
	bool records = measure_solving(p);

	if (!cells_fit(p, m)) {
		c->why = "the profile does not hold its counters, or they do not fit 64 bits";
		return;
	}
	if (f && f->standing) {
		s = standing_of(f);
		s.threads = saturating_add(s.threads, c->lost);
	}
	c->skewed = solve_skewed(f);
	if (proc_any_lacks(m, p, c) && !records)
		solve_flight(pool, p, m, woven, s.threads ? s : (struct standing){0}, c);
	else if (s.threads && !records)
		solve_flight(pool, p, m, woven, s, c);
	else
		solve_proc(pool, p, f, m, woven, c);
	if (s.threads && records && !c->why)
		flight_around(pool, p, s, c);
	/* Walks of stacks that were not completed have left activations that are not among the exits. */
	if (c->why && f && !s.threads && f->in_flight && !records)
		solve_flight(pool, p, m, woven, (struct standing){f->in_flight, COUNT_NO_BOUND}, c);
}
