/* SPDX-License-Identifier: MIT */
/* Growing buffers of bytes, LEB128 numbers, and whole files read and written. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap = b->cap ? b->cap : 256;

	if (__builtin_add_overflow(b->n, more, &need))
		die("memory", "a text of more than %zu bytes", SIZE_MAX);
	if (need <= b->cap)
		return;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	b->at = xrealloc(b->at, cap);
	b->cap = cap;
}

void
buf_add(struct buf *b, const void *data, size_t n)
{
	if (!n)
		return;
	buf_reserve(b, n);
	memcpy(b->at + b->n, data, n);
	b->n += n;
}

void
buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_char(struct buf *b, char c)
{
	buf_reserve(b, 1);
	b->at[b->n++] = c;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	buf_reserve(b, 128);
	va_start(ap, fmt);
	n = vsnprintf(b->at + b->n, b->cap - b->n, fmt, ap);
	va_end(ap);
	if (n < 0)
		bug("format '%s'", fmt);
	if ((size_t)n >= b->cap - b->n) {
		buf_reserve(b, (size_t)n + 1);
		va_start(ap, fmt);
		vsnprintf(b->at + b->n, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->n += (size_t)n;
}

void
buf_number(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t n = sizeof digits;

	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	buf_add(b, digits + n, sizeof digits - n);
}

void
buf_uleb(struct buf *b, uint64_t v)
{
	do {
		buf_char(b, (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}

void
buf_sleb(struct buf *b, int64_t v)
{
	buf_uleb(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void
buf_free(struct buf *b)
{
	free(b->at);
	*b = (struct buf){0};
}

static bool
read_all(int fd, struct buf *b)
{
	for (;;) {
		ssize_t n;

		buf_reserve(b, 1 << 16);
		n = read(fd, b->at + b->n, b->cap - b->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		b->n += (size_t)n;
	}
}

bool
file_read(const char *path, struct buf *b)
{
	bool std = !path || !strcmp(path, "-");
	int fd = std ? 0 : open(path, O_RDONLY | O_CLOEXEC);
	bool ok;
	int saved;

	if (fd < 0)
		return false;
	ok = read_all(fd, b);
	saved = errno;
	if (!std)
		close(fd);
	errno = saved;
	return ok;
}

static bool
write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t k = write(fd, data, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return false;
		data += k;
		n -= (size_t)k;
	}
	return true;
}

/* Writes and closes. */
static bool
write_out(int fd, const void *data, size_t n)
{
	bool ok = write_all(fd, data, n);
	int saved = errno;

	if (close(fd) < 0 && ok) {
		ok = false;
		saved = errno;
	}
	errno = saved;
	return ok;
}

/* A file that somebody has mapped must not become shorter under his hands: a new one takes its place. -1: the folder or the
 * file does not allow that. */
static int
write_anew(const char *path, const void *data, size_t n)
{
	size_t size = strlen(path) + sizeof ".XXXXXX";
	struct stat st;
	char *name;
	int fd, done = -1;

	if (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid() || access(path, W_OK))
		return -1;
	name = xmalloc(size);
	snprintf(name, size, "%s.XXXXXX", path);
	fd = mkstemp(name);
	if (fd >= 0) {
		done = !fchmod(fd, st.st_mode & 07777) && write_out(fd, data, n) && !rename(name, path);
		if (!done) {
			int saved = errno;

			unlink(name);
			errno = saved;
		}
	}
	free(name);
	return done;
}

bool
file_write(const char *path, const void *data, size_t n)
{
	int done = write_anew(path, data, n), fd, saved;

	if (done >= 0)
		return done;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	if (write_out(fd, data, n))
		return true;
	saved = errno;
	unlink(path);
	errno = saved;
	return false;
}
