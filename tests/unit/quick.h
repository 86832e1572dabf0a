/* SPDX-License-Identifier: MIT */
/* Two sizes of a test: whole, as `make check` runs it, and quick (CHORD_UNIT=quick), as `make unit` runs it: with fewer or
 * smaller inputs of the same kinds, and the same assertions. */
#ifndef CHORD_TEST_QUICK_H
#define CHORD_TEST_QUICK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool
is_quick(void)
{
	const char *size = getenv("CHORD_UNIT");

	return size && !strcmp(size, "quick");
}

/* How many inputs, or how large a one. */
static inline uint32_t
size_of(uint32_t whole, uint32_t quick)
{
	return is_quick() ? quick : whole;
}

#endif
