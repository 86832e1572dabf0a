/* SPDX-License-Identifier: MIT */
/* run: programs joined with their profiles, so that there is a count for everything. */
#ifndef CHORD_RUN_H
#define CHORD_RUN_H

#include "asm/event.h"
#include "image/image.h"
#include "selection/selection.h"
#include "profile/profile.h"

#include <sys/types.h>

/* ---- find.c: files of profiles ---- */

struct found {
	const char *name;
	const char *same;        /* not NULL: another name of the same file, which was asked for too */
	dev_t dev;
	ino_t ino;
	bool profile;            /* it begins like one, and its head has: */
	uint32_t flags;
	uint64_t run, run2, processes, slot;
	size_t order;
	bool asked;              /* for it by that name; else it belongs to what was, or was found */
	bool inside;             /* it was in a folder */
	bool wanted;             /* for its folder was named; a file that is none may be what is left of a profile */
	bool folder, file;       /* a regular one */
	bool left_over;          /* of an earlier run, whose first profile has been replaced */
};
struct found_list { struct found *at; size_t n, cap; };

/* Adds the files that names stand for; for a folder, also what has the name of a profile and is none. Those that hold others
 * (merged) come first. */
void find_named(struct pool *pool, char **name, int n, struct found_list *list);
/* Adds what may be profiles of the program, in the place with that number, from 0; *where: in words, NULL if there is no such place
 * now. False: there are no more places. */
bool find_place(struct pool *pool, const char *program, unsigned place, struct found_list *list, const char **where);
/* The program behind a name: that itself, or what a script runs that libtool made for it (pool). */
const char *find_program(struct pool *pool, const char *name);
/* Is it PROG.*.chord? */
bool is_profile_name(const char *name, const char *program);

/* ---- load.c: programs and their profiles ---- */

struct named {
	const char *name;
	const char *reason;
};

/* A program, or a shared object that it loaded, with its map. */
struct binary {
	const char *path;
	struct image *image;
	struct map map;
	struct parts parts;
	struct woven_code woven; /* its code */
	uint32_t relaxed;        /* blocks in which the linker put more instructions in place of some: the map has those */
	struct counts *counts;   /* by procedure; NULL before run_solve() */
	struct event_totals events;
};

struct run {
	struct pool *pool;
	const char *path;        /* of the program */
	const char *root;        /* where its file system begins, without the last slash; empty: here */
	VEC(struct binary) binary; /* the programs that were named are the first */
	size_t nprogram;
	bool never_ran;          /* programs without a profile are taken not to have run */
	struct profile *sum;
	VEC(const char *) summed; /* names of the profiles in the sum */
	VEC(struct named) left_out; /* profiles found but not used */
	VEC(struct named) missing; /* of these: the sum is short of them, since they are damaged or were asked for: reported */
	VEC(struct named) unknown; /* procedures and objects whose counts are not known; first: */
	size_t nunread;          /* objects that were measured and are in no binary: nothing of them is known */
	VEC(const char *) note;  /* what a reader has to know of how the runs ended */
	bool every;              /* the sum is of all programs that a command started: r->path is none of them */
	VEC(const char *) replaced; /* notes: of events that the linker changed */
};

/* Opens a program and reads its map. False: *why. */
bool binary_open(struct pool *pool, const char *path, struct binary *bin, const char **why);
void binary_close(struct binary *bin);

/* woven.c */
struct woven_code woven_code(struct pool *pool, struct image *image, struct parts parts);

/* Reads one profile. NULL: *why, which is PROFILE_EMPTY if there is nothing in the file. */
struct profile *load_profile(struct pool *pool, const char *path, const char **why);
extern const char PROFILE_EMPTY[];
/* Fills counters of a profile of that name from the trace beside it, of all regions or of one (its number plus 1). */
void load_trace(struct pool *pool, const char *path, uint64_t region, struct profile *p);

