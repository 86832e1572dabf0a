/* SPDX-License-Identifier: MIT */
/* Traces of witnesses: which edges write, so that all that an activation writes, in order, determines all that it executes (Ball &
 * Larus 1994, section 4). An edge always writes the same number, so nothing is kept in registers.
 *
 * An edge that writes is cut in the graph of paths. A way is what control passes between two writes: a path of that graph. All ends
 * write, as for paths: the way to a call is written before the call, and nothing of an activation is pending while another one
 * runs. So the first write after such an end may belong to a way that begins at the entry, at a landing pad or after any of the
 * calls: ENTRY is a predicate with an edge to each of these. The other edges that write are those that a spanning forest leaves
 * over, thinned.
 *
 * If code that is not traced can enter a procedure, a signal handler may enter it unseen, in the middle of another of its
 * activations. Then the first write has to show that it belongs to a new activation. */
#include "weave/internal.h"

#include <string.h>

const char *const weave_encoding_name[] = {
	[WEAVE_PATHS] = "paths", [WEAVE_WITNESSES] = "witness", [WEAVE_BITS] = "bits", [WEAVE_BRANCHES] = "branches",
};

enum weave_encoding
weave_encoding_named(const char *name)
{
	uint32_t i = 0;

	while (i < WEAVE_ENCODINGS && strcmp(name, weave_encoding_name[i]))
		i++;
	return i;
}

/* Thinning takes quadratic time or more. */
enum { THIN_MOST = 400 };
/* Each way has a counter. */
static const uint64_t MOST_PIECES = 1 << 24;

struct placement {
	struct woven *w;
	const struct proc_text *p;
	const bool *end;         /* by edge: it has to write, and a new way begins after it; edges into EXIT are not in it */
	struct graph *g;         /* the procedure's graph without edges that have to write, and with edges from root to where ways
	                          * begin */
	double *weight;          /* by its edge */
	bool *written;           /* likewise */
	struct site *site;       /* likewise, for open edges: as near to the edge as can be, because a path is over when it has been
	                          * written, and nothing of the next one has run */
};

static bool
is_kind(const struct proc_text *p, uint32_t e, enum chord_edge kind)
{
	return p->arcs.at[e].kind == kind;
}

static bool
ends_with_call(const struct woven *w, uint32_t block)
{
	uint32_t end = padding_at_end(w, block);

	return end > w->proc->block_text.at[block].first && insn_is_call(woven_insn(w, block, end - 1));
}

/* The edges that are cut anyway, and those after calls that return to the procedure. */
static bool *
find_ends(const struct unit *u, const struct woven *w, const bool *cut)
{
	const struct proc_text *p = w->proc;
	bool *end = pool_array(u->pool, p->graph->nedge, sizeof *end);

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		uint32_t from = p->graph->edge[e].from;

		end[e] = cut[e] || (from < p->blocks.n && p->graph->edge[e].to != p->exit && ends_with_call(w, from));
	}
	return end;
}

static bool
is_open(const struct placement *x, uint32_t e)
{
	const struct edge *d = &x->p->graph->edge[e];

	return e < x->p->arcs.n && !is_kind(x->p, e, CHORD_EDGE_CLOSE) && d->to != x->p->exit && !x->end[e];
}

/* Edges keep their numbers; those that are not open are phantoms. */
static void
make_graph(struct placement *x, const struct unit *u)
{
	const struct graph *of = x->p->graph;
	bool *begins = pool_array(u->pool, of->nvert, sizeof *begins);

	x->g = graph_new(u->pool, of->nvert, of->root, of->exit);
	x->g->name = of->name;
	x->site = pool_array(u->pool, of->nedge, sizeof *x->site);
	for (uint32_t e = 0; e < of->nedge; e++) {
		graph_edge(x->g, of->edge[e].from, of->edge[e].to);
		x->g->edge[e] = of->edge[e];
		x->g->edge[e].phantom = !is_open(x, e);
		if (!x->g->edge[e].phantom)
			x->site[e] = place_at_edge(u, x->w, e);
		x->g->edge[e].fixed |= x->g->edge[e].phantom || x->site[e].where == SITE_NONE;
		begins[of->edge[e].to] |= x->end[e];
	}
	for (uint32_t v = 0; v < of->nvert; v++)
		if (begins[v]) {
			uint32_t e = graph_edge(x->g, of->root, v);

			x->g->edge[e].fixed = true;
		}
	graph_index(x->g);
	x->weight = pool_array(u->pool, x->g->nedge, sizeof *x->weight);
	memcpy(x->weight, x->w->weight, of->nedge * sizeof *x->weight);
	x->written = pool_array(u->pool, x->g->nedge, sizeof *x->written);
}

