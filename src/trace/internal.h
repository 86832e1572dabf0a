/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_TRACE_INTERNAL_H
#define CHORD_TRACE_INTERNAL_H

#include "trace/trace.h"

/* file.c: bytes of the file. False: they are not there. */
bool trace_bytes(const struct trace_file *f, uint64_t offset, void *to, size_t n);

/* paths.c: the last instruction of a block that is no padding. */
enum chord_insn trace_last_insn(const struct block *b);

/* sink.c: where what an encoding writes goes: it is counted and compressed, not kept. */
struct sink;
struct sink *sink_new(void);
void sink_free(struct sink *s); /* NULL is fine */
/* So many writes of so many bits together, in bytes, the first one lowest; bits of the last byte that are not among them are 0. */
void sink_put(struct sink *s, uint64_t writes, uint64_t bits, const uint8_t *at);
/* The end of a thread's trace. */
void sink_end(struct sink *s);
/* What was put, up to the last sink_end(). */
struct encoding_sum sink_sum(const struct sink *s);

/* encoded.c: what a path writes, from the arcs that it takes (pool). */
void encode_path(struct pool *pool, struct encoded_path *x, const struct replay_path *p, struct writes *w);

#endif
