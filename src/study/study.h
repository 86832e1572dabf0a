/* SPDX-License-Identifier: MIT */
/* study: graphs written by hand, and what the algorithms find out about them. chord-graph(1) has the format. */
#ifndef CHORD_STUDY_H
#define CHORD_STUDY_H

#include "graph/graph.h"

/* ---- file.c ---- */

/* `events N` or `events SYMBOL` of an edge or vertex. */
struct file_events {
	bool given;
	const char *symbol;      /* NULL: n is their number */
	int64_t n;
};

/* What the file says of an edge, beside what is in struct edge. */
struct file_edge {
	unsigned line;
	bool weighed, counted, tree;
	double weight;
	uint64_t count;
	const char *name;        /* or NULL */
	struct file_events events;
};

struct file_vertex {
	const char *name;
	bool declared;
	struct file_events events;
	bool call;               /* it contains a call */
	uint64_t early, reentry; /* activations that left early here, that came back here */
};

struct file_path {
	unsigned line;
	uint32_t *vertex, n;     /* in the pool */
};

struct graph_file {
	struct pool *pool;
	const char *path;
	struct graph *g;         /* closed and completed, with names */
	VEC(struct file_edge) edge; /* those in the file, which come first in the graph */
	VEC(struct file_vertex) vertex;
	VEC(struct file_path) path_of_interest, walk;
	bool weighed, counted;   /* any edge is */
	bool treed, has_events;  /* any edge, any edge or vertex is said to be, has */
	bool has_calls;          /* any vertex has one */
	bool *tree;              /* by edge: the tree that the file gives, checked; or NULL */
	struct strmap number;    /* of vertices, by name */
	unsigned nline, root_line, exit_line, source_line;
};

/* False: it has said why. In any case graph_file_close(). */
bool graph_file_read(struct graph_file *f, const char *path);
void graph_file_close(struct graph_file *f);
/* Weights by edge: the file's or, if it has none, heuristic ones. */
double *graph_file_weights(const struct graph_file *f);
/* The tree that the file gives or else the maximum one by these weights. NULL: it has said why. */
bool *graph_file_tree(const struct graph_file *f, const double *w);

/* ---- study.c ---- */

/* Everything that is found out about the graph. */
struct study {
	struct graph_file file;
	struct graph *g;
	struct order *order;
	struct loops *loops;
	double *heuristic, *given; /* weights by edge; given is NULL if the file has none */
	bool *by_heuristic, *tree; /* the trees of heuristic and, if there are any, given weights */
	bool *counted;             /* by edge: the file has its count, or it never runs */
	uint64_t *count;           /* by edge; NULL if the file has none */
	int width;                 /* of the longest name of a vertex, at most 30 */
};

/* Of a file that was read: all but the counts. False: it has said why. */
bool study_graph(struct study *s);
/* The counts of all edges, from those that the file has. False: it has said why. */
bool study_counts(struct study *s);
/* Vertices in depth-first order. */
uint32_t *study_by_preorder(const struct study *s);
double study_vertex_weight(const struct graph *g, const double *w, uint32_t v);
/* How often a vertex ran. Needs counts. */
uint64_t study_vertex_count(const struct study *s, uint32_t v);
/* What counters would cost on the edges that are (or are not) in a set, and at every vertex. */
struct study_placement {
	uint32_t counters;
	double heuristic, given; /* by the weights */
	uint64_t executed;       /* if there are counts */
	bool fits;               /* that, in 64 bits */
};
struct study_placement study_placement(const struct study *s, const bool *set, bool in);
struct study_placement study_every_vertex(const struct study *s);
/* A graph without cycles, cut so that it has at most so many paths (0: any number). NULL: it has said why. */
struct dag *study_dag(const struct graph_file *f, uint64_t limit);

/* ---- events.c: counting events with symbols for them ---- */

struct symbol {
	const char *name;
	bool valued;
	int64_t value;
};

