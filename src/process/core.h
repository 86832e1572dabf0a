/* SPDX-License-Identifier: MIT */
/* Shared by the files that read core files. */
#ifndef CHORD_PROCESS_CORE_H
#define CHORD_PROCESS_CORE_H

#include "image/core.h"
#include "process/process.h"

/* A module that was loaded, by its number in the process. */
struct loaded {
	struct chord_live_module live;
	uint32_t number;         /* its number in the profile */
	uint64_t sum[CHORD_SUMS]; /* link-time addresses of the counters whose values exits have */
	uint32_t nsum;
};

/* What is known of a process that died. */
struct post {
	struct run *r;
	struct core *core;
	struct chord_live live;  /* magic 0: there is no control block */
	struct profile *p;
	VEC(struct loaded) module;
	VEC(struct chord_live_region) region;
	uint64_t *filed;         /* by module and region: where the profile's file has its counters; 0: nowhere */
	struct buf bytes;        /* the contents of that file */
	const char *file;        /* the file that was used, or NULL */
	bool memory;             /* some counts were found in the core's memory */
	bool wide;               /* their sum does not fit in 64 bits */
	bool cut;                /* an activation was interrupted between calls, and events are summed for calls */
	uint64_t missing;        /* number of threads' counters that were found nowhere */
	bool fresh;              /* there was no file: what the runtime counts outside of counters is lost */
	/* The previous frame of the walk; its slot is just below the CFA of the next frame. */
	struct {
		bool any;
		uint32_t tid;
		const struct loaded *in;
		uint64_t addr;       /* where it ended, at link time */
	} inner;
};

/* core.c: a control_read_fn for a struct core. */
bool post_read(const void *core, uint64_t addr, void *to, size_t n);
/* Reads the tables to which the control block leads. False: they make no sense. */
bool post_read_tables(struct post *s);
/* The number of a module in the profile, to which it is added if it is not there. */
uint32_t post_module(struct post *s, const struct chord_live_module *l);
/* Begins the profile of a process that had it only in memory: takes its head from the core, if it is there. */
void post_take_head(struct post *s);

/* core_active.c: counts the active frames on the core's stacks as ended there, and notes how far they had come on their paths. */
void post_end_all(struct post *s);

#endif
