/* SPDX-License-Identifier: MIT */
/* placements PROGRAM [PROFILE...]: what counters in other places would have cost, from the counts of one run with
 * -fchord=edges. Ball & Larus (1994, section 6.1) compare algorithms in this way: by the places where each one would put
 * counters, by how often these counters would have been incremented, and by how many extra jumps would have been needed.
 *
 * The graphs are those of the map. The weights are those of section 5 (each arm as likely), or the counts themselves. The
 * program prints lines of words with tabs between them, below the names of the columns: a placement, its weights, and its
 * numbers. Without a profile it prints the static numbers.
 *
 * An edge needs no jump in three cases: its source has one way out (the counter stands in the source, as in Fig. 23b), its
 * target has one way in (the counter stands there), or control falls through. */
#include "graph/graph.h"
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* Where the counter of an edge stands. */
enum place { SOURCE, TARGET, FALLS, JUMPS, PLACES };

struct sum {
	uint64_t counters, increments;
	uint64_t at[PLACES];     /* counters by place */
	uint64_t ran[PLACES];    /* and how often these were incremented */
};

enum problem { EDGES_MAX, EDGES_MIN, BLOCKS, BLOCKS_VCNT, PROBLEMS };
enum weights { HEURISTIC, EXACT, WEIGHTS };

static const char *const problem_name[] = {"edges-max", "edges-min", "blocks", "blocks-vcnt"};
static const char *const weights_name[] = {"heuristic", "exact"};

struct study {
	struct sum sum[PROBLEMS][WEIGHTS];
	struct sum woven;        /* the counters that are in the program: those in blocks are FALLS, they need no jump */
	uint64_t procs, unknown; /* procedures; those of which no counts are known */
	uint64_t edges, vertices; /* the paper's root is the first block: the edges from ENTRY to that are none */
	uint64_t blocks, insns;  /* executed */
	uint64_t branches, best; /* executed predicates; of these as the better way of each says */
	double foreseen;         /* and as the heavier edge of each says; of edges of one weight each has its part */
};

struct subject {
	const struct proc *p;
	const uint64_t *ran;     /* by arc; NULL: no run is known */
	struct graph *g;
	uint32_t *in, *out;      /* by vertex: edges that can run */
};

static bool
real(const struct subject *s, uint32_t e)
{
	return e != s->g->close && e < s->p->narc && !s->g->edge[e].phantom;
}

static enum place
place_of(const struct subject *s, uint32_t e)
{
	const struct edge *edge = &s->g->edge[e];

	if (s->out[edge->from] == 1)
		return SOURCE;
	if (s->in[edge->to] == 1)
		return TARGET;
	return s->p->arc[e].kind == CHORD_EDGE_FALL ? FALLS : JUMPS;
}

static uint64_t
ran(const struct subject *s, uint32_t e)
{
	return s->ran && e < s->p->narc ? s->ran[e] : 0;
}

static void
add(struct sum *sum, enum place at, uint64_t n)
{
	sum->counters++;
	sum->increments += n;
	sum->at[at]++;
	sum->ran[at] += n;
}

static void
add_edges(struct sum *sum, const struct subject *s, const bool *counted)
{
	for (uint32_t e = 0; e < s->g->nedge; e++)
		if (counted[e] && real(s, e))
			add(sum, place_of(s, e), ran(s, e));
}

static uint64_t
vertex_ran(const struct subject *s, uint32_t v)
{
	uint64_t n = 0;

	for (uint32_t i = s->g->in_at[v]; i < s->g->in_at[v + 1]; i++)
		n += ran(s, s->g->in[i]);
	return n;
}

static void
add_vertices(struct sum *sum, const struct subject *s, const bool *counted)
{
	for (uint32_t v = 0; v < s->g->nvert; v++)
		if (counted[v])
			add(sum, FALLS, vertex_ran(s, v));
}

/* ---- one procedure ---- */

static void
place_all(struct study *t, const struct subject *s, const double *w, enum weights by)
{
	const struct graph *g = s->g;
	bool *tree = span_max(g, w, NULL), *least = span_min(g, w, NULL);
	bool *chord = pool_array(g->pool, g->nedge, sizeof *chord), *counted = pool_array(g->pool, g->nvert, sizeof *counted);

	if (!tree || !least)
		bug("%s: no tree, though no edge is fixed but one", s->p->name);
	for (uint32_t e = 0; e < g->nedge; e++)
		chord[e] = !least[e];
	add_edges(&t->sum[EDGES_MIN][by], s, chord);
	for (uint32_t e = 0; e < g->nedge; e++)
		chord[e] = !tree[e];
	add_edges(&t->sum[EDGES_MAX][by], s, chord);
	vertices_thin_printed(g, w, tree, chord);
	add_edges(&t->sum[BLOCKS][by], s, chord);
	vertices_place(g, w, counted);
	add_vertices(&t->sum[BLOCKS_VCNT][by], s, counted);
}

/* A predicate: which way the weights foresee, and which would have been best. */
static void
foresee(struct study *t, const struct subject *s, const double *w, uint32_t v)
{
	const struct graph *g = s->g;
	uint64_t all = 0, best = 0, right = 0;
	double heaviest = -1;
	unsigned alike = 0;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i];

		if (!real(s, e))
			continue;
		all += ran(s, e);
		best = ran(s, e) > best ? ran(s, e) : best;
		/* What differs by rounding only is alike. */
		if (w[e] > heaviest * (1 + 1e-9)) {
			heaviest = w[e];
			right = alike = 0;
		}
		if (w[e] >= heaviest * (1 - 1e-9)) {
			right += ran(s, e);
			alike++;
		}
	}
	t->branches += all;
	t->best += best;
	t->foreseen += alike ? (double)right / alike : 0;
}

