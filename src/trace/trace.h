/* SPDX-License-Identifier: MIT */
/* trace: what a process built with -fchord=trace left beside its profile: read, checked, and turned back into what ran. Files are
 * read piece by piece, so memory does not depend on their length; they may belong to a running process. Errors are reported as
 * texts; what stands before an error can be used. */
#ifndef CHORD_TRACE_READER_H
#define CHORD_TRACE_READER_H

#include "base/base.h"
#include "format/pack.h"
#include "format/trace.h"
#include "machine/machine.h"
#include "profile/profile.h"

/* ---- file.c ---- */

/* An extent of packed segments, or a ring. */
struct trace_extent {
	uint64_t offset;         /* of the bytes after its head, in the file */
	uint64_t bytes;          /* bytes used there */
	uint64_t first, end;     /* segments [first, end); packed segments: end is not known, 0 */
	struct chord_trace_gone gone; /* ring: what was in it before `first` */
	bool zstd;               /* packed segments: the packer's output is compressed */
	uint64_t from, ring;     /* ring: number of the segment in its first place; number of segments that it has room for */
};

/* What one region wrote, or (number UINT32_MAX) threads without a region. */
struct trace_stream {
	uint32_t number;
	VEC(struct trace_extent) packs, ring; /* by first segment */
};

struct trace_file {
	struct pool *pool;
	int fd;                  /* -1: the bytes are in memory */
	struct str bytes;
	struct trace_memory *memory; /* of the process that kept it; NULL: not so */
	uint64_t size, page;
	uint32_t version, flags; /* CHORD_TRACE_... */
	uint64_t pid, id, id2, error;
	uint64_t gone;           /* number of segments that were not kept (CHORD_TRACE_LAST) */
	VEC(struct chord_trace_module) module; /* in the order of loading */
	VEC(struct trace_stream) stream;
	const char *fault;       /* what is wrong with the file from some place on; NULL: nothing that was seen so far */
};

/* Open a trace by name, or from bytes, which have to stay. NULL: it is no trace, *why (pool). */
struct trace_file *trace_open(struct pool *pool, const char *path, const char **why);
struct trace_file *trace_parse(struct pool *pool, struct str bytes, const char **why);
/* Reads another process's memory. False: not all of it is there. */
typedef bool trace_read_fn(const void *of, uint64_t addr, void *to, size_t n);
/* The trace that a process kept in its memory because it could make no file. anchor: the address of the page with the address of
 * its control block. NULL: *why (pool), or, with *why NULL, there is none. `of` has to outlive the result. */
struct trace_file *trace_of_memory(struct pool *pool, trace_read_fn *read, const void *of, uint64_t anchor, const char **why);
void trace_close(struct trace_file *f); /* NULL is allowed */
/* The name of the trace that belongs to a profile (pool). */
char *trace_name(struct pool *pool, const char *profile);
/* Why the trace does not have everything that ran, in words; NULL: it does, as far as its head and extents tell. */
const char *trace_short(struct pool *pool, const struct trace_file *f);
/* The same for what was intended: that only the end was kept. */
const char *trace_tail(struct pool *pool, const struct trace_file *f);

/* ---- slots.c: the slots of a stream, in order, one segment at a time ---- */

