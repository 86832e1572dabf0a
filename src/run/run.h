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
	const char *same;        /* another name of the same file, which was asked for too; or NULL */
	dev_t dev;
	ino_t ino;
	bool profile;            /* it begins like a profile, and its head has: */
	uint32_t flags;
	uint64_t run, run2, processes, slot;
	size_t order;
	bool asked;              /* it was asked for by that name; otherwise it belongs to a profile that was, or was found */
	bool inside;             /* it was in a folder */
	bool wanted;             /* its folder was named, so it should be a profile; if it is none, it may be what is left of one */
	bool folder, file;       /* file: a regular file */
	bool left_over;          /* of an earlier run, whose first profile has been replaced */
};
struct found_list { struct found *at; size_t n, cap; };

/* What a name stands for. Reads the first page of a file; FIFOs are not opened. */
struct found find_look(const char *name, bool asked);
/* Adds the files for which names stand. For a folder also adds files that have the name of a profile and are none. Files that
 * contain other profiles (merged ones) come first. */
void find_named(struct pool *pool, char **name, int n, struct found_list *list);
/* Adds what may be profiles of the program, from place number `place`, from 0. *where: the place in words (pool); NULL: there is no
 * such place at present. False: there are no more places. */
bool find_place(struct pool *pool, const char *program, unsigned place, struct found_list *list, const char **where);
/* The program behind a name (pool): the name itself, or what libtool's script of that name runs. */
const char *find_program(struct pool *pool, const char *name);
/* True for a name PROG.*.chord. */
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
	struct woven_code woven; /* questions about its code */
	uint32_t relaxed;        /* blocks in which the linker put more instructions in place of some; the map has these */
	struct counts *counts;   /* by procedure; NULL before run_solve() */
	struct event_totals events;
};

struct run {
	struct pool *pool;
	const char *path;        /* path of the program */
	const char *root;        /* where its file system begins, without the last slash; "": here */
	VEC(struct binary) binary; /* the programs that were named are the first, nprogram of them */
	size_t nprogram;
	bool never_ran;          /* programs without a profile are taken not to have run */
	struct profile *sum;
	VEC(const char *) summed; /* names of the profiles in the sum */
	VEC(struct named) left_out; /* profiles found but not used */
	VEC(struct named) missing; /* of these: those that the sum lacks, because they are damaged or were asked for: reported */
	VEC(struct named) unknown; /* procedures and objects whose counts are not known; first come */
	size_t nunread;          /* objects that were measured and are in no binary: nothing of them is known */
	VEC(const char *) note;  /* what a reader has to know of how the runs ended */
	bool every;              /* the sum is of all programs that a command started; r->path is then no program */
	VEC(const char *) replaced; /* notes on events that the linker changed */
};

/* Opens a program and reads its map. False: *why (pool). */
bool binary_open(struct pool *pool, const char *path, struct binary *bin, const char **why);
void binary_close(struct binary *bin);

/* woven.c: answers questions about the code of an image; parts: its woven code. */
struct woven_code woven_code(struct pool *pool, struct image *image, struct parts parts);

/* Reads one profile; the caller frees it. NULL: *why (pool), which is PROFILE_EMPTY if there is nothing in the file. */
struct profile *load_profile(struct pool *pool, const char *path, const char **why);
extern const char PROFILE_EMPTY[];
/* Fills in counters from the trace beside the profile of that name, for all regions (region 0) or one (its number plus 1). */
void load_trace(struct pool *pool, const char *path, uint64_t region, struct profile *p);

/* Opens a program, reads the given profiles (nprofile 0: those that are found for it), sums them, opens the shared objects that
 * they name, and solves everything. A name may be a folder, which stands for all profiles in it; the name of a run's first profile
 * also stands for those of the run's other processes. Files that cannot be used are left out. False: nothing can be used, or the
 * program cannot; reported. Call run_close() in either case. */
