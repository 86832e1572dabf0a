/* SPDX-License-Identifier: MIT */
/* process: running processes, and those that died and left a core file. What is mapped there, where the threads are, and how to
 * stop them while they are examined. */
#ifndef CHORD_PROCESS_H
#define CHORD_PROCESS_H

#include "run/run.h"
#include "trace/trace.h"

#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	uintmax_t ino;           /* 0: of no file */
	char how[8];             /* as in /proc/PID/maps: "rw-s" */
	const char *path;        /* as the process sees it; or "[stack]" and the like */
};

struct thread {
	pid_t tid;
	bool stopped;            /* by us; else it waits in the kernel and is left there */
	bool lost;               /* it does neither: nothing is known of it */
	int signal;              /* it was about to get that one; 0: none */
	uint64_t pc, sp;
	struct thread_regs regs; /* of a stopped thread; then the PC and the stack pointer above are valid */
	uint64_t call;           /* of one that waits: the number of the system call */
	uint64_t switches;       /* of a waiting thread: how often it has been switched to or from */
};

struct process {
	struct pool *pool;       /* what it needs is taken from there */
	const struct machine *machine; /* that we run on, too */
	const char *pid;
	pid_t alive;             /* a thread that has not ended, even if the first one has: the memory is read through it */
	VEC(struct mapping) mapping; /* by address */
	VEC(struct thread) thread;
	VEC(pid_t) restless;     /* waited, but not long */
	VEC(pid_t) late;         /* have been told to stop, and have not yet */
};

enum process_state { PROCESS_STILL, PROCESS_NOT_PERMITTED, PROCESS_GONE };

/* Opens a process that has not ended. False: reported. */
bool process_open(struct process *p, struct pool *pool, const char *pid);
/* Has it ended since? */
bool process_ended(const struct process *p);
void process_close(struct process *p);

/* Reads the list of mappings. False with errno set. */
bool process_mappings(struct process *p);
const struct mapping *process_mapping(const struct process *p, uint64_t addr);
/* A path by which a mapped file can be opened here, whatever has become of its name; NULL: there is none. Only a file that `is`
 * accepts is used (`is` NULL: one with the same inode). */
const char *process_file(struct process *p, const struct mapping *m, bool (*is)(const char *path));

/* Stops every thread, new ones too, and reads its registers. No thread notices it: one that waits in a system call that cannot be
 * interrupted without a trace is not interrupted, but watched. */
enum process_state process_stop(struct process *p);
/* Have the threads that were only watched stayed where they were? If not, release all and begin again. */
bool process_was_still(struct process *p);
void process_go_on(struct process *p);
/* The number of one of its threads (0: its own) in its own name space. */
pid_t process_inner(const struct process *p, pid_t tid);
/* Who traces it already; 0: nobody. */
pid_t process_tracer(const struct process *p);

/* Its memory. False: not all of it is there. */
bool process_read(const struct process *p, uint64_t addr, void *to, size_t n);

/* ---- live.c ---- */

/* The profile of a process, as of now; *stood_still: the process was stopped while it was read. NULL: reported. */
struct profile *live_profile(struct pool *pool, const char *pid, bool *stood_still);
/* The file that it writes, by a path that can be opened here; its mappings have been read. NULL: there is none. */
const char *live_profile_path(struct process *p);
/* Reads the list of mappings as well. NULL: reported. */
const char *live_profile_find(struct process *p);
/* NULL: reported; if the process has ended meanwhile, that is reported. */
struct profile *live_profile_load(struct pool *pool, const struct process *p, const char *path);
/* run_load() for a running process. */
bool run_load_live(struct run *r, const char *pid);

/* ---- core.c ---- */

/* run_load() for a process that died and left a core file; profile: its own, NULL to look for it. */
bool run_load_core(struct run *r, const char *program, const char *core, const char *profile);

/* ---- core_trace.c ---- */

/* The trace of a process that could make no file for it, in its core file; and a profile that has its modules, and no counts. */
struct core_trace {
	struct core *core;
	struct profile *profile;
	struct trace_file *file;
};
/* NULL, or why there is none (in the pool of r, whose program has been opened); it is to be closed either way. */
const char *core_trace_open(struct run *r, const char *path, struct core_trace *t);
void core_trace_close(struct core_trace *t);
/* Is that file a core file, by its first bytes? */
bool core_trace_is(const char *path);

#endif