/* Opens a program, reads the profiles given (nprofile 0: those that are found for it), sums them, opens the
 * shared objects they name and solves everything. A name may be a folder, which stands for all profiles in it; one of a run's first
 * profile stands for those of the run's other processes, too. What cannot be used is left out. False: nothing can be used, or the
 * program cannot; reported. In any case run_close(). */
bool run_load(struct run *r, const char *program, char **profile, int nprofile);
/* Sums the profiles of all processes that a command started, whatever programs they ran, and opens all objects they name:
 * no binary stands for the whole. Snapshots are left out: a process that made one may have left all it counted
 * as well. name: of the command. */
bool run_load_all(struct run *r, const char *name, char **profile, int nprofile);
/* Of several programs, libraries among them: each profile is used that has counts of one of these. A library's counts are
 * summed over the programs that used it. never_ran: programs without any profile have not run; else that is an error. */
bool run_load_programs(struct run *r, char **program, int n, char **profile, int nprofile, bool never_ran);
/* Takes another profile of the same processes in place of the sum, and solves everything again. */
void run_resolve(struct run *r, struct profile *p);
/* In parts, for what finds profiles in other places. A run is {.pool, .path, .root, .sum = profile_new()} at first. */
/* Opens the program, by another path than the run's if that is given. False: reported. */
bool run_open(struct run *r, const char *file);
/* Adds a profile, by its name, to the sum, unless it is in there already. False: reported. */
bool run_take(struct run *r, const char *name, const struct profile *p);
/* Why a profile is none of the program's (pool). */
const char *run_why_not(struct run *r, const struct profile *p, const char *program);
/* Opens the objects that the sum names and solves everything. False: reported. */
bool run_solve(struct run *r);
void run_close(struct run *r);
/* The events counted in all modules (pool), by name; why: not NULL if they are not known. */
struct event_totals run_events(const struct run *r);

/* ---- merge.c: the sum of profiles of one build, one after another ---- */

/* A module of the sum, by its number there. */
struct kin {
	size_t of;               /* another one with which it is in a profile, directly or by others; itself: it is the first */
	const char *profile;     /* that brought it */
};
struct merge {
	struct profile *sum;     /* profile_new() at first */
	VEC(struct kin) kin;
	bool warned;             /* of a snapshot */
	bool spoilt;             /* a profile cannot be used: there is no sum; reported */
};
/* Adds one. What is left out is said. */
void merge_file(struct merge *m, const struct found *f);
/* Do all belong together, each having a module in common with others? False: reported. */
bool merge_is_one(struct merge *m);
void merge_free(struct merge *m);

/* ---- measured.c: what of a program the map does not cover ---- */

struct unmeasured {
	VEC(struct image_symbol) symbol; /* functions that were not built with Chord; the start-up files excepted */
	uint64_t symbol_bytes;
	uint64_t bytes;          /* of code in no procedure of the map: padding, start-up code and Chord's runtime too */
	bool stripped;           /* functions cannot be told apart */
	VEC(const char *) library; /* that the measured objects need, each once, and that are not measured: their own names */
};
void unmeasured_find(struct binary *bin, struct unmeasured *un);
/* All objects of a run: their functions and the libraries that they need. */
void unmeasured_find_all(struct run *r, struct unmeasured *un);
void unmeasured_free(struct unmeasured *un);

/* ---- where.c: positions in woven code ---- */

/* Positions in the procedures of a binary; what it keeps is in the pool. */
struct where_index {
	struct pool *pool;
	struct binary *binary;
	struct places **places;  /* by procedure, made when first asked for */
	/* Called with what woven-in code adds to counters that where_find() passes over; NULL: nobody asks. */
	void (*counts)(void *ctx, uint64_t counter, int64_t add);
	void *ctx;
	bool traces;             /* what is woven in writes traces */
};
void where_open(struct where_index *x, struct pool *pool, struct binary *bin);

