/* SPDX-License-Identifier: MIT */
/* What formats of coverage have in common: functions where they are declared, and the branches of a line. */
#ifndef CHORD_EXPORT_COVERAGE_H
#define CHORD_EXPORT_COVERAGE_H

#include "export/export.h"

/* A function with code of its own that begins in a file. Its calls are those of that code; copies of one source in several
 * objects are summed. */
struct covered {
	const char *file, *name;
	unsigned line, end;      /* where it is declared, and the last line of which it has code, inlined or not */
	uint64_t calls;
};
/* By file, line and name. Those are left out that were not called though copies of them ran that are inlined elsewhere, for
 * then it is not known how often they were. */
struct covered_list { struct covered *at; size_t n, cap; bool fits; }; /* fits: no sum is larger than 64 bits */
struct covered_list covered_functions(const struct export *x);
/* Those of one file. */
const struct covered *covered_in(const struct covered_list *all, const char *file, size_t *n);

/* Those of a line that can be shown: none, if the line ran but no jump of it did, because the compiler had decided without. */
const struct view_branch *covered_branches(const struct export *x, uint32_t file, const struct view_line *line, size_t *n);

/* The whole of a ratio, as coverage tools print it: 0 to 1. */
double covered_rate(uint64_t hit, uint64_t all);

#endif
