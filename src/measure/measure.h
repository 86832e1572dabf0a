/* SPDX-License-Identifier: MIT */
/* measure: what is known of each measure without knowing how it is done, from the registry (format/measures.h). A set of measures
 * is a number with bit m for measure m. */
#ifndef CHORD_MEASURE_H
#define CHORD_MEASURE_H

#include "base/base.h"
#include "format/measures.h"

struct measure {
	const char *name;
	uint32_t needs;         /* set */
	uint32_t traits;        /* CHORD_FLOW ... */
	const char *what;       /* what it counts */
};

/* By number, CHORD_MEASURES of them. */
extern const struct measure measure_list[];

/* The number of the measure with that name; CHORD_MEASURES: there is none. */
uint32_t measure_named(struct str name);
/* True if measure m is in the set. */
static inline bool
measures_have(uint32_t set, uint32_t m)
{
	return set >> m & 1;
}
/* The measure with the lowest number; the set must not be empty. */
static inline uint32_t
measures_first(uint32_t set)
{
	return (uint32_t)__builtin_ctz(set);
}
/* Those measures of a set that have one of the traits. */
uint32_t measures_with(uint32_t set, uint32_t traits);
/* Adds what the measures of a set need themselves (not what these need in turn; measures of the flow only if the set has none), and
 * edges if the set is empty. */
uint32_t measures_complete(uint32_t set);
/* True if two measures of the set, *a and *b, do not go together. */
bool measures_clash(uint32_t set, uint32_t *a, uint32_t *b);
/* Appends the names of a set, with `last` before the last one, and `between` before the others except the first. */
void measures_names(struct buf *b, uint32_t set, const char *between, const char *last);
/* Appends a line for each measure: its name, its traits with commas between them (- if it has none), what it counts. */
void measures_list(struct buf *b);

#endif