bool run_load(struct run *r, const char *program, char **profile, int nprofile);
/* Sums the profiles of all processes that a command started, whatever programs they ran, and opens all objects that they name; no
 * binary stands for the whole. Snapshots are left out: the process that made one may have left a profile of everything. name: of
 * the command. Otherwise as run_load(). */
bool run_load_all(struct run *r, const char *name, char **profile, int nprofile);
/* The same for several programs, libraries included: each profile with counts of one of these is used. A library's counts are
 * summed over the programs that used it. never_ran: programs without any profile have not run; otherwise that is an error. */
bool run_load_programs(struct run *r, char **program, int n, char **profile, int nprofile, bool never_ran);
/* Replaces the sum by another profile of the same processes, and solves everything again. Takes over p. */
void run_resolve(struct run *r, struct profile *p);
/* The steps of run_load(), for profiles that are found in other places. The run is {.pool, .path, .root, .sum = profile_new()}
 * before. */
/* Opens the program, by the path `file` if it is not NULL, else by the run's path. False: reported. */
bool run_open(struct run *r, const char *file);
/* Adds a profile with that name to the sum, unless it is in it already. False: reported. */
bool run_take(struct run *r, const char *name, const struct profile *p);
/* Why a profile does not belong to the program (pool). */
const char *run_why_not(struct run *r, const struct profile *p, const char *program);
/* Opens the objects that the sum names, and solves everything. False: reported. */
bool run_solve(struct run *r);
void run_close(struct run *r);
/* The events counted in all modules (pool), by name; its `why` is not NULL if they are not known. */
struct event_totals run_events(const struct run *r);

/* ---- merge.c: the sum of profiles of one build, one after another ---- */

/* A module of the sum, by its number there. Modules that are in a common profile, directly or by others, form a set
 * (union-find). */
struct kin {
	size_t of;               /* another module of the set; itself: it is the first one */
	const char *profile;     /* the profile that brought it */
};
struct merge {
	struct profile *sum;     /* profile_new() before */
	VEC(struct kin) kin;
	bool warned;             /* a snapshot was reported */
	bool spoilt;             /* a profile cannot be used, so there is no sum: reported */
};
/* Adds a profile. Reports what is left out. */
void merge_file(struct merge *m, const struct found *f);
/* True if all profiles belong together, each having a module in common with others. False: reported. */
bool merge_is_one(struct merge *m);
void merge_free(struct merge *m);

/* ---- measured.c: the parts of a program that the map does not cover ---- */

struct unmeasured {
	VEC(struct image_symbol) symbol; /* functions that were not built with Chord, except start-up files; a symbol without a size
	                                  * has that up to where something else begins */
	uint64_t symbol_bytes;   /* of those whose symbols have a size */
	size_t unsized;          /* how many have none: nasm and yasm give none, nor does assembly without .size */
	uint64_t bytes;          /* code in no procedure of the map: padding, start-up code and Chord's runtime too */
	bool stripped;           /* functions cannot be told apart */
	VEC(const char *) library; /* names of libraries that the measured objects need and that are not measured, each once */
};
void unmeasured_find(struct binary *bin, struct unmeasured *un);
/* The same for all objects of a run: their functions, and the libraries that they need. */
void unmeasured_find_all(struct run *r, struct unmeasured *un);
void unmeasured_free(struct unmeasured *un);

/* ---- where.c: positions in woven code ---- */

/* Positions in the procedures of a binary; its memory is in the pool. */
struct where_index {
	struct pool *pool;
	struct binary *binary;
	struct places **places;  /* by procedure, made when first needed */
	/* Called with each addition to a counter in woven code that where_find() passes over. May be NULL. */
	void (*counts)(void *ctx, uint64_t counter, int64_t add);
	void *ctx;
	bool traces;             /* the woven code writes traces */
};
void where_open(struct where_index *x, struct pool *pool, struct binary *bin);

