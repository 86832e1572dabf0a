/* SPDX-License-Identifier: MIT */
/* process: running processes, and processes that died and left a core file: their mappings and threads, and how to stop them while
 * they are examined. */
#ifndef CHORD_PROCESS_H
#define CHORD_PROCESS_H

#include "run/run.h"
#include "trace/trace.h"

#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	uintmax_t ino;           /* 0: no file */
	char how[8];             /* as in /proc/PID/maps: "rw-s" */
	const char *path;        /* as the process sees it; or "[stack]" and the like */
};

struct thread {
	pid_t tid;
	bool stopped;            /* by us; otherwise it waits in the kernel and is left there */
	bool lost;               /* neither: nothing is known of it */
	int signal;              /* the signal that it was about to get; 0: none */
	uint64_t pc, sp;
	struct thread_regs regs; /* of a stopped thread; pc and sp are then valid, too */
	uint64_t call;           /* waiting thread: number of the system call */
	uint64_t switches;       /* waiting thread: how often it has been switched to or from */
};

struct process {
	struct pool *pool;       /* for all memory */
	const struct machine *machine; /* the machine on which we run */
	const char *pid;
	pid_t alive;             /* a thread that has not ended, even if the first one has: memory is read through it */
	VEC(struct mapping) mapping; /* by address */
	VEC(struct thread) thread;
	VEC(pid_t) restless;     /* threads that were waiting, but not for long */
	VEC(pid_t) late;         /* threads that have been told to stop, and have not stopped yet */
};

enum process_state { PROCESS_STILL, PROCESS_NOT_PERMITTED, PROCESS_GONE };

/* Opens a process that has not ended; `pid` has to stay. False: reported. Call process_close() if it is true. */
bool process_open(struct process *p, struct pool *pool, const char *pid);
/* True if it has ended since. */
bool process_ended(const struct process *p);
void process_close(struct process *p);

/* Reads the list of mappings. False with errno set. */
bool process_mappings(struct process *p);
/* The mapping that contains an address, or NULL. */
const struct mapping *process_mapping(const struct process *p, uint64_t addr);
/* A path (pool) by which a mapped file can be opened here, whatever has become of its name; NULL: there is none. The file has to be
 * one that `is` accepts (`is` NULL: one with the same inode). */
const char *process_file(struct process *p, const struct mapping *m, bool (*is)(const char *path));

/* Stops every thread, new ones too, and reads its registers. No thread notices: a thread that waits in a system call that cannot be
 * interrupted unnoticed is not interrupted, but watched. process_go_on() ends the stop. */
enum process_state process_stop(struct process *p);
/* True if the threads that were only watched have stayed where they were. Otherwise release all and begin again. */
bool process_was_still(struct process *p);
void process_go_on(struct process *p);
/* The number that one of its threads (0: the process itself) has in its own name space. */
pid_t process_inner(const struct process *p, pid_t tid);
/* The process that traces it already; 0: none. */
pid_t process_tracer(const struct process *p);

/* Reads its memory. False: not all of it is there. */
bool process_read(const struct process *p, uint64_t addr, void *to, size_t n);

/* ---- live.c ---- */

/* The present profile of a process. *stood_still: the process was stopped while it was read. NULL: reported. The caller frees
 * it. */
struct profile *live_profile(struct pool *pool, const char *pid, bool *stood_still);
/* A path (pool) by which the process's profile can be opened here; its mappings have to have been read. NULL: there is none. */
const char *live_profile_path(struct process *p);
/* The same, but reads the mappings first. NULL: reported. */
const char *live_profile_find(struct process *p);
/* Reads that profile. NULL: reported, also if the reason is that the process has ended. */
struct profile *live_profile_load(struct pool *pool, const struct process *p, const char *path);
/* run_load() for a running process. */
bool run_load_live(struct run *r, const char *pid);

/* ---- core.c ---- */

/* run_load() for a process that died and left a core file. profile: its profile, or NULL to look for it. */
bool run_load_core(struct run *r, const char *program, const char *core, const char *profile);

/* ---- core_trace.c ---- */

/* The trace that a core file has of a process that could make no file for it, and a profile that has its modules but no counts. */
struct core_trace {
	struct core *core;
	struct profile *profile;
	struct trace_file *file;
};
/* Opens the trace. NULL, or why there is none (pool of r, whose program has to be open). Call core_trace_close() in either case. */
const char *core_trace_open(struct run *r, const char *path, struct core_trace *t);
void core_trace_close(struct core_trace *t);
/* True if the file is a core file, by its first bytes. */
bool core_trace_is(const char *path);

#endif
