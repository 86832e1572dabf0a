/* SPDX-License-Identifier: MIT */
/* Files that the program maps. Programs and libraries have to be there again, and be the same; what the program maps of other
 * files is in the log. In a replay a file without a name takes the place of each, and what system calls change in it while
 * it is mapped is done to that. */
#include "replay/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { ADDR, LENGTH, PROT, FLAGS, FD, OFFSET };

/* ---- recording ---- */

/* A descriptor of its file that the recorder can read; -1. */
static int
open_theirs(const struct tracee *t, uint64_t fd)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/fd/%d", t->pid, (int)fd);
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static struct mapped_file *
file_of(struct mapped *m, const struct stat *st)
{
	for (size_t i = 0; i < m->file.n; i++)
		if (m->file.at[i].dev == st->st_dev && m->file.at[i].ino == st->st_ino)
			return &m->file.at[i];
	return NULL;
}

bool
mapped_sum(int fd, uint64_t *size, uint64_t *sum)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	*sum = 0;
	if (!st.st_size)
		return true;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	*sum = bytes_sum(at, (size_t)st.st_size);
	munmap(at, (size_t)st.st_size);
	return true;
}

/* A program or library. What compilers leave for the linker (ET_REL) is data, which is removed soon. */
static bool
is_program(int fd)
{
	Elf64_Ehdr head;

	return pread(fd, &head, sizeof head, 0) == sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	       (head.e_type == ET_EXEC || head.e_type == ET_DYN);
}

static bool
is_since(const struct timespec *t, const struct timespec *start)
{
	return t->tv_sec > start->tv_sec || (t->tv_sec == start->tv_sec && t->tv_nsec >= start->tv_nsec);
}

/* The name of a program or library that can be expected to be there again, for it was there before the recording; NULL: it is
 * none. */
static const char *
program_name(struct mapped *m, const struct tracee *t, uint64_t fd, int mine)
{
	char link[4096];
	ssize_t n = readlink(pool_printf(m->pool, "/proc/%d/fd/%d", t->pid, (int)fd), link, sizeof link);
	struct stat named, st;

	if (!is_program(mine) || n <= 0 || (size_t)n >= sizeof link)
		return NULL;
	link[n] = 0;
	if (stat(link, &named) || fstat(mine, &st) || named.st_dev != st.st_dev || named.st_ino != st.st_ino ||
	    is_since(&st.st_ctim, &m->start))
		return NULL;
	return pool_strdup(m->pool, link);
}

/* Takes over mine. */
static struct mapped_file *
note_file(struct mapped *m, const struct stat *st, int mine)
{
	struct mapped_file *f = file_of(m, st);

	if (f) {
		close(mine);
		return f;
	}
	VEC_PUSH(m->file, (struct mapped_file){.dev = st->st_dev, .ino = st->st_ino, .fd = mine, .size = (uint64_t)st->st_size});
	return &m->file.at[m->file.n - 1];
}

static void
put_bytes(struct log *l, int fd, uint64_t offset, uint64_t n)
{
	char *at = xmalloc(n + 1);
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, at + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	log_put_bytes(l, at, done);
	free(at);
}

static void
record_bytes(struct mapped *m, struct log *l, const struct stat *st, int mine, const uint64_t arg[6])
{
	struct mapped_file *f = note_file(m, st, mine);
	uint64_t size = (uint64_t)st->st_size, left = size > arg[OFFSET] ? size - arg[OFFSET] : 0;
	/* Whole pages are there. */
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), shown = (arg[LENGTH] + page - 1) / page * page;

	f->size = size;
	log_put(l, MAP_KIND_BYTES);
	log_put(l, (uint64_t)(f - m->file.at));
	log_put(l, size);
	put_bytes(l, f->fd, arg[OFFSET], left < shown ? left : shown);
}

static void
record_program(struct mapped *m, struct log *l, const char *name, int mine)
{
	uint64_t size, sum;

	if (!mapped_sum(mine, &size, &sum))
		size = sum = 0;
	log_put(l, MAP_KIND_PROGRAM);
	log_put_text(l, name);
	log_put(l, size);
	log_put(l, sum);
	(void)m;
}

