/* SPDX-License-Identifier: MIT */
/* What the commands that read profiles share. Apart from tool.h because the
 * commands that weave have blocks and procedures of their own. */
#ifndef CHORD_REPORT_H
#define CHORD_REPORT_H

#include "image/image.h"
#include "profile/profile.h"
#include "tool/tool.h"

/* ---- load.c: programs and their profiles ---- */

struct named {
	const char *name;
	const char *reason;
};

/* A program or one of the shared objects it loaded. */
struct unit {
	const char *path;
	struct image *image;
	struct map map;
	struct parts parts;
	struct woven woven;      /* its code */
	struct counts *counts;   /* by procedure; NULL before unit_solve() */
	struct event_totals events;
};

struct run {
	struct pool *pool;
	const char *path;        /* of the program */
	const char *root;        /* where its file system begins, without the last slash; empty: here */
	VEC(struct unit) unit;   /* the program is the first */
	struct profile *sum;
	VEC(const char *) summed; /* names of the profiles in the sum */
	VEC(struct named) left_out; /* profiles found but not used */
	VEC(struct named) unknown; /* procedures and objects whose counts are not known */
	VEC(const char *) note;  /* what a reader has to know of how the runs ended */
};

/* Opens a program and reads its map. False: *why. */
bool unit_open(struct pool *pool, const char *path, struct unit *u, const char **why);
void unit_close(struct unit *u);

/* woven.c */
struct woven woven_code(struct image *image);

/* Reads one profile; reports what is wrong with it. */
struct profile *load_profile(struct pool *pool, const char *path);

/* Opens a program, reads the profiles given (nprofile 0: those in the current folder), sums them, opens the
 * shared objects they name and solves everything. False: reported. In any case run_close(). */
bool run_load(struct run *r, const char *program, char **profile, int nprofile);
/* Sums the profiles of all processes that a command started, whatever programs they ran, snapshots left out, and opens all
 * objects they name: none of the units is more than the others. name: of the command. */
bool run_load_all(struct run *r, const char *name, char **profile, int nprofile);
/* Takes another profile of the same processes in place of the sum, and solves everything again. */
void run_resolve(struct run *r, struct profile *p);
/* The same as run_load() for a process that runs. */
bool run_load_live(struct run *r, const char *pid);
/* The same for a process that died and left a core file; profile: its own, NULL if that is to be looked for. */
bool run_load_core(struct run *r, const char *program, const char *core, const char *profile);
void run_close(struct run *r);

/* ---- live.c ---- */

/* The profile of a process, as of now; *stood_still: it was stopped while that was read. NULL: reported. */
struct profile *live_profile(struct pool *pool, const char *pid, bool *stood_still);
/* The file that it writes, by a path that can be opened here; its mappings have been read. NULL: there is none. */
struct process;
const char *live_profile_path(struct process *p);
/* Reads its mappings as well. NULL: reported. */
const char *live_profile_find(struct process *p);

/* ---- core.c ---- */

/* The profile of the process that left a core file; r has the program open. *name: what it is. NULL: reported. */
struct profile *core_profile(struct run *r, const char *path, const char *program, const char *profile, const char **name);

/* ---- measured.c: what of a program the map does not cover ---- */

struct unmeasured {
	VEC(struct image_symbol) symbol; /* functions that were not built with Chord; the start-up files excepted */
	uint64_t symbol_bytes;
	uint64_t bytes;          /* of code in no procedure of the map: padding, start-up code and Chord's runtime too */
	bool stripped;           /* functions cannot be told apart */
};
void unmeasured_find(struct unit *u, struct unmeasured *un);
void unmeasured_free(struct unmeasured *un);

/* ---- print.c ---- */

/* A number with its digits in groups of three. */
const char *grouped(char out[32], uint64_t n);
/* Paths below the current folder are shown relative to it. */
const char *shown_path(const char *path);

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

struct totals {
	uint64_t insns, blocks, edges, call_insns;
	uint64_t procedures, refused;
	bool edges_known;
	bool known;              /* some procedure's blocks are counted, not only events */
	bool fits;
};

/* Counts of one line, or with line 0 of one file. */
struct row_line {
	const char *file;
	unsigned line;
	uint64_t insns;          /* executed there */
	uint64_t most;           /* by the instruction that ran most often */
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
	uint64_t calls;
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

/* The events counted in all modules (pool), by name; why: not NULL if they are not known. */
struct event_totals run_events(const struct run *r);

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
int report_json(const struct report *r);

#endif