/* Makes these edges write, whatever else does. */
static void
take_out(struct placement *x, const bool *edge)
{
	for (uint32_t e = 0; e < x->p->arcs.n; e++)
		if (edge[e])
			x->g->edge[e].phantom = x->g->edge[e].fixed = true;
}

static const char *
place(struct placement *x, const bool *must)
{
	const char *why;

	take_out(x, must);
	why = witness_place(x->g, x->weight, NULL, x->written);
	if (!why && x->g->nvert <= THIN_MOST)
		witness_thin(x->g, x->weight, NULL, x->written);
	for (uint32_t e = 0; e < x->p->arcs.n; e++)
		x->written[e] |= must[e];
	return why;
}

/* Marks the vertices that control reaches from v without a write. */
static void
reach(const struct placement *x, uint32_t v, bool *seen, uint32_t *stack)
{
	uint32_t n = 0;

	if (seen[v])
		return;
	seen[v] = true;
	stack[n++] = v;
	while (n) {
		v = stack[--n];
		for (uint32_t i = x->g->out_at[v]; i < x->g->out_at[v + 1]; i++) {
			uint32_t e = x->g->out[i], to = x->g->edge[e].to;

			if (!witness_is_real(x->g, e) || x->written[e] || seen[to])
				continue;
			seen[to] = true;
			stack[n++] = to;
		}
	}
}

/* Can the first write of an activation also be the next write of another one? */
static bool
is_ambiguous(const struct placement *x, const struct unit *u)
{
	uint32_t n = x->g->nvert, *stack = pool_array(u->pool, n, sizeof *stack);
	bool *begun = pool_array(u->pool, n, sizeof *begun), *amid = pool_array(u->pool, n, sizeof *amid);

	for (uint32_t e = 0; e < x->p->arcs.n; e++) {
		if (x->written[e])
			reach(x, x->g->edge[e].to, amid, stack);
		else if (is_kind(x->p, e, CHORD_EDGE_ENTRY))
			reach(x, x->g->edge[e].to, begun, stack);
	}
	for (uint32_t v = 0; v < n; v++)
		if (begun[v] && amid[v])
			return true;
	return false;
}

/* Makes all edges out of predicates write, if code can be put there. */
static void
find_branches(const struct placement *x, bool *must)
{
	const struct graph *g = x->p->graph;

	for (uint32_t e = 0; e < x->p->arcs.n; e++)
		if (is_open(x, e) && !x->g->edge[e].fixed && g->edge[e].from != g->root && g->out_at[g->edge[e].from + 1] -
		    g->out_at[g->edge[e].from] > 1)
			must[e] = true;
}

/* Makes all edges out of a vertex write. False: one of them cannot, or several edges lead to the vertex. */
static bool
take_ways_out(const struct placement *x, uint32_t v, bool *must)
{
	const struct graph *g = x->p->graph;

	if (v >= x->p->blocks.n || g->in_at[v + 1] - g->in_at[v] != 1)
		return false;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (is_open(x, g->out[i]) && x->g->edge[g->out[i]].fixed)
			return false;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (is_open(x, g->out[i]))
			must[g->out[i]] = true;
	return true;
}

/* Makes the beginning of each activation write: the edges out of its first block or, if that fails, its entry. Returns NULL, or why
 * it cannot be done. */