struct replay_code;
struct words;
struct slots {
	struct trace_file *file;
	const struct trace_stream *stream;
	size_t next;             /* extent of packed segments that is read next */
	uint64_t at, left;       /* in the extent before that: offset of the next record, and bytes from there on */
	struct chord_trace_record record; /* that record, if it has been read */
	uint64_t number;         /* number of its segment */
	bool peeked, ended;
	bool packs;              /* the previous segment was packed */
	uint64_t segment;        /* number of the next segment */
	uint64_t done;           /* bytes of the file read so far */
	uint64_t last, in;       /* segments after `last` are empty, in the ring at offset `in`; 0: not looked yet */
	const char *fault;       /* why the stream, which continues, cannot be read; NULL: it can. In the file's pool */
	struct ZSTD_DCtx_s *zstd; /* for compressed extents; NULL: there was none yet */
	struct chord_pack pack;
	size_t n;                /* number of slots, in the order in which they were reserved; slots that were not written are 0 */
	const uint32_t *slot;
	struct words *words;     /* replaces words of outcomes by paths; NULL: slots are as they were written */
	size_t nraw;
	uint32_t raw[CHORD_TRACE_SLOTS + 2]; /* marks that are gone stand before the others */
	uint8_t packed[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8], stored[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 1024];
};
/* code: for replacing words of outcomes by paths; NULL: words stay. The caller frees the result with slots_free(). */
struct slots *slots_new(struct trace_file *f, size_t stream, struct replay_code *code);
void slots_free(struct slots *r); /* NULL is allowed */
/* Makes `to`, of the same stream, continue after what `from` has read last. */
void slots_copy(struct slots *to, const struct slots *from);
/* Reads the next segment into slot[]. False: there is none, or `fault` is set. */
bool slots_next(struct slots *r);
/* True if the next segment is the first one of an extent of packed segments, is not the stream's beginning, and can be read without
 * what stands before it. */
bool slots_at_extent(const struct slots *r);
/* Makes that segment the next one; `listed` modules are listed there. False: there is none with that number, or `fault` is set. */
bool slots_seek(struct slots *r, uint64_t segment, size_t listed);
/* The number of slots in the stream, up to the last one that was written. */
uint64_t slots_count(struct trace_file *f, size_t stream);
/* Bytes of the file that belong to the stream, for progress. */
uint64_t trace_stream_bytes(const struct trace_stream *s);

/* The module of a token, as an index in f->module, among the first n modules of the list; UINT32_MAX: none. */
uint32_t trace_module_of(const struct trace_file *f, uint32_t token, size_t n);

/* ---- counts.c ---- */

/* Adds the tokens of all streams (`stream` 0), or of one (its number plus 1), to the counters of the profile to which the trace
 * belongs. map, by module of the profile: for modules with witnesses, which have to be followed; the array or an element may be
 * NULL. NULL, or why it is not known how often each path ran (pool). */
const char *trace_add_counts(struct pool *pool, struct trace_file *f, struct profile *p, uint64_t stream,
                             const struct map *const *map);
/* Why the trace cannot belong to that profile; NULL: it can. */
const char *trace_why_not(const struct trace_file *f, const struct profile *p);
/* Does both, if there is a trace beside the profile with that name; NULL also if there is none. Marks the modules that it has
 * filled. */
const char *trace_fill(struct pool *pool, const char *profile, struct profile *p, uint64_t stream, const struct map *const *map);

/* ---- paths.c: what tokens stand for ---- */

/* How a path begins, and how it ends. */
enum replay_begin {
	REPLAY_ENTERS,           /* at the procedure's entry */
	REPLAY_LANDS,            /* where an exception, or a jump from another activation, arrives */
	REPLAY_GOES_ON,          /* after the end of the previous path */
};
enum replay_end {
	REPLAY_CUT,              /* the activation continues with another path */
	REPLAY_CALLS,            /* before a call */
	REPLAY_RETURNS,
	REPLAY_TAIL,             /* before a jump to another procedure */
	REPLAY_STOPS,            /* a trap, or a jump to another activation */
};

struct replay_path {
	const struct proc *proc;
	uint32_t module;         /* index in the profile's list */
	uint32_t number;         /* among the paths that were found: 0, 1, ... */
	uint32_t n;              /* number of blocks, in the order in which they were entered */
	uint32_t *block;
	uint32_t narc, *arc;     /* edges of the procedure, in order, with the one from ENTRY and the last one, which is cut */
	uint64_t sum, insns;
	uint64_t choices;        /* number of possible paths that begin where it begins */
	const struct replay_witness *witness; /* the slot at its end is the same for all paths that end there; NULL: it belongs to
	                                       * this path only */
	const struct outcomes *outcomes; /* the word written before it, about the paths that end with it, is one of these; NULL: no
	                                  * word is written */
	bool softly;             /* it ends with a cut where a word of outcomes continues: more may have run that is not written */
	bool may_leave;          /* it ends with a cut before an indirect jump, which may be a tail call */
	bool partial;            /* its beginning is not known: these are its last blocks */
	uint32_t listed, counter; /* a module of the trace, and one of its counters, by which the path is found */
	uint32_t from, next;     /* vertices: where it begins, and where the next path begins; GRAPH_NONE: nowhere */
	enum replay_begin begin;
	enum replay_end end;
};

