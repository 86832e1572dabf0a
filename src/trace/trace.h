/* SPDX-License-Identifier: MIT */
/* trace: what a process built with -fchord=trace left beside its profile: read, checked, turned back into what ran. Files are
 * read piece by piece, so that memory does not depend on their length, and may belong to a process that is alive. Whatever is
 * wrong is reported as a text; what is before it can still be had. */
#ifndef CHORD_TRACE_READER_H
#define CHORD_TRACE_READER_H

#include "base/base.h"
#include "format/pack.h"
#include "format/trace.h"
#include "machine/machine.h"
#include "profile/profile.h"

/* ---- file.c ---- */

/* Packed segments, or a ring. */
struct trace_extent {
	uint64_t offset;         /* in the file, of what is behind its head */
	uint64_t bytes;          /* used there */
	uint64_t first, end;     /* segments; of packed ones the end is not known: 0 */
	struct chord_trace_gone gone; /* of a ring: what was in it before `first` */
	bool zstd;               /* packed ones were compressed behind that */
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
	struct trace_memory *memory; /* of the process that kept it; NULL: not there */
	uint64_t size, page;
	uint32_t version, flags; /* CHORD_TRACE_... */
	uint64_t pid, id, id2, error;
	uint64_t gone;           /* segments that were not kept (CHORD_TRACE_LAST) */
	VEC(struct chord_trace_module) module; /* in the order in which they were loaded */
	VEC(struct trace_stream) stream;
	const char *fault;       /* what is wrong with it from some place on; NULL: nothing that was seen so far */
};

/* NULL: it is no trace at all, *why says why (pool). */
struct trace_file *trace_open(struct pool *pool, const char *path, const char **why);
struct trace_file *trace_parse(struct pool *pool, struct str bytes, const char **why);
/* Reads another process's memory. False: not all of it is there. */
typedef bool trace_read_fn(const void *of, uint64_t addr, void *to, size_t n);
/* The trace that a process kept in its memory because there could be no file; anchor: where the address of its control block
 * stands. NULL and *why NULL: there is none. `of` must outlive it. */
struct trace_file *trace_of_memory(struct pool *pool, trace_read_fn *read, const void *of, uint64_t anchor, const char **why);
void trace_close(struct trace_file *f); /* NULL is fine */
/* The name of the trace that belongs to a profile (pool). */
char *trace_name(struct pool *pool, const char *profile);
/* In words why the trace does not hold all that ran; NULL: it does, as far as its head and its extents say. */
const char *trace_short(struct pool *pool, const struct trace_file *f);
/* Likewise, what was to be so: only the end was kept. */
const char *trace_tail(struct pool *pool, const struct trace_file *f);

/* ---- slots.c: the slots of a stream, in order, a segment at a time ---- */

struct replay_code;
struct words;
struct slots {
	struct trace_file *file;
	const struct trace_stream *stream;
	size_t next;             /* extent of packed segments to go on with */
	uint64_t at, left;       /* in the one before: offset of the next record, bytes from there on */
	struct chord_trace_record record; /* that one, if it has been read */
	uint64_t number;         /* its segment */
	bool peeked, ended;
	bool packs;              /* the segment before was packed */
	uint64_t segment;        /* that comes next */
	uint64_t done;           /* bytes of the file read */
	uint64_t last, in;       /* segments behind it are empty, in the ring at that offset; 0: not looked yet */
	const char *fault;       /* not NULL: the stream goes on, and cannot be read; in the file's pool */
	struct ZSTD_DCtx_s *zstd; /* for extents that are compressed; NULL: there has been none */
	struct chord_pack pack;
	size_t n;                /* slots, in the order in which they were reserved; 0 are some that were not written */
	const uint32_t *slot;
	struct words *words;     /* puts paths in place of words of outcomes; NULL: slots are as they were written */
	size_t nraw;
	uint32_t raw[CHORD_TRACE_SLOTS + 2]; /* marks that are gone stand before the others */
	uint8_t packed[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8], stored[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 1024];
};
/* code: of paths that may stand in place of words of outcomes; NULL: these stay. */
struct slots *slots_new(struct trace_file *f, size_t stream, struct replay_code *code);
void slots_free(struct slots *r); /* NULL is fine */
/* Makes `to`, of the same stream, read on behind what `from` has read last. */
void slots_copy(struct slots *to, const struct slots *from);
/* Reads the next segment into slot[]. False: there is none, or `fault`. */
bool slots_next(struct slots *r);
/* Does an extent of packed segments come next, of which nothing has been read, that is not the stream's beginning, and can it be
 * read without what is before it? */
