/* SPDX-License-Identifier: MIT */
/* A measure, as the reader of maps and profiles sees it: a struct of functions, in a file measure_NAME.c. The registry
 * (format/measures.h) lists all of them. "NULL, or why not" as in internal.h. */
#ifndef CHORD_PROFILE_MEASURE_H
#define CHORD_PROFILE_MEASURE_H

#include "measure/measure.h"
#include "profile/internal.h"

/* The arrays of a map record that stand before its blob; not aligned. */
struct record {
	const unsigned char *woven, *event;
	uint32_t nwoven, nevent;
};

/* A type of extent that a measure adds to profiles. */
struct profile_extent {
	uint32_t type;           /* enum chord_extent */
	bool of_module;          /* it stands after its module's extent, before all counters; otherwise its b says which region's it
	                          * is */
	/* Reads its bytes, from the head on, into the profile. m: its module, or NULL if the number is of none. NULL, or why
	 * not. */
	const char *(*read)(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
};

/* Calls at which activations may have stopped, by return address (exits.c). */
struct places;
bool places_call(struct places *x, uint64_t addr, uint32_t *proc, uint32_t *call); /* false: no call returns there */

/* Any function may be NULL: then nothing is done. */
struct profile_measure {
	/* ---- maps ---- */

	/* Reads its section of a record, after the graph; NULL: the section is empty. */
	void (*map)(struct in *in, struct proc *p, const struct record *r);

	/* ---- profiles: the measure's data besides counters, in lists of struct profile and struct module ---- */

	const struct profile_extent *extents; /* ends with type 0; NULL: none */
	/* For an activation that ended with the process while its thread waited: takes what is recorded of it besides the exit. */
	void (*waiting)(struct profile *p, uint32_t module, const struct chord_waiting *w);
	/* After everything has been read. Records name modules by their numbers in the file: to[], n elements, has the numbers in
	 * p. Checks the records and joins equal ones. NULL, or why not. */
	const char *(*settle)(struct profile *p, const uint32_t *to, uint32_t n);
	/* True if the measure's data of two modules of one build allow their profiles to be summed; if not, the sum is refused.
	 * NULL: always true. */
	bool (*add_up)(const struct module *a, const struct module *b);
	/* Adds the records of p to a sum. to: by module of p, its number there. False: a sum does not fit in 64 bits. */
	bool (*merge)(struct profile *sum, const struct profile *p, const uint32_t *to);
	/* Drops the data of modules from number n on. */
	void (*keep_below)(struct profile *p, uint32_t n);
	/* m was copied from another profile: copies what it points to into p. */
	void (*copy_module)(struct profile *p, struct module *m);
	/* Append the extents of a module with its number; those of a region, where `of` is its number plus 1, or 0. */
	void (*write_module)(const struct module *m, uint32_t number, struct buf *out);
	void (*write)(const struct profile *p, uint64_t of, struct buf *out);
	void (*forget)(struct profile *p);
	/* See profile_take_map(), profile_doubt() and profile_add_slot(). */
	void (*take_map)(struct profile *p, struct module *m, const struct map *map);
	void (*doubt)(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
	void (*add_slot)(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word);

	/* ---- counts of a procedure that it measures ---- */

	/* Makes room for its results. */
	void (*begin)(struct pool *pool, struct counts *c);
	/* Puts records of where activations stopped into the counts of the map's procedures. */
	void (*place)(struct pool *pool, struct places *x, const struct profile *p, const struct module *module,
	              struct counts *counts);
	/* For a measure whose records tell more than its counters: computes the counts of all edges from them. NULL, or why these
	 * are not known. Needs exits and sources. Such records tell how far activations had come, so bounds are put around their
	 * counts. */
	const char *(*solve)(struct pool *pool, struct system *s, const struct profile *f, const struct module *m,
	                     const struct woven_code *woven, struct counts *c);
	/* The same, if it is already known that counts cannot be computed: only the measure's own results. c->why stays, or is
	 * replaced. */
	void (*solve_own)(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m,
	                  struct counts *c);
	/* The largest sum of cost[block] over the blocks that an activation may execute before more of it is recorded, or
	 * COUNT_NO_BOUND. NULL: they may be all. */
	uint64_t (*longest)(const struct proc *p, const uint64_t *cost);
	/* Is everything that an activation executes up to a call, and nothing behind it, recorded before the call? */
	bool before_calls;
	/* True if only a part of the procedure is counted, by design. Then it has no counts, and `partly` has the reason. */
	bool (*is_partly)(const struct proc *p);
	const struct counts_partly *partly;
};

#define PROFILE_MEASURE(id, lower, ...) extern const struct profile_measure profile_measure_##lower;
CHORD_MEASURE_LIST(PROFILE_MEASURE)

/* measure.c: the measure by whose records a procedure is solved; NULL: by counters only. */
const struct profile_measure *measure_solving(const struct proc *p);
/* True if its measure leaves a part of the procedure out by design. */
bool measured_partly(const struct proc *p);

/* These call the functions above for all measures. */
const struct profile_extent *measures_extent(uint32_t type);
void measures_waiting(struct profile *p, uint32_t module, const struct chord_waiting *w);
const char *measures_settle(struct profile *p, const uint32_t *to, uint32_t n);
bool measures_add_up(const struct module *a, const struct module *b);
bool measures_merge(struct profile *sum, const struct profile *p, const uint32_t *to);
void measures_keep_below(struct profile *p, uint32_t n);
void measures_copy_module(struct profile *p, struct module *m);
void measures_write_module(const struct module *m, uint32_t number, struct buf *out);
void measures_write(const struct profile *p, uint64_t of, struct buf *out);
void measures_forget(struct profile *p);
void measures_begin(struct pool *pool, const struct proc *p, struct counts *c);
void measures_place(struct pool *pool, struct places *x, const struct profile *p, const struct module *module,
                    struct counts *counts);

/* Removes the elements of a list that are in modules from number `limit` on. */
#define KEEP_BELOW(list, limit) \
	do { \
		size_t keep_n = 0; \
		for (size_t keep_i = 0; keep_i < (list).n; keep_i++) \
			if ((list).at[keep_i].module < (limit)) \
				(list).at[keep_n++] = (list).at[keep_i]; \
		(list).n = keep_n; \
	} while (0)

/* Reads the sections of a record up to its end. */
void sections_read(struct in *in, struct proc *p, const struct record *r);

#endif
