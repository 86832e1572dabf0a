/* SPDX-License-Identifier: MIT */
/* chord graph: graph.c has the options and prints what is found out about a graph, json.c prints that as JSON, the others print the
 * views that options ask for. */
#ifndef CHORD_TOOL_GRAPH_H
#define CHORD_TOOL_GRAPH_H

#include "study/study.h"

/* `printed`: the algorithm as the paper has it, errors and all. False: it has said why. */
bool graph_events(const struct graph_file *f, bool printed);
bool graph_paths(const struct graph_file *f, uint64_t limit);
bool graph_spp(const struct graph_file *f, bool printed);
bool graph_trace(const struct graph_file *f);
bool graph_hierarchy(const struct graph_file *f);
bool graph_clock(const struct graph_file *f);
/* What was found out, as an object of JSON. False: it cannot be written, which it has said. */
bool graph_json(const struct study *s);

/* paths.c: what paths are printed with. Names of vertices are printed as they are. */
void graph_print_values(const struct graph_file *f, const struct dag *d, const int64_t *val, const struct probes *p);
void graph_print_sum(const struct probes *p, uint32_t begin, const uint32_t *edge, uint32_t n);
void graph_print_path(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n);

#endif
