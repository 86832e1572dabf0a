/* SPDX-License-Identifier: MIT */
/* The log: a head, then numbers and bytes, compressed, with check sums (zstd's), and how many events there are. */
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zstd.h>

enum { CHUNK = 1 << 17, LEVEL = -1 };

static const char magic[8] = {'c', 'h', 'o', 'r', 'd', 'l', 'o', 'g'};

struct head {
	char magic[8];
	uint32_t version, scope;
};

struct log {
	const char *path;
	char *part;              /* writing: its name until it is whole; NULL: it is no file that may be replaced */
	int fd;
	bool failed;             /* reported */
	ZSTD_CCtx *compress;
	ZSTD_DCtx *expand;
	bool more;               /* reading: a frame has begun and not ended */
	bool eof;
	char *plain, *packed;    /* CHUNK bytes each */
	size_t at, n;            /* in plain: how far it is read or written; how much there is */
	uint64_t before;         /* reading: how much was before that */
	ZSTD_inBuffer in;        /* reading: of packed */
};

static struct log *
log_new(const char *path, int fd)
{
	struct log *l = xcalloc(1, sizeof *l);

	l->path = path;
	l->fd = fd;
	l->plain = xmalloc(CHUNK);
	l->packed = xmalloc(CHUNK);
	return l;
}

void
log_close(struct log *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	ZSTD_freeCCtx(l->compress);
	ZSTD_freeDCtx(l->expand);
	free(l->plain);
	free(l->packed);
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

static void
write_all(struct log *l, const char *at, size_t n)
{
	while (n && !l->failed) {
		ssize_t did = write(l->fd, at, n);

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0) {
			say_error(l->path, "%s", strerror(errno));
			l->failed = true;
			return;
		}
		at += did;
		n -= (size_t)did;
	}
}

/* The name under which it is written; NULL: by its own, which leads to something else than a file. */
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

/* Compresses beside the program. Signals are for the thread that waits for the program. */
static void
begin_worker(struct log *l)
{
	ZSTD_outBuffer out = {l->packed, CHUNK, 0};
	ZSTD_inBuffer in = {l->plain, 0, 0};
	sigset_t all, old;
	size_t left;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	ZSTD_CCtx_setParameter(l->compress, ZSTD_c_nbWorkers, 1);
	left = ZSTD_compressStream2(l->compress, &out, &in, ZSTD_e_continue);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (ZSTD_isError(left))
		bug("zstd: %s", ZSTD_getErrorName(left));
	write_all(l, l->packed, out.pos);
}

/* Is the file still the one of that name? */
static bool
is_there(int fd, const char *name)
{
	struct stat mine, there;

	return !fstat(fd, &mine) && !lstat(name, &there) && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Why nothing may be written to the file that is to become the log. NULL: it may, and nobody else can read it. */
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
	return fchmod(fd, 0600) || ftruncate(fd, 0) ? strerror(errno) : NULL;
}

/* Opens the file that becomes the log when it is whole. A recording keeps it locked, so that no other one writes there meanwhile.
 * That one may end between open() and flock(): then the file has another name. Where files cannot be locked, nobody is kept out. */
