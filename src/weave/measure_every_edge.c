/* SPDX-License-Identifier: MIT */
/* Measure every-edge: counters on the chords that the measure edges counts, and on each further edge that can have one. */
#include "weave/measure.h"

static void
plan(struct plan *l, struct woven *w)
{
	count_chords(l->u, w, CHORD_EVERY_EDGE);
}

const struct weave_measure weave_every_edge = {.plan = plan, .probe = count_probe};