const char *
mapped_record(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6])
{
	struct stat st;
	const char *name;
	int mine;

	if (arg[FLAGS] & MAP_HUGETLB)
		return "huge pages";
	if (arg[FLAGS] & MAP_ANONYMOUS) {
		log_put(l, MAP_KIND_NONE);
		return NULL;
	}
	mine = open_theirs(t, arg[FD]);
	if (mine < 0 || fstat(mine, &st))
		return "what it maps cannot be read";
	if (S_ISREG(st.st_mode)) {
		name = (arg[FLAGS] & MAP_TYPE) == MAP_PRIVATE ? program_name(m, t, arg[FD], mine) : NULL;
		if (name) {
			record_program(m, l, name, mine);
			close(mine);
		} else {
			record_bytes(m, l, &st, mine, arg);
		}
		return NULL;
	}
	close(mine);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 5))
		return "memory of a device";
	log_put(l, MAP_KIND_NONE);
	return NULL;
}

/* ---- changes by system calls, recorded ---- */

uint64_t
position_of(struct pool *pool, const struct tracee *t, uint64_t fd)
{
	const char *text = tracee_proc(t, pool, pool_printf(pool, "fdinfo/%d", (int)fd));
	unsigned long long pos = 0;

	if (text)
		sscanf(text, "pos: %llu", &pos);
	return pos;
}

static struct mapped_file *
mapped_of(struct mapped *m, const struct tracee *t, uint64_t fd)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof name, "/proc/%d/fd/%d", t->pid, (int)fd);
	return m->file.n && !stat(name, &st) ? file_of(m, &st) : NULL;
}

/* Files whose size is another one now. */
static void
record_sizes(struct mapped *m, struct log *l)
{
	struct stat st;

	for (size_t i = 0; i < m->file.n; i++) {
		struct mapped_file *f = &m->file.at[i];

		if (fstat(f->fd, &st) || f->size == (uint64_t)st.st_size)
			continue;
		f->size = (uint64_t)st.st_size;
		log_put(l, CHANGE_SIZE);
		log_put(l, i);
		log_put(l, f->size);
	}
}

/* Is there a file at an address? Then which, and where in it. */
static bool
shows_file(struct pool *pool, const struct tracee *t, uint64_t addr, uint64_t *ino, uint64_t *at)
{
	const char *line = tracee_proc(t, pool, "maps");
	uint64_t start, end, offset;

	for (; line && *line; line = strchr(line, '\n') + 1)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &start, &end, &offset, ino) == 4 &&
		    start <= addr && addr < end) {
			*at = offset + addr - start;
			return *ino;
		}
	return false;
}

const char *
mapped_grown(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	struct pool *pool = pool_new();
	uint64_t ino, at, left, more, page = (uint64_t)sysconf(_SC_PAGESIZE);
	bool grown = arg[2] > arg[1] && shows_file(pool, t, result, &ino, &at);
	size_t i = 0;

	pool_free(pool);
	record_sizes(m, l);
	while (grown && i < m->file.n && m->file.at[i].ino != ino)
		i++;
	if (grown && i == m->file.n)
		return "a file's mapping that grows";
	if (grown) {
		at += arg[1];
		left = m->file.at[i].size > at ? m->file.at[i].size - at : 0;
		more = (arg[2] + page - 1) / page * page - arg[1];
		log_put(l, CHANGE_BYTES);
		log_put(l, i);
		log_put(l, at);
		put_bytes(l, m->file.at[i].fd, at, left < more ? left : more);
	}
	log_put(l, CHANGE_NONE);
	return NULL;
}

uint64_t
passed_to(const struct system_call *c, const uint64_t arg[6])
{
	return c->number == SYS_sendfile ? arg[0] : c->number == SYS_tee ? arg[1] : arg[2];
}

const char *
mapped_changed(struct mapped *m, struct log *l, const struct tracee *t, const struct system_call *c,
               const uint64_t arg[6], int64_t result)
{
	struct mapped_file *f = result < 0 || !m->file.n ? NULL :
		mapped_of(m, t, c->class == CALL_PASS ? passed_to(c, arg) : arg[0]);
	struct pool *pool;
	uint64_t at;

	if (f && (c->class == CALL_PASS || (c->number == SYS_fallocate && arg[1] & ~1ull)))
		return "it changes a file that is mapped";
	if (f && c->class == CALL_OUTPUT && result) {
		pool = pool_new();
		at = c->number == SYS_write || c->number == SYS_writev ? position_of(pool, t, arg[0]) - (uint64_t)result : arg[3];
		pool_free(pool);
		log_put(l, CHANGE_BYTES);
		log_put(l, (uint64_t)(f - m->file.at));
		log_put(l, at);
		put_bytes(l, f->fd, at, (uint64_t)result);
	}
	if (result >= 0)
		record_sizes(m, l);
	log_put(l, CHANGE_NONE);
	return NULL;
}

