/* SPDX-License-Identifier: MIT */
/* Shared by the files that read core files. */
#ifndef CHORD_PROCESS_CORE_H
#define CHORD_PROCESS_CORE_H

#include "image/core.h"
#include "process/process.h"

/* A module that was loaded, by its number in the process. */
struct loaded {
	struct chord_live_module live;
	uint32_t number;         /* in the profile */
	uint64_t sum[CHORD_SUMS]; /* counters whose values exits have, at link time */
	uint32_t nsum;
};

struct post {
	struct run *r;
	struct core *core;
	struct chord_live live;  /* magic 0: there is none */
	struct profile *p;
	VEC(struct loaded) module;
	VEC(struct chord_live_region) region;
	uint64_t *filed;         /* by module and region: where the profile's file has its counters; 0: nowhere */
	struct buf bytes;        /* of that file */
	const char *file;        /* that was used, or NULL */
	bool memory;             /* some counts were found there */
	bool wide;               /* their sum does not fit 64 bits */
	bool cut;                /* an activation was interrupted between calls, and events are summed for calls */
	uint64_t missing;        /* threads' counters that are nowhere */
	bool fresh;              /* there was no file: what was counted beside the counters is lost */
	/* The frame before, whose slot is just below the CFA of the next frame: where it ended. */
	struct {
		bool any;
		uint32_t tid;
		const struct loaded *in;
		uint64_t addr;       /* at link time */
	} inner;
};

/* core.c: reads the memory of a struct core. */
bool post_read(const void *core, uint64_t addr, void *to, size_t n);
/* Reads what the control block lists. False: it makes no sense. */
bool post_read_tables(struct post *s);
/* The module in the profile: as the file has it, or added. */
uint32_t post_module(struct post *s, const struct chord_live_module *l);
/* Begins the profile of a process that had it in memory only: its head may be in the core. */
void post_take_head(struct post *s);

/* core_active.c: treats the active frames on the core's stacks as ended there, and notes how far they had come on their paths. */
void post_end_all(struct post *s);

#endif
