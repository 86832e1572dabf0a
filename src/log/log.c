/* SPDX-License-Identifier: MIT */
/* The log: reading and writing numbers and bytes. */
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'c', 'h', 'o', 'r', 'd', 'l', 'o', 'g'};

struct head {
	char magic[8];
	uint32_t version, scope;
};

struct log {
	const char *path;
	char *part;              /* writing: its name until it is whole; NULL: it is written by its own name */
	int fd;
	bool failed;             /* reported */
	struct chunks_out *out;
	struct repeats *repeats; /* NULL: bytes that repeat are written again, too */
	struct chunks_in *in;
	const char *from;        /* reading: the chunk */
	char *to;                /* writing: the chunk that is filled */
	size_t at, n;            /* of the chunk: how far it is read or written; how many bytes it has */
	size_t next;             /* reading: the chunk after it */
	uint64_t before;         /* bytes before the chunk */
};

static struct log *
log_new(const char *path, int fd)
{
	struct log *l = xcalloc(1, sizeof *l);

	l->path = path;
	l->fd = fd;
	return l;
}

void
log_close(struct log *l)
{
	if (!l)
		return;
	if (l->out)
		chunks_abandon(l->out);
	chunks_close(l->in);
	repeats_free(l->repeats);
	if (l->fd >= 0)
		close(l->fd);
	free(l->part);
	free(l);
}

const char *
log_name(const struct log *l)
{
	return l->path;
}

bool
log_failed(const struct log *l)
{
	return l->failed;
}

/* ---- writing ---- */

/* The name under which the log is written until it is whole. NULL: its own, because that is not a regular file. */
static char *
part_name(const char *path)
{
	struct stat st;
	char *name = NULL;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return NULL;
	if (asprintf(&name, "%s.part", path) < 0)
		die("memory", "none is left");
	return name;
}