/* A place in a path: before an instruction of its block number `block`, from 0. The end is {n, 0}. */
struct replay_point { uint32_t block, insn; };
/* The number of instructions between two places. */
uint64_t replay_insns(const struct replay_path *p, struct replay_point from, struct replay_point to);

/* Finds the paths of tokens, each once. */
struct replay_code;
/* map: by module of the profile; NULL where there is none. All three have to stay. */
struct replay_code *replay_code_new(const struct trace_file *f, const struct profile *p, const struct map *const *map);
void replay_code_free(struct replay_code *c); /* NULL is allowed */
/* The path of a token, with n modules listed. For a witness: one of the paths that end with it. NULL: it is no path (*damaged), or
 * its code is not available. */
const struct replay_path *replay_path_of(struct replay_code *c, uint32_t token, size_t n, bool *damaged);
/* For a witness: the path that begins at a vertex, or (REPLAY_ANEW) where activations begin or continue after calls; NULL: there is
 * none. *sure (sure may be NULL): no path begins elsewhere. */
enum { REPLAY_ANEW = UINT32_MAX };
const struct replay_path *replay_path_from(struct replay_code *c, uint32_t token, size_t n, uint32_t from, bool *sure);
/* What is known of the path's end if nothing is known of its beginning. */
const struct replay_path *replay_path_end(struct replay_code *c, uint32_t token, size_t n);
/* Finds a path again by its fields; NULL: there is none. */
const struct replay_path *replay_path_again(struct replay_code *c, uint32_t listed, uint32_t counter, bool partial);

/* ---- replay.c: a stream as what its threads did, with a stack ---- */

/* How an activation began, or ended. */
enum replay_how {
	REPLAY_BY_CALL,          /* by a call, or from untraced code that was called there */
	REPLAY_BY_TAIL_CALL,     /* in place of the activation that ended with the jump */
	REPLAY_FROM_OUTSIDE,     /* nothing traced is below it */
	REPLAY_FROM_NOWHERE,     /* it is a signal's handler. replay.struck tells where it interrupted, if that is known; otherwise
	                          * the interrupted path is reported later */
	REPLAY_FOUND,            /* it had begun before, not known from where */
	REPLAY_BY_RETURN,
	REPLAY_BY_JUMP,          /* by longjmp or an exception: it was left without returning */
	REPLAY_BY_EITHER,        /* by one of these two: see breaks in struct replay */
	REPLAY_AT_END,           /* it had not ended at the end of the thread's trace */
	REPLAY_UNSURE,           /* the same, but it may have ended (struct replay: killed, breaks) */
	REPLAY_UNTRACED,         /* at the end of the trace it had ended with a jump to untraced code */
};

/* What an activation is doing. */
enum replay_at { REPLAY_RUNS, REPLAY_AT_CALL, REPLAY_LEFT_BY_TAIL_CALL, REPLAY_STOPPED };

struct replay_frame {
	const struct proc *proc;
	uint32_t module;
	uint32_t next;           /* vertex where it continues; GRAPH_NONE: nowhere */
	enum replay_at at;
	const struct replay_path *last;
	const struct replay_path *path;  /* a path that has been written, and was reported to the user up to `done`; NULL: none */
	const struct replay_path *ahead; /* a path that has been reported in part, but is written later, because a signal struck in
	                                  * it */
	struct replay_point done;
	bool waits;              /* a signal struck after `path` was written and before it had ended */
	bool broken;             /* it is not known how far it came, nor what interrupted it */
	uint64_t announced;      /* it is a handler that a signal struck before its mark: the mark that it will write, and a bit
	                          * that is never 0 */
	bool jumps;              /* a signal struck after its mark for a jump out of `ended` activations */
	uint32_t ended;
	uint32_t unseen, perhaps; /* activations between the one below and a handler that have written nothing: at least `unseen`,
	                           * perhaps `perhaps` more */
	uint64_t since;          /* instructions of the thread before it */
	void *note;              /* for the user */
};

