/* SPDX-License-Identifier: MIT */
/* Measure calls: which counters have the sums of a call. */
#include "profile/measure.h"

/* They stand in the list of calls. */
static void
map(struct in *in, struct proc *p, const struct record *r)
{
	for (uint32_t i = 0; i < p->ncall && !in->bad; i++) {
		bool pointer = p->call[i].flags & CHORD_CALL_POINTER;

		if (p->call[i].sum && (uint64_t)p->call[i].sum + r->nevent + pointer > (uint64_t)p->ncounter + 1)
			in_bad(in, "a counter that is not there");
	}
	if (!p->summed)
		in_bad(in, "sums of calls that have none");
}

const struct profile_measure profile_measure_calls = {.map = map};