static int
open_part(const char *path, const char *part)
{
	for (;;) {
		int fd = open(part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
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

/* Only its owner may read it: what the program has read is in it. */
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
	l->compress = ZSTD_createCCtx();
	if (!l->compress)
		die("memory", "none is left");
	ZSTD_CCtx_setParameter(l->compress, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(l->compress, ZSTD_c_checksumFlag, 1);
	memcpy(head.magic, magic, sizeof magic);
	write_all(l, (const char *)&head, sizeof head);
	begin_worker(l);
	return l;
}

static void
compress(struct log *l, const char *from, size_t n, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {from, n, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {l->packed, CHUNK, 0};

		left = ZSTD_compressStream2(l->compress, &out, &in, how);
		if (ZSTD_isError(left))
			bug("zstd: %s", ZSTD_getErrorName(left));
		write_all(l, l->packed, out.pos);
	} while (how == ZSTD_e_continue ? in.pos < in.size : left);
}

static void
flush(struct log *l, ZSTD_EndDirective how)
{
	compress(l, l->plain, l->at, how);
	l->at = 0;
}

static void
put_raw(struct log *l, const void *from, size_t n)
{
	if (n > CHUNK - l->at) {
		flush(l, ZSTD_e_continue);
		if (n >= CHUNK / 2) {
			compress(l, from, n, ZSTD_e_continue);
			return;
		}
	}
	for (const char *at = from; n;) {
		size_t part = n < CHUNK - l->at ? n : CHUNK - l->at;

		memcpy(l->plain + l->at, at, part);
		l->at += part;
		at += part;
		n -= part;
		if (l->at == CHUNK)
			flush(l, ZSTD_e_continue);
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

void
log_put_bytes(struct log *l, const void *at, size_t n)
{
	log_put(l, n);
	put_raw(l, at, n);
}

void
log_put_text(struct log *l, const char *s)
{
	log_put_bytes(l, s, strlen(s));
}

/* File systems elsewhere write when a descriptor is closed. It is not the last one, which keeps the file locked. */
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

	flush(l, ZSTD_e_end);
	if (!written_out(l->fd) && !l->failed) {
		say_error(l->path, "%s", strerror(errno));
		l->failed = true;
	}
	if (!l->failed && l->part && rename(l->part, l->path)) {
		say_error(l->path, "%s", strerror(errno));
		l->failed = true;
	}
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

static bool refill(struct log *l);

/* Reads from the beginning on. */
static void
begin_again(struct log *l)
{
	if (!l->failed && lseek(l->fd, sizeof(struct head), SEEK_SET) < 0)
		damaged(l, strerror(errno));
	l->in = (ZSTD_inBuffer){0};
	l->eof = l->more = false;
	l->at = l->n = 0;
	l->before = 0;
	ZSTD_DCtx_reset(l->expand, ZSTD_reset_session_only);
}

/* Reads all of it once, so that nothing is run by a log that is damaged. */
static bool
is_whole(struct log *l)
{
	bool any = false;

	while (refill(l))
		any = true;
	if (!any)
		damaged(l, "it ends in the middle: the recording was cut short");
	begin_again(l);
	return !l->failed;
}

struct log *
log_open(const char *path)
{
	struct head head;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &head, sizeof head);
	struct log *l;

	if (n < 0) {
		say_error(path, "%s", strerror(errno));
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
		l->expand = ZSTD_createDCtx();
		if (!l->expand)
			die("memory", "none is left");
		if (is_whole(l))
			return l;
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

/* False: there is no more. */
static bool
refill_packed(struct log *l)
{
	ssize_t n;

	do
		n = read(l->fd, l->packed, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		damaged(l, strerror(errno));
	l->eof = n <= 0;
	l->in = (ZSTD_inBuffer){l->packed, n > 0 ? (size_t)n : 0, 0};
	return n > 0;
}

static bool
refill(struct log *l)
{
	ZSTD_outBuffer out = {l->plain, CHUNK, 0};

	l->before += l->n;
	l->at = l->n = 0;
	while (!out.pos && !l->failed) {
		size_t left;

		if (l->in.pos == l->in.size && !l->eof)
			refill_packed(l);
		if (l->eof && !l->more)
			return false;
		left = ZSTD_decompressStream(l->expand, &out, &l->in);
		if (ZSTD_isError(left))
			damaged(l, "it is damaged: its check sum or compression is wrong");
		else if (l->eof && !out.pos && left)
			damaged(l, "it ends in the middle: the recording was cut short");
		l->more = left;
	}
	l->n = out.pos;
	return l->n && !l->failed;
}

/* False: there are not so many. */
static bool
get_raw(struct log *l, void *to, size_t n)
{
	for (char *at = to; n;) {
		size_t part = l->n - l->at < n ? l->n - l->at : n;

		memcpy(at, l->plain + l->at, part);
		l->at += part;
		at += part;
		n -= part;
		if (n && !refill(l)) {
			damaged(l, "it ends in the middle: the recording was cut short");
			memset(at, 0, n);
			return false;
		}
	}
	return true;
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

struct str
log_get_bytes(struct log *l, struct pool *pool)
{
	uint64_t n = log_get(l);
	struct buf b = {0};
	char *copy;

	/* No more memory than the log has bytes, whatever the number says. */
	while (b.n < n && !l->failed) {
		size_t part = n - b.n < CHUNK ? (size_t)(n - b.n) : CHUNK;

		buf_reserve(&b, part);
		if (get_raw(l, b.at + b.n, part))
			b.n += part;
	}
	copy = pool_strndup(pool, b.at ? b.at : "", l->failed ? 0 : b.n);
	n = l->failed ? 0 : b.n;
	buf_free(&b);
	return (struct str){copy, n};
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
	kind = (unsigned char)l->plain[l->at];
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
	if (at < l->before)
		begin_again(l);
	while (!l->failed && at > l->before + l->n)
		if (!refill(l))
			damaged(l, "it ends in the middle: the recording was cut short");
	l->at = l->failed ? l->n : (size_t)(at - l->before);
	return !l->failed;
}
