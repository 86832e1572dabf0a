/* SPDX-License-Identifier: MIT */
/* core: a core file: the memory of a process that died, and the positions of its threads. */
#ifndef CHORD_CORE_H
#define CHORD_CORE_H

#include "base/base.h"

struct core;

/* object: where one of the loaded files is now; others are where they were. NULL if the core cannot be used: *why (in the pool).
 * The pool must outlive it. */
struct core *core_open(struct pool *pool, const char *path, const char *object, const char **why);
void core_close(struct core *c); /* NULL is fine */

/* The signal that it died of; 0: not known, or none. */
int core_signal(const struct core *c);

/* Has the file lost its end? */
bool core_is_cut(const struct core *c);

/* Memory as it was. False: the core does not hold all of it. */
bool core_read(const struct core *c, uint64_t addr, void *to, size_t n);

/* The file that was loaded at an address, and the distance of its addresses in memory from those at link time.
 * NULL if there is none. */
const char *core_object(const struct core *c, uint64_t addr, uint64_t *bias);

/* All that were loaded. */
typedef void core_object_fn(void *ctx, const char *path, uint64_t bias);
void core_objects(const struct core *c, core_object_fn *fn, void *ctx);

/* A frame of a thread's stack. */
struct core_frame {
	uint32_t tid;
	uint64_t pc, sp;
	bool call;               /* the PC is where a call in progress returns to; else of the next instruction */
};
typedef void core_frame_fn(void *ctx, const struct core_frame *f);
/* All frames of all threads, from each thread's innermost on. Gives the number of threads whose stack could not be followed to
 * its end, -1 if nothing is known of any. */
int core_frames(struct core *c, core_frame_fn *fn, void *ctx);

#endif