/* Where a signal struck. */
struct replay_strike {
	const struct proc *proc; /* NULL: in untraced code, or not known */
	uint32_t module;
	uint32_t block, insn;    /* the next instruction; block UINT32_MAX: outside of the procedure */
	bool ahead;              /* before it a slot is taken for the path */
	bool more;               /* a slot is taken after it in the same block. Otherwise, if the path ends with the block: */
	bool passed;             /* the slot has been taken before, */
	bool unclear;            /* or that is not known */
	bool outside;            /* proc NULL: and it was not a handler that was returning */
	bool entry;              /* if the procedure is a handler, it may not have written its mark yet */
};

struct trace_index;
struct replay {
	struct trace_file *file;
	struct replay_code *code;
	struct slots *slots;
	struct trace_index *index; /* the index that is being made; NULL: none */
	size_t number;           /* of the stream: index in the file's list */
	uint64_t part;           /* number of earlier threads in the stream of which anything was reported */
	bool told;               /* something was reported of this thread */
	size_t i;                /* the slot that is taken, in the segment */
	struct slots *scout;     /* reads ahead; NULL: not needed so far */
	uint32_t event;          /* a mark that another mark follows; 0: none */
	uint32_t strikes;        /* handlers that have written their marks, but no path yet */
	uint32_t unseen, perhaps; /* as in the frame of the next one of these */
	struct replay_strike struck; /* where the last one of these struck */
	VEC(struct replay_frame) stack;
	size_t listed;           /* modules */
	uint64_t thread;         /* number in the marks; 0: none yet */
	uint64_t insns;          /* instructions that the thread has executed in traced code, before what is reported */
	uint64_t unknown;        /* paths whose code is not available */
	uint64_t partial;        /* paths of which only the end is known: witnesses after a part that is missing */
	uint64_t missed;         /* words of outcomes of which nothing is known, for the same reason */
	bool lost;               /* there may be activations whose earlier slots the stream does not have */
	bool jumped;             /* the next path begins at the destination of a jump */
	bool forked;             /* the next path is the first one of a forked child: nothing is pending at the fork */
	bool leaves;             /* the next token comes after a jump that ended `ended` activations */
	uint32_t ended;
	uint32_t ends, by;       /* enum chord_ends: how the thread has said that it ends, and by which signal; 0: it has not */
	bool silent;             /* nothing stands after that mark */
	uint32_t made, stream;   /* CHORD_EVENT_CREATES: the thread and its stream. UNMADE: the thread, if it is the last one */
	uint32_t joined, joined_in; /* JOINS: the thread and its stream */
	uint64_t stamp;          /* STAMP */
	uint64_t forks;          /* FORKS, FORKED: the number of the fork */
	uint32_t parent;         /* FORKED: the parent process */
	bool killed;             /* set by the user: the thread's last path may not have come to its end, because a path is written
	                          * before its last instructions run */
	bool stop;               /* set by the user: ends the replay */
	/* Functions of the user; any may be NULL. */
	void *ctx;
	void (*thread_begins)(struct replay *r, enum chord_mark kind);
	/* Nothing more is known of the thread; `ends` tells why, if it is known. */
	void (*thread_ends)(struct replay *r);
	/* ENDS, CREATES, UNMADE, FORKS, FORKED, JOINS or STAMP. */
	void (*happens)(struct replay *r, enum chord_event event);
	void (*enters)(struct replay *r, enum replay_how how); /* the frame on top is new */
	void (*leaves_frame)(struct replay *r, enum replay_how how); /* the frame on top is about to be removed */
	/* The frame on top has run a path, or the part of it between signals. */
	void (*runs)(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to);
	/* From here on it is not known whether what is reported of the frame on top ran. */
	void (*unsure)(struct replay *r);
	/* It is not known what the frame on top did further: a signal's handler never said what it had interrupted. */
	void (*breaks)(struct replay *r);
	/* A slot of the measure data; a jump out of the frame on top, or back into it, comes next. */
	void (*writes)(struct replay *r, uint32_t slot);
	void (*jumps)(struct replay *r);
	/* Finds what is at an address of a module where a signal struck. NULL: paths are reported as they were written. */
	bool (*locate)(struct replay *r, uint32_t module, uint64_t addr, struct replay_strike *s);
	/* With `locate`: a place in the path up to which it had certainly run when its slot was taken. */
	struct replay_point (*written)(struct replay *r, const struct replay_path *p);
	/* With `locate`: true if the last instruction of the path, a call or a jump, names that procedure. */
	bool (*names)(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module);
};
/* Reads a stream from its beginning. NULL: to its end, or until `stop`; otherwise what is wrong with it. */
const char *replay_stream(struct replay *r, size_t stream);
/* The same in steps, so that several streams can be read in turns. Each step takes one slot; false: there is none, or `stop`. */
void replay_begin(struct replay *r, size_t stream);
bool replay_step(struct replay *r);
const char *replay_end(struct replay *r);

