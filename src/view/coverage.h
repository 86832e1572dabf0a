/* SPDX-License-Identifier: MIT */
/* coverage: which lines, branches, functions and blocks ran at all, by source file, over all programs of a run. Several copies of
 * the same source (templates, inlined code, one file in two programs) are one row, which ran if any copy did. */
#ifndef CHORD_VIEW_COVERAGE_H
#define CHORD_VIEW_COVERAGE_H

#include "view/view.h"

/* For several copies the largest value holds. */
enum view_ran {
	VIEW_NEVER,              /* known not to have run */
	VIEW_MAYBE,              /* not known: not measured, or bounds leave it open */
	VIEW_RAN,
};

/* The number of rows of each kind. */
struct coverage_share {
	uint64_t n[VIEW_RAN + 1];
};
enum coverage_kind { COVERAGE_LINES, COVERAGE_BRANCHES, COVERAGE_FUNCTIONS, COVERAGE_BLOCKS };
enum { COVERAGE_KINDS = COVERAGE_BLOCKS + 1 };
/* "lines" and so on. */
extern const char *const coverage_names[COVERAGE_KINDS];
static inline uint64_t
coverage_of(const struct coverage_share *s)
{
	return s->n[VIEW_NEVER] + s->n[VIEW_MAYBE] + s->n[VIEW_RAN];
}

struct coverage_line {
	unsigned line;
	enum view_ran ran;
	/* Executions of its instruction that ran most often, in each program or library, added over these. Code that is not
	 * measured does not count. */
	struct bounds count;
	uint32_t branch, nbranch; /* coverage_file.branch[branch .. branch+nbranch) */
};

/* A conditional jump: its two outcomes are two branches. */
struct coverage_branch {
	unsigned line;
	enum view_ran taken, fell;
};

/* A function with code of its own. It ran if that code or an inlined copy of it did. */
struct coverage_function {
	const char *name;        /* of one of its copies, as the symbol table has it */
	unsigned line;           /* of its declaration; 0: not known */
	enum view_ran ran;
	struct bounds calls;     /* summed over its copies */
	bool calls_known;
	struct coverage_share blocks;
	bool placed;             /* the line table has lines of its code */
};

struct coverage_block {
	unsigned line;           /* of its first instruction that has one, else of its function */
	enum view_ran ran;
};

/* The lines of a function in the source, from its declaration to its last line with code. */
struct coverage_extent {
	unsigned from, to;
};

struct coverage_file {
	const char *name;        /* "?": code of which no file is known */
	VEC(struct coverage_line) line;         /* ascending, as branch, function and block */
	VEC(struct coverage_branch) branch;
	VEC(struct coverage_function) function;
	VEC(struct coverage_block) block;
	VEC(struct coverage_extent) extent;     /* in no order; a function may have several */
	struct coverage_share share[COVERAGE_KINDS];
	uint32_t excluded;       /* lines that markers in the source exclude */
	uint32_t unplaced;       /* functions for whose code no line is known */
};

struct coverage {
	struct run *run;
	VEC(struct coverage_file) file; /* by name */
	VEC(const char *) left_out;     /* files that have code and were not wanted */
	struct coverage_share share[COVERAGE_KINDS];
	bool has_lines;          /* some code has a line, wanted or not */
	bool fits;               /* all counts fit in 64 bits */
};

/* Chooses files by patterns (view_is_file()): files that match one of `in`, or all if there is none, except those that match one of
 * `out`. */
struct coverage_choice {
	VEC(const char *) in, out;
	bool unmarked;           /* markers in the source are ignored */
};

bool coverage_chooses(const struct coverage_choice *choice, const char *file);

/* Fills *c; view_coverage_free() frees it. The run has to stay. */
void view_coverage(struct coverage *c, struct run *run, const struct coverage_choice *choice);
void view_coverage_free(struct coverage *c);
/* True if the file has code and none of its lines is known. Then its share of lines is empty. */
bool coverage_lacks_lines(const struct coverage_file *f);
/* The row of a line; NULL: it has no code. */
const struct coverage_line *coverage_line_at(const struct coverage_file *f, unsigned line);

/* ---- marks.c: comments in the source that exclude lines ---- */

/* Markers: LCOV_EXCL_LINE, _START and _STOP; the same with _BR_, for branches only; LCOV_EXCL_FUNCTION; LCOV_UNREACHABLE_LINE,
 * _START and _STOP; and all of these with GCOV_ or GCOVR_ for LCOV_. A region without an end goes to the end of the file; this is
 * reported. */
enum { MARK_LINE = 1, MARK_BRANCH = 2, MARK_FUNCTION = 4, MARK_UNREACHABLE = 8 };
struct marks {
	unsigned char *at;       /* by line, from 1: MARK_... */
	size_t n;
};
/* Reads the markers in a file; a file that cannot be read has none. */
struct marks marks_read(const char *file);
void marks_free(struct marks *m);
static inline bool
marks_has(const struct marks *m, unsigned line, unsigned what)
{
	return line < m->n && m->at[line] & what;
}

/* ---- changed.c: which parts of a change ran ---- */

/* The lines of one file that a change made. */
struct changed_file {
	const char *name;        /* as the change names it */
	const struct coverage_file *file; /* NULL: no file of the run is this one */
	bool unplaced;           /* the lines of that file are not known: it was built without line information */
	const char *before;      /* the file's name before the change; NULL: not given */
	bool certain;            /* git says that the names have prefixes, if they look so */
	VEC(unsigned) line;      /* all that were added or changed, ascending */
	VEC(struct coverage_line) code; /* those of them that have code */
	struct coverage_share share;
};
struct changed {
	struct pool *pool;
	VEC(struct changed_file) file; /* in the order of the change */
	struct coverage_share share;
};
/* Reads a unified diff, as diff -u and git diff write it. False: it is none, *why (pool). */
bool changed_read(struct changed *ch, struct pool *pool, struct str diff, const char **why);
/* Finds the lines in the coverage. A file that the change names twice becomes one. False: it cannot be told which of several files
 * is meant, *why (pool). */
bool changed_find(struct changed *ch, const struct coverage *c, const char **why);
void changed_free(struct changed *ch);

#endif
