/* SPDX-License-Identifier: MIT */
/* log: the file of a recording, a stream of numbers and bytes. docs/replay.md lists its contents. */
#ifndef CHORD_LOG_H
#define CHORD_LOG_H

#include "base/base.h"

/* ---- chunks.c: the file of a log, in compressed chunks ---- */

enum { CHUNK = 1 << 20 };    /* bytes of a chunk before compression, at most */

struct chunks_out;
/* Begins the file with n bytes of head. A thread compresses and writes; fd stays the caller's. */
struct chunks_out *chunks_create(int fd, const void *head, size_t n);
/* Memory of CHUNK bytes for the next chunk. */
char *chunks_block(struct chunks_out *o);
/* The block has n bytes and is to be written. Waits until there is memory for another one. Returns 0, or the errno of an earlier
 * write. */
int chunks_put(struct chunks_out *o, size_t n);
/* The same for the last block (n is 0 if there is none). Waits until everything is written, and frees o. Returns 0 or errno. */
int chunks_finish(struct chunks_out *o, size_t n);
void chunks_abandon(struct chunks_out *o); /* stops writing and frees o; the file is incomplete */

struct chunks_in;
/* Opens a file whose chunks begin after `head` bytes, and checks its sum. NULL: it is not complete; *why. */
struct chunks_in *chunks_open(int fd, size_t head, const char **why);
void chunks_close(struct chunks_in *f);
/* The number of chunks, at least one; and of bytes in all, before compression. */
size_t chunks_number(const struct chunks_in *f);
uint64_t chunks_size(const struct chunks_in *f);
/* The chunk that contains byte `at`; after the end, the last one. *begin: the chunk's first byte. */
size_t chunks_find(const struct chunks_in *f, uint64_t at, uint64_t *begin);
/* The contents of chunk i, *n bytes, valid until the next call. NULL: damaged. */
const char *chunks_get(struct chunks_in *f, size_t i, size_t *n);

/* Copies n bytes from byte `at` on, without changing the place from which chunks_get() reads ahead. False: there are not that many,
 * or they are damaged. */
bool chunks_copy(struct chunks_in *f, uint64_t at, char *to, size_t n);

/* ---- repeats.c: finds bytes that the log already has ---- */

enum { REPEATS_LEAST = 1 << 14 }; /* shorter pieces are written again */

struct repeats;
/* NULL: the kernel gives no random numbers, which the hash needs. */
struct repeats *repeats_new(void);
void repeats_free(struct repeats *r);
/* True: the log has the same n bytes already, at *at. False: it has not; the caller writes them at *at, which is noted. */
bool repeats_find(struct repeats *r, const void *bytes, size_t n, uint64_t *at);

/* ---- log.c: what was recorded, a stream of numbers and bytes ---- */

enum { LOG_VERSION = 10 };

/* Kinds of events; the numbers are in the file. docs/replay.md lists the contents of each. */
enum log_event {
	LOG_START = 1, LOG_CALL, LOG_NONDET, LOG_SIGNAL, LOG_EXIT, LOG_STRUCK, LOG_TASK, LOG_ENTER, LOG_LEAVE, LOG_BIRTH, LOG_END,
	LOG_SWITCH, LOG_EXEC, LOG_SYSCALLBUF, LOG_SITE, LOG_FREE, LOG_REPLACED, LOG_GONE, LOG_MOST
};

/* How much of a run is recorded. */
enum log_scope { LOG_ALL, LOG_SIGNALS_ONLY };

struct log;

/* Begins a log, which gets its name only when it is complete. `path` has to stay. NULL: reported. */
struct log *log_create(const char *path, enum log_scope scope);
void log_put(struct log *l, uint64_t v); /* LEB128 */
void log_put_bytes(struct log *l, const void *at, size_t n);
void log_put_text(struct log *l, const char *s);
/* Completes the log and frees l. False: it could not be written; this is reported, and the incomplete file is removed. */
bool log_finish(struct log *l);
/* Removes the incomplete file and frees l. An older log with the name stays. */
void log_abandon(struct log *l);

/* NULL: reported. */
struct log *log_open(const char *path);
/* The scope of a log; LOG_ALL if the file is no log, which log_open() reports. */
enum log_scope log_scope(const char *path);
const char *log_name(const struct log *l);
/* Reads a number. If the log is damaged or ends too early, this is reported once; from then on all numbers are 0, and all bytes
 * empty. */
uint64_t log_get(struct log *l);
/* Reads bytes into the pool; or appends them to a buffer, and returns how many there were. */
struct str log_get_bytes(struct log *l, struct pool *pool);
size_t log_get_into(struct log *l, struct buf *b);
const char *log_get_text(struct log *l, struct pool *pool); /* the same, zero terminated */
/* The kind of the next event, which log_get() still has to read; 0: damaged or at the end, which is reported. */
enum log_event log_peek(struct log *l);
/* The number of bytes read so far; and a jump to that place. False: reported. */
uint64_t log_tell(const struct log *l);
bool log_seek(struct log *l, uint64_t at);
/* True if everything has been read. */
bool log_at_end(struct log *l);
bool log_failed(const struct log *l); /* damaged, or not writable: reported */
void log_close(struct log *l); /* NULL is allowed */

#endif
