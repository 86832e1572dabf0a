/* SPDX-License-Identifier: MIT */
/* chord graph: the algorithms, one after the other, on a graph written by hand. */
#include "tool/graph/graph.h"
#include "tool/options.h"
#include "tool/print.h"
#include "tool/table.h"
#include "tool/tool.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

enum { COLUMNS = 8 };

static void
add_column(struct table *t, struct column *column, const char *title, int width)
{
	column[t->n++] = (struct column){title, width, 0};
	t->column = column;
}

/* Adds the columns for what is known of a graph: the guess, what the file gives, counts; then a text. */
static void
add_known(struct table *t, struct column *column, const struct study *s, const char *what, const char *count, int width)
{
	add_column(t, column, s->given ? "guessed" : what, width);
	if (s->given)
		add_column(t, column, what, width);
	if (s->count)
		add_column(t, column, count, width);
	add_column(t, column, NULL, 0);
}

static void
put_weights(struct table *t, const struct study *s, double heuristic, double given)
{
	table_printf(t, "%.7g", heuristic);
	if (s->given)
		table_printf(t, "%.7g", given);
}

/* ---- vertices ---- */

static void
print_vertex(const struct study *s, struct table *t, uint32_t v)
{
	uint32_t loop = s->loops->inner[v];

	table_text(t, graph_name(s->g, v));
	table_printf(t, "%u", s->order->pre[v]);
	table_printf(t, "%u", s->order->post[v]);
	put_weights(t, s, study_vertex_weight(s->g, s->heuristic, v), s->given ? study_vertex_weight(s->g, s->given, v) : 0);
	if (s->count)
		table_printf(t, "%" PRIu64, study_vertex_count(s, v));
	if (loop != GRAPH_NONE)
		printf("  in loop %s", graph_name(s->g, s->loops->head[loop]));
	if (s->file.vertex.at[v].early)
		printf("  left early %" PRIu64, s->file.vertex.at[v].early);
	if (s->file.vertex.at[v].reentry)
		printf("  re-entered %" PRIu64, s->file.vertex.at[v].reentry);
	table_end(t);
}

static void
print_vertices(const struct study *s, const uint32_t *by_pre)
{
	struct table t = {.to = stdout, .indent = 2};
	struct column column[COLUMNS];

	add_column(&t, column, "", -s->width);
	add_column(&t, column, "pre", 5);
	add_column(&t, column, "post", 5);
	add_known(&t, column, s, "weight", "count", 7);
	printf("vertices in depth-first order\n");
	table_head(&t);
	for (uint32_t i = 0; i < s->g->nvert; i++)
		print_vertex(s, &t, by_pre[i]);
}

/* ---- loops ---- */

/* Vertices are listed with their innermost loop only: bodies in full would take
 * a line's length times the depth of the nest. */
static void
print_loops(const struct study *s, const uint32_t *by_pre)
{
	const struct loops *l = s->loops;
	uint32_t *last = pool_array(s->g->pool, l->nloop, sizeof *last);
	uint32_t *next = pool_array(s->g->pool, s->g->nvert, sizeof *next);

	memset(last, 0xff, l->nloop * sizeof *last);
	for (uint32_t i = s->g->nvert; i-- > 0;) {
		uint32_t v = by_pre[i], k = l->inner[v];

		if (k == GRAPH_NONE)
			continue;
		next[v] = last[k];
		last[k] = v;
	}
	printf("\nloops%s\n", l->nloop ? "" : ": none");
	for (uint32_t k = 0; k < l->nloop; k++) {
		printf("  %-*s depth %u", s->width, graph_name(s->g, l->head[k]), l->depth[l->head[k]]);
		if (l->parent[k] != GRAPH_NONE)
			printf(", in loop %s", graph_name(s->g, l->head[l->parent[k]]));
		printf("%s:", l->irreducible[k] ? ", irreducible" : "");
		for (uint32_t v = last[k]; v != GRAPH_NONE; v = next[v])
			printf(" %s", graph_name(s->g, v));
		printf("\n");
	}
}

