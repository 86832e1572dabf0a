/* SPDX-License-Identifier: MIT */
/* collect: runs a traced program, and packs beside it, in processes of its own, what the program and its children trace
 * (format/trace.h). */
#ifndef CHORD_COLLECT_H
#define CHORD_COLLECT_H

#include "base/base.h"
#include "format/pack.h"
#include "format/trace.h"

#include <sys/types.h>

/* ---- run.c ---- */

/* Runs a program to its end, then waits until the traces of its ended processes are packed. Processes that live on keep their
 * collectors. *status: the program's wait status. *traces: how many processes have left their traces to collectors. False:
 * reported. */
bool collect_run(char *const *argv, int *status, uint64_t *traces);

/* ---- one.c: the trace of one process ---- */

/* Packs the trace in the file with that descriptor while it is written, until the process has ended. process: a pidfd; below 0: the
 * process has ended. If this process is killed the trace is not damaged: the traced process then packs by itself. Errors are not
 * reported. */
void collect_one(int file, int process);

/* ---- stream.c: what one thread wrote ---- */

struct collect_stream {
	uint32_t number;                 /* of the stream: its region */
	struct chord_extent_head *ring;  /* the newest, mapped */
	uint64_t size, place;            /* bytes of the ring; its offset in the file */
	struct chord_extent_head *packs; /* the newest, mapped; NULL: none yet */
	uint64_t packs_size, packs_place;
	struct chord_pack pack;          /* the packer's state in this extent */
	struct ZSTD_CCtx_s *zstd;        /* compresses its output */
	bool spent;                      /* a segment did not fit into `packs`: the packer and zstd have gone on without it */
	uint8_t packed[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8];
};

struct collect_trace {
	int file;
	struct chord_trace_head *head;
	struct chord_trace_talk *talk;
	uint64_t page, looked;           /* page: bytes of a page in the file. looked: extents before this offset are known */
	bool ended;                      /* the process has ended */
	bool full;                       /* the file cannot grow any more */
	VEC(struct collect_stream *) stream;
};

/* The part of a ring's head in which the collector and the thread communicate. */
struct chord_trace_room *collect_room(const struct chord_extent_head *ring);
/* Packs the complete segments of a stream. False: there were none, or there is no room for them now. */
bool collect_stream(struct collect_trace *t, struct collect_stream *s);
/* Returns to the file system the room that the stream of an ended process does not need. */
void collect_trim(const struct collect_trace *t, struct collect_stream *s);

#endif
