/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_TRACE_INTERNAL_H
#define CHORD_TRACE_INTERNAL_H

#include "trace/trace.h"

/* file.c: reads bytes of the file. False: they are not there. */
bool trace_bytes(const struct trace_file *f, uint64_t offset, void *to, size_t n);

/* memory.c: a trace in the memory of a process. Offsets are those that a file would have with all parts one after another. */
struct trace_part {
	uint64_t offset, size, addr;
};
struct trace_memory {
	trace_read_fn *read;
	const void *of;
	VEC(struct trace_part) part;
};
uint64_t memory_size(const struct trace_memory *m);
/* Reads n bytes; `offset` has to be in the trace. False: they are not in the process's memory. */
bool memory_bytes(const struct trace_memory *m, uint64_t offset, void *to, size_t n);
/* file.c: makes a trace from the parts. m belongs to the result, and is freed if that is NULL (*why). */
struct trace_file *trace_take(struct pool *pool, struct trace_memory *m, const char **why);

/* kept.c: for a trace of which only the end was kept: drops rings that are not joined to the rings after them. */
void trace_keep_end(struct trace_file *f, struct trace_stream *s);

/* slots.c: ends reading, for that reason, which belongs to the next segment. Returns false. */
bool slots_fault(struct slots *r, const char *why);
/* The same for a reason that belongs to the segment that was read last. */
void slots_spoil(struct slots *r, const char *why);

/* words.c: traces of bits. */
struct words;
struct words *words_new(struct replay_code *code);
void words_free(struct words *w); /* NULL is allowed */
struct words *words_copy(const struct words *from);
/* True if there is a word whose token has not come yet. */
bool words_wait(const struct words *w);
/* Restarts at a place where no word waits, and `listed` modules are listed. */
void words_begin(struct words *w, size_t listed);
/* Replaces words by the paths that they describe: returns the slots and their number *n, at least 1; valid until the next call.
 * Besides the slots of streams there are: */
enum {
	TRACE_NOT_KNOWN = CHORD_WORD(1), /* a word was here whose paths are not known, or a word is missing */
	TRACE_SPREAD = CHORD_WORD(2),    /* the next paths were written together */
};
const uint32_t *words_expand(struct words *w, const uint32_t *slot, size_t *n);

/* paths.c: true if some procedures trace bits. */
bool replay_code_has_words(const struct replay_code *c);

/* paths.c: the last instruction of a block that is not padding. */
enum chord_insn trace_last_insn(const struct block *b);
/* True if a path that begins at vertex `from` can come to the block. PROC_ENTRY: where an activation begins. */
bool trace_reaches(const struct proc *p, uint32_t from, uint32_t block);

/* sink.c: takes the output of an encoding; it is counted and compressed, but not kept. */
struct sink;
struct sink *sink_new(void);
void sink_free(struct sink *s); /* NULL is allowed */
/* Takes `writes` writes of `bits` bits in all, as bytes, first bit lowest; unused bits of the last byte are 0. */
void sink_put(struct sink *s, uint64_t writes, uint64_t bits, const uint8_t *at);
/* Ends a thread's trace. */
void sink_end(struct sink *s);
/* Everything that was put before the last sink_end(). */
struct encoding_sum sink_sum(const struct sink *s);

/* encoded.c: what a path writes, computed from its arcs (pool). */
void encode_path(struct pool *pool, struct encoded_path *x, const struct replay_path *p, struct writes *w);

/* replay.c */
static inline struct replay_frame *
replay_top(struct replay *r)
{
	return r->stack.n ? &r->stack.at[r->stack.n - 1] : NULL;
}
/* Reports what was written and not reported yet, of the frame on top and of those that continue when it has returned. */
void replay_finish(struct replay *r);
/* The same for one path. */
void replay_finish_one(struct replay *r);
/* Reports the path of the frame on top up to a place. */
void replay_run_to(struct replay *r, struct replay_point to);
/* True if there is a frame of the path's procedure. */
bool replay_has(const struct replay *r, const struct replay_path *p);
/* Makes the frame in which the path runs the one on top. */
void replay_arrive(struct replay *r, const struct replay_path *p);
/* If that path shows that what a handler jumped to, which has written nothing, has returned: leaves the handler. */
void replay_come_back(struct replay *r, const struct replay_path *p);
/* Notes that the path has been written. */
void replay_take(struct replay *r, const struct replay_path *p);
/* Leaves procedures that ended with a jump to procedures that did not write anything. */
void replay_leave_tails(struct replay *r);
/* The same. If they were handlers, what they interrupted has gone on, and is reported. */
void replay_end_tails(struct replay *r);
/* May the activation have ended? It returns, or has jumped to code that has written nothing and may have returned. */
static inline bool
replay_may_have_ended(const struct replay_frame *f)
{
	return f->path ? f->path->end == REPLAY_RETURNS || f->path->end == REPLAY_TAIL : f->at == REPLAY_LEFT_BY_TAIL_CALL;
}

/* The path of a token, after what has been taken so far. */
const struct replay_path *replay_path_next(struct replay *r, uint32_t token, bool *damaged);

/* strike.c: a handler's mark that says that it has been entered. */
void replay_struck(struct replay *r, uint64_t value);

#endif