bool slots_at_extent(const struct slots *r);
/* The next one to be read is that segment, where so many modules are listed. False: there is none of that number, or `fault`. */
bool slots_seek(struct slots *r, uint64_t segment, size_t listed);
/* So many slots the stream has, up to the last one that was written. */
uint64_t slots_count(struct trace_file *f, size_t stream);
/* Bytes of the file that the stream takes, for progress. */
uint64_t trace_stream_bytes(const struct trace_stream *s);

/* The module of a token, its place in f->module, of those that were there when the list had n entries; UINT32_MAX: of none. */
uint32_t trace_module_of(const struct trace_file *f, uint32_t token, size_t n);

/* ---- counts.c ---- */

/* Adds the tokens of all streams (or of one, its number plus 1) to the counters of the profile to which the trace belongs. NULL, or
 * why it is not known how often each path ran (pool). map: by module of the profile, of those with witnesses, which have to be
 * followed; NULL, all or some: there is none. */
const char *trace_add_counts(struct pool *pool, struct trace_file *f, struct profile *p, uint64_t stream,
                             const struct map *const *map);
/* Why it cannot belong to that profile; NULL: it does. */
const char *trace_why_not(const struct trace_file *f, const struct profile *p);
/* Does both, where a trace stands beside a profile of that name. NULL also if there is none: modules that have been filled are
 * marked. */
const char *trace_fill(struct pool *pool, const char *profile, struct profile *p, uint64_t stream, const struct map *const *map);

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
	uint32_t number;         /* among the paths that were found: 0, 1, ... */
	uint32_t n;              /* blocks, in the order in which they were entered */
	uint32_t *block;
	uint32_t narc, *arc;     /* edges of the procedure, in order; that from ENTRY and the last one, which is cut, too */
	uint64_t sum, insns;
	uint64_t choices;        /* possible paths that begin where it does */
	const struct replay_witness *witness; /* what is written where it ends is the same for all paths that end there; NULL: it is
	                          * of this one only */
	const struct outcomes *outcomes; /* a word of these is written before it, of the paths that end with it; NULL: none is */
	bool softly;             /* it ends with a cut where a word of outcomes goes on: more may have run that is not written */
	bool may_leave;          /* it ends with a cut before an indirect jump, which may be a tail call */
	bool partial;            /* it is not known where it began: these are the last blocks of one */
	uint32_t listed, counter; /* a module of the trace, and which of its counters: what to find it by */
	uint32_t from, next;     /* vertices: where it begins, where the next begins; GRAPH_NONE: nowhere */
	enum replay_begin begin;
	enum replay_end end;
};

/* A place in a path: before an instruction of its block number `block`, from 0. The end is {n, 0}. */
struct replay_point { uint32_t block, insn; };
/* How many instructions are between. */
uint64_t replay_insns(const struct replay_path *p, struct replay_point from, struct replay_point to);

/* Finds what tokens stand for, each once. */
struct replay_code;
/* map: by module of the profile; NULL where there is none. */
struct replay_code *replay_code_new(const struct trace_file *f, const struct profile *p, const struct map *const *map);
void replay_code_free(struct replay_code *c); /* NULL is fine */
/* Where n modules are listed. NULL: it is no path, or (not *damaged) its code is not at hand. A witness's is one of those that end
 * with it. */
const struct replay_path *replay_path_of(struct replay_code *c, uint32_t token, size_t n, bool *damaged);
/* Of a witness: the path that begins at a vertex, or (REPLAY_ANEW) where activations begin or go on behind calls; NULL: there is
 * none. `sure`, if it is given: none begins elsewhere. */
enum { REPLAY_ANEW = UINT32_MAX };
const struct replay_path *replay_path_from(struct replay_code *c, uint32_t token, size_t n, uint32_t from, bool *sure);
/* What is known of its end if nothing is of its beginning. */
const struct replay_path *replay_path_end(struct replay_code *c, uint32_t token, size_t n);
/* That path again; NULL: there is none. */
const struct replay_path *replay_path_again(struct replay_code *c, uint32_t listed, uint32_t counter, bool partial);

/* ---- replay.c: a stream as what its threads did, with a stack ---- */