static const char *
find_entries(const struct placement *x, bool *must)
{
	for (uint32_t e = 0; e < x->p->arcs.n; e++) {
		if (!is_kind(x->p, e, CHORD_EDGE_ENTRY) || take_ways_out(x, x->p->graph->edge[e].to, must))
			continue;
		if (x->g->edge[e].fixed)
			return "that it is entered has to be written down, and nothing can be put there";
		must[e] = true;
	}
	return NULL;
}

/* Chooses the edges that write. Returns NULL, or why it cannot be done. */
static const char *
choose(struct placement *x, const struct unit *u)
{
	bool *must = pool_array(u->pool, x->p->graph->nedge, sizeof *must);
	const char *why;

	make_graph(x, u);
	if (x->w->paths->encoding == WEAVE_BRANCHES)
		find_branches(x, must);
	why = place(x, must);
	if (why || !x->p->address_taken || !is_ambiguous(x, u))
		return why;
	why = find_entries(x, must);
	if (why)
		return why;
	make_graph(x, u);
	return place(x, must);
}

/* ---- code ---- */

static bool
records(const struct proc_text *p, const struct dag *d, uint32_t e)
{
	return !is_kind(p, e, CHORD_EDGE_CLOSE) && (d->cut[e] || p->graph->edge[e].to == p->exit);
}

/* By vertex: the least sum of a way to it from where ways begin; -1: no way leads there. */
static int64_t *
least_sums(const struct unit *u, const struct paths *paths)
{
	const struct dag *d = paths->dag;
	const struct graph *g = d->graph;
	int64_t *least = pool_array(u->pool, g->nvert, sizeof *least);

	for (uint32_t v = 0; v < g->nvert; v++)
		least[v] = v == g->root ? 0 : -1;
	for (uint32_t i = g->nvert; i--;) {
		uint32_t v = d->up[i];

		for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1] && least[v] >= 0; k++) {
			uint32_t e = g->out[k], to = g->edge[e].to;
			int64_t sum = least[v] + paths->val[e];

			if (e != d->close && !g->edge[e].phantom && (least[to] < 0 || sum < least[to]))
				least[to] = sum;
		}
	}
	return least;
}

static void
make_code(const struct unit *u, struct woven *w)
{
	struct woven_paths *x = w->paths;
	const struct proc_text *p = w->proc;
	struct probes *r = x->paths->probes;
	int64_t *least = least_sums(u, x->paths);

	x->act = pool_array(u->pool, p->graph->nedge, sizeof *x->act);
	for (uint32_t e = 0; e < p->arcs.n; e++) {
		int64_t before = least[p->graph->edge[e].from];

		if (records(p, x->paths->dag, e) && before >= 0)
			x->act[e] = (struct path_act){.record = PATH_RECORD_KNOWN, .sum = before + x->paths->val[e]};
	}
	for (uint32_t v = 0; v < p->graph->nvert; v++) {
		r->known[v] = true;
		r->value[v] = r->query[v] = r->start[v] = 0;
	}
}

bool
place_witnesses(const struct unit *u, struct woven *w, const bool *cut, const char **why)
{
	struct graph *g = w->proc->graph;
	struct placement x = {.w = w, .p = w->proc, .end = find_ends(u, w, cut)};
	bool *writes = pool_array(u->pool, g->nedge, sizeof *writes);
	struct dag *d;

	*why = choose(&x, u);
	if (*why)
		return false;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		writes[e] = x.end[e] || x.written[e];
		if (x.written[e])
			w->edge[e] = x.site[e];
	}
	d = dag_new(g, dag_order(g, writes), w->weight, writes, 0, why);
	w->paths->paths = d ? paths_number(d, why) : NULL;
	if (!w->paths->paths)
		return false;
	if (w->paths->paths->n > MOST_PIECES)
		*why = "too many ways lead from one place where something is written to the next";
	else
		make_code(u, w);
	return w->paths->paths->n <= MOST_PIECES;
}