/* ---- edges ---- */

static const char *
role(const struct study *s, uint32_t e)
{
	if (s->tree[e])
		return "tree";
	return s->g->edge[e].phantom ? "never runs" : "CHORD";
}

static void
print_edge(const struct study *s, struct table *t, uint32_t e)
{
	const struct edge *d = &s->g->edge[e];

	table_text(t, pool_printf(s->g->pool, "%*s -> %s", s->width, graph_name(s->g, d->from), graph_name(s->g, d->to)));
	put_weights(t, s, s->heuristic[e], s->given ? s->given[e] : 0);
	if (s->count)
		table_printf(t, "%" PRIu64, s->count[e]);
	table_text(t, role(s, e));
	printf("%s", e < s->file.edge.n && s->file.edge.at[e].counted ? ", counted" : "");
	printf("%s", s->order->back[e] ? ", back" : "");
	printf("%s", e == s->g->close ? ", closing" : d->phantom ? ", phantom" : d->fixed ? ", fixed" : "");
	if (d->cost > 1 || d->cost < 1)
		printf(", cost %g", d->cost);
	table_end(t);
}

static void
print_edges(const struct study *s)
{
	struct table t = {.to = stdout, .indent = 2};
	struct column column[COLUMNS];

	add_column(&t, column, "", -(2 * s->width + 4));
	add_known(&t, column, s, "weight", "count", 7);
	printf("\nedges\n");
	table_head(&t);
	for (uint32_t e = 0; e < s->g->nedge; e++)
		print_edge(s, &t, e);
}

/* ---- placements ---- */

static void
print_placement(const struct study *s, struct table *t, const char *what, struct study_placement p)
{
	table_text(t, pool_printf(s->g->pool, "  %s", what));
	table_printf(t, "%u", p.counters);
	put_weights(t, s, p.heuristic, p.given);
	if (s->count && p.fits)
		table_printf(t, "%" PRIu64, p.executed);
	else if (s->count)
		table_text(t, "> 64 bits");
	table_end(t);
}

static void
print_placements(const struct study *s)
{
	struct table t = {.to = stdout};
	struct column column[COLUMNS];

	add_column(&t, column, "placements", -28);
	add_column(&t, column, "counters", 8);
	add_known(&t, column, s, "cost", "executed", 10);
	putchar('\n');
	table_head(&t);
	print_placement(s, &t, "every vertex", study_every_vertex(s));
	if (s->counted)
		print_placement(s, &t, "counts in the file", study_placement(s, s->counted, true));
	if (s->given || s->file.tree)
		print_placement(s, &t, "chords of guessed weights", study_placement(s, s->by_heuristic, false));
	print_placement(s, &t, "chords", study_placement(s, s->tree, false));
}

static void
print_all(const struct study *s)
{
	uint32_t *by_pre = study_by_preorder(s);

	printf("%u vertices, %zu edges, root %s, exit %s\n\n", s->g->nvert, s->file.edge.n,
	       graph_name(s->g, s->g->root), graph_name(s->g, s->g->exit));
	print_vertices(s, by_pre);
	print_loops(s, by_pre);
	print_edges(s);
	print_placements(s);
}

/* ---- command line ---- */

/* Options without a letter. */
enum { VIEW_EVENTS = 256, VIEW_PATHS, VIEW_SPP, VIEW_TRACE, VIEW_HIERARCHY, VIEW_CLOCK, OPT_JSON };

struct request {
	const char *path;
	int view;                /* the option, or 0 */
	bool printed, json;
	uint64_t limit;          /* of paths */
};

