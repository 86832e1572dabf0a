/* SPDX-License-Identifier: MIT */
/* graph_file: graphs written by hand, for `chord graph`. chord-graph(1) has the format. */
#ifndef CHORD_GRAPH_FILE_H
#define CHORD_GRAPH_FILE_H

#include "graph/graph.h"

/* What the file says of an edge, beside what is in struct edge. */
struct file_edge {
	unsigned line;
	bool weighed, counted;
	double weight;
	uint64_t count;
};

struct file_vertex {
	const char *name;
	bool declared;
	uint64_t early, reentry; /* activations that left early here, that came back here */
};

struct graph_file {
	struct pool *pool;
	const char *path;
	struct graph *g;         /* closed and completed, with names */
	VEC(struct file_edge) edge; /* those in the file, which come first in the graph */
	VEC(struct file_vertex) vertex;
	bool weighed, counted;   /* any edge is */
	struct strmap number;    /* of vertices, by name */
	unsigned nline, root_line, exit_line, source_line;
};

/* False: it has said why. In any case graph_file_close(). */
bool graph_file_read(struct graph_file *f, const char *path);
void graph_file_close(struct graph_file *f);

#endif