/* Vertices with events are split, v_in -> v_out (Fig. 2). Edges keep their numbers. */
struct study_events {
	const struct graph_file *f;
	bool printed;
	struct graph *g;         /* the split graph */
	bool *tree;
	uint32_t *behind;        /* by vertex of the file: its v_out, or itself */
	uint32_t *symbol;        /* by edge: what its events are called, or GRAPH_NONE */
	VEC(struct symbol) name;
	struct strmap number;    /* of symbols that were given */
	struct events **term;    /* by symbol, or NULL if they are too many */
	struct events **right;   /* the same by potentials, if `printed` */
	struct events *sum, *right_sum; /* or NULL if some symbol has no value */
};
/* printed: as the paper has the algorithm, errors and all. False: it has said why. In any case study_events_free(). */
bool study_events(struct study_events *c, const struct graph_file *f, bool printed);
void study_events_free(struct study_events *c);
/* The name of an edge, or what it leads from and to. */
const char *study_edge_name(const struct graph_file *f, uint32_t e);
/* What an edge (query: a vertex of the split graph) adds, for a symbol. */
int64_t study_event(const struct events *ev, bool query, uint32_t i);
/* Is it what the sound algorithm gives? */
bool study_event_is_right(const struct study_events *c, bool query, uint32_t at);
/* Does the edge add nothing, whatever the symbols are? */
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
/* printed: as the paper has the algorithm. False: it has said why. */
bool study_select(struct study_selection *s, const struct graph_file *f, bool printed);
/* What a path of interest is counted as by the code on its edges. */
int64_t study_counted_as(const struct spp_code *c, const struct study_path *path);
/* Is it that path? */
bool study_is_path(const struct study_path *c, uint32_t begin, const uint32_t *edge, uint32_t n);

/* ---- hierarchy.c: profiling problems ---- */

/* What is counted to solve one of them. */
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
/* False: it has said why. */
bool study_hierarchy(struct study_hierarchy *h, const struct graph_file *f);
/* The same of the software instruction counter (Mellor-Crummey & LeBlanc 1989): what is counted so that no vertex runs twice at one
 * count. */
bool study_clock(struct study_hierarchy *h, const struct graph_file *f);
/* The counts of vertices, from those of edges that the file has. False: it has said why. */
bool study_vertex_counts(const struct graph_file *f, uint64_t *count);

/* ---- trace.c: witnesses ---- */

/* One way to have enough witnesses. */
struct study_witnesses {
	const char *what;
	bool *written;           /* by edge */
	uint32_t n, bits;        /* how many, and bits of each */
	double cost;             /* by the weights; in bits: times `bits` */
};
enum {
	STUDY_OUTCOMES,          /* bit tracing: each way out of each predicate, in as few bits as tell it; n counts ways */
	STUDY_WITNESSES,         /* blockers, then the forest */
	STUDY_REVERSED,          /* the forest, then blockers where they lack */
	STUDY_THINNED,           /* STUDY_WITNESSES without those that are not needed */
	STUDY_PLACEMENTS
};
struct study_trace {
	const struct graph_file *f;
	double *w;
	bool *call;              /* by vertex; NULL: no vertex has one, and nothing blocks EXIT */
	uint32_t npredicate;
	bool *blocker;           /* by edge */
	struct study_witnesses placement[STUDY_PLACEMENTS];
	double outcome_bits;     /* of bit tracing: by the weights */
	struct witness_values *values, *reused; /* of STUDY_WITNESSES */
};
/* False: it has said why. */
bool study_trace(struct study_trace *t, const struct graph_file *f);
/* What a walk writes: the values of `reused`. False: it is no walk from the root; it has said why. *ended: it comes to EXIT. */
struct study_written { uint32_t *value, n; bool ended; };
bool study_walk(const struct study_trace *t, const struct file_path *walk, struct study_written *out);
/* How many vertices of the walk are regenerated from what it wrote: all if it *ended, else those that are told. */
uint32_t study_regenerate(const struct study_trace *t, const struct file_path *walk, const struct study_written *written,
                          bool *ended);

#endif
