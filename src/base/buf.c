/* SPDX-License-Identifier: MIT */
/* Growing buffers of bytes, LEB128 numbers, and whole files read and written. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

bool
buf_try_add(struct buf *b, const void *data, size_t n)
{
	if (n > b->cap - b->n) {
		size_t cap = b->cap + n > SIZE_MAX / 2 ? SIZE_MAX : (b->cap + n) * 2;
		char *more = realloc(b->at, cap);

		if (!more)
			return false;
		b->at = more;
		b->cap = cap;
	}
	buf_add(b, data, n);
	return true;
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
buf_zigzag(struct buf *b, int64_t v)
{
	buf_uleb(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Bytes that end a string or a line, or that are not ASCII, in octal. */
void
buf_octal(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		char octal[4] = {'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)), (char)('0' + (c & 7))};

		if (c >= ' ' && c < 127 && c != '"' && c != '\\')
			buf_char(b, (char)c);
		else
			buf_add(b, octal, sizeof octal);
	}
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

/* Pipes that were read in order to look at their beginning. */
struct kept {
	char *path;
	struct buf text;
};
static VEC(struct kept) kept;

static struct kept *
kept_at(const char *path)
{
	for (size_t i = 0; i < kept.n; i++)
		if (!strcmp(kept.at[i].path, path))
			return &kept.at[i];
	return NULL;
}

static bool
take_kept(const char *path, struct buf *b)
{
	struct kept *k = kept_at(path);

	if (!k)
		return false;
	buf_add(b, k->text.at, k->text.n);
	buf_free(&k->text);
	free(k->path);
	*k = kept.at[--kept.n];
	return true;
}

static bool
read_closing(int fd, struct buf *b)
{
	bool ok = read_all(fd, b);
	int saved = errno;

	close(fd);
	errno = saved;
	return ok;
}

void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool
file_read(const char *path, struct buf *b)
{
	int fd;

	if (!path || !strcmp(path, "-"))
		return read_all(0, b);
	if (take_kept(path, b))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read_closing(fd, b);
}

ssize_t
file_peek(const char *path, void *head, size_t n)
{
	struct kept *k = kept_at(path);
	struct buf b = {0};
	struct stat st;
	bool once;
	int fd;

	if (!k) {
		if (stat(path, &st))
			return -1;
		once = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
		if (!once && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))) {
			errno = ESPIPE;
			return -1;
		}
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && !once) {
			ssize_t got = read(fd, head, n);
			int saved = errno;

			close(fd);
			errno = saved;
			return got;
		}
		if (fd < 0 || !read_closing(fd, &b)) {
			buf_free(&b);
			return -1;
		}
		VEC_PUSH(kept, (struct kept){xstrdup(path), b});
		k = &kept.at[kept.n - 1];
	}
	n = n < k->text.n ? n : k->text.n;
	memcpy(head, k->text.at, n);
	return (ssize_t)n;
}

const char *
file_in_path(struct pool *pool, const char *name)
{
	const char *path = getenv("PATH"), *end;
	struct stat st;

	if (strchr(name, '/'))
		return name;
	for (const char *at = path ? path : "/bin:/usr/bin";; at = end + 1) {
		const char *file;

		end = at + strcspn(at, ":");
		file = pool_printf(pool, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "./", name);
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return file;
		if (!*end)
			return NULL;
	}
}

bool
write_all(int fd, const void *data, size_t n)
{
	for (const char *at = data; n;) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (!k)
			errno = EIO; /* it would never end */
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

/* Writes everything and closes the file. */
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

/* If somebody has mapped a file, it must not become shorter, so a new file takes its place. -1: the folder or the file does not
 * allow that. */
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

/* Writes a new file. -1: there is already a file of that name. */
static int
write_new(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), saved;

	if (fd < 0)
		return errno == EEXIST ? -1 : 0;
	if (write_out(fd, data, n))
		return 1;
	saved = errno;
	unlink(path);
	errno = saved;
	return 0;
}

/* Has the file system room for n bytes? If it cannot tell beforehand, it reports the lack when the file is written. */
static bool
has_room(int fd, size_t n)
{
	return !n || !fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)n) || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

/* Writes a file that cannot be replaced: a device, or a file that has several names or belongs to another user. Its contents stay
 * until there is room for the new ones. */
static bool
write_over(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), saved;
	struct stat st;
	bool ok;

	if (fd < 0 && errno == ENOENT) /* a link whose target does not exist yet */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return write_out(fd, data, n);
	ok = has_room(fd, n);
	saved = errno;
	if (!ok && ftruncate(fd, st.st_size)) /* gives back the room that was allocated */
		saved = errno;
	if (ok) {
		ok = write_all(fd, data, n) && !ftruncate(fd, (off_t)n);
		saved = errno;
	}
	if (close(fd) && ok)
		return false;
	errno = saved;
	return ok;
}

/* The target of a link (heap). The kernel's links lead to open files, and are written through. NULL: it is not such a link. */
static char *
behind_link(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode) || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		return NULL;
	return realpath(path, NULL);
}

bool
file_write(const char *path, const void *data, size_t n)
{
	char *real = behind_link(path);
	const char *to = real ? real : path;
	int done = write_anew(to, data, n), saved;

	if (done < 0)
		done = write_new(to, data, n);
	if (done < 0)
		done = write_over(to, data, n);
	saved = errno;
	free(real);
	errno = saved;
	return done;
}
