/* SPDX-License-Identifier: MIT */
/* Measure clock: an event whose counter is a software instruction counter. clock.c finds its places; all else is done by the
 * measure events, which it needs. */
#include "weave/measure.h"

const struct weave_measure weave_clock = {0};