/* Sets the view; how: what follows =, or NULL. */
static void
set_view(struct request *r, int key, const char *how, struct argp_state *state)
{
	if (r->view)
		argp_error(state, "one view at a time");
	r->view = key;
	r->limit = (uint64_t)1 << 31;
	if (!how)
		return;
	if (key != VIEW_PATHS) {
		r->printed = !strcmp(how, "printed");
		if (!r->printed)
			argp_error(state, "'%s' is not 'printed'", how);
		return;
	}
	if (!number_read(how, 1, (uint64_t)1 << 32, &r->limit))
		argp_error(state, "'%s' is no number from 1 to 2^32", how);
}

static error_t
parse_graph(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	if (key == ARGP_KEY_ARG) {
		if (r->path)
			argp_error(state, "one file is enough");
		r->path = arg;
	} else if (key == ARGP_KEY_END && !r->path) {
		argp_error(state, "no file given ('-' is standard input)");
	} else if (key >= VIEW_EVENTS && key <= VIEW_CLOCK) {
		set_view(r, key, arg, state);
	} else if (key == OPT_JSON) {
		r->json = true;
	} else if (key == ARGP_KEY_END && r->json && r->view) {
		argp_error(state, "only what is printed without another option has --json");
	} else if (key != ARGP_KEY_END) {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool
show_study(struct study *s, bool json)
{
	if (!study_graph(s) || (s->file.counted && !study_counts(s)))
		return false;
	if (json)
		return graph_json(s);
	print_all(s);
	return true;
}

static bool
show_view(struct study *s, const struct request *r)
{
	switch (r->view) {
	case VIEW_EVENTS:
		return graph_events(&s->file, r->printed);
	case VIEW_PATHS:
		return graph_paths(&s->file, r->limit);
	case VIEW_SPP:
		return graph_spp(&s->file, r->printed);
	case VIEW_TRACE:
		return graph_trace(&s->file);
	case VIEW_HIERARCHY:
		return graph_hierarchy(&s->file);
	case VIEW_CLOCK:
		return graph_clock(&s->file);
	default:
		return show_study(s, r->json);
	}
}

int
cmd_graph(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"events", VIEW_EVENTS, "printed", OPTION_ARG_OPTIONAL, "Print what each chord adds to one counter of events, and "
		 "what a query adds at each vertex; =printed: by the search as published, wrong for self-loops", 0},
		{"paths", VIEW_PATHS, "LIMIT", OPTION_ARG_OPTIONAL, "Print the acyclic paths and their numbers; edges are cut "
		 "until there are at most LIMIT (2^31)", 0},
		{"spp", VIEW_SPP, "printed", OPTION_ARG_OPTIONAL, "Print how paths of interest are told apart from the other "
		 "paths; =printed: by the algorithm as published, which may fail", 0},
		{"hierarchy", VIEW_HIERARCHY, NULL, 0, "Print what has to be counted for a profile of vertices, of edges, or a "
		 "trace", 0},
		{"clock", VIEW_CLOCK, NULL, 0, "Print what has to be counted so that no vertex runs twice at one count", 0},
		{"trace", VIEW_TRACE, NULL, 0, "Print which edges write a witness, and which way each witness tells", 0},
		{"json", OPT_JSON, NULL, 0, "Print JSON: vertices, loops, edges, placements of counters", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_graph,
		.args_doc = "FILE",
		.doc = "Runs the algorithms on a graph written by hand: depth-first order, loops, weights, the maximum "
		       "spanning tree and its chords and, from the counts in FILE, all others."
		       "\vFILE has lines `root P`, `exit R`, `edge P Q [weight W] [cost C] [count N] [fixed] [tree] [events N] "
		       "[name X]`, `vertex P [events N] [call]`, `early P N`, `reentry P N`, `path P Q R...`, `walk P Q R...`, and "
		       "comments after #. '-' is standard input.",
	};
	struct study s = {0};
	struct request r = {0};
	bool ok;

	options_read(&argp, argc, argv, 0, &r);
	ok = graph_file_read(&s.file, r.path) && show_view(&s, &r);
	graph_file_close(&s.file);
	return ok ? 0 : EXIT_NO;
}
