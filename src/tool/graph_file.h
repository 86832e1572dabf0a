/* SPDX-License-Identifier: MIT */
/* graph_file: graphs written by hand, for `chord graph`. chord-graph(1) has the format. */
#ifndef CHORD_GRAPH_FILE_H
#define CHORD_GRAPH_FILE_H

#include "graph/graph.h"

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
	VEC(struct file_path) path_of_interest;
	bool weighed, counted;   /* any edge is */
	bool treed, has_events;  /* any edge, any edge or vertex is said to be, has */
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

/* graph_events.c, graph_paths.c, graph_spp.c: the views that options ask for. `printed`: the algorithm
 * as the paper has it, errors and all. False: it has said why. */
bool graph_events(const struct graph_file *f, bool printed);
bool graph_paths(const struct graph_file *f, uint64_t limit);
bool graph_spp(const struct graph_file *f, bool printed);

/* graph_paths.c, what paths are printed with. Names of vertices are printed as they are. */
struct dag *graph_file_dag(const struct graph_file *f, uint64_t limit); /* NULL: it has said why */
void graph_print_values(const struct graph_file *f, const struct dag *d, const int64_t *val, const struct probes *p);
void graph_print_sum(const struct probes *p, uint32_t begin, const uint32_t *edge, uint32_t n);
void graph_print_path(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n);

#endif
