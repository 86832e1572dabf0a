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

/* Packed segments, or a ring. */
struct trace_extent {
	uint64_t offset;         /* in the file, of what is behind its head */
	uint64_t bytes;          /* used there */
	uint64_t first, end;     /* segments; of packed ones the end is not known: 0 */
	uint64_t from, ring;     /* of a ring: segment number of its first place; segments that have room */
};

/* What one region wrote, or (number UINT32_MAX) threads without one. */
struct trace_stream {
	uint32_t number;
	VEC(struct trace_extent) packs, ring; /* by first segment */
};

struct trace_file {
	struct pool *pool;
	int fd;                  /* -1: the bytes are in memory */
	struct str bytes;
	uint64_t size, page;
	uint32_t version, flags; /* CHORD_TRACE_... */
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
	size_t next;             /* extent of packed segments to go on with */
	uint64_t at, left;       /* in the one before: offset of the next record, bytes from there on */
	struct chord_trace_record record; /* that one, if it has been read */
	bool peeked, ended;
	uint64_t segment;        /* that comes next */
	uint64_t done;           /* bytes of the file read */
	uint64_t last, in;       /* segments behind it are empty, in the ring at that offset; 0: not looked yet */
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

/* ---- paths.c: what tokens stand for ---- */

/* How a path begins, and how it ends. */
enum replay_begin {
	REPLAY_ENTERS,           /* with the procedure's entry */
	REPLAY_LANDS,            /* where an exception, or a jump out of another activation, comes in */
	REPLAY_GOES_ON,          /* behind where the path before it ended */
};
enum replay_end {
	REPLAY_CUT,              /* the activation goes on with another path */
	REPLAY_CALLS,            /* before a call is made */
	REPLAY_RETURNS,
	REPLAY_TAIL,             /* before a jump to another procedure */
	REPLAY_STOPS,            /* a trap, or a jump to another activation */
};

struct replay_path {
	const struct proc *proc;
	uint32_t module;         /* its place in the profile's list */
	uint32_t n;              /* blocks, in the order in which they were entered */
	uint32_t *block;
	uint64_t sum, insns;
	uint32_t from, next;     /* vertices: where it begins, where the next begins; GRAPH_NONE: nowhere */
	enum replay_begin begin;
	enum replay_end end;
};

/* Finds what tokens stand for, each once. */
struct replay_code;
/* map: by module of the profile; NULL where there is none. */
struct replay_code *replay_code_new(const struct trace_file *f, const struct profile *p, const struct map *const *map);
void replay_code_free(struct replay_code *c); /* NULL is fine */
/* Where n modules are listed. NULL: that is not known. */
const struct replay_path *replay_path_of(struct replay_code *c, uint32_t token, size_t n);

/* ---- replay.c: a stream as what its threads did, with a stack ---- */

/* Why an activation is there, or is no longer. */
enum replay_how {
	REPLAY_BY_CALL,          /* or from code that is not traced and was called there */
	REPLAY_BY_TAIL_CALL,     /* in place of the one that ended with it */
	REPLAY_FROM_OUTSIDE,     /* nothing traced is below it */
	REPLAY_FROM_NOWHERE,     /* in the middle of a path of the one below: a signal's handler. That path's blocks come behind */
	REPLAY_FOUND,            /* it had begun before, and is not known from where */
	REPLAY_BY_RETURN,
	REPLAY_BY_JUMP,          /* longjmp, an exception: it was left without returning */
	REPLAY_AT_END,           /* of the thread's trace: it had not ended */
};

/* What an activation is at. */
enum replay_at { REPLAY_RUNS, REPLAY_AT_CALL, REPLAY_LEFT_BY_TAIL_CALL, REPLAY_STOPPED };

struct replay_frame {
	const struct proc *proc;
	uint32_t module;
	uint32_t next;           /* vertex where it goes on; GRAPH_NONE: nowhere */
	enum replay_at at;
	const struct replay_path *last;
	uint64_t since;          /* instructions of the thread before it */
	void *note;              /* the user's */
};

struct replay {
	struct trace_file *file;
	struct replay_code *code;
	struct slots *slots;
	VEC(struct replay_frame) stack;
	size_t listed;           /* modules */
	uint64_t thread;         /* id, as marks have it; 0: none yet */
	uint64_t insns;          /* that the thread has executed in traced code, before the path that is told of */
	uint64_t blocks;
	uint64_t unknown;        /* slots that are not understood */
	bool leaves;             /* the next token comes behind a jump that ended so many activations: */
	uint32_t ended;
	bool stop;               /* set by the user: no more */
	/* What the user is told; any may be NULL. */
	void *ctx;
	void (*thread_begins)(struct replay *r, enum chord_mark kind);
	void (*enters)(struct replay *r, enum replay_how how); /* the frame on top */
	void (*leaves_frame)(struct replay *r, enum replay_how how); /* likewise, just before it is gone */
	void (*runs)(struct replay *r, const struct replay_path *p); /* in the frame on top */
};
/* Goes through a stream from its beginning. NULL: to its end, or until `stop`; else what is wrong with it there. */
const char *replay_stream(struct replay *r, size_t stream);

#endif
