/* SPDX-License-Identifier: MIT */
/* collect: runs a traced program and packs, in processes beside it, what it and its children trace (format/trace.h). */
#ifndef CHORD_COLLECT_H
#define CHORD_COLLECT_H

#include "base/base.h"
#include "format/pack.h"
#include "format/trace.h"

#include <sys/types.h>

/* ---- run.c ---- */

/* Runs a program to its end, and waits until what its ended processes traced is packed. Those that live on keep their collectors.
 * *status: its wait status. *traces: so many processes have left their traces to collectors. False: reported. */
bool collect_run(char *const *argv, int *status, uint64_t *traces);

/* ---- one.c: the trace of one process ---- */

/* Packs the trace in that file as it is written, until the process has ended. process: a descriptor of it; below 0: it has ended.
 * Signals that end this process do the trace no harm: the traced process then packs by itself. */
void collect_one(int file, int process);

/* ---- stream.c: what one thread wrote ---- */

struct collect_stream {
	uint32_t number;
	struct chord_extent_head *ring;  /* the newest, mapped */
	uint64_t size, place;            /* of it; its offset in the file */
	struct chord_extent_head *packs; /* the newest, mapped; NULL: none yet */
	uint64_t packs_size, packs_place;
	struct chord_pack pack;
	struct ZSTD_CCtx_s *zstd;        /* behind that */
	uint8_t packed[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8];
};

struct collect_trace {
	int file;
	struct chord_trace_head *head;
	struct chord_trace_talk *talk;
	uint64_t page, looked;           /* extents before that offset are known */
	bool ended;                      /* the process has */
	bool full;                       /* the file cannot grow */
	VEC(struct collect_stream *) stream;
};

/* Where the collector of that trace and a thread talk about a ring. */
struct chord_trace_room *collect_room(const struct chord_extent_head *ring);
/* Packs what is complete. False: there was nothing, or there is no room for it now. */
bool collect_stream(struct collect_trace *t, struct collect_stream *s);
/* Gives back the room in the file that the ended process's stream does not need. */
void collect_trim(const struct collect_trace *t, struct collect_stream *s);

#endif
