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

struct profile_measure {
	/* Reads its section of a record, behind the graph; NULL: it is empty. */
	void (*map)(struct in *in, struct proc *p, const struct record *r);
};

#define PROFILE_MEASURE(id, lower, ...) extern const struct profile_measure profile_measure_##lower;
CHORD_MEASURE_LIST(PROFILE_MEASURE)

/* The sections of a record up to its end. */
void sections_read(struct in *in, struct proc *p, const struct record *r);

#endif
