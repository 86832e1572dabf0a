/* SPDX-License-Identifier: MIT */
/* study: graphs written by hand, and what the algorithms find out about them. chord-graph(1) has the format. Functions that return
 * false or NULL have reported why. */
#ifndef CHORD_STUDY_H
#define CHORD_STUDY_H

#include "graph/graph.h"

/* ---- file.c ---- */

/* `events N` or `events SYMBOL` of an edge or vertex. */
struct file_events {
	bool given;
	const char *symbol;      /* NULL: the number is n */
	int64_t n;
};

/* What the file says of an edge besides what is in struct edge. */
struct file_edge {
	unsigned line;
	bool weighed, counted, tree;
	double weight;
	uint64_t count;
	const char *name;        /* NULL: none */
	struct file_events events;
};

struct file_vertex {
	const char *name;
	bool declared;
	struct file_events events;
	bool call;               /* it contains a call */
	uint64_t early, reentry; /* activations that left early here; that came back here */
};

struct file_path {
	unsigned line;
	uint32_t *vertex, n;     /* in the pool */
};

struct graph_file {
	struct pool *pool;
	const char *path;
	struct graph *g;         /* closed and completed, with names */
	VEC(struct file_edge) edge; /* edges in the file, which are the graph's first ones */
	VEC(struct file_vertex) vertex;
	VEC(struct file_path) path_of_interest, walk;
	bool weighed, counted;   /* some edge is */
	bool treed, has_events;  /* some edge is in the tree; some edge or vertex has events */
	bool has_calls;          /* some vertex has a call */
	bool *tree;              /* by edge: the file's tree, checked; or NULL */
	struct strmap number;    /* from name to number of a vertex */
	unsigned nline, root_line, exit_line, source_line;
};

/* Reads a file. Call graph_file_close() in either case. */
bool graph_file_read(struct graph_file *f, const char *path);
void graph_file_close(struct graph_file *f);
/* Weights by edge: those of the file, or heuristic ones if it has none. */
double *graph_file_weights(const struct graph_file *f);
/* The file's tree, or the maximum spanning tree by these weights. */
bool *graph_file_tree(const struct graph_file *f, const double *w);

/* ---- study.c ---- */

/* Everything that is found out about the graph. */
struct study {
	struct graph_file file;
	struct graph *g;
	struct order *order;
	struct loops *loops;
	double *heuristic, *given; /* weights by edge; given is NULL if the file has none */
	bool *by_heuristic, *tree; /* the trees by heuristic weights, and by the given ones if there are any */
	bool *counted;             /* by edge: the file has its count, or it never runs */
	uint64_t *count;           /* by edge; NULL if the file has none */
	int width;                 /* length of the longest name of a vertex, at most 30 */
};

/* Fills everything except the counts, from s->file. */
bool study_graph(struct study *s);
/* Computes the counts of all edges from those in the file. */
bool study_counts(struct study *s);
/* Vertices in depth-first order (pool). */
uint32_t *study_by_preorder(const struct study *s);
/* The sum of w over the vertex's in-edges. */
double study_vertex_weight(const struct graph *g, const double *w, uint32_t v);
/* How often a vertex ran. Needs counts. */
uint64_t study_vertex_count(const struct study *s, uint32_t v);
/* The cost of counters on the edges that are in a set (`in`) or are not, and of counters at every vertex. */
struct study_placement {
	uint32_t counters;
	double heuristic, given; /* by these weights */
	uint64_t executed;       /* if there are counts */
	bool fits;               /* `executed` fits in 64 bits */
};
struct study_placement study_placement(const struct study *s, const bool *set, bool in);
struct study_placement study_every_vertex(const struct study *s);
/* A DAG of the graph, cut so that it has at most `limit` paths (0: any number). */
struct dag *study_dag(const struct graph_file *f, uint64_t limit);

/* ---- events.c: counting events, with symbols for them ---- */

struct symbol {
	const char *name;
	bool valued;
	int64_t value;
};

/* Vertices with events are split, v_in -> v_out (Ball 1994, Fig. 2). Edges keep their numbers. */
struct study_events {
	const struct graph_file *f;
	bool printed;
	struct graph *g;         /* the split graph */
	bool *tree;
	uint32_t *behind;        /* by vertex of the file: its v_out, or itself */
	uint32_t *symbol;        /* by edge: the number of its events' symbol, or GRAPH_NONE */
	VEC(struct symbol) name;
	struct strmap number;    /* from given symbols to numbers */
	struct events **term;    /* by symbol; NULL if there are too many */
	struct events **right;   /* the same by potentials, if `printed` */
	struct events *sum, *right_sum; /* NULL if some symbol has no value */
};
/* Places the counter. printed: by the algorithm as the paper prints it, with its errors. Call study_events_free() in either
 * case. */