bool
passed_bytes(struct log *l, const struct tracee *t, const struct system_call *c, const uint64_t arg[6], uint64_t n)
{
	uint64_t from = c->number == SYS_sendfile ? arg[1] : arg[0], at_addr = c->number == SYS_sendfile ? arg[2] : arg[1], at;
	int mine = c->number == SYS_sendfile || c->number == SYS_copy_file_range ? open_theirs(t, from) : -1;
	struct pool *pool;
	struct stat st;
	bool ok = mine >= 0 && !fstat(mine, &st) && S_ISREG(st.st_mode);

	if (ok && at_addr) {
		ok = tracee_read(t, at_addr, &at, sizeof at);
	} else if (ok) {
		pool = pool_new();
		at = position_of(pool, t, from);
		pool_free(pool);
	}
	if (ok)
		put_bytes(l, mine, at - n, n);
	if (mine >= 0)
		close(mine);
	return ok;
}

/* ---- replaying ---- */

/* Opens a file of this process in the tracee, by its name in /proc, which stands below the stack meanwhile. */
static int64_t
open_there(struct tracee *t, int fd, int how)
{
	enum { BELOW = 1024, ROOM = 64 };
	uint64_t at = (tracee_word(t, t->machine->sp) - BELOW) & ~15ull;
	char name[ROOM] = "", was[ROOM];
	int64_t result;

	snprintf(name, sizeof name, "/proc/%d/fd/%d", getpid(), fd);
	if (!tracee_read(t, at, was, sizeof was) || !tracee_write(t, at, name, sizeof name))
		return -EFAULT;
	result = tracee_call(t, SYS_openat, (uint64_t [6]){(uint64_t)AT_FDCWD, at, (uint64_t)(how | O_CLOEXEC)});
	tracee_write(t, at, was, sizeof was);
	return result;
}

/* fd: -1 no file. how: to open it. */
static bool
map_there(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd, int how)
{
	uint64_t flags = (arg[FLAGS] | MAP_FIXED) & ~(uint64_t)(MAP_LOCKED | MAP_POPULATE | MAP_FIXED_NOREPLACE);
	int64_t theirs = fd < 0 ? -1 : open_there(t, fd, how), got;

	if (fd >= 0 && theirs < 0) {
		say_error("replay", "a file cannot be opened in the program: %s", strerror((int)-theirs));
		return false;
	}
	if (fd < 0)
		flags |= MAP_ANONYMOUS;
	got = tracee_call(t, SYS_mmap, (uint64_t [6]){result, arg[LENGTH], arg[PROT], flags, (uint64_t)theirs,
	                                               fd < 0 ? 0 : arg[OFFSET]});
	if (theirs >= 0)
		tracee_call(t, SYS_close, (uint64_t [6]){(uint64_t)theirs});
	if ((uint64_t)got == result)
		return true;
	say_error("replay", "0x%" PRIx64 " bytes cannot be mapped at 0x%" PRIx64 ": %s", arg[LENGTH], result,
	          got < 0 ? strerror((int)-got) : "they are elsewhere");
	return false;
}

bool
mapped_same(const char *name, int fd, uint64_t size, uint64_t sum)
{
	uint64_t now, now_sum;

	if (fd < 0)
		say_error(name, "%s; the recorded program used it", strerror(errno));
	else if (!mapped_sum(fd, &now, &now_sum))
		say_error(name, "it cannot be read");
	else if (now != size || now_sum != sum)
		say_error(name, "it has changed since the recording");
	else
		return true;
	return false;
}

