/* SPDX-License-Identifier: MIT */
/* Queries from outside: the events of a process at one moment. */
#ifndef CHORD_QUERY_H
#define CHORD_QUERY_H

#include "image/stack.h"
#include "process/process.h"

/* An event's counter in a program. */
struct counter {
	const struct event_counter *at;
	uint32_t event;          /* number among those asked for */
};

/* A program or shared object that counts events. */
struct counted {
	struct binary binary;
	struct where_index where;
	uint64_t *back;          /* return addresses of its calls, ascending */
	size_t nback;
	VEC(struct counter) counter; /* of the events asked for */
	uint32_t **event;        /* by procedure and its event: number among those asked for, or UINT32_MAX */
	VEC(const char *) replaced; /* notes on events that the linker changed */
};

/* A place where a program or library is loaded; with dlmopen there may be several. */
struct loaded {
	struct counted *counted;
	uint64_t bias;
};

struct sample_thread {
	pid_t tid;
	pid_t with;              /* not 0: it uses the counters of that thread, which have the counts of both */
	uint32_t before;         /* number of threads that had its counters before; they have these threads' counts, too */
	const char *place;       /* where it stands */
	uint64_t *count;         /* by event; NULL: not known */
};

/* Counts, all of one moment. */
struct sample {
	uint64_t *total;         /* by event */
	uint64_t *rest;          /* by event: of threads that have ended, or whose own counts are not known */
	VEC(struct sample_thread) thread;
	VEC(const char *) note;  /* what is not in the counts, or not known */
};

struct query {
	struct pool *pool;
	const char *pid;
	const char *wanted;      /* list of events; NULL: all */
	bool threads;            /* the counts of each thread are asked for */
	VEC(const char *) event; /* events asked for */
	VEC(struct counted *) counted; /* opened so far; the program is not always the first */
	VEC(struct named) unknown; /* modules that count, but cannot be read */
};

/* Finds out what a process counts; the strings have to stay. False: reported. Call query_close() in either case. */
bool query_open(struct query *q, const char *pid, const char *wanted, bool threads);
void query_close(struct query *q);

/* ---- counted.c: what the process counts ---- */

/* Opens the modules that a profile names, if they are not open yet. */
void query_modules(struct query *q, const struct process *process, const struct profile *p);
struct counted *query_counted(const struct query *q, struct str build_id); /* NULL: not opened */
/* True if the link-time address is the return address of a call in a measured procedure. */
bool counted_returns(const struct counted *c, uint64_t addr);
/* Selects the events that are asked for. False: reported. */
bool query_events(struct query *q, const struct process *p);

/* ---- sample.c ---- */

enum query_result { QUERY_DONE, QUERY_ENDED, QUERY_FAILED /* reported */ };
/* Stops the process, reads its counts, and lets it go on. What *m points to is in the pool; sample_free() frees its lists. */
enum query_result query_sample(struct query *q, struct pool *pool, struct sample *m);
void sample_free(struct sample *m);

/* ---- frames.c: activations that were interrupted between calls ---- */

struct frames {
	struct process *process;
	const struct loaded *loaded;
	size_t nloaded;
	struct stack *stack;     /* opened when it is first needed */
	bool no_stack;           /* it cannot be opened */
	struct stack_source source;
	uint64_t seen[4096];     /* words of stacks that are known not to be return addresses */
};
/* The object whose measured code contains the PC, or NULL. */
const struct loaded *loaded_at(const struct loaded *at, size_t n, uint64_t pc);
/* Calls `found`, with PC and stack pointer, for each activation of a thread that was interrupted in measured code, by a signal or
 * in woven code, except for the innermost one. False: there may be more, or `found` returned false. */
typedef bool interrupted_fn(void *arg, uint64_t pc, uint64_t sp, bool exact);
bool frames_interrupted(struct frames *f, const struct thread *t, interrupted_fn *found, void *arg);
/* Calls `found` for each activation of a thread, from the innermost, until it returns false. False: the outermost one was not
 * reached. */
bool frames_all(struct frames *f, const struct thread *t, stack_frame *found, void *arg);
void frames_close(struct frames *f);

#endif