/* Why an activation is there, or is no longer. */
enum replay_how {
	REPLAY_BY_CALL,          /* or from code that is not traced and was called there */
	REPLAY_BY_TAIL_CALL,     /* in place of the one that ended with it */
	REPLAY_FROM_OUTSIDE,     /* nothing traced is below it */
	REPLAY_FROM_NOWHERE,     /* a signal's handler. Where it interrupted is known if replay.struck says so; else what the path
	                          * did that it interrupted comes behind */
	REPLAY_FOUND,            /* it had begun before, and is not known from where */
	REPLAY_BY_RETURN,
	REPLAY_BY_JUMP,          /* longjmp, an exception: it was left without returning */
	REPLAY_BY_EITHER,        /* by one of these two: see breaks in struct replay */
	REPLAY_AT_END,           /* of the thread's trace: it had not ended */
	REPLAY_UNSURE,           /* likewise, and it may have ended (struct replay: killed, breaks) */
	REPLAY_UNTRACED,         /* at the end: it had ended with a jump to code that is not traced */
};

/* What an activation is at. */
enum replay_at { REPLAY_RUNS, REPLAY_AT_CALL, REPLAY_LEFT_BY_TAIL_CALL, REPLAY_STOPPED };

struct replay_frame {
	const struct proc *proc;
	uint32_t module;
	uint32_t next;           /* vertex where it goes on; GRAPH_NONE: nowhere */
	enum replay_at at;
	const struct replay_path *last;
	const struct replay_path *path; /* that has been written, and the user has been told of it up to `done`; NULL: none */
	const struct replay_path *ahead; /* likewise, and it is written later: a signal struck amid it */
	struct replay_point done;
	bool waits;              /* a signal struck when `path` had been written, and it was not over */
	bool broken;             /* it is not known how far it came, nor what interrupted it */
	uint64_t announced;      /* a handler that a signal struck before it could say that it is there: the mark that it writes
	                          * then, and a bit that is never 0 */
	bool jumps;              /* a signal struck when it had said that it jumps out of so many activations: */
	uint32_t ended;
	uint32_t unseen, perhaps; /* activations between the one below and a handler, that have written nothing: there are so
	                          * many, and perhaps so many more */
	uint64_t since;          /* instructions of the thread before it */
	void *note;              /* the user's */
};

/* Where a signal struck. */
struct replay_strike {
	const struct proc *proc; /* NULL: in code that is not traced, or it is not known */
	uint32_t module;
	uint32_t block, insn;    /* the next instruction; block UINT32_MAX: it is outside of the procedure */
	bool ahead;              /* before that a slot is taken for the path */
	bool more;               /* or behind that, in the same block. Else, if the path ends with the block: */
	bool passed;             /* it has been taken before, */
	bool unclear;            /* or that is not known */
	bool outside;            /* proc NULL: and it was not a handler on its way back */
	bool entry;              /* if the procedure is a handler, it may not have said yet that it is there */
};

