/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_TRACE_INTERNAL_H
#define CHORD_TRACE_INTERNAL_H

#include "trace/trace.h"

/* file.c: bytes of the file. False: they are not there. */
bool trace_bytes(const struct trace_file *f, uint64_t offset, void *to, size_t n);

#endif
