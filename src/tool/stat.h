/* SPDX-License-Identifier: MIT */
/* What the files of `chord stat` share. */
#ifndef CHORD_STAT_H
#define CHORD_STAT_H

#include "asm/event.h"
#include "tool/report.h"

/* ---- callee.c: the names of what calls and jumps lead to ---- */

/* Names of a place: one, of an import or a measured procedure, or those of the symbols that stand there. n is 0 if
 * nothing is known. */
struct callee {
	const char *one;
	const struct image_symbol *symbol;
	size_t n;
};
/* Where a call or a jump at addr leads, through the linker's tables and what Chord itself put in between; in: as decoded
 * with offset (uint32_t)addr. */
struct callee callee_of(struct unit *u, const struct proc *p, const struct insn *in, uint64_t addr);
/* What is at an address of the object, linkage or code. */
struct callee callee_at(struct unit *u, uint64_t addr);
/* The i-th name. In the pool where it is not as the symbol table has it. */
const char *callee_name(struct pool *pool, const struct callee *c, size_t i);

/* ---- tally.c: events from their counters, or from the counts of instructions, blocks and edges ---- */

struct tally_event {
	uint64_t n;
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

/* ---- stat.c runs, stat_print.c prints ---- */

struct stat_options {
	uint32_t runs;
	const char *events;      /* the list as given; NULL: all that are known */
	const char *output;      /* NULL: standard error */
	bool json, per_thread, aslr;
	char **argv;             /* of the program, ends with NULL */
};

struct stat_thread {
	uint64_t pid;
	uint32_t number;         /* in its process, in the order in which they were made, from 0 */
	struct tally_event *at;  /* by event */
};

/* All runs together. */
struct stat_result {
	struct pool *pool;
	const struct stat_options *opt;
	struct event_list events; /* chosen after the first run if none are asked for */
	struct tally_event *at;  /* event e in run i: at[e * opt->runs + i] */
	uint32_t nrun;           /* that were made */
	int status;              /* of the program: the first that is not 0; 128 + a signal's number */
	/* Of all runs, each once: */
	VEC(struct named) unknown; /* procedures and objects */
	VEC(const char *) note;
	/* Of the last run: */
	uint64_t processes, refused, unmeasured;
	bool stripped;
	VEC(const char *) library; /* that was not measured */
	VEC(struct stat_thread) thread; /* if asked for: that executed anything */
};

/* False: it could not be written. */
bool stat_print(const struct stat_result *s, FILE *to);
bool stat_json(const struct stat_result *s, FILE *to);

#endif