struct trace_index;
struct replay {
	struct trace_file *file;
	struct replay_code *code;
	struct slots *slots;
	struct trace_index *index; /* that is being made; NULL: none */
	size_t number;           /* of the stream, its place in the file's list */
	uint64_t part;           /* threads before this one in the stream of which anything was told */
	bool told;               /* something has been of this one */
	size_t i;                /* in the segment: the slot that is taken */
	struct slots *scout;     /* what reads ahead; NULL: not needed so far */
	uint32_t event;          /* a mark that another one follows; 0: none */
	uint32_t strikes;        /* handlers that have said that they are there, and of which no path has been written */
	uint32_t unseen, perhaps; /* of the frame that the next one of them will have */
	struct replay_strike struck; /* where the last one of them struck */
	VEC(struct replay_frame) stack;
	size_t listed;           /* modules */
	uint64_t thread;         /* id, as marks have it; 0: none yet */
	uint64_t insns;          /* that the thread has executed in traced code, before what is told of */
	uint64_t unknown;        /* paths whose code is not at hand */
	uint64_t partial;        /* paths of which only the end is known: witnesses behind what is not in the trace; and */
	uint64_t missed;         /* words of outcomes of which nothing is known, for the same reason */
	bool lost;               /* activations may be under way of which the stream does not have what they wrote before */
	bool jumped;             /* the next path begins where a jump leads */
	bool forked;             /* the next path is a forked child's first one: nothing is pending where it was forked */
	bool leaves;             /* the next token comes behind a jump that ended so many activations: */
	uint32_t ended;
	uint32_t ends, by;       /* enum chord_ends, how the thread has said that it ends, and by which signal; 0: it has not */
	bool silent;             /* nothing stands behind that */
	uint32_t made, stream;   /* CHORD_EVENT_CREATES: the thread, and its stream. UNMADE: the thread, if it is the last one */
	uint32_t joined, joined_in; /* JOINS: the thread, and its stream */
	uint64_t stamp;          /* STAMP */
	uint64_t forks;          /* FORKS, FORKED: the number of the fork */
	uint32_t parent;         /* FORKED: the process */
	bool killed;             /* set by the user: a path that a thread wrote last may not have come to its end, because a path is
	                          * written before its last instructions have run */
	bool stop;               /* set by the user: no more */
	/* What the user is told; any may be NULL. */
	void *ctx;
	void (*thread_begins)(struct replay *r, enum chord_mark kind);
	/* Nothing more is known of the thread; why that is so as far as `ends` says. */
	void (*thread_ends)(struct replay *r);
	/* One of ENDS, CREATES, UNMADE, FORKS, FORKED, JOINS, STAMP. */
	void (*happens)(struct replay *r, enum chord_event event);
	void (*enters)(struct replay *r, enum replay_how how); /* the frame on top */
	void (*leaves_frame)(struct replay *r, enum replay_how how); /* likewise, just before it is gone */
	/* In the frame on top: a path, or so much of it as lies between signals. */
	void (*runs)(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to);
	/* In the frame on top: of what is told from here on it is not known whether it ran. */
	void (*unsure)(struct replay *r);
	/* In the frame on top: what it did further is not known. A signal's handler never said what it had interrupted. */
	void (*breaks)(struct replay *r);
	/* A slot of the measure data; a jump is about to be made out of the frame on top, or back into it. */
	void (*writes)(struct replay *r, uint32_t slot);
	void (*jumps)(struct replay *r);
	/* Finds what is at an address of the module that was interrupted there. NULL: paths are told of as they were written. */
	bool (*locate)(struct replay *r, uint32_t module, uint64_t addr, struct replay_strike *s);
	/* With `locate`: a place in the path up to which it had run for certain when its slot was taken. */
	struct replay_point (*written)(struct replay *r, const struct replay_path *p);
};
/* Goes through a stream from its beginning. NULL: to its end, or until `stop`; else what is wrong with it there. */
const char *replay_stream(struct replay *r, size_t stream);
/* The same in steps, so that several streams can be read in turns. Each takes a slot; false: there is none, or `stop`. */
void replay_begin(struct replay *r, size_t stream);
bool replay_step(struct replay *r);
const char *replay_end(struct replay *r);

/* ---- state.c: all that is known between two slots, as bytes ---- */

/* map: by module of the profile, as code was made of. False: there is more than can be told of by these. */
bool replay_save(const struct replay *r, const struct map *const *map, const struct profile *p, struct buf *to);
/* Makes a replay that was begun one that has come to that segment, the first one of an extent. False: the bytes are not of such a
 * state; nothing has changed. Notes of frames are NULL. */
bool replay_restore(struct replay *r, const struct map *const *map, const struct profile *p, struct str bytes, uint64_t segment);

/* ---- index.c: states at many places, in a file beside the trace. What is not of this trace, as it is now and as this program
 * reads it, is not used ---- */

#define CHORD_TRACE_INDEX ".index" /* behind the name of the trace */

struct trace_state {
	uint32_t stream;         /* its place in the file's list */
	uint64_t part, thread, insns; /* as in struct replay */
	uint64_t segment;        /* that comes next */
	size_t entered, nentered; /* in trace_index.bytes: how often the thread has entered procedures; and how many bytes: */
	size_t at, n;            /* likewise, what replay_save() wrote */
	size_t data, ndata;      /* likewise, what data_save() wrote, if it was asked for */
	uint64_t events;         /* of the stream, before it */
};

/* What is kept of a stream. */
struct trace_indexed {
	uint64_t parts;          /* that there are, less 1 */
	uint64_t nevents;        /* what orders it among others; in order: */
	struct str read;
	struct buf events;       /* being made */
	uint64_t **entered;      /* likewise; by module of the profile, by procedure: how often the thread has entered it */
};

/* A place among the events of a stream. */
struct trace_events {
	size_t stream, at;
	uint64_t n;              /* events before it */
};

