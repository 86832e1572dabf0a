/* SPDX-License-Identifier: MIT */
/* What the commands that read profiles share. */
#ifndef CHORD_REPORT_H
#define CHORD_REPORT_H

#include "run/run.h"
#include "tool/tool.h"

/* ---- print.c ---- */

/* A number with its digits in groups of three. */
const char *grouped(char out[32], uint64_t n);
/* A count, or its bounds: "5", "5 to 6", or "5 or more" where most is COUNT_NO_BOUND. */
enum { RANGE = 80 };
const char *range(char out[RANGE], uint64_t least, uint64_t most);
/* Paths below the current folder are shown relative to it. */
const char *shown_path(const char *path);
/* The value of --top, a number of rows, paths ...; what is none ends the program with its usage. */
struct argp_state;
size_t option_top(const char *text, const char *of, struct argp_state *state);

/* Writes a file, or with NULL standard output. False: reported. */
bool save_output(const char *file, const struct buf *out);

/* ---- the report: report.c chooses, the others print ---- */

enum report_what { REPORT_FUNCTIONS, REPORT_INSNS, REPORT_BLOCKS, REPORT_EDGES };
enum report_sort { SORT_INSNS, SORT_CALLS, SORT_NAME, SORT_FILE, SORT_ADDRESS };

struct report_options {
	enum report_what what;
	enum report_sort sort;
	bool json, lines, files, calls, tree, unmeasured;
	size_t top;              /* 0: all */
};

struct row_function {
	const struct unit *unit;
	const struct proc *proc;
	const struct counts *counts;
	const char *file;
	unsigned line;           /* 0: not known */
};

struct total {
	uint64_t least, most;
};

struct totals {
	struct total insns, blocks, edges, call_insns;
	uint64_t procedures, refused;
	bool edges_known;
	bool known;              /* some procedure's blocks are counted, not only events */
	bool fits;
};

/* Counts of one line, or with line 0 of one file. */
struct row_line {
	const char *file;
	unsigned line;
	struct total insns;      /* executed there */
	struct total most;       /* by the instruction that ran most often */
};

/* Who was called through a pointer at one place. */
struct row_callee {
	const char *name;
	const struct proc *proc; /* if it is a measured procedure */
	uint64_t calls;
};

/* What ran between a call and its return, over all calls made there. */
struct row_call {
	const struct unit *unit;
	const struct proc *proc; /* that has the call */
	const char *callee;
	const char *file;
	unsigned line;           /* 0: not known */
	uint64_t calls, calls_most; /* bounds */
	struct row_callee *to;   /* who was called, if that was counted; the most first */
	size_t nto;
	bool has_to;
	uint32_t nevent;
	bool known[CHORD_SUMS];
	uint64_t n[CHORD_SUMS];  /* by event of the procedure */
};

struct report {
	struct run *run;
	struct report_options opt;
	struct totals totals;
	struct event_totals events;
	VEC(struct row_function) function; /* measured and known, sorted */
	VEC(struct row_line) line, file;   /* if asked for */
	VEC(struct row_call) call;         /* likewise */
	struct unmeasured unmeasured;      /* of all modules */
	bool has_lines;
};

/* calls_through.c: who was called at a call that has CHORD_CALL_POINTER and was made row->calls times. */
void find_callees(const struct report *r, const struct module *m, const struct proc *p, uint32_t call, struct row_call *row);

/* calls.c: fills calls: those that were made. */
void report_find_calls(struct report *r);
/* calls_tree.c: prints them, each procedure's below it. */
void report_tree(const struct report *r);

/* tables.c: fills totals, functions, lines and files. False if a sum does not fit 64 bits. */
bool report_tables(struct report *r);
void report_raw(const struct report *r);
void report_text(const struct report *r);
/* Of these parts. */
void report_profiles(const struct run *run);
void report_not_known(const struct run *run);
void report_notes(const struct run *run);
int report_json(const struct report *r);

#endif
