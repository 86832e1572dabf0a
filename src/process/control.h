/* SPDX-License-Identifier: MIT */
/* The control block of the runtimes, in a running process or in a core file. */
#ifndef CHORD_CONTROL_H
#define CHORD_CONTROL_H

#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger numbers are taken for damage. */
enum { CONTROL_MODULES_MOST = 0x7ffe, CONTROL_REGIONS_MOST = 1 << 20 };

/* Reads memory of the other process. False: not all of it is there. */
typedef bool control_read_fn(const void *of, uint64_t addr, void *to, size_t n);

/* Finds the control block and copies its fields to *live; live->magic is 0 if there is none. False: it has another version, or is
 * damaged. */
bool control_find(control_read_fn *read, const void *of, struct chord_live *live);
/* The address of the anchor page that leads to the control block; 0: there is none. */
uint64_t control_anchor(control_read_fn *read, const void *of);
/* True if a mapping of n bytes at that address may contain the anchor page. */
bool control_may_be(uint64_t at, uint64_t n);
/* True if nothing is mapped where the anchor page may be. */
bool control_absent(control_read_fn *read, const void *of);
/* Reads the first n bytes of element i of an array in chunks; size: bytes of an element. False: not there. */
bool control_item(control_read_fn *read, const void *of, uint64_t chunks, uint32_t size, uint32_t i, void *to, size_t n);

#endif
