/* SPDX-License-Identifier: MIT */
/* Measure paths: what a map says of them. */
#include "profile/measure.h"

static void
map(struct in *in, struct proc *p, const struct record *r)
{
	(void)r;
	get_paths(in, p);
}

const struct profile_measure profile_measure_paths = {.map = map};
