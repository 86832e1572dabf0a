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
	uint64_t hash;           /* of its graph, as in files of paths of interest */
	uint64_t possible;       /* paths that can be counted; UINT64_MAX: that many or more */
	uint64_t ran;            /* those of them that ran */
	const char *why;         /* why it is not known exactly which of them ran; NULL: it is */
	bool others;             /* other paths than those shown may have run, too */
};

/* A path that ran; or the beginning of a path, for activations that did not reach its end. */
struct view_path {
	const struct view_paths_proc *of;
	const struct stopped *stopped; /* NULL: it came to its end */
	uint64_t sum;            /* its number; or the sum so far */
	bool many;               /* of several builds, in which it has different numbers */
	uint64_t count;
	uint64_t length;         /* number of instructions */
	uint64_t insns;          /* instructions executed on it in all; UINT64_MAX: that many or more */
	bool exact;              /* otherwise it may have run more or less often */
};

struct view_paths {
	struct pool *pool;
	struct run *run;
	VEC(struct view_paths_proc) proc;
	VEC(struct view_path) row;     /* most instructions first */
	VEC(struct view_path) stopped; /* those that did not come to their end, in the same order */
	VEC(struct named) damaged;    /* procedures whose paths make no sense */
	VEC(struct named) refused;    /* procedures that were not measured */
	VEC(struct named) inexact;    /* procedures whose paths are shown as far as they are known */
	VEC(struct named) unknown;    /* procedures and objects of which nothing is shown */
	uint64_t insns;          /* of all procedures that are known */
	bool insns_known;        /* all procedures whose paths are counted are known */
	uint64_t ran, possible;  /* UINT64_MAX: that many or more */
	uint64_t under_way;
};

/* Collects the paths of a loaded run, for functions that match the pattern (NULL: all). False: no paths are counted; reported. Call
 * view_paths_free() in either case. */
bool view_paths(struct view_paths *r, struct run *run, const char *function);
void view_paths_free(struct view_paths *r);
/* The edges of a row's path (pool). */
struct path view_path_edges(struct pool *pool, const struct view_path *row);
/* True if the path ends with a cut edge, after which another path of the activation begins. */
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
/* The source lines of a path, in order, no two equal in a row (pool); for a stopped path up to the call. */
struct view_places view_path_lines(struct pool *pool, const struct view_path *row, const struct path *path);
/* The same for instructions [0, to) of one block. */
struct view_places view_block_lines(struct pool *pool, struct binary *bin, const struct proc *p, uint32_t block, uint32_t to);
/* How control goes along edge i of the path, in words. */
const char *view_path_edge_name(const struct proc *p, const struct path *path, uint32_t i);
/* How a path begins and ends, in words (pool). */
const char *view_path_begin(struct pool *pool, const struct proc *p, const struct path *path);
const char *view_path_end(struct pool *pool, const struct view_path *row, const struct path *path);

/* ---- path_branches.c: conditional jumps ---- */

/* How often the shown paths took a conditional jump, and how often they did not. */
struct view_path_branch {
	const struct view_paths_proc *of;
	uint32_t block;
	struct view_place place; /* file NULL: not known */
	uint64_t taken, fell;
};
struct view_path_branches {
	VEC(struct view_path_branch) row; /* by procedure and block */
	uint64_t ran, both;      /* ran: outcomes that occurred, at most two for each jump; both: jumps with both outcomes */
};
/* The caller frees row.at. */
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
	bool some;               /* more than the shown paths may have run */
	size_t of_how[DEF_USE_HOWS]; /* number of pairs */
	size_t unknown;          /* registers that instructions use and whose definition is not known */
};
/* Instruction `use` gets the value that `def` left in a register, on some path through the procedure. */
struct view_def_use_pair {
	size_t proc;
	uint32_t def, use;       /* indices in the procedure's insn */
	uint8_t reg;
	struct bounds count;     /* how often it did */
};
struct view_def_use {
	VEC(struct view_def_use_proc) proc;
	VEC(struct view_def_use_pair) pair; /* by procedure */
	VEC(struct named) left_out; /* procedures of which nothing is known */
	size_t of_how[DEF_USE_HOWS], unknown; /* sums over the procedures */
};
/* The pairs of all shown procedures; view_def_use_free() frees them. */
void view_def_use(struct view_def_use *d, const struct view_paths *r);
void view_def_use_free(struct view_def_use *d);
enum view_def_use_how view_def_use_how(const struct view_def_use_pair *row);
const char *view_def_use_register(const struct view_def_use *d, const struct view_def_use_pair *row);

#endif
