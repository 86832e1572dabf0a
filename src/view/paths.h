/* SPDX-License-Identifier: MIT */
/* The paths of a run, as rows. */
#ifndef CHORD_VIEW_PATHS_H
#define CHORD_VIEW_PATHS_H

#include "run/run.h"
#include "view/view.h"

/* ---- paths.c: paths that ran ---- */

/* A procedure whose paths are counted. */
struct view_paths_proc {
	struct binary *binary;
	const struct proc *proc;
	const struct counts *counts;
	const struct path_graph *graph;
	uint64_t hash;           /* of its graph, as files of paths of interest have it */
	uint64_t possible;       /* paths that could be counted; UINT64_MAX: at least */
	uint64_t ran;            /* of these */
	const char *why;         /* not NULL: what ran of it is not known exactly, for this reason */
	bool others;             /* other paths than those shown may have run, too */
};

/* A path that ran, or how far some came that did not come to their end. */
struct view_path {
	const struct view_paths_proc *of;
	const struct stopped *stopped; /* NULL: it came to its end */
	uint64_t sum;            /* its number, or so far */
	bool many;               /* of several builds, each of which has other numbers */
	uint64_t count;
	uint64_t length;         /* instructions */
	uint64_t insns;          /* all that it executed; UINT64_MAX: at least */
	bool exact;              /* else it may have run more or less often */
};

struct view_paths {
	struct pool *pool;
	struct run *run;
	VEC(struct view_paths_proc) proc;
	VEC(struct view_path) row;     /* what cost the most instructions first */
	VEC(struct view_path) stopped; /* what did not come to its end, likewise */
	VEC(struct named) damaged;    /* procedures whose paths make no sense */
	VEC(struct named) refused;    /* that were not measured */
	VEC(struct named) inexact;    /* procedures whose paths are shown as far as they are known */
	VEC(struct named) unknown;    /* procedures and objects of which nothing is shown */
	uint64_t insns;          /* of all procedures that are known */
	bool insns_known;        /* all of those that count paths are */
	uint64_t ran, possible;  /* UINT64_MAX: at least */
	uint64_t under_way;
};

/* Collects the paths of a run that was loaded, of functions that match the pattern (NULL: all). False: it counts none
 * (reported). */
bool view_paths(struct view_paths *r, struct run *run, const char *function);
void view_paths_free(struct view_paths *r);
/* The edges of a row's path, anew. */
struct path view_path_edges(struct pool *pool, const struct view_path *row);
/* Does it end with a cut edge, behind which another path of the activation begins? */
bool view_path_is_cut(const struct view_path *row, const struct path *path);

/* ---- path_lines.c: where a path leads ---- */

struct view_place {
	const char *file;
	unsigned line;
};
struct view_places {
	struct view_place *at;
	size_t n;
};
/* The source lines that it executes, in order, none twice in a row; of a path that stopped up to the call. */
struct view_places view_path_lines(struct pool *pool, const struct view_path *row, const struct path *path);
/* The same of instructions [0, to) of one block. */
struct view_places view_block_lines(struct pool *pool, struct binary *bin, const struct proc *p, uint32_t block, uint32_t to);
/* How control goes along an edge, for people. */
const char *view_path_edge_name(const struct proc *p, const struct path *path, uint32_t i);
/* How a path begins and ends. */
const char *view_path_begin(struct pool *pool, const struct proc *p, const struct path *path);
const char *view_path_end(struct pool *pool, const struct view_path *row, const struct path *path);

/* ---- path_branches.c: conditional jumps ---- */

/* How often the paths shown took it and did not. */
struct view_path_branch {
	const struct view_paths_proc *of;
	uint32_t block;
	struct view_place place; /* file is NULL if it is not known */
	uint64_t taken, fell;
};
struct view_path_branches {
	VEC(struct view_path_branch) row; /* by procedure and block */
	uint64_t ran, both;      /* ways, of two each; jumps that went both ways */
};
/* Free row. */
void view_path_branches(struct view_path_branches *b, const struct view_paths *r);

/* ---- def_use.c: instructions that define and use registers ---- */

/* An instruction of a procedure. */
struct view_def_use_insn {
	uint32_t block, insn;
	uint32_t part;
	uint64_t offset;         /* in its part, before weaving */
	uint64_t addr;           /* in the woven program */
	enum chord_insn kind;
};
enum view_def_use_how { DEF_USE_COVERED, DEF_USE_MAY_BE, DEF_USE_NOT, DEF_USE_HOWS };
struct view_def_use_proc {
	const struct view_paths_proc *of;
	const struct view_def_use_insn *insn; /* in the pool of the paths */
	bool some;               /* more than the paths that are shown may have run */
	size_t of_how[DEF_USE_HOWS]; /* pairs */
	size_t unknown;          /* registers that instructions use without its being known who left what is in them */
};
/* Instruction `use` gets what `def` left in a register, if control goes some way through the procedure. */
struct view_def_use_pair {
	size_t proc;
	uint32_t def, use;       /* of the procedure's insn */
	uint8_t reg;
	struct bounds count;     /* how often it did */
};
struct view_def_use {
	VEC(struct view_def_use_proc) proc;
	VEC(struct view_def_use_pair) pair; /* by procedure */
	VEC(struct named) left_out; /* procedures of which nothing is told */
	size_t of_how[DEF_USE_HOWS], unknown; /* sums */
};
/* Of all procedures shown. */
void view_def_use(struct view_def_use *d, const struct view_paths *r);
void view_def_use_free(struct view_def_use *d);
enum view_def_use_how view_def_use_how(const struct view_def_use_pair *row);
const char *view_def_use_register(const struct view_def_use *d, const struct view_def_use_pair *row);

#endif