/* Where control is. */
struct where {
	const struct proc *proc;
	const char *why;         /* why this is not known; NULL: it is */
	uint64_t addr;           /* of the next instruction of the original */
	bool left;               /* addr is outside of the procedure; otherwise it is at: */
	uint32_t block, insn;
	int64_t *pending;        /* by event of the procedure: what woven code before it still has to add */
	int64_t sp;              /* what that code still adds to the stack pointer */
	bool reserves;           /* that code still takes a slot of a trace */
	bool asks;               /* that code still tests whether a signal called the procedure */
};
/* Finds the position of a link-time address; memory of *w is in the pool. False: it is not in measured code; counters are then
 * right if control came there by a call. */
bool where_find(struct where_index *x, struct pool *pool, uint64_t addr, struct where *w);
/* What to add to the counter of the procedure's event e to get all events that have happened. */
int64_t where_behind(const struct where *w, uint32_t e);

/* ---- weights.c: how often edges ran, for the weaver ---- */

/* True if it is known how often each edge ran. */
bool weights_known(const struct proc *p, const struct counts *c);
/* Adds how often each edge ran to ran[], by arc; saturates. Needs weights_known(). */
void weights_add(const struct proc *p, const struct counts *c, uint64_t *ran);
/* Adds all procedures of the run that ran to *in, whose pool has the memory. */
void run_weights(const struct run *r, struct selection *in);

/* ---- callee.c: the names of targets of calls and jumps ---- */

/* The names of a place: one name (of an import or a measured procedure), or those of the n symbols there. n is 0 if nothing is
 * known. */
struct callee {
	const char *one;
	const struct image_symbol *symbol;
	size_t n;
	uint64_t addr;           /* the place in the object itself; 0: elsewhere, or not known */
};
/* The target of a call or jump at addr, through the linker's tables and Chord's own code in between. in: the instruction, decoded
 * with offset (uint32_t)addr. */
struct callee callee_of(struct binary *bin, const struct proc *p, const struct insn *in, uint64_t addr);
/* The place at an address of the object, which may be a linker's stub or code. */
struct callee callee_at(struct binary *bin, uint64_t addr);
/* The i-th name: as the symbol table has it, or in the pool. */
const char *callee_name(struct pool *pool, const struct callee *c, size_t i);

/* notes.c: adds to r->note what has to be said besides the counts. Needs solved counts. */
void run_notes(struct run *r);

/* recursion.c: sets `recursive` for the calls of all binaries that may lead back into their own procedure. */
void mark_recursive_calls(struct run *r);

/* ---- tally.c: events from their counters, or from the counts of instructions, blocks and edges ---- */

struct tally_event {
	uint64_t n, most;        /* the number is between these; COUNT_NO_BOUND: no bound */
	const char *why;         /* why it is not known; NULL: it is */
};
struct tally {
	struct pool *pool;
	const struct event_list *events;
	struct tally_event *at;  /* by event */
	uint64_t through_pointers, unnamed; /* calls whose callee is not known: through pointers, or without a name; only if an
	                                     * event asks for callees */
	bool once;               /* every instruction counts as executed once: tells what a program has at all */
};
/* Sums all events over everything that is known of the run. Memory is the pool's. */
void tally_run(struct tally *t, struct pool *pool, struct run *r, const struct event_list *events, bool once);
/* The number of one event (a list of one) for the instructions that the linker has left in the place of a block, each as often as
 * it ran; c NULL: once. */
uint64_t tally_insns(struct pool *pool, struct binary *bin, const struct proc *p, const struct counts *c, uint32_t block,
                     const struct event_list *one);

/* relaxed.c: updates the map by what the linker put in place of calls. */
void relaxed_read(struct pool *pool, struct binary *bin);
/* replaced.c: corrects the totals of events for instructions that the linker replaced, or says in r->replaced what is not known. */
void replaced_correct(struct run *r, struct binary *bin);
/* The number of blocks in which an event's counter counts as assembled, while the linked instructions would count otherwise. 0 for
 * events of which this cannot be told (call:, cost:). bin->counts may be NULL. */
uint32_t replaced_blocks(struct pool *pool, struct binary *bin, const char *event);

#endif
