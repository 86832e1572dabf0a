/* SPDX-License-Identifier: MIT */
/* Measures whose counters stand beside the blocks and edges that they count: the map's graph names them, their sections are
 * empty. */
#include "profile/measure.h"

const struct profile_measure profile_measure_edges, profile_measure_every_block, profile_measure_every_edge;
