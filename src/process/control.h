/* SPDX-License-Identifier: MIT */
/* The control block of the runtimes, in a running process or in a core file. */
#ifndef CHORD_CONTROL_H
#define CHORD_CONTROL_H

#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger number means damage. */
enum { CONTROL_MODULES_MOST = 0x7ffe, CONTROL_REGIONS_MOST = 1 << 20 };

/* Reads another process's memory. False: not all of it is there. */
typedef bool control_read_fn(const void *of, uint64_t addr, void *to, size_t n);

/* Fills live, with magic 0 if there is no control block. False: it is of another version, or damaged. */
bool control_find(control_read_fn *read, const void *of, struct chord_live *live);
/* The address of the anchor page that leads to it; 0: there is none. */
uint64_t control_anchor(control_read_fn *read, const void *of);
/* Can it be that there is one since n bytes have been mapped there? */
bool control_may_be(uint64_t at, uint64_t n);
/* Is nothing mapped where one may be? */
bool control_absent(control_read_fn *read, const void *of);
/* Reads element i of an array in chunks: the first n of its size bytes. */
bool control_item(control_read_fn *read, const void *of, uint64_t chunks, uint32_t size, uint32_t i, void *to, size_t n);

#endif
