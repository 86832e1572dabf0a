/* SPDX-License-Identifier: MIT */
/* What the files of `chord paths` share. */
#ifndef CHORD_PATHS_H
#define CHORD_PATHS_H

#include "tool/json.h"
#include "tool/report.h"

struct paths_options {
	const char *function;    /* a pattern; NULL: all */
	size_t top;              /* 0: all */
	bool json, coverage, source;
};

/* A procedure whose paths are counted. */
struct paths_proc {
	struct unit *unit;
	const struct proc *proc;
	const struct counts *counts;
	const struct path_graph *graph;
	uint64_t hash;           /* of its graph, as files of paths of interest have it */
	uint64_t possible;       /* paths that could be counted; UINT64_MAX: at least */
	uint64_t ran;            /* of these */
	const char *why;         /* not NULL: what ran of it is not known exactly, for this reason */
};

/* A path that ran, or how far some came that did not come to their end. */
struct path_row {
	const struct paths_proc *of;
	const struct stopped *stopped; /* NULL: it came to its end */
	uint64_t sum;            /* its number, or so far */
	bool many;               /* of several builds, each of which has other numbers */
	uint64_t count;
	uint64_t length;         /* instructions */
	uint64_t insns;          /* all that it executed; UINT64_MAX: at least */
	bool exact;              /* else it may have run more or less often */
};

struct path_report {
	struct pool *pool;
	struct run *run;
	const struct paths_options *opt;
	VEC(struct paths_proc) proc;
	VEC(struct path_row) row;     /* what cost the most instructions first */
	VEC(struct path_row) stopped; /* what did not come to its end, likewise */
	VEC(struct named) damaged;    /* procedures whose paths make no sense */
	VEC(struct named) refused;    /* that were not measured */
	VEC(struct named) inexact;    /* procedures whose paths are shown as far as they are known */
	VEC(struct named) unknown;    /* procedures and objects of which nothing is shown */
	uint64_t insns;          /* of all procedures that are known */
	bool insns_known;        /* all of those that count paths are */
	uint64_t ran, possible;  /* UINT64_MAX: at least */
	uint64_t under_way;
};

/* paths_find.c: collects the paths of a run that was loaded. False: it counts none (reported). */
bool path_report_find(struct path_report *r, struct run *run, const struct paths_options *opt);
void path_report_free(struct path_report *r);
/* The edges of a row's path, anew. */
struct path path_row_edges(struct pool *pool, const struct path_row *row);
bool path_wanted(const struct paths_options *opt, const struct proc *p);

/* paths_lines.c: where a path leads. */
struct path_line {
	const char *file;
	unsigned line;
};
struct path_lines {
	struct path_line *at;
	size_t n;
};
/* The source lines that it executes, in order, none twice in a row; of a path that stopped up to the call. */
struct path_lines path_lines_of(struct pool *pool, const struct path_row *row, const struct path *path);
/* The same of instructions [from, to) of one block. */
struct path_lines path_block_lines(struct pool *pool, struct unit *u, const struct proc *p, uint32_t block, uint32_t to);
/* How control goes along an edge, for people. */
const char *path_edge_name(const struct proc *p, const struct path *path, uint32_t i);
/* How a path begins and ends. */
const char *path_begin_name(struct pool *pool, const struct proc *p, const struct path *path);
const char *path_end_name(struct pool *pool, const struct path_row *row, const struct path *path);

/* paths_print.c, paths_json.c */
void path_report_print(const struct path_report *r);
/* What of it is not known; `of` follows the titles. */
void path_report_doubts(const struct path_report *r, const char *of);
void path_row_head(bool share);
void path_row_print(const struct path_row *row, uint64_t all, bool source);
bool path_report_json(const struct path_report *r);
/* What of it is not known, as fields of an object. */
void path_doubts_json(json_t *o, const struct path_report *r);
json_t *path_row_json(const struct path_row *row);

/* paths_source.c: the text of lines; what it has read. */
void path_source_print(const struct path_lines *lines, int indent);

/* paths_diff.c: of a program and two profiles. The exit status. */
int path_report_diff(const struct paths_options *opt, char **name);

/* paths_select.c, paths_split.c, paths_merge.c: subcommands. */
int cmd_paths_select(int argc, char **argv);
int cmd_paths_split(int argc, char **argv);
int cmd_paths_merge(int argc, char **argv);

#endif