/* ---- state.c: everything that is known between two slots, as bytes ---- */

/* Appends the state of a replay to *to. map: as replay_code_new() had it. False: the state has more than these bytes can
 * express. */
bool replay_save(const struct replay *r, const struct map *const *map, const struct profile *p, struct buf *to);
/* Brings a replay, after replay_begin(), to a state at that segment, the first one of an extent. Notes of frames are NULL. False:
 * the bytes are no such state, and nothing has changed. */
bool replay_restore(struct replay *r, const struct map *const *map, const struct profile *p, struct str bytes, uint64_t segment);

/* ---- index.c: states at many places, in a file beside the trace. An index that is not of this trace, as it is now and as this
 * program reads it, is not used ---- */

#define CHORD_TRACE_INDEX ".index" /* appended to the name of the trace */

struct trace_state {
	uint32_t stream;         /* index in the file's list */
	uint64_t part, thread, insns; /* as in struct replay */
	uint64_t segment;        /* number of the next segment */
	size_t entered, nentered; /* in trace_index.bytes: offset and size of how often the thread has entered procedures */
	size_t at, n;            /* the same of what replay_save() wrote */
	size_t data, ndata;      /* the same of what data_save() wrote, if it was asked for */
	uint64_t events;         /* events of the stream before it */
};

/* What is kept of a stream. */
struct trace_indexed {
	uint64_t parts;          /* number of threads less 1 */
	uint64_t nevents;        /* number of events that order the stream among others; in order: */
	struct str read;
	struct buf events;       /* while it is made */
	uint64_t **entered;      /* while it is made, by module of the profile and procedure: how often the thread has entered it */
};

/* A place among the events of a stream. */
struct trace_events {
	size_t stream, at;
	uint64_t n;              /* number of events before it */
};

struct trace_index {
	const char *name;
	struct trace_file *file;
	const struct profile *profile;
	const struct map *const *map;
	uint64_t key;            /* a sum over everything that it depends on */
	bool read;               /* it was read; otherwise it is being made */
	bool cannot;             /* it cannot be made */
	bool ordered, with_data; /* it has events; it has what addresses are computed from */
	VEC(struct trace_state) state; /* by stream, then in order; while it is made in any order of streams */
	struct buf bytes;
	struct trace_indexed *stream; /* by stream */
	const struct data *data; /* while it is made: of the stream that is read; NULL: not kept */
	size_t nevents;          /* while it is made: bytes of events */
	uint64_t every, passed;  /* while it is made: one of `every` extents gets a state; extents so far */
};
struct data;
/* Reads the index of a trace, or begins to make it. map: as replay_code_new() had it. data: what is to be kept besides, or NULL.
 * NULL: the trace is so short that it has no index, or is no file. */
