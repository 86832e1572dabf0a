/* SPDX-License-Identifier: MIT */
/* What formats of coverage have in common: functions at their declarations, and the branches of a line. */
#ifndef CHORD_EXPORT_COVERAGE_H
#define CHORD_EXPORT_COVERAGE_H

#include "export/export.h"

/* A function with code of its own that begins in a file. Inlined copies are not among its calls; copies of one source in several
 * objects are summed. */
struct covered {
	const char *file, *name;
	unsigned line, end;      /* the line of its declaration, and the last line with code of it, inlined or not */
	uint64_t calls;
};
/* All such functions by file, line and name; the caller frees `at`. A function that was never called is left out if copies of it
 * ran inlined elsewhere, because it is not known how often these began. */
struct covered_list { struct covered *at; size_t n, cap; bool fits; }; /* fits: all sums fit in 64 bits */
struct covered_list covered_functions(const struct export *x);
/* The functions of one file: a part of the list, *n of them. */
const struct covered *covered_in(const struct covered_list *all, const char *file, size_t *n);

/* The branches of a line that can be shown. None, if a count is not known, or if the line ran but none of its jumps did, because
 * the compiler had decided the condition. */
const struct view_branch *covered_branches(const struct export *x, uint32_t file, const struct view_line *line, size_t *n);

/* The ratio hit / all, 0 to 1, as coverage tools print it; 1 if all is 0. */
double covered_rate(uint64_t hit, uint64_t all);

#endif
