/* SPDX-License-Identifier: MIT */
/* The declarations of shadow.c. */
#ifndef SHADOW_H
#define SHADOW_H

#include "format/format.h"

#include <stdint.h>

enum { DENSE = 64, BITS = 6 };

/* Calls f(arg) with r, the address of a counter for base 0, in its slot, and counts there when it has returned. */
extern long hold(long (*f)(long), long arg, uint64_t *r);
/* Counts path number sum of the hash table. */
extern void path(uint64_t sum);
/* The counters: of hold, and the hash table's entries. */
extern uint64_t dense[DENSE], hashed[2 << BITS];

#endif
