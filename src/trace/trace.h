/* SPDX-License-Identifier: MIT */
/* trace: what a process built with -fchord=trace left beside its profile: read, checked, turned back into what ran. Files are
 * read piece by piece, so that memory does not depend on their length, and may belong to a process that is alive. Whatever is
 * wrong is reported as a text; what is before it can still be had. */
#ifndef CHORD_TRACE_READER_H
#define CHORD_TRACE_READER_H

#include "base/base.h"
#include "format/pack.h"
#include "format/trace.h"
#include "profile/profile.h"

/* ---- file.c ---- */

/* An extent with slots: PACKS, or a ring. */
struct trace_extent {
	uint64_t offset;         /* in the file, of what is behind its head */
	uint64_t bytes;          /* used there */
	uint64_t first, end;     /* segments; of PACKS end is not known: 0 */
	uint64_t from;           /* of a ring: segment number of its first place */
	bool ring;
};

/* What one region wrote. */
struct trace_stream {
	VEC(struct trace_extent) extent; /* by first segment */
};

struct trace_file {
	struct pool *pool;
	int fd;                  /* -1: the bytes are in memory */
	struct str bytes;
	uint64_t size, page;
	uint32_t flags;          /* CHORD_TRACE_... */
	uint64_t pid, id, id2, error;
	VEC(struct chord_trace_module) module; /* in the order in which they were loaded */
	VEC(struct trace_stream) stream;
	const char *fault;       /* what is wrong with it from some place on; NULL: nothing that was seen so far */
};

/* NULL: it is no trace at all, *why says why (pool). */
struct trace_file *trace_open(struct pool *pool, const char *path, const char **why);
struct trace_file *trace_parse(struct pool *pool, struct str bytes, const char **why);
void trace_close(struct trace_file *f); /* NULL is fine */
/* The name of the trace that belongs to a profile (pool). */
char *trace_name(struct pool *pool, const char *profile);
/* In words why the trace does not hold all that ran; NULL: it does, as far as its head and its extents say. */
const char *trace_short(struct pool *pool, const struct trace_file *f);

/* ---- slots.c: the slots of a stream, in order, a segment at a time ---- */

struct slots {
	struct trace_file *file;
	const struct trace_stream *stream;
	size_t next;             /* extent to go on with */
	uint64_t at, left;       /* in the extent of packed segments: offset of the next record, bytes from there on */
	uint64_t segment;        /* that comes next */
	uint64_t done;           /* bytes of the file read */
	const char *fault;       /* not NULL: the stream goes on, and cannot be read; in the file's pool */
	struct chord_pack pack;
	size_t n;                /* slots, in the order in which they were reserved; 0 are some that were not written */
	uint32_t slot[CHORD_TRACE_SLOTS];
	uint8_t packed[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8];
};
/* On the heap; free() ends it. */
struct slots *slots_new(struct trace_file *f, size_t stream);
/* Reads the next segment into slot[]. False: there is none, or `fault`. */
bool slots_next(struct slots *r);
/* The next one to be read is that segment. False: there is none of that number, or `fault`. */
bool slots_seek(struct slots *r, uint64_t segment);
/* Bytes of the file that the stream takes, for progress. */
uint64_t trace_stream_bytes(const struct trace_stream *s);

/* The module of a token, its place in f->module, of those that were there when the list had n entries; UINT32_MAX: of none. */
uint32_t trace_module_of(const struct trace_file *f, uint32_t token, size_t n);

/* ---- counts.c ---- */

/* Adds the tokens of all streams (or of one, its number plus 1) to the counters of the profile to which the trace belongs. NULL, or
 * why it is not known how often each path ran (pool). */
const char *trace_add_counts(struct pool *pool, struct trace_file *f, struct profile *p, uint64_t stream);
/* Does it belong to that profile, which is of one process? */
bool trace_is_of(const struct trace_file *f, const struct profile *p);
/* Does both, where a trace stands beside a profile of that name. NULL also if there is none: modules that have been filled are
 * marked. */
const char *trace_fill(struct pool *pool, const char *profile, struct profile *p, uint64_t stream);

#endif