/* Does the name still lead to this file? */
static bool
is_there(int fd, const char *name)
{
	struct stat mine, there;

	return !fstat(fd, &mine) && !lstat(name, &there) && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Is the file empty, or the beginning of a recording? Otherwise it is somebody's file that happens to have that name. */
static bool
is_part(int fd)
{
	char head[sizeof magic];
	ssize_t n = pread(fd, head, sizeof head, 0);

	return !n || (n == sizeof head && !memcmp(head, magic, sizeof magic));
}

/* Why nothing may be written to the file that is to become the log. NULL: it may be written, and nobody else can read it. */
static const char *
cannot_be_part(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is no regular file";
	if (st.st_uid != geteuid())
		return "it belongs to somebody else";
	if (!is_part(fd))
		return "it is no recording that was begun: the log would be written there (choose another name: -o)";
	return fchmod(fd, 0600) || ftruncate(fd, 0) ? strerror(errno) : NULL;
}

/* Opens the file that becomes the log when it is whole. A recording keeps it locked, so no other recording writes there meanwhile.
 * Another recording may end between open() and flock(), and then the file has another name. Where files cannot be locked, nobody is
 * kept out. */
static int
open_part(const char *path, const char *part)
{
	for (;;) {
		int fd = open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		const char *why;

		if (fd < 0) {
			say_error(errno == ELOOP ? part : path, "%s", errno == ELOOP ? "it is a symbolic link" : strerror(errno));
			return -1;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			say_error(path, "another recording is being written there (choose another name: -o)");
		} else if (is_there(fd, part)) {
			why = cannot_be_part(fd);
			if (!why)
				return fd;
			say_error(part, "%s", why);
		} else {
			close(fd);
			continue;
		}
		close(fd);
		return -1;
	}
}

static int
open_itself(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		say_error(path, "%s", strerror(errno));
	return fd;
}

/* Only its owner may read the log, because it contains what the program has read. */
struct log *
log_create(const char *path, enum log_scope scope)
{
	struct head head = {.version = LOG_VERSION, .scope = scope};
	char *part = part_name(path);
	int fd = part ? open_part(path, part) : open_itself(path);
	struct log *l;

	if (fd < 0) {
		free(part);
		return NULL;
	}
	l = log_new(path, fd);
	l->part = part;
	memcpy(head.magic, magic, sizeof magic);
	l->out = chunks_create(fd, &head, sizeof head);
	l->to = chunks_block(l->out);
	l->repeats = repeats_new();
	return l;
}

/* error: errno, or 0. */
static void
note_error(struct log *l, int error)
{
	if (error && !l->failed) {
		say_error(l->path, "%s", strerror(error));
		l->failed = true;
	}
}

static void
put_raw(struct log *l, const void *from, size_t n)
{
	for (const char *at = from; n;) {
		size_t part = n < CHUNK - l->at ? n : CHUNK - l->at;

		memcpy(l->to + l->at, at, part);
		l->at += part;
		at += part;
		n -= part;
		if (l->at == CHUNK) {
			note_error(l, chunks_put(l->out, l->at));
			l->to = chunks_block(l->out);
			l->before += CHUNK;
			l->at = 0;
		}
	}
}

void
log_put(struct log *l, uint64_t v)
{
	unsigned char b[10];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		b[n++] = (unsigned char)(v | 128);
	b[n++] = (unsigned char)v;
	put_raw(l, b, n);
}

/* First the number of bytes; then 0 and the bytes, or 1 more than the place where the same bytes already are. Fewer than
 * REPEATS_LEAST bytes follow their number directly. */
void
log_put_bytes(struct log *l, const void *at, size_t n)
{
	uint64_t there;

	log_put(l, n);
	if (n >= REPEATS_LEAST) {
		there = log_tell(l) + 1;
		if (l->repeats && repeats_find(l->repeats, at, n, &there)) {
			log_put(l, there + 1);
			return;
		}
		log_put(l, 0);
	}
	put_raw(l, at, n);
}

void
log_put_text(struct log *l, const char *s)
{
	log_put_bytes(l, s, strlen(s));
}

/* Some network file systems write when a descriptor is closed. So a copy is closed; the file stays locked by the other one. */
static bool
written_out(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 || !close(copy);
}

bool
log_finish(struct log *l)
{
	bool ok;

	note_error(l, chunks_finish(l->out, l->at));
	l->out = NULL;
	if (!written_out(l->fd))
		note_error(l, errno);
	if (!l->failed && l->part && rename(l->part, l->path))
		note_error(l, errno);
	ok = !l->failed;
	if (!ok && l->part)
		unlink(l->part);
	log_close(l);
	return ok;
}

void
log_abandon(struct log *l)
{
	if (l->part)
		unlink(l->part);
	log_close(l);
}

/* ---- reading ---- */

static void
damaged(struct log *l, const char *why)
{
	if (!l->failed)
		say_error(l->path, "%s", why);
	l->failed = true;
}

struct log *
log_open(const char *path)
{
	struct head head;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &head, sizeof head);
	const char *why;
	struct log *l;

	if (n < 0) {
		say_error(path, "%s", strerror(errno));
	} else if (lseek(fd, 0, SEEK_CUR) < 0) {
		say_error(path, "a pipe or the like: a log is read from a file");
	} else if ((size_t)n < sizeof head.magic || memcmp(head.magic, magic, sizeof magic)) {
		say_error(path, "not a log of chord record");
	} else if ((size_t)n < sizeof head) {
		say_error(path, "it ends in the middle: the recording was cut short");
	} else if (head.version != LOG_VERSION) {
		say_error(path, "a log of version %u, this chord has version %d", head.version, LOG_VERSION);
	} else if (head.scope > LOG_SIGNALS_ONLY) {
		say_error(path, "it is damaged: what it has of the run is not known");
	} else {
		l = log_new(path, fd);
		l->in = chunks_open(fd, sizeof head, &why);
		if (l->in)
			return l;
		damaged(l, why);
		log_close(l);
		return NULL;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

enum log_scope
log_scope(const char *path)
{
	struct head head = {.scope = LOG_ALL};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, &head, sizeof head);

	if (fd >= 0)
		close(fd);
	return n == sizeof head && head.scope == LOG_SIGNALS_ONLY ? LOG_SIGNALS_ONLY : LOG_ALL;
}

/* Goes to the next chunk. False: there is none. */
static bool
refill(struct log *l)
{
	if (l->failed || l->next == chunks_number(l->in))
		return false;
	l->before += l->n;
	l->at = l->n = 0;
	l->from = chunks_get(l->in, l->next++, &l->n);
	if (!l->from)
		damaged(l, "it is damaged: its check sum or compression is wrong");
	return !l->failed;
}

/* Reads n bytes. False: there are not so many. */
static bool
get_raw(struct log *l, void *to, size_t n)
{
	for (char *at = to; n;) {
		size_t part;

		if (l->at == l->n && !refill(l)) {
			damaged(l, "it ends in the middle: the recording was cut short");
			memset(at, 0, n);
			return false;
		}
		part = l->n - l->at < n ? l->n - l->at : n;
		memcpy(at, l->from + l->at, part);
		l->at += part;
		at += part;
		n -= part;
	}
	return true;
}

/* Reads n bytes from an earlier place. */
static bool
get_again(struct log *l, uint64_t from, char *to, size_t n)
{
	if (!chunks_copy(l->in, from, to, n))
		damaged(l, "it is damaged: its check sum or compression is wrong");
	return !l->failed;
}

uint64_t
log_get(struct log *l)
{
	uint64_t v = 0;
	unsigned char b = 128;

	for (unsigned shift = 0; b & 128 && !l->failed; shift += 7) {
		if (shift > 63 || !get_raw(l, &b, 1)) {
			damaged(l, "it is damaged: a number has no end");
			return 0;
		}
		v |= (uint64_t)(b & 127) << shift;
	}
	return l->failed ? 0 : v;
}

size_t
log_get_into(struct log *l, struct buf *b)
{
	uint64_t n = log_get(l), again = n >= REPEATS_LEAST ? log_get(l) : 0, here = log_tell(l);
	size_t done = 0;

	if (l->failed)
		return 0;
	if (again && (n > here || again - 1 > here - n))
		damaged(l, "it is damaged: bytes are to stand where there are none");
	else if (!again && n > chunks_size(l->in) - here)
		damaged(l, "it ends in the middle: the recording was cut short");
	/* This takes no more memory than the log has bytes, whatever its numbers say. */
	while (done < n && !l->failed) {
		size_t part = n - done < CHUNK ? (size_t)n - done : CHUNK;

		buf_reserve(b, part);
		if (again ? !get_again(l, again - 1 + done, b->at + b->n, part) : !get_raw(l, b->at + b->n, part))
			break;
		b->n += part;
		done += part;
	}
	return done;
}

struct str
log_get_bytes(struct log *l, struct pool *pool)
{
	struct buf b = {0};
	size_t n = log_get_into(l, &b);
	char *copy = pool_strndup(pool, b.at ? b.at : "", l->failed ? 0 : n);

	buf_free(&b);
	return (struct str){copy, l->failed ? 0 : n};
}

const char *
log_get_text(struct log *l, struct pool *pool)
{
	struct str s = log_get_bytes(l, pool);

	if (memchr(s.at, 0, s.n))
		damaged(l, "it is damaged: a text has a null byte");
	return s.at;
}

enum log_event
log_peek(struct log *l)
{
	unsigned char kind;

	if (l->failed || (l->at == l->n && !refill(l))) {
		damaged(l, "it ends in the middle: the recording was cut short");
		return 0;
	}
	kind = (unsigned char)l->from[l->at];
	if (!kind || kind >= LOG_MOST)
		damaged(l, "it is damaged: there is no such event");
	return l->failed ? 0 : kind;
}

bool
log_at_end(struct log *l)
{
	return !l->failed && l->at == l->n && !refill(l) && !l->failed;
}

uint64_t
log_tell(const struct log *l)
{
	return l->before + l->at;
}

bool
log_seek(struct log *l, uint64_t at)
{
	if (l->failed)
		return false;
	if (at < l->before || at > l->before + l->n) {
		l->next = chunks_find(l->in, at, &l->before);
		l->n = 0;
		refill(l);
	}
	l->at = l->failed ? l->n : (size_t)(at - l->before);
	return !l->failed;
}