struct trace_index {
	const char *name;
	struct trace_file *file;
	const struct profile *profile;
	const struct map *const *map;
	uint64_t key;            /* what it depends on */
	bool read;               /* it is there; else it is being made */
	bool cannot;             /* be made */
	bool ordered, with_data; /* it holds events; what addresses are computed from */
	VEC(struct trace_state) state; /* by stream, then in order; being made: streams may take turns */
	struct buf bytes;
	struct trace_indexed *stream; /* by stream */
	const struct data *data; /* being made: of the stream that is read; NULL: it is not kept */
	size_t nevents;          /* likewise: bytes of events */
	uint64_t every, passed;  /* likewise: of so many extents one has a state; extents so far */
};
struct data;
/* Reads it, or begins to make it. map: as code was made of. data: NULL, or what is to be kept, too. NULL: the trace is so short
 * that it has none, or is no file. */
struct trace_index *trace_index_open(struct pool *pool, const char *trace, struct trace_file *f, const struct profile *p,
                                     const struct map *const *map, const struct data *data);
void trace_index_free(struct trace_index *x); /* NULL is fine */
/* While it is made. An activation begins; a thread begins; a segment that a state can begin with comes next; a stream was read to
 * its end; something that orders streams (which: enum chord_event, or 0: a thread begins). */
void trace_index_enters(struct trace_index *x, const struct replay *r, const struct proc *p, uint32_t module);
void trace_index_thread(struct trace_index *x, const struct replay *r);
void trace_index_add(struct trace_index *x, const struct replay *r);
void trace_index_ended(struct trace_index *x, const struct replay *r);
void trace_index_happens(struct trace_index *x, const struct replay *r, uint32_t which);
/* All streams have been read. Writes it, if the trace has not changed meanwhile; that it cannot be written does no harm. */
void trace_index_keep(struct trace_index *x);
/* Goes through what the thread had entered before a state. */
void trace_index_entered(const struct trace_index *x, const struct trace_state *s,
                         void (*each)(void *ctx, const struct proc *p, uint64_t n), void *ctx);
/* Makes a replay that was begun go on there. False: it goes on where it is. */
bool trace_index_go(const struct trace_index *x, const struct trace_state *s, struct replay *r);
/* Behind that: what addresses are computed from. */
void trace_index_data(const struct trace_index *x, const struct trace_state *s, const struct replay *r, struct data *d);
/* The next event of a stream, told in r (NULL: only passed). False: it is not known. */
bool trace_index_next(const struct trace_index *x, struct trace_events *e, struct replay *r, uint32_t *which);
/* How many events there are before the next thread begins in the stream, or those that are known end. */
uint64_t trace_index_before_thread(const struct trace_index *x, struct trace_events e);

/* ---- data.c: addresses of loads and stores, of code with the measure data ---- */

/* An activation. */
struct data_frame {
	size_t start, at;        /* in data.slot: slots of its own from start on, those before `at` have been used */
	struct reg_values regs;
	bool lost;               /* a record was missing: what was written down is not understood any more */
};
struct data {
	const struct machine *machine;
	struct insn_cache *decoded; /* instructions; NULL: none yet */
	VEC(uint32_t) slot;      /* not used yet, by activations from the outermost on */
	VEC(struct data_frame) frame; /* as the stack of struct replay */
	uint64_t known, unknown; /* accesses that have been asked for */
	uint64_t records;        /* that were used */
};
/* What an access does, and where; `known` false: that is not known. */
struct data_access {
	uint64_t addr;
	uint32_t bytes;
	uint8_t how;             /* ACCESS_LOADS, ACCESS_STORES */
	bool known;
	bool repeated;
	bool atomic;             /* what changes is loaded before, and compared as it is stored */
};
enum { DATA_ACCESSES = ACCESSES_MOST };
/* What happens in the stream: as struct replay tells. */
void data_slot(struct data *d, uint32_t slot);
void data_enters(struct data *d, const struct replay *r, enum replay_how how);
void data_leaves(struct data *d, enum replay_how how);
void data_jumps(struct data *d);
void data_free(struct data *d);
/* All that is known, as bytes; and back, of so many frames: nothing is known of these if the bytes are not of such a state. */
void data_save(const struct data *d, struct buf *to);
void data_restore(struct data *d, struct str bytes, size_t nframe);
/* A path begins where an exception or a jump comes in. */
void data_lands(struct data *d);
/* The frame on top executes an instruction of a block, which stands at that address in memory and had `len` bytes before weaving (a
 * jump may be longer now). Gives the number of its accesses; one that is repeated is told as often as *times says, each behind the
 * one before. */
unsigned data_insn(struct data *d, const struct proc *p, uint32_t block, uint32_t insn, struct str bytes, uint64_t addr,
                   uint32_t len, struct data_access *out, uint64_t *times);