struct trace_index *trace_index_open(struct pool *pool, const char *trace, struct trace_file *f, const struct profile *p,
                                     const struct map *const *map, const struct data *data);
void trace_index_free(struct trace_index *x); /* NULL is allowed */
/* Calls while the index is made: an activation begins; a thread begins; a segment comes next at which a state can begin; a stream
 * was read to its end; something happened that orders streams (which: enum chord_event, or 0: a thread begins). */
void trace_index_enters(struct trace_index *x, const struct replay *r, const struct proc *p, uint32_t module);
void trace_index_thread(struct trace_index *x, const struct replay *r);
void trace_index_add(struct trace_index *x, const struct replay *r);
void trace_index_ended(struct trace_index *x, const struct replay *r);
void trace_index_happens(struct trace_index *x, const struct replay *r, uint32_t which);
/* Call it when all streams have been read: writes the index, unless the trace has changed meanwhile. A failure is ignored. */
void trace_index_keep(struct trace_index *x);
/* Calls `each` for every procedure that the thread had entered before a state, with the number of times. */
void trace_index_entered(const struct trace_index *x, const struct trace_state *s,
                         void (*each)(void *ctx, const struct proc *p, uint64_t n), void *ctx);
/* Brings a replay, after replay_begin(), to a state. False: it stays where it is. */
bool trace_index_go(const struct trace_index *x, const struct trace_state *s, struct replay *r);
/* After that: restores what addresses are computed from. */
void trace_index_data(const struct trace_index *x, const struct trace_state *s, const struct replay *r, struct data *d);
/* Puts the next event of a stream into *r (NULL: only skips it); *which as above. False: not known. */
bool trace_index_next(const struct trace_index *x, struct trace_events *e, struct replay *r, uint32_t *which);
/* The number of events before the next thread begins in the stream, or before the known events end. */
uint64_t trace_index_before_thread(const struct trace_index *x, struct trace_events e);

/* ---- data.c: addresses of loads and stores, for code with the measure data ---- */

/* An activation. */
struct data_frame {
	size_t start, at;        /* in data.slot: its slots begin at `start`; those before `at` have been used */
	struct reg_values regs;
	bool lost;               /* a record was missing: values are not understood any more */
};
struct data {
	const struct machine *machine;
	struct insn_cache *decoded; /* NULL: none yet */
	VEC(uint32_t) slot;      /* slots that are not used yet, by activation from the outermost */
	VEC(struct data_frame) frame; /* as the stack of struct replay */
	uint64_t known, unknown; /* accesses that have been asked for */
	uint64_t records;        /* number of records used */
};
/* One access. */
struct data_access {
	uint64_t addr;
	uint32_t bytes;
	uint8_t how;             /* ACCESS_LOADS, ACCESS_STORES */
	/* false: the address is not known */
	bool known;
	bool repeated;
	bool atomic;             /* loads the old value first, and compares it when it stores */
};
enum { DATA_ACCESSES = ACCESSES_MOST };
/* Calls for what happens in the stream, as struct replay reports it. */
void data_slot(struct data *d, uint32_t slot);
void data_enters(struct data *d, const struct replay *r, enum replay_how how);
void data_leaves(struct data *d, enum replay_how how);
void data_jumps(struct data *d);
void data_free(struct data *d);
/* Appends everything that is known as bytes; restores it, for nframe frames. If the bytes are no such state, nothing is known of
 * these. */
void data_save(const struct data *d, struct buf *to);
void data_restore(struct data *d, struct str bytes, size_t nframe);
/* A path begins where an exception or a jump arrives. */
void data_lands(struct data *d);
/* The frame on top executes an instruction of a block. addr: its address in memory; len: its size before weaving (a jump may be
 * longer now). Returns the number of its accesses; a repeated access happens *times times, each at the next address. */
unsigned data_insn(struct data *d, const struct proc *p, uint32_t block, uint32_t insn, struct str bytes, uint64_t addr,
                   uint32_t len, struct data_access *out, uint64_t *times);
/* The addresses of a module in memory minus those at link time, with n modules listed. False: not known. */
bool data_bias(const struct trace_file *f, const struct profile *p, uint32_t module, size_t n, uint64_t *bias);

