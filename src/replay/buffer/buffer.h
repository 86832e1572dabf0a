/* SPDX-License-Identifier: MIT */
/* The syscall buffer: system calls that are recorded without a stop. Where the program has made some that wait for nothing, its
 * code is patched to jump to code that makes them and writes down what they gave (machine_syscallbuf); the recorder takes that
 * at the next event. All other calls are stopped by SIGSYS (system call user dispatch, prctl(2)) as long as the task runs free,
 * and are seen as ever then. In a replay other code gives what was written down; if somebody looks on, the program's code stays
 * as it is, and each of these calls is an event. */
#ifndef CHORD_REPLAY_BUFFER_H
#define CHORD_REPLAY_BUFFER_H

#include "replay/internal.h"

/* ---- memory.c: the code and the data, and the places that are led there ---- */

struct site {
	uint64_t at, stub;       /* stub: 0: it is as ever */
	unsigned weight;         /* of calls that were seen */
};

struct buffer {
	uint64_t base;           /* 0: there is none yet */
	VEC(struct site) site;
	size_t stubs;
	uint8_t control[2];      /* as the memory has it: blocks, closed */
	uint8_t room;            /* recording: 0 or 1: which is filled */
	bool taken;              /* nothing has been written down since it was last looked at */
	bool shut;               /* it cannot be */
	bool hidden;             /* replay: the program's code is as ever */
	uint8_t stream[SBUF_FILES]; /* of the descriptors to which it may write: which standard stream that is */
};

static inline uint64_t
data_at(const struct buffer *b, size_t offset)
{
	return b->base + SBUF_CODE + offset;
}

static inline uint64_t
room_at(const struct buffer *b)
{
	return data_at(b, SBUF_DATA + b->room * (size_t)SBUF_RING);
}

static inline uint64_t
stub_at(const struct buffer *b, uint64_t i)
{
	return b->base + SBUF_INNER + i * SBUF_STUB;
}

static inline bool
is_inside(const struct buffer *b, uint64_t pc)
{
	return b && b->base && pc - b->base < SBUF_INNER;
}

/* That of the task's memory; it is made if there is none. */
struct buffer *buffer_of(struct task *task);
/* Two mappings; data: with what stands in it at first. */
bool buffer_map(struct buffer *b, struct tracee *t, uint64_t base, const uint8_t *code, const uint8_t *end,
                const struct syscallbuf_data *data);
/* Makes a call of its own in the program. */
int64_t buffer_call(struct tracee *t, uint64_t number, const uint64_t arg[6]);
/* The program's control bytes: struct syscallbuf_data. */
void buffer_control(struct buffer *b, struct tracee *t, bool blocks, bool closed);
struct site *buffer_site(struct buffer *b, uint64_t at);
bool buffer_is_near(const struct buffer *b, const struct tracee *t, uint64_t site);
/* The call at the site goes to a stub from here on. False: the program's memory cannot be written. */
bool buffer_put_stub(struct buffer *b, struct tracee *t, uint64_t site, const struct site_way *way);

/* ---- calls.c: which ---- */

/* What is done for each of them. */
void calls_put(struct syscallbuf_data *data);
bool may_be_free(uint64_t number);
/* Descriptors may be others behind it. */
bool moves_files(uint64_t number);

/* ---- site.c: places that make system calls ---- */

/* False: there is none, or what is around the site is not understood. */
bool site_find(const struct tracee *t, uint64_t site, struct site_way *way);

/* ---- lead.c: recording: leading the program there ---- */

/* A place that makes many calls. */
void lead_hot(struct recorder *r, struct buffer *b, struct site *s);
/* The task's calls are stopped elsewhere from here on. */
void lead_calls(struct recorder *r, struct buffer *b);

/* ---- files.c: recording: descriptors that are read and written without a stop ---- */

/* None is known any more to be one; not even those of pipes. */
void forget_outputs(const struct buffer *b, struct tracee *t);
void forget_streams(const struct buffer *b, struct tracee *t);
/* It has written to a descriptor, and had a stop. False: so will it the next time. What is written down of output must not be lost,
 * so it has to be seen when the program ends. */
bool learn_output(struct recorder *r, struct buffer *b, int64_t result);
/* It has read, with a stop. */
void learn_input(struct recorder *r, const struct buffer *b);

#endif
