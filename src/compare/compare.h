/* SPDX-License-Identifier: MIT */
/* compare: what two runs have in common and in what they differ, of one build or two; and what several builds of one source
 * counted, as if one had counted all. */
#ifndef CHORD_COMPARE_H
#define CHORD_COMPARE_H

#include "view/paths.h"
#include "view/view.h"

/* ---- builds.c: functions, lines and events ---- */

/* A function, a line, or a total. */
struct difference {
	const char *name;        /* of a function or total; NULL: a line */
	const char *file;
	unsigned line;           /* 0: not known */
	struct bounds before, after;
	bool was, is;            /* there at all */
};

struct comparison {
	struct pool *pool;
	struct view_tables side[2]; /* before, after */
	VEC(struct difference) total;    /* instructions, then others, and events counted on both sides */
	VEC(struct difference) function; /* all that changed, the largest change first */
	VEC(struct difference) line;     /* likewise, if asked for */
	VEC(struct difference) binary;   /* all instructions of each program and library, by name */
	VEC(struct named) left_out;      /* functions and objects that cannot be compared */
	bool by_function;        /* there are functions to compare */
};

/* Of two runs whose tables are filled: fills the rest. lines: the tables have lines, to be compared, which are sorted and named
 * anew. False, *why: there is nothing to compare, or a sum does not fit 64 bits. */
bool compare_builds(struct comparison *c, bool lines, const char **why);
/* Adds to the total of a name. False: a sum does not fit 64 bits. */
bool compare_total(struct comparison *c, const char *name, const struct bounds *before, const struct bounds *after);
void compare_builds_free(struct comparison *c);
/* By what a program or library is the same in both runs: its name. The first ones may have other names in both: "". */
const char *compare_binary(const struct binary *bin, const struct run *mine, const struct run *other);

/* ---- procs.c: procedures whose blocks and edges are the same in two runs ---- */

struct compared_procs;
struct compared_procs *compare_procs(struct run *before, struct run *after);
/* What a procedure of the run after was before: that of the same name, source file, library and graph. */
struct proc_before {
	const struct proc *proc; /* its blocks, edges and instructions are in the same order; NULL: see why */
	const struct counts *counts; /* known */
	const char *why;         /* not NULL: it cannot be compared, for this reason */
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
	struct path_pairs only_after, only_before, changed; /* what made the most difference in instructions first */
};

/* Of two sides whose paths were found: fills the rest. */
void compare_paths(struct path_comparison *c);
void compare_paths_free(struct path_comparison *c);

/* ---- join.c: paths of several builds ---- */

struct joined_paths {
	struct run *run;         /* by program */
	struct view_paths *part;
	int n;
	struct view_paths all;
	struct strmap proc;      /* number in all.proc */
	struct strmap path;      /* number in all.row; by procedure and edges */
	struct strmap interest;  /* those that some build counts, likewise */
};
/* Loads programs with their profiles; of functions that match the pattern (NULL: all). False: reported. In any case
 * join_free(). */
bool join_paths(struct joined_paths *j, char **program, int n, const char *function);
void join_free(struct joined_paths *j);

#endif