/* Where control is. */
struct where {
	const struct proc *proc;
	const char *why;         /* not NULL: that is not known, for this reason */
	uint64_t addr;           /* of the original's next instruction */
	bool left;               /* that is outside of the procedure; else: */
	uint32_t block, insn;
	int64_t *pending;        /* by event of the procedure: what woven-in code before it has still to add */
	int64_t sp;              /* and what that adds to the stack pointer */
	bool reserves;           /* and does it take a slot of a trace? */
	bool asks;               /* or does it ask whether a signal called the procedure? */
};
/* Is that link-time address in measured code? Elsewhere the counters are right, if control came there by a call.
 * What is in *w is in the pool. */
bool where_find(struct where_index *x, struct pool *pool, uint64_t addr, struct where *w);
/* What to add to the counter of the procedure's event e to have all that have happened. */
int64_t where_behind(const struct where *w, uint32_t e);

/* ---- weights.c: how often edges ran, for the weaver ---- */

/* Is it known how often each edge ran? */
bool weights_known(const struct proc *p, const struct counts *c);
/* Adds how often each edge ran to ran[], by arc, at most up to UINT64_MAX. Needs weights_known(). */
void weights_add(const struct proc *p, const struct counts *c, uint64_t *ran);
/* Adds all procedures of the run that ran. What is in *in is in its pool. */
void run_weights(const struct run *r, struct selection *in);

/* ---- callee.c: the names of what calls and jumps lead to ---- */

/* Names of a place: one, of an import or a measured procedure, or those of the symbols that stand there. n is 0 if
 * nothing is known. */
struct callee {
	const char *one;
	const struct image_symbol *symbol;
	size_t n;
	uint64_t addr;           /* where it stands in the object itself; 0: elsewhere, or not known */
};
/* Where a call or a jump at addr leads, through the linker's tables and what Chord itself put in between; in: as decoded
 * with offset (uint32_t)addr. */
struct callee callee_of(struct binary *bin, const struct proc *p, const struct insn *in, uint64_t addr);
/* What is at an address of the object, linkage or code. */
struct callee callee_at(struct binary *bin, uint64_t addr);
/* The i-th name. In the pool where it is not as the symbol table has it. */
const char *callee_name(struct pool *pool, const struct callee *c, size_t i);

/* notes.c: takes to r->note what has to be said beside the counts. Needs them to be solved. */
void run_notes(struct run *r);

/* recursion.c: marks the calls of all binaries that may lead back into the procedure that makes them. */
void mark_recursive_calls(struct run *r);

/* ---- tally.c: events from their counters, or from the counts of instructions, blocks and edges ---- */

struct tally_event {
	uint64_t n, most;        /* it is between these; without a bound COUNT_NO_BOUND */
	const char *why;         /* not NULL: not known, for this reason */
};
struct tally {
	struct pool *pool;
	const struct event_list *events;
	struct tally_event *at;  /* by event */
	uint64_t through_pointers, unnamed; /* calls whose callee is not known; only if an event asks for callees */
	bool once;               /* as if every instruction had been executed once: for what a program has at all */
};
/* Sums all events over all that is known of the run. */
void tally_run(struct tally *t, struct pool *pool, struct run *r, const struct event_list *events, bool once);
/* How many of an event (a list of one) the instructions that stand in the place of a block's make, each as often as it ran;
 * c NULL: once. */
uint64_t tally_insns(struct pool *pool, struct binary *bin, const struct proc *p, const struct counts *c, uint32_t block,
                     const struct event_list *one);

/* relaxed.c: takes into the map what the linker put in place of calls. */
void relaxed_read(struct pool *pool, struct binary *bin);
/* replaced.c: takes into the totals of events what the linker replaced, or says in r->replaced what is not known. */
void replaced_correct(struct run *r, struct binary *bin);
/* In how many blocks an event's counter counts as assembled, and the linked instructions would count otherwise. 0 for events of
 * which that cannot be told (call:, cost:). bin->counts may be NULL. */
uint32_t replaced_blocks(struct pool *pool, struct binary *bin, const char *event);

#endif
