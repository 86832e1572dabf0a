/* SPDX-License-Identifier: MIT */
/* measure: what is known of each measure without knowing how it is done, from the registry (format/measures.h). A set of
 * measures is a number with bit m for measure m. */
#ifndef CHORD_MEASURE_H
#define CHORD_MEASURE_H

#include "base/base.h"
#include "format/measures.h"

struct measure {
	const char *name;
	uint32_t needs;         /* set */
	uint32_t traits;        /* CHORD_FLOW ... */
	const char *what;       /* it counts */
};

/* By number, CHORD_MEASURES of them. */
extern const struct measure measure_list[];

/* Its number; CHORD_MEASURES if there is none of that name. */
uint32_t measure_named(struct str name);
static inline bool
measures_have(uint32_t set, uint32_t m)
{
	return set >> m & 1;
}
/* The one with the lowest number; the set is not empty. */
static inline uint32_t
measures_first(uint32_t set)
{
	return (uint32_t)__builtin_ctz(set);
}
/* Those of a set that have one of the traits. */
uint32_t measures_with(uint32_t set, uint32_t traits);
/* Adds what they need, and edges if nothing else is asked for. */
uint32_t measures_complete(uint32_t set);
/* Two measures of the set that do not go together. False: all do. */
bool measures_clash(uint32_t set, uint32_t *a, uint32_t *b);
/* The names of a set, with `between` before all but the first and `last` before the last one. */
void measures_names(struct buf *b, uint32_t set, const char *between, const char *last);
/* A line for each: its name, its traits with commas between them (- if it has none), what it counts. */
void measures_list(struct buf *b);

#endif