static void
add_woven(struct study *t, const struct subject *s)
{
	const struct proc *p = s->p;

	for (uint32_t e = 0; e < p->narc; e++)
		if (p->arc[e].counter)
			add(&t->woven, place_of(s, e), ran(s, e));
	for (uint32_t b = 0; b < p->nblock; b++)
		if (p->block[b].counter)
			add(&t->woven, FALLS, vertex_ran(s, b));
}

static void
count_degrees(struct subject *s)
{
	s->in = pool_array(s->g->pool, s->g->nvert, sizeof *s->in);
	s->out = pool_array(s->g->pool, s->g->nvert, sizeof *s->out);
	for (uint32_t e = 0; e < s->g->nedge; e++)
		if (real(s, e)) {
			s->out[s->g->edge[e].from]++;
			s->in[s->g->edge[e].to]++;
		}
}

static struct graph *
graph_of(struct pool *pool, const struct proc *p)
{
	struct graph *g = graph_new(pool, p->nvert, PROC_ENTRY(p), PROC_EXIT(p));

	for (uint32_t e = 0; e < p->narc; e++) {
		if (e == p->close)
			graph_close(g);
		else
			graph_edge(g, p->arc[e].from, p->arc[e].to);
	}
	graph_complete(g);
	return g;
}

static void
study(struct study *t, const struct proc *p, const uint64_t *ran_arcs)
{
	struct pool *pool = pool_new();
	struct subject s = {.p = p, .ran = ran_arcs, .g = graph_of(pool, p)};
	struct order *o = order_dfs(s.g);
	double *w = weight_heuristic(s.g, o, loops_find(s.g, o)), *exact = pool_array(pool, s.g->nedge, sizeof *exact);

	count_degrees(&s);
	t->procs++;
	t->vertices += p->nblock;
	for (uint32_t e = 0; e < s.g->nedge; e++) {
		t->edges += real(&s, e) && p->arc[e].kind != CHORD_EDGE_ENTRY;
		exact[e] = (double)ran(&s, e);
	}
	place_all(t, &s, w, HEURISTIC);
	place_all(t, &s, exact, EXACT);
	for (uint32_t v = 0; ran_arcs && v < p->nblock; v++) {
		uint64_t n = vertex_ran(&s, v);

		t->blocks += n;
		t->insns += n * p->block[v].ninsn;
		if (s.out[v] > 1)
			foresee(t, &s, w, v);
	}
	add_woven(t, &s);
	pool_free(pool);
}

/* ---- programs ---- */

static void
study_binary(struct study *t, const struct binary *bin, bool has_run)
{
	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		const struct proc *p = &bin->map.proc[i];

		if (p->refused)
			continue;
		if (!has_run)
			study(t, p, NULL);
		else if (weights_known(p, &bin->counts[i]))
			study(t, p, bin->counts[i].arc);
		else
			t->unknown++;
	}
}

static void
print_sum(const char *what, const char *weights, const struct sum *s)
{
	printf("%s\t%s\t%" PRIu64 "\t%" PRIu64, what, weights, s->counters, s->increments);
	for (int i = 0; i < PLACES; i++)
		printf("\t%" PRIu64, s->at[i]);
	for (int i = 0; i < PLACES; i++)
		printf("\t%" PRIu64, s->ran[i]);
	printf("\n");
}

static void
print_study(const struct study *t, bool has_run)
{
	static const char columns[] =
		"placement\tweights\tcounters\tincrements\tin-source\tin-target\tfalls\tjumps\t"
		"ran-source\tran-target\tran-falls\tran-jumps";
	const struct sum *tree = &t->sum[EDGES_MAX][HEURISTIC];

	if (!has_run) {
		printf("procedures\tblocks\tedges\tprofiled\tno-jump\twoven\twoven-no-jump\n");
		printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
		       t->procs, t->vertices, t->edges, tree->counters, tree->counters - tree->at[JUMPS], t->woven.counters,
		       t->woven.counters - t->woven.at[JUMPS]);
		return;
	}
	puts(columns);
	printf("executed\tblocks\t%" PRIu64 "\t%" PRIu64 "\n", t->procs, t->blocks);
	printf("executed\tinstructions\t%" PRIu64 "\t%" PRIu64 "\n", t->procs, t->insns);
	printf("branches\tall\t%" PRIu64 "\t%" PRIu64 "\n", t->procs, t->branches);
	printf("branches\tbest\t%" PRIu64 "\t%" PRIu64 "\n", t->procs, t->best);
	printf("branches\theuristic\t%" PRIu64 "\t%.0f\n", t->procs, t->foreseen);
	print_sum("woven", "-", &t->woven);
	for (int p = 0; p < PROBLEMS; p++)
		for (int w = 0; w < WEIGHTS; w++)
			print_sum(problem_name[p], weights_name[w], &t->sum[p][w]);
}

int
main(int argc, char **argv)
{
	struct run r = {.pool = pool_new()};
	struct study t = {0};
	struct binary bin;
	const char *why;

	if (argc < 2)
		die("usage", "placements PROGRAM [PROFILE...]");
	if (argc == 2) {
		if (!binary_open(r.pool, argv[1], &bin, &why))
			die(argv[1], "%s", why);
		study_binary(&t, &bin, false);
	} else if (!run_load(&r, argv[1], argv + 2, argc - 2)) {
		return 1;
	}
	for (size_t i = 0; argc > 2 && i < r.binary.n; i++)
		study_binary(&t, &r.binary.at[i], true);
	if (argc > 2 && t.unknown)
		die(argv[1], "the counts of %" PRIu64 " procedures are not known", t.unknown);
	print_study(&t, argc > 2);
	return 0;
}
