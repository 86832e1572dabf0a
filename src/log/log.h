/* SPDX-License-Identifier: MIT */
/* log: the file of a recording, a stream of numbers and bytes. docs/replay.md says what stands in it. */
#ifndef CHORD_LOG_H
#define CHORD_LOG_H

#include "base/base.h"

/* ---- chunks.c: the file of a log ---- */

enum { CHUNK = 1 << 20 };    /* bytes of one, before compression, at most */

struct chunks_out;
/* Begins the file with n bytes of head. */
struct chunks_out *chunks_create(int fd, const void *head, size_t n);
/* CHUNK bytes of memory for the next one. */
char *chunks_block(struct chunks_out *o);
/* That one has n bytes: waits until there is memory for another. 0, or errno of what could not be written. */
int chunks_put(struct chunks_out *o, size_t n);
/* The last one has n bytes, or there is none (0). All is written then, but for an error, as above. */
int chunks_finish(struct chunks_out *o, size_t n);
void chunks_abandon(struct chunks_out *o);

struct chunks_in;
/* Behind `head` bytes. NULL: it is not whole, and *why says it. */
struct chunks_in *chunks_open(int fd, size_t head, const char **why);
void chunks_close(struct chunks_in *f);
/* How many there are, at least one, and of how many bytes. */
size_t chunks_number(const struct chunks_in *f);
uint64_t chunks_size(const struct chunks_in *f);
/* The one in which that byte is, or, behind all, the last one. *begin: its first byte. */
size_t chunks_find(const struct chunks_in *f, uint64_t at, uint64_t *begin);
/* What is in chunk i, n bytes, until the next call. NULL: it is damaged. */
const char *chunks_get(struct chunks_in *f, size_t i, size_t *n);

/* The n bytes that stand at that place, in front of where it is read. False: there are none, or they are damaged. */
bool chunks_copy(struct chunks_in *f, uint64_t at, char *to, size_t n);

/* ---- repeats.c: bytes that the log has already ---- */

enum { REPEATS_LEAST = 1 << 14 }; /* fewer are written down again */

struct repeats;
/* NULL: the kernel has no random numbers. */
struct repeats *repeats_new(void);
void repeats_free(struct repeats *r);
/* False: it has had none like these, which are to stand at *at. Else they stand there. */
bool repeats_find(struct repeats *r, const void *bytes, size_t n, uint64_t *at);

/* ---- log.c: what was recorded, a stream of numbers and bytes ---- */

enum { LOG_VERSION = 9 };

/* What happened, in this order. docs/replay.md lists what stands in each. */
enum log_event {
	LOG_START = 1, LOG_CALL, LOG_NONDET, LOG_SIGNAL, LOG_EXIT, LOG_STRUCK, LOG_TASK, LOG_ENTER, LOG_LEAVE, LOG_BIRTH, LOG_END,
	LOG_SWITCH, LOG_EXEC, LOG_SYSCALLBUF, LOG_SITE, LOG_FREE, LOG_REPLACED, LOG_MOST
};

/* What is recorded of a run. */
enum log_scope { LOG_ALL, LOG_SIGNALS_ONLY };

struct log;

/* It has its name when it is whole. NULL: reported. */
struct log *log_create(const char *path, enum log_scope scope);
void log_put(struct log *l, uint64_t v);
void log_put_bytes(struct log *l, const void *at, size_t n);
void log_put_text(struct log *l, const char *s);
/* False: it could not be written; reported, and what there is of it is removed. */
bool log_finish(struct log *l);
/* Removes what there is of it; a log that had the name before stays. */
void log_abandon(struct log *l);

struct log *log_open(const char *path);
/* Of a file that may be no log: that is said when it is opened. */
enum log_scope log_scope(const char *path);
const char *log_name(const struct log *l);
/* What was read; when the log is damaged or ends too early that is said once, and all that follows is 0 and empty. */
uint64_t log_get(struct log *l);
/* Bytes in the pool; behind what the buffer has, and how many. */
struct str log_get_bytes(struct log *l, struct pool *pool);
size_t log_get_into(struct log *l, struct buf *b);
const char *log_get_text(struct log *l, struct pool *pool);
/* The kind of the next event, which log_get() has yet to read. */
enum log_event log_peek(struct log *l);
/* How many bytes have been read, and reading on from there. False: reported. */
uint64_t log_tell(const struct log *l);
bool log_seek(struct log *l, uint64_t at);
/* Is there nothing behind what has been read? */
bool log_at_end(struct log *l);
bool log_failed(const struct log *l);
void log_close(struct log *l);

#endif
