/* SPDX-License-Identifier: MIT */
/* What a measure is to the reader of maps and profiles: a struct of functions, in a file measure_NAME.c. The registry
 * (format/measures.h) lists them all. */
#ifndef CHORD_PROFILE_MEASURE_H
#define CHORD_PROFILE_MEASURE_H

#include "measure/measure.h"
#include "profile/internal.h"

/* The arrays of a record that stand before its blob, not aligned. */
struct record {
	const unsigned char *woven, *event;
	uint32_t nwoven, nevent;
};

/* A type of extent that a measure adds to profiles. */
struct profile_extent {
	uint32_t type;           /* enum chord_extent */
	bool of_module;          /* it stands behind its module's, before all counters; else its b says which region's it is */
	/* Takes its bytes, from the head on, into the profile. m: its module, or NULL if there is none of that number. NULL, or
	 * what is wrong. */
	const char *(*read)(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at);
};

/* Calls that activations may have stopped at, by return address (exits.c). */
struct places;
bool places_call(struct places *x, uint64_t addr, uint32_t *proc, uint32_t *call);

/* Any function may be NULL: there is nothing to do. */
struct profile_measure {
	/* ---- maps ---- */

	/* Reads its section of a record, behind the graph; NULL: it is empty. */
	void (*map)(struct in *in, struct proc *p, const struct record *r);

	/* ---- profiles: what it has there beside counters, in lists of struct profile and struct module ---- */

	const struct profile_extent *extents; /* the last one has type 0; NULL: it has none */
	/* An activation ended with the process while its thread waited: takes what is recorded of it beside the exit. */
	void (*waiting)(struct profile *p, uint32_t module, const struct chord_waiting *w);
	/* When all has been read. Records name modules as the file counts them: to[] has the numbers in p, n of them. Checks
	 * them, and joins equal ones. NULL, or what is wrong. */
	const char *(*settle)(struct profile *p, const uint32_t *to, uint32_t n);
	/* Has it the same of two modules of one build, so that profiles can be summed? Else they are refused. NULL: always. */
	bool (*add_up)(const struct module *a, const struct module *b);
	/* Adds the records of p to a sum; to: by module of p, its number there. False: a sum does not fit 64 bits. */
	bool (*merge)(struct profile *sum, const struct profile *p, const uint32_t *to);
	/* Drops what is of modules from number n on. */
	void (*keep_below)(struct profile *p, uint32_t n);
	/* m is a copy of another profile's module: what it points to is copied into p. */
	void (*copy_module)(struct profile *p, struct module *m);
	/* Extents of a module, with its number; of a region, whose number plus 1 is `of`, or 0. */
	void (*write_module)(const struct module *m, uint32_t number, struct buf *out);
	void (*write)(const struct profile *p, uint64_t of, struct buf *out);
	void (*forget)(struct profile *p);
	/* What profile_take_map(), profile_doubt() and profile_add_slot() are for. */
	void (*take_map)(struct profile *p, struct module *m, const struct map *map);
	void (*doubt)(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at);
	void (*add_slot)(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word);

	/* ---- counts of a procedure that it measures ---- */

	/* Makes room for its results. */
	void (*begin)(struct pool *pool, struct counts *c);
	/* Puts records of what activations were at when they stopped into the counts of the map's procedures. */
	void (*place)(struct pool *pool, struct places *x, const struct profile *p, const struct module *module,
	              struct counts *counts);
	/* If records say more than its counters: finds the counts of all edges from them. NULL, or why these are not known. Wants
	 * exits and sources in place. Such records say how far activations had come: bounds are sought around what they give. */
	const char *(*solve)(struct pool *pool, struct system *s, const struct profile *f, const struct module *m,
	                     const struct woven_code *woven, struct counts *c);
	/* With that: only its own results, where it is known already that counts cannot be: c->why stays, or becomes another. */
	void (*solve_own)(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m,
	                  struct counts *c);
	/* Is only a part of the procedure counted, by design? Then it has no counts: `partly` has the reason. */
	bool (*is_partly)(const struct proc *p);
	const struct counts_partly *partly;
};

#define PROFILE_MEASURE(id, lower, ...) extern const struct profile_measure profile_measure_##lower;
CHORD_MEASURE_LIST(PROFILE_MEASURE)

/* measure.c: the one by whose records a procedure is solved, or NULL: by counters only. */
const struct profile_measure *measure_solving(const struct proc *p);
/* Does it leave a part of the procedure out by design? */
bool measured_partly(const struct proc *p);

/* All measures: the functions above. */
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

/* Drops what is in modules from a number on. */
#define KEEP_BELOW(list, limit) \
	do { \
		size_t keep_n = 0; \
		for (size_t keep_i = 0; keep_i < (list).n; keep_i++) \
			if ((list).at[keep_i].module < (limit)) \
				(list).at[keep_n++] = (list).at[keep_i]; \
		(list).n = keep_n; \
	} while (0)

/* The sections of a record up to its end. */
void sections_read(struct in *in, struct proc *p, const struct record *r);

#endif
