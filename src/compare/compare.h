/* SPDX-License-Identifier: MIT */
/* compare: what two runs, of one build or of two, have in common and how they differ; and what several builds of one source
 * counted, as if one build had counted everything. */
#ifndef CHORD_COMPARE_H
#define CHORD_COMPARE_H

#include "view/paths.h"
#include "view/view.h"

/* ---- builds.c: functions, lines and events ---- */

/* One row: a function, a line, or a total. Names are not copied. */
struct difference {
	const char *name;        /* of the function or total; NULL: a line */
	const char *file;
	unsigned line;           /* 0: not known */
	struct bounds before, after;
	bool was, is;            /* it exists before; it exists after */
};

struct comparison {
	struct pool *pool;          /* of the rows; the caller's */
	struct view_tables side[2]; /* before, after */
	VEC(struct difference) total;    /* instructions, then other totals and events that both sides counted */
	VEC(struct difference) function; /* all that changed, largest change first */
	VEC(struct difference) line;     /* the same for lines, if asked for */
	VEC(struct difference) binary;   /* all instructions of each program and library, by name */
	VEC(struct named) left_out;      /* functions and objects that cannot be compared */
	bool by_function;        /* there are functions to compare */
};

/* Fills the rest from two runs whose tables are filled. lines: compare lines too; the tables need them, and are sorted and renamed.
 * False with *why (static text): there is nothing to compare, or a sum does not fit in 64 bits. Needs compare_builds_free() in
 * either case. */
bool compare_builds(struct comparison *c, bool lines, const char **why);
/* Adds to the total with that name, which is made if it is new. False: a sum does not fit in 64 bits. */
bool compare_total(struct comparison *c, const char *name, const struct bounds *before, const struct bounds *after);
void compare_builds_free(struct comparison *c);
/* The name by which a program or library is the same in both runs: the last part of its path. If the main programs have different
 * names it is "" for both. */
const char *compare_binary(const struct binary *bin, const struct run *mine, const struct run *other);

/* ---- procs.c: procedures whose blocks and edges are the same in two runs ---- */

struct compared_procs;
struct compared_procs *compare_procs(struct run *before, struct run *after); /* belongs to the caller; the runs have to stay */
/* What a procedure of the run `after` was before: the one with the same name, source file, library and graph. */
struct proc_before {
	const struct proc *proc; /* its blocks, edges and instructions are in the same order; NULL: see why */
	const struct counts *counts; /* all known */
	const char *why;         /* why it cannot be compared; NULL: it can */
};
struct proc_before compare_proc(struct compared_procs *c, const struct binary *bin, uint32_t proc);
void compare_procs_free(struct compared_procs *c);

/* ---- paths.c: paths of two runs of one build ---- */

struct path_pair {
	const struct view_path *before, *after; /* NULL: it did not run */
};
struct path_pairs { struct path_pair *at; size_t n, cap; };

struct path_comparison {
	struct view_paths side[2];
	struct path_pairs only_after, only_before, changed; /* sorted by how much they changed the number of instructions, largest
	                                                     * change first */
};

/* Fills the rest from two sides whose paths have been found. */
void compare_paths(struct path_comparison *c);
void compare_paths_free(struct path_comparison *c);

/* ---- join.c: paths of several builds ---- */

struct joined_paths {
	struct run *run;         /* by program */
	struct view_paths *part;
	int n;
	struct view_paths all;
	struct strmap proc;      /* from key to number in all.proc */
	struct strmap path;      /* from procedure and edges to number in all.row */
	struct strmap interest;  /* paths that some build counts, by the same keys */
};
/* Loads programs with their profiles, and joins the paths of functions that match the pattern (NULL: all). False: reported. Call
 * join_free() in either case. */
bool join_paths(struct joined_paths *j, char **program, int n, const char *function);
void join_free(struct joined_paths *j);

#endif