static bool
replay_program(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	const char *name = log_get_text(l, m->pool);
	uint64_t size = log_get(l), sum = log_get(l);
	int fd = log_failed(l) ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool ok = !log_failed(l) && mapped_same(name, fd, size, sum);

	/* Logs come from others: none has a replay change a file. */
	if (ok && (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE) {
		say_error(log_name(l), "it is damaged: a mapping would change %s", name);
		ok = false;
	}
	ok = ok && map_there(t, arg, result, fd, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The file that takes the place of number i. NULL: there is none. */
static struct mapped_file *
file_at(struct mapped *m, struct log *l, uint64_t i, bool make)
{
	int fd;

	if (make && i == m->file.n && !log_failed(l)) {
		fd = memfd_create("replay", MFD_CLOEXEC);
		if (fd < 0)
			die("memfd_create", "%s", strerror(errno));
		VEC_PUSH(m->file, (struct mapped_file){.fd = fd});
	}
	if (i < m->file.n)
		return &m->file.at[i];
	if (!log_failed(l))
		say_error(log_name(l), "it is damaged: there is no mapped file %" PRIu64, i);
	return NULL;
}

static bool
fill(int fd, struct str bytes, uint64_t at)
{
	for (size_t done = 0; done < bytes.n;) {
		ssize_t put = pwrite(fd, bytes.at + done, bytes.n - done, (off_t)(at + done));

		if (put <= 0) {
			say_error("replay", "a mapped file cannot be filled: %s", strerror(errno));
			return false;
		}
		done += (size_t)put;
	}
	return true;
}

/* The arguments of a mapping that copies of the program do not share. */
static const uint64_t *
apart_flags(struct mapped *m, const uint64_t arg[6], uint64_t own[6])
{
	memcpy(own, arg, 6 * sizeof *own);
	m->shares |= (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE && arg[PROT] & PROT_WRITE;
	if (m->apart)
		own[FLAGS] = (arg[FLAGS] & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE;
	return own;
}

/* If mappings are apart: is that part of the file mapped nowhere? Reported if it is. */
static bool
is_apart(struct mapped *m, const struct tracee *t, const struct mapped_file *f, uint64_t at, uint64_t n)
{
	const char *line = m->apart ? tracee_proc(t, m->pool, "maps") : NULL;
	uint64_t start, end, offset, ino;
	struct stat st;

	if (!line || fstat(f->fd, &st))
		return !m->apart;
	for (; *line; line = strchr(line, '\n') + 1)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &start, &end, &offset, &ino) == 4 &&
		    ino == st.st_ino && offset < at + n && at < offset + (end - start)) {
			say_error("replay", "the program maps a file twice, or changes by a call what it maps: gdb cannot look");
			return false;
		}
	return true;
}

static bool
replay_bytes(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	struct mapped_file *f = file_at(m, l, log_get(l), true);
	uint64_t size = log_get(l), own[6];
	struct pool *pool = pool_new();
	struct str bytes = log_get_bytes(l, pool);
	bool shared = (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE;
	bool ok = f && !log_failed(l) && (!shared || is_apart(m, t, f, arg[OFFSET], arg[LENGTH])) &&
	          !ftruncate(f->fd, (off_t)size) && fill(f->fd, bytes, arg[OFFSET]) &&
	          map_there(t, apart_flags(m, arg, own), result, f->fd, O_RDWR);

	pool_free(pool);
	return ok;
}

bool
mapped_replay(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	uint64_t own[6];

	switch (log_get(l)) {
	case MAP_KIND_NONE: return !log_failed(l) && map_there(t, apart_flags(m, arg, own), result, -1, 0);
	case MAP_KIND_PROGRAM: return replay_program(m, l, t, arg, result);
	case MAP_KIND_BYTES: return replay_bytes(m, l, t, arg, result);
	}
	if (!log_failed(l))
		say_error(log_name(l), "it is damaged: there is no such mapping");
	return false;
}

bool
mapped_change(struct mapped *m, struct log *l, struct tracee *t)
{
	uint64_t kind;

	while ((kind = log_get(l)) != CHANGE_NONE && !log_failed(l)) {
		struct mapped_file *f = file_at(m, l, log_get(l), false);
		uint64_t at = log_get(l);
		struct pool *pool = pool_new();
		struct str bytes = kind == CHANGE_BYTES ? log_get_bytes(l, pool) : (struct str){0};
		uint64_t n = kind == CHANGE_BYTES ? bytes.n : (uint64_t)INT64_MAX - at;
		bool ok = f && is_apart(m, t, f, at, n) &&
		          (kind == CHANGE_BYTES ? fill(f->fd, bytes, at) : !ftruncate(f->fd, (off_t)at));

		pool_free(pool);
		if (!ok)
			return false;
	}
	return !log_failed(l);
}

void
mapped_close(struct mapped *m)
{
	for (size_t i = 0; i < m->file.n; i++)
		close(m->file.at[i].fd);
	free(m->file.at);
	*m = (struct mapped){.pool = m->pool, .apart = m->apart};
}
