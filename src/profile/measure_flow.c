/* SPDX-License-Identifier: MIT */
/* Measures whose counters belong to blocks and edges. The map's graph names them; their sections are empty, except for numbers that
 * no reader needs. */
#include "profile/measure.h"

const struct profile_measure profile_measure_edges, profile_measure_every_block, profile_measure_every_edge,
	profile_measure_blocks;

static void
map_vcnt(struct in *in, struct proc *p, const struct record *r)
{
	(void)p;
	(void)r;
	in_below(in, CHORD_VCNTS, "counters of blocks in an unknown place");
}

const struct profile_measure profile_measure_blocks_vcnt = {.map = map_vcnt};

/* The clock has the counter of an event, which the measure events reads. */
const struct profile_measure profile_measure_clock;