/* ---- writes.c: what a procedure would write with other encodings (Ball & Larus 1994, sections 4 and 6.2) ---- */

/* Edges to landing pads do not count as out-edges of ENTRY here: what arrives there is marked. */
struct writes {
	const struct proc *proc;
	uint32_t number;         /* of the procedure: 0, 1, ... */
	uint32_t first;          /* the number of its first arc among the arcs of all procedures */
	struct graph *g;         /* its arcs, then phantoms */
	bool *call;              /* by vertex: a block that ends with a call. All of these are blocked, because callees may write */
	bool *written;           /* by arc: writes a witness */
	uint32_t npredicate, nwitness;
	struct witness_values *values; /* with values used again */
	uint32_t *own;           /* by arc: the witness's number if none is used again */
	uint32_t *outcome, *ways; /* by arc: which out-edge of a predicate it is, and of how many; 0 of 1: it leaves no predicate */
};
struct writes *writes_new(struct pool *pool, const struct proc *p);
/* The number of bits that tell n things apart. */
uint32_t writes_bits(uint64_t n);

/* ---- encodings.c: what a run would have written with these encodings ---- */

enum encoding {
	ENCODING_BRANCHES,       /* every outcome of a predicate: the number of the edge, 4 bytes */
	ENCODING_BRANCH_BYTES,   /* the same in one byte, or two if there are more than 256 out-edges */
	ENCODING_BRANCH_BITS,    /* bit tracing: in as few bits as tell the out-edges apart */
	ENCODING_WITNESS_BYTES,  /* witnesses with numbers of their own: one byte, or two in procedures with more than 256 */
	ENCODING_WITNESS_BITS,   /* witnesses with numbers used again, in as few bits as tell those of the procedure apart */
	ENCODING_MARKS,          /* what each of these needs besides: entries that no call names, and jumps */
	ENCODING_TOKENS,         /* paths: the trace's slots, 4 bytes each */
	ENCODING_PACKED,         /* the same, packed as in the file */
	ENCODINGS
};
extern const char *const encoding_name[ENCODINGS], *const encoding_key[ENCODINGS];

struct encoding_sum {
	uint64_t writes, bits;
	uint64_t bytes;          /* with the last byte of each thread filled up */
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
/* What a path writes. If it ends with a call, its last arc writes after the call, if that returns (`behind`). */
struct encoded_path {
	struct writes *writes;
	const struct replay_path *path;
	struct encoding_piece body, behind;
	uint32_t branches;       /* conditional jumps on it */
	uint64_t ran, returned;  /* how often body, and behind, were written */
	const struct proc *entered; /* the last procedure entered after the call or jump at its end; NULL: none yet */
	bool named;              /* the call or jump names that procedure */
};

/* What a procedure wrote. */
struct encoded_proc {
	const struct writes *writes;
	uint64_t branches;
	uint64_t outcomes, outcome_bits, witnesses, witness_bits;
	uint64_t tokens, token_bits; /* paths, in as few bits as tell a path from all others that begin where it begins */
};

struct encodings;
/* named: true if the last instruction of the path, a call or a jump, names that procedure. */
struct encodings *encodings_new(bool (*named)(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module),
                                void *ctx);
void encodings_free(struct encodings *e); /* NULL is allowed */
struct encoded_path *encodings_path(struct encodings *e, const struct replay_path *p);
/* Adds a stream. code: of this process; paths of different processes of one build are different. NULL, or what is wrong with the
 * stream from some place on. */
const char *encodings_add(struct encodings *e, struct trace_file *f, struct replay_code *code, size_t stream);
/* Call it before a trace of another process. */
void encodings_next_process(struct encodings *e);
const struct encoding_sum *encodings_sum(const struct encodings *e);
/* The number of conditional jumps that were executed. */
uint64_t encodings_branches(const struct encodings *e);
/* The procedures that ran, those with most conditional jumps first; *n of them. */
const struct encoded_proc *encodings_procs(struct encodings *e, size_t *n);

#endif