/* What the addresses of a module are in memory less those at link time, with n modules listed; false: it is not known. */
bool data_bias(const struct trace_file *f, const struct profile *p, uint32_t module, size_t n, uint64_t *bias);

/* ---- writes.c: what a procedure would write with other encodings (Ball & Larus 1994, sections 4 and 6.2) ---- */

/* Landing pads are no ways out of ENTRY here: what comes in there is marked. */
struct writes {
	const struct proc *proc;
	uint32_t number;         /* of the procedure: 0, 1, ... */
	uint32_t first;          /* the number of its first arc among those of all procedures */
	struct graph *g;         /* its arcs, then phantoms */
	bool *call;              /* by vertex: a block that ends with a call. All are blocked: what is called may write */
	bool *written;           /* by arc: writes a witness */
	uint32_t npredicate, nwitness;
	struct witness_values *values; /* numbers are used again */
	uint32_t *own;           /* by arc: its witness's number if none is used again */
	uint32_t *outcome, *ways; /* by arc: which way out of a predicate it is, of how many; 0 of 1: it leaves none */
};
struct writes *writes_new(struct pool *pool, const struct proc *p);
/* As few bits as tell n things apart. */
uint32_t writes_bits(uint64_t n);

/* ---- encodings.c: what a run would have written with them ---- */

enum encoding {
	ENCODING_BRANCHES,       /* every outcome of a predicate: the number of its edge, 4 bytes */
	ENCODING_BRANCH_BYTES,   /* the same in a byte, or two where there are more than 256 ways */
	ENCODING_BRANCH_BITS,    /* bit tracing: in as few bits as tell it */
	ENCODING_WITNESS_BYTES,  /* witnesses, each with a number of its own: a byte, or two in procedures with more than 256 */
	ENCODING_WITNESS_BITS,   /* witnesses, numbers used again, in as few bits as tell those of the procedure */
	ENCODING_MARKS,          /* what each of these needs beside it: entries that no call names, and jumps */
	ENCODING_TOKENS,         /* paths: the trace's slots, 4 bytes each */
	ENCODING_PACKED,         /* the same, packed as they are in the file */
	ENCODINGS
};
extern const char *const encoding_name[ENCODINGS], *const encoding_key[ENCODINGS];

struct encoding_sum {
	uint64_t writes, bits;
	uint64_t bytes;          /* with each thread's last one filled up */
	uint64_t compressed;     /* by zstd, level 3, each thread by itself */
};

/* What one path writes with one encoding. */
struct encoding_form {
	uint32_t writes, bits;
	uint8_t *at;
};
struct encoding_piece {
	struct encoding_form form[ENCODING_MARKS];
	uint32_t *value;         /* numbers of its witnesses, used again: form[ENCODING_WITNESS_BITS].writes of them */
};
/* A path that ends with a call: what its last arc writes is written behind the call, if that returns. */
struct encoded_path {
	struct writes *writes;
	const struct replay_path *path;
	struct encoding_piece body, behind;
	uint32_t branches;       /* conditional jumps on it */
	uint64_t ran, returned;  /* how often each was written */
	const struct proc *entered; /* what was entered behind the call or jump at its end the last time; NULL: nothing yet */
	bool named;              /* the call or jump names it */
};

/* What a procedure wrote. */
struct encoded_proc {
	const struct writes *writes;
	uint64_t branches;
	uint64_t outcomes, outcome_bits, witnesses, witness_bits;
	uint64_t tokens, token_bits; /* paths, in as few bits as tell a path from all that begin where it begins */
};

struct encodings;
/* named: does the last instruction of the path, a call or a jump, name that procedure? */
struct encodings *encodings_new(bool (*named)(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module),
                                void *ctx);
void encodings_free(struct encodings *e); /* NULL is fine */
struct encoded_path *encodings_path(struct encodings *e, const struct replay_path *p);
/* Adds a stream. code: of this process; paths of different processes of one build are different ones. NULL, or what is wrong with
 * the stream from some place on. */
const char *encodings_add(struct encodings *e, struct trace_file *f, struct replay_code *code, size_t stream);
/* Before a trace of another process. */
void encodings_next_process(struct encodings *e);
const struct encoding_sum *encodings_sum(const struct encodings *e);
/* The conditional jumps that were executed. */
uint64_t encodings_branches(const struct encodings *e);
/* By procedure that ran, those with the most conditional jumps first. */
const struct encoded_proc *encodings_procs(struct encodings *e, size_t *n);

#endif
