/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_TRACE_INTERNAL_H
#define CHORD_TRACE_INTERNAL_H

#include "trace/trace.h"

/* file.c: bytes of the file. False: they are not there. */
bool trace_bytes(const struct trace_file *f, uint64_t offset, void *to, size_t n);

/* memory.c: a trace in the memory of a process. Offsets are those of a file with all parts one behind the other. */
struct trace_part {
	uint64_t offset, size, addr;
};
struct trace_memory {
	trace_read_fn *read;
	const void *of;
	VEC(struct trace_part) part;
};
uint64_t memory_size(const struct trace_memory *m);
bool memory_bytes(const struct trace_memory *m, uint64_t offset, void *to, size_t n); /* they are in it; false: not in the memory */
/* file.c: reads what the parts hold; m is the file's, or (NULL) gone. */
struct trace_file *trace_take(struct pool *pool, struct trace_memory *m, const char **why);

/* kept.c: of a trace of which the end was kept: drops rings that what comes behind them does not join. */
void trace_keep_end(struct trace_file *f, struct trace_stream *s);

/* slots.c: nothing more is read, for that reason, which is said of the next segment. False. */
bool slots_fault(struct slots *r, const char *why);
/* The same of the segment that was read last. */
void slots_spoil(struct slots *r, const char *why);

/* words.c: of code that traces bits. */
struct words;
struct words *words_new(struct replay_code *code);
void words_free(struct words *w); /* NULL is fine */
struct words *words_copy(const struct words *from);
/* Is there a word whose token has not come? */
bool words_wait(const struct words *w);
/* What comes next is behind something where none waits, and so many modules are listed. */
void words_begin(struct words *w, size_t listed);
/* Slots with paths in place of words, the more of them; until the next call. One at least. Beside what streams have, there are: */
enum {
	TRACE_NOT_KNOWN = CHORD_WORD(1), /* a word was here, or is missing */
	TRACE_SPREAD = CHORD_WORD(2),    /* the next paths were written together */
};
const uint32_t *words_expand(struct words *w, const uint32_t *slot, size_t *n);

/* paths.c: have some procedures words? */
bool replay_code_has_words(const struct replay_code *c);

/* paths.c: the last instruction of a block that is no padding. */
enum chord_insn trace_last_insn(const struct block *b);
/* Can a path that begins at that vertex come to the block? PROC_ENTRY: where an activation begins. */
bool trace_reaches(const struct proc *p, uint32_t from, uint32_t block);

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

/* replay.c */
static inline struct replay_frame *
replay_top(struct replay *r)
{
	return r->stack.n ? &r->stack.at[r->stack.n - 1] : NULL;
}
/* Tells of what was written and not told of, of the frame on top and of those that go on when it has returned. */
void replay_finish(struct replay *r);
/* The same for one path. */
void replay_finish_one(struct replay *r);
/* Tells of the path of the frame on top up to there. */
void replay_run_to(struct replay *r, struct replay_point to);
/* Is there a frame of the path's procedure? */
bool replay_has(const struct replay *r, const struct replay_path *p);
/* Makes the frame on top the one in which the path runs. */
void replay_arrive(struct replay *r, const struct replay_path *p);
/* The path has been written. */
void replay_take(struct replay *r, const struct replay_path *p);
/* Leaves procedures that ended with a jump to others which did not write anything. */
void replay_end_tails(struct replay *r);

/* The path that a token stands for, behind what has been taken so far. */
const struct replay_path *replay_path_next(struct replay *r, uint32_t token, bool *damaged);

/* strike.c: a handler says that it is there. */
void replay_struck(struct replay *r, uint64_t value);

#endif