bool study_events(struct study_events *c, const struct graph_file *f, bool printed);
void study_events_free(struct study_events *c);
/* The name of an edge, or its ends (pool). */
const char *study_edge_name(const struct graph_file *f, uint32_t e);
/* What an edge adds for a symbol (query: the query increment of a vertex of the split graph). */
int64_t study_event(const struct events *ev, bool query, uint32_t i);
/* True if that is what the sound algorithm gives. */
bool study_event_is_right(const struct study_events *c, bool query, uint32_t at);
/* True if the edge adds nothing, whatever the values of symbols are. */
bool study_event_is_zero(const struct study_events *c, uint32_t e);

/* ---- select.c: telling some paths from all others ---- */

/* A path of interest. */
struct study_path {
	uint32_t begin, n, *edge;
	int64_t sum;
};

struct study_selection {
	const struct graph_file *f;
	struct dag *d;
	bool *ei;                /* by edge of the DAG */
	struct study_path *chosen;   /* by path in the file */
	int64_t *val;
	struct probes *probes;
	uint64_t dense;
};
/* Places the code. printed: by the algorithm as the paper prints it. */
bool study_select(struct study_selection *s, const struct graph_file *f, bool printed);
/* The sum that the code on the edges of a path of interest records. */
int64_t study_counted_as(const struct spp_code *c, const struct study_path *path);
/* True if these edges are that path. */
bool study_is_path(const struct study_path *c, uint32_t begin, const uint32_t *edge, uint32_t n);

/* ---- hierarchy.c: profiling problems ---- */

/* The counters that solve one of the problems. */
struct study_problem {
	const char *what;
	bool *edge, *vertex;     /* by edge, by vertex: has a counter; NULL: none has */
	uint32_t counters;
	double cost;             /* by the weights */
};
struct study_hierarchy {
	const struct graph_file *f;
	double *w;
	struct study_problem problem[6];
	uint32_t n;
};
/* Solves all problems. */
bool study_hierarchy(struct study_hierarchy *h, const struct graph_file *f);
/* The same for the software instruction counter (Mellor-Crummey & LeBlanc 1989): what is counted so that no vertex runs twice at
 * one count. */
bool study_clock(struct study_hierarchy *h, const struct graph_file *f);
/* Computes the counts of vertices from those of edges in the file. */
bool study_vertex_counts(const struct graph_file *f, uint64_t *count);

/* ---- trace.c: witnesses ---- */

/* One set of witnesses that suffices. */
struct study_witnesses {
	const char *what;
	bool *written;           /* by edge */
	uint32_t n, bits;        /* number of witnesses; bits of each */
	double cost;             /* by the weights; in bits: multiplied by `bits` */
};
enum {
	STUDY_OUTCOMES,          /* bit tracing: each out-edge of each predicate, in as few bits as tell them apart; n counts
	                          * edges */
	STUDY_WITNESSES,         /* blockers, then the forest */
	STUDY_REVERSED,          /* the forest, then blockers where they are missing */
	STUDY_THINNED,           /* STUDY_WITNESSES without those that are not needed */
	STUDY_PLACEMENTS
};
struct study_trace {
	const struct graph_file *f;
	double *w;
	bool *call;              /* by vertex; NULL: no vertex has a call, and nothing blocks EXIT */
	uint32_t npredicate;
	bool *blocker;           /* by edge */
	struct study_witnesses placement[STUDY_PLACEMENTS];
	double outcome_bits;     /* bits of bit tracing, by the weights */
	struct witness_values *values, *reused; /* of STUDY_WITNESSES */
};
/* Places witnesses and their values. */
bool study_trace(struct study_trace *t, const struct graph_file *f);
/* What a walk writes, by the values of `reused`. False: it is no walk from the root. ended: it comes to EXIT. */
struct study_written { uint32_t *value, n; bool ended; };
bool study_walk(const struct study_trace *t, const struct file_path *walk, struct study_written *out);
/* The number of vertices of the walk that are regenerated from what it wrote: all of them, and *ended; or those before the
 * witnesses ended. */
uint32_t study_regenerate(const struct study_trace *t, const struct file_path *walk, const struct study_written *written,
                          bool *ended);

#endif
