/* SPDX-License-Identifier: MIT */
/* Measure trace: paths in the order in which they ran. Its maps are those of paths, and so are its counts, once somebody has
 * counted what was written down. */
#include "profile/measure.h"

const struct profile_measure profile_measure_trace = {
	.map = paths_map, .begin = paths_begin, .solve = solve_paths, .solve_own = solve_ran,
};
