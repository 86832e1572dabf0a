/* SPDX-License-Identifier: MIT */
/* core: a core file: the memory of a process that died, and the positions of its threads. */
#ifndef CHORD_CORE_H
#define CHORD_CORE_H

#include "base/base.h"

struct core;

/* Opens a core file. object: the present path of one of the loaded files; the others are where they were. NULL if the core cannot
 * be used: *why (pool). The pool and `object` have to outlive the core. */
struct core *core_open(struct pool *pool, const char *path, const char *object, const char **why);
void core_close(struct core *c); /* NULL is allowed */

/* The signal by which the process died; 0: none, or not known. */
int core_signal(const struct core *c);

/* True if the end of the file is missing. */
bool core_is_cut(const struct core *c);

/* Reads memory as it was. False: the core does not have all of it. */
bool core_read(const struct core *c, uint64_t addr, void *to, size_t n);

/* The file that was loaded at an address, and its addresses in memory minus those at link time (*bias). NULL: none. */
const char *core_object(const struct core *c, uint64_t addr, uint64_t *bias);

/* Calls fn for every loaded file. */
typedef void core_object_fn(void *ctx, const char *path, uint64_t bias);
void core_objects(const struct core *c, core_object_fn *fn, void *ctx);

/* A frame of a thread's stack. */
struct core_frame {
	uint32_t tid;
	uint64_t pc, sp;
	bool call;               /* pc is the return address of a call in progress; otherwise the address of the next instruction */
};
typedef void core_frame_fn(void *ctx, const struct core_frame *f);
/* Calls fn for all frames of all threads, from the innermost frame of each. Returns the number of threads whose stack could not be
 * followed to its end; -1: nothing is known of any thread. */
int core_frames(struct core *c, core_frame_fn *fn, void *ctx);

#endif
