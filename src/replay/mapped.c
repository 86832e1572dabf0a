/* SPDX-License-Identifier: MIT */
/* Files that the program maps. Programs and libraries have to be there again, and be the same. What the program maps of other files
 * is in the log. In a replay a file without a name takes the place of each, and gets the changes that system calls make while the
 * file is mapped. */
#include "replay/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ADDR, LENGTH, PROT, FLAGS, FD, OFFSET };

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif

/* The first FEW files are never forgotten. After sizes have been asked for MANY times, the kernel has to report which ones
 * change. */
enum { FEW = 16, MANY = 64 };

/* ---- recording ---- */

/* A descriptor of the tracee's file that the recorder can read; -1: there is none. */
static int
open_theirs(const struct tracee *t, uint64_t fd)
{
	char name[64];
	int mine;

	snprintf(name, sizeof name, "/proc/%d/fd/%d", t->pid, (int)fd);
	mine = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (mine >= 0 && !tracee_has_room(mine)) {
		close(mine);
		errno = EMFILE;
		mine = -1;
	}
	return mine;
}

static struct mapped_file *
file_of(struct mapped *m, const struct stat *st)
{
	for (size_t i = 0; i < m->file.n; i++)
		if (m->file.at[i].fd >= 0 && m->file.at[i].dev == st->st_dev && m->file.at[i].ino == st->st_ino)
			return &m->file.at[i];
	return NULL;
}

bool
mapped_shows(struct mapped *m, const struct stat *st)
{
	return file_of(m, st);
}

/* Check sums of files that have not changed for a while. They are kept because programs and libraries are mapped again and
 * again. */
static VEC(struct summed {
	struct stat st;
	uint64_t sum;
}) summed;

bool
stat_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static const struct summed *
summed_of(const struct stat *st)
{
	for (size_t i = 0; i < summed.n; i++)
		if (stat_same(&summed.at[i].st, st))
			return &summed.at[i];
	return NULL;
}

bool
stat_is_settled(const struct stat *st)
{
	enum { A_WHILE = 2 };

	return time(NULL) - st->st_ctim.tv_sec > A_WHILE;
}

static void
keep_sum(const struct stat *st, uint64_t sum)
{
	if (stat_is_settled(st))
		VEC_PUSH(summed, (struct summed){*st, sum});
}

bool
mapped_sum(int fd, uint64_t *size, uint64_t *sum)
{
	const struct summed *known;
	struct stat st;
	void *at;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	*sum = 0;
	known = summed_of(&st);
	if (known)
		*sum = known->sum;
	if (!st.st_size || known)
		return true;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	*sum = bytes_sum(at, (size_t)st.st_size);
	munmap(at, (size_t)st.st_size);
	keep_sum(&st, *sum);
	return true;
}

/* Is it a program or library? Object files, which compilers leave for the linker (ET_REL), are data and soon removed. */
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

/* The open flags (O_...) of a descriptor; 0 if it is gone. */
static unsigned
flags_of(const struct tracee *t, uint64_t fd)
{
	struct pool *pool = pool_new();
	const char *text = tracee_proc(t, pool, pool_printf(pool, "fdinfo/%d", (int)fd));
	const char *line = text ? strstr(text, "flags:") : NULL;
	unsigned flags = 0;

	if (line)
		sscanf(line, "flags: %o", &flags);
	pool_free(pool);
	return flags;
}

/* The name of a program or library that can be expected to be there again: it was there before the recording, and the program has
 * not opened it for writing. NULL: the file is not one of these. */
static const char *
program_name(struct mapped *m, const struct tracee *t, uint64_t fd, int mine)
{
	char link[4096];
	struct stat named, st;
	ssize_t n;

	if (!is_program(mine) || (flags_of(t, fd) & O_ACCMODE) != O_RDONLY)
		return NULL;
	n = readlink(pool_printf(m->pool, "/proc/%d/fd/%d", t->pid, (int)fd), link, sizeof link);
	if (n <= 0 || (size_t)n >= sizeof link)
		return NULL;
	link[n] = 0;
	if (stat(link, &named) || fstat(mine, &st) || named.st_dev != st.st_dev || named.st_ino != st.st_ino ||
	    is_since(&st.st_ctim, &m->start))
		return NULL;
	return pool_strdup(m->pool, link);
}

/* Is a file mapped at an address? Then *ino says which one, and *at which place in it. Memory that is shared without a file shows
 * as a file, too, but nothing is read when it grows. */
static bool
shows_file(struct pool *pool, const struct tracee *t, uint64_t addr, uint64_t *ino, uint64_t *at)
{
	const char *maps = tracee_proc(t, pool, "maps");
	struct maps_line m;

	while (maps_next(&maps, &m))
		if (m.start <= addr && addr < m.end) {
			*ino = m.inode;
			*at = m.offset + addr - m.start;
			return m.inode && !str_starts(m.name, "/dev/zero") && !str_starts(m.name, "/SYSV");
		}
	return false;
}

/* Does the file have the same number in stat() and in /proc/PID/maps? File systems on top of others may give two. */
static bool
has_plain_numbers(int fd)
{
	struct statfs st;

	return !fstatfs(fd, &st) && (st.f_type == EXT4_SUPER_MAGIC || st.f_type == XFS_SUPER_MAGIC || st.f_type == TMPFS_MAGIC);
}

/* Asks the kernel to report changes of the file. On file systems that only this kernel changes, the report comes before the call
 * that changes the size is over. */
static void
watch(struct mapped *m, struct mapped_file *f)
{
	char name[64];

	if (!m->changes)
		m->changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) + 1;
	snprintf(name, sizeof name, "/proc/self/fd/%d", f->fd);
	if (m->changes && has_plain_numbers(f->fd))
		f->watch = inotify_add_watch(m->changes - 1, name, IN_MODIFY);
	m->unwatched |= f->watch < 0;
	m->anew = true;
}

/* Takes over the descriptor `mine`. addr: where the file is mapped. */
static struct mapped_file *
note_file(struct mapped *m, const struct tracee *t, const struct stat *st, int mine, uint64_t addr)
{
	struct mapped_file *f = file_of(m, st);
	struct mapped_file new = {.dev = st->st_dev, .ino = st->st_ino, .fd = mine, .size = (uint64_t)st->st_size, .watch = -1};
	struct pool *pool;
	uint64_t ino, at;

	if (f) {
		close(mine);
		return f;
	}
	if (m->file.n >= FEW && !has_plain_numbers(mine)) {
		pool = pool_new();
		new.shows = shows_file(pool, t, addr, &ino, &at) && ino == new.ino;
		pool_free(pool);
	} else {
		new.shows = m->file.n >= FEW;
	}
	if (m->looks > MANY)
		watch(m, &new);
	VEC_PUSH(m->file, new);
	m->open++;
	return &m->file.at[m->file.n - 1];
}

typedef VEC(uint64_t) numbers_of_inodes;

/* Adds the inodes that the mappings of a process show. */
static void
add_inodes(const char *maps, numbers_of_inodes *to)
{
	struct maps_line m;

	while (maps_next(&maps, &m))
		if (!to->n || to->at[to->n - 1] != m.inode)
			VEC_PUSH(*to, m.inode);
}

static bool
has_inode(const numbers_of_inodes *all, uint64_t ino)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i] == ino)
			return true;
	return false;
}

void
mapped_forget(struct mapped *m, const struct tasks *all)
{
	bool some = m->open > m->bound && m->open > FEW, ok = some;
	numbers_of_inodes shown = {0};

	/* A first thread that has ended shows no mappings. */
	for (size_t i = 0; ok && i < all->at.n; i++)
		if (all->at.at[i]->state != TASK_ENDED) {
			struct pool *pool = pool_new();
			const char *maps = tracee_proc(&all->at.at[i]->t, pool, "maps");

			ok = maps;
			add_inodes(ok ? maps : "", &shown);
			pool_free(pool);
		}
	for (size_t i = 0; ok && i < m->file.n; i++) {
		struct mapped_file *f = &m->file.at[i];

		if (f->fd >= 0 && f->shows && !has_inode(&shown, f->ino)) {
			if (f->watch >= 0)
				inotify_rm_watch(m->changes - 1, f->watch);
			close(f->fd);
			f->fd = -1;
			m->open--;
		}
	}
	if (some)
		m->bound = 2 * m->open;
	free(shown.at);
}

/* Puts n bytes of a file into the log, or fewer if the file ends before. False: it cannot be read. */
static bool
put_bytes(struct log *l, int fd, uint64_t offset, uint64_t n)
{
	char *at = xmalloc(n + 1);
	size_t done = 0;
	bool ok = true;

	while (done < n) {
		ssize_t got = pread(fd, at + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		ok = got >= 0;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	log_put_bytes(l, at, done);
	free(at);
	return ok;
}

/* How many of n bytes of a file there are up to a hole that has the rest. */
static uint64_t
before_hole(int fd, uint64_t offset, uint64_t n)
{
	enum { WORTH_IT = 1 << 20 };
	off_t at = (off_t)offset, end = n < WORTH_IT ? (off_t)(offset + n) : at;

	while (end < (off_t)(offset + n) && (at = lseek(fd, end, SEEK_DATA)) >= 0 && at < (off_t)(offset + n)) {
		end = lseek(fd, at, SEEK_HOLE);
		if (end <= at)
			return n;
	}
	return end < (off_t)(offset + n) ? (uint64_t)end - offset : n;
}

static bool
record_bytes(struct mapped *m, struct log *l, const struct tracee *t, const struct stat *st, int mine, const uint64_t arg[6])
{
	struct mapped_file *f = note_file(m, t, st, mine, tracee_word(t, t->machine->result));
	uint64_t size = (uint64_t)st->st_size, left = size > arg[OFFSET] ? size - arg[OFFSET] : 0;
	/* A mapping shows whole pages. */
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), shown = (arg[LENGTH] + page - 1) / page * page;

	f->size = size;
	log_put(l, MAP_KIND_BYTES);
	log_put(l, (uint64_t)(f - m->file.at));
	log_put(l, size);
	return put_bytes(l, f->fd, arg[OFFSET], before_hole(f->fd, arg[OFFSET], left < shown ? left : shown));
}

static bool
is_program_here(const struct mapped *m, const struct stat *st)
{
	for (size_t i = 0; i < m->program.n; i++)
		if (m->program.at[i].ino == st->st_ino && m->program.at[i].dev == st->st_dev)
			return true;
	return false;
}

static bool
record_program(struct mapped *m, struct log *l, const char *name, int mine, const struct stat *st)
{
	uint64_t size, sum;

	if (!mapped_sum(mine, &size, &sum))
		return false;
	if (!is_program_here(m, st))
		VEC_PUSH(m->program, (struct mapped_program){st->st_dev, st->st_ino});
	log_put(l, MAP_KIND_PROGRAM);
	log_put_text(l, name);
	log_put(l, size);
	log_put(l, sum);
	return true;
}

static const char cannot_read[] = "what it maps cannot be read";
const char mapped_program_changed[] = "it changes a program or library that is mapped";

const char *
mapped_record(struct mapped *m, struct log *l, const struct tracee *t, const uint64_t arg[6])
{
	struct stat st;
	const char *name;
	int mine;
	bool ok;

	if (arg[FLAGS] & MAP_HUGETLB)
		return "huge pages";
	if (arg[FLAGS] & MAP_ANONYMOUS) {
		log_put(l, MAP_KIND_NONE);
		return NULL;
	}
	mine = open_theirs(t, arg[FD]);
	if (mine < 0 || fstat(mine, &st))
		return cannot_read;
	if (S_ISREG(st.st_mode)) {
		name = (arg[FLAGS] & MAP_TYPE) == MAP_PRIVATE ? program_name(m, t, arg[FD], mine) : NULL;
		if (name) {
			ok = record_program(m, l, name, mine, &st);
			close(mine);
		} else if (is_program_here(m, &st) && (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE &&
		           (flags_of(t, arg[FD]) & O_ACCMODE) != O_RDONLY) {
			close(mine);
			return mapped_program_changed;
		} else {
			ok = record_bytes(m, l, t, &st, mine, arg);
		}
		return ok ? NULL : cannot_read;
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
	struct stat st;

	return m->file.n && descriptor_stat(t, fd, &st) ? file_of(m, &st) : NULL;
}

/* May a file have changed its size since the last look? After MANY looks the kernel is asked to report changes. This is not done
 * sooner, because it takes many milliseconds to end it. */
static bool
some_changed(struct mapped *m)
{
	char news[4096];
	bool some;

	if (m->looks == MANY)
		for (size_t i = 0; i < m->file.n; i++)
			if (m->file.at[i].fd >= 0)
				watch(m, &m->file.at[i]);
	m->looks += m->looks <= MANY;
	some = m->looks <= MANY || m->unwatched || m->anew;
	m->anew = false;
	while (m->changes && read(m->changes - 1, news, sizeof news) > 0)
		some = true;
	return some;
}

/* Puts the new sizes of files into the log, for those whose size has changed. */
static void
record_sizes(struct mapped *m, struct log *l)
{
	struct stat st;

	for (size_t i = some_changed(m) ? 0 : m->file.n; i < m->file.n; i++) {
		struct mapped_file *f = &m->file.at[i];

		if (f->fd < 0 || fstat(f->fd, &st) || f->size == (uint64_t)st.st_size)
			continue;
		f->size = (uint64_t)st.st_size;
		log_put(l, CHANGE_SIZE);
		log_put(l, i);
		log_put(l, f->size);
	}
}

void
mapped_cut_off(struct mapped *m, struct log *l, int64_t result)
{
	if (result >= 0)
		record_sizes(m, l);
	log_put(l, CHANGE_NONE);
}

bool
mapped_program_cut_off(const struct mapped *m, const struct tracee *t, int64_t result)
{
	struct stat st;

	return result >= 0 && descriptor_stat(t, (uint64_t)result, &st) && !st.st_size && is_program_here(m, &st);
}

bool
mapped_has(struct mapped *m, const struct tracee *t, uint64_t fd)
{
	return mapped_of(m, t, fd);
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
	while (grown && i < m->file.n && (m->file.at[i].fd < 0 || m->file.at[i].ino != ino))
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
		if (!put_bytes(l, m->file.at[i].fd, at, left < more ? left : more))
			return cannot_read;
	}
	log_put(l, CHANGE_NONE);
	return NULL;
}

uint64_t
passed_to(const struct system_call *c, const uint64_t arg[6])
{
	return c->number == SYS_sendfile ? arg[0] : c->number == SYS_tee ? arg[1] : arg[2];
}

/* The place in a file of the bytes that a finished call has written. A call that appends writes at the end, whatever place it
 * names. */
static uint64_t
written_at(const struct tracee *t, const struct mapped_file *f, const struct system_call *c, const uint64_t arg[6], uint64_t n)
{
	const int flags = c->number == SYS_pwritev2 ? (int)arg[5] : 0;
	struct pool *pool;
	struct stat st;
	uint64_t at;

	if (call_moves_on((uint64_t)c->number, arg)) {
		pool = pool_new();
		at = position_of(pool, t, arg[0]) - n;
		pool_free(pool);
		return at;
	}
	if (!(flags & RWF_APPEND) && (flags & RWF_NOAPPEND || !(flags_of(t, arg[0]) & O_APPEND)))
		return arg[3];
	return fstat(f->fd, &st) ? 0 : (uint64_t)st.st_size - n;
}

const char *
mapped_changed(struct mapped *m, struct log *l, const struct tracee *t, const struct system_call *c,
               const uint64_t arg[6], int64_t result)
{
	struct mapped_file *f;
	struct stat st;
	bool there = result >= 0 && descriptor_stat(t, c->class == CALL_PASS ? passed_to(c, arg) : arg[0], &st);

	if (there && is_program_here(m, &st))
		return mapped_program_changed;
	f = there ? file_of(m, &st) : NULL;
	if (f && (c->class == CALL_PASS || (c->number == SYS_fallocate && arg[1] & ~1ull)))
		return "it changes a file that is mapped";
	if (f && c->class == CALL_OUTPUT && result) {
		uint64_t at = written_at(t, f, c, arg, (uint64_t)result);

		log_put(l, CHANGE_BYTES);
		log_put(l, (uint64_t)(f - m->file.at));
		log_put(l, at);
		if (!put_bytes(l, f->fd, at, (uint64_t)result))
			return cannot_read;
	}
	mapped_cut_off(m, l, result);
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
		ok = put_bytes(l, mine, at - n, n);
	if (mine >= 0)
		close(mine);
	return ok;
}

/* ---- replaying ---- */

/* Opens a regular file. Names in logs come from others, and opening a device can have effects. */
static int
open_file(const char *name)
{
	char link[64];
	struct stat st;
	int at = open(name, O_PATH | O_CLOEXEC), fd = -1;

	if (at < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", at);
	if (!fstat(at, &st) && S_ISREG(st.st_mode))
		fd = open(link, O_RDONLY | O_CLOEXEC);
	else
		errno = EINVAL;
	close(at);
	return fd;
}

int
mapped_open_same(const char *name, uint64_t size, uint64_t sum)
{
	uint64_t now, now_sum;
	int fd = open_file(name);

	if (fd < 0)
		say_error(name, "%s; the recorded program used it", errno == EINVAL ? "it is no file any more" : strerror(errno));
	else if (!mapped_sum(fd, &now, &now_sum))
		say_error(name, "it cannot be read");
	else if (now != size || now_sum != sum)
		say_error(name, "it has changed since the recording");
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool
replay_program(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	const char *name = log_get_text(l, m->pool);
	uint64_t size = log_get(l), sum = log_get(l);
	int fd = log_failed(l) ? -1 : mapped_open_same(name, size, sum);
	bool ok = fd >= 0;

	/* Logs come from others, so no log may make a replay change a file. */
	if (ok && (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE) {
		say_error(log_name(l), "it is damaged: a mapping would change %s", name);
		ok = false;
	}
	ok = ok && map_program(t, arg, result, fd);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The file that takes the place of file number i. NULL: there is none. */
static struct mapped_file *
file_at(struct mapped *m, struct log *l, uint64_t i)
{
	if (i < m->file.n)
		return &m->file.at[i];
	if (!log_failed(l))
		say_error(log_name(l), "it is damaged: there is no mapped file %" PRIu64, i);
	return NULL;
}

/* The same; when a file is mapped for the first time, it gets a file without a name, or a part of the store. NULL: reported, or the
 * file has to be by itself and was not (m->again). */
static struct mapped_file *
file_for(struct mapped *m, struct log *l, uint64_t i, uint64_t size, const uint64_t arg[6])
{
	struct mapped_file *f;
	bool shared = store_takes(m, i, size, arg);

	if (i == m->file.n && !log_failed(l)) {
		struct mapped_file new = {.fd = -1};

		if (!shared && !shared_make(&new))
			die("memfd_create", "%s", strerror(errno));
		VEC_PUSH(m->file, new);
	}
	f = file_at(m, l, i);
	if (f && f->fd < 0 && !shared)
		store_lose(m, f);
	return m->again ? NULL : f;
}

static bool
is_shared(const uint64_t arg[6])
{
	return (arg[FLAGS] & MAP_TYPE) != MAP_PRIVATE;
}

/* Which mappings of a file do not go together with what is about to be done, if copies are made. A private mapping shows what is
 * changed otherwise, as long as the program has not written there, and a copy of it would show it, too. */
enum apart { APART_FROM_PRIVATE, APART_FROM_SHARED };

static bool
is_in_way(const struct maps_line *m, enum apart from)
{
	return from == APART_FROM_PRIVATE ? m->mode[3] == 'p' : m->mode[3] == 's' && m->mode[1] == 'w';
}

/* Has that part of the file none of these mappings? If it has one, that is reported. */
static bool
is_apart(struct mapped *m, const struct tracee *t, const struct mapped_file *f, uint64_t at, uint64_t n, enum apart from)
{
	const char *maps = m->apart ? tracee_proc(t, m->pool, "maps") : NULL;
	struct maps_line l;
	struct stat st;

	if (!maps || fstat(f->fd, &st))
		return !m->apart;
	while (maps_next(&maps, &l))
		if (l.inode == st.st_ino && is_in_way(&l, from) && l.offset < at + n && at < l.offset + (l.end - l.start)) {
			say_error("replay", "the program maps a file privately, and changes it otherwise: gdb cannot look");
			return false;
		}
	return true;
}

static bool
replay_bytes(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	uint64_t number = log_get(l), size = log_get(l);
	struct pool *pool = pool_new();
	struct str bytes = log_get_bytes(l, pool);
	struct mapped_file *f = file_for(m, l, number, size, arg);
	bool changes = is_shared(arg) && arg[PROT] & PROT_WRITE;
	uint64_t left = size > arg[OFFSET] ? size - arg[OFFSET] : 0, n = left < arg[LENGTH] ? left : arg[LENGTH];
	bool ok = f && !log_failed(l) && ((is_shared(arg) && !changes) ||
	          is_apart(m, t, f, arg[OFFSET], arg[LENGTH], changes ? APART_FROM_PRIVATE : APART_FROM_SHARED)) &&
	          store_resize(m, f, size) && store_fill(m, f, bytes, arg[OFFSET]) &&
	          (bytes.n >= n || store_clear(m, f, arg[OFFSET] + bytes.n, n - bytes.n)) && store_map(m, f, t, arg, result);

	pool_free(pool);
	return ok;
}

/* Memory without a file. If it is shared and copies are made, a file without a name takes its place. */
static bool
replay_nothing(struct mapped *m, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	struct mapped_file f = {.fd = -1};
	uint64_t own[6];

	if (!m->apart || !is_shared(arg))
		return map_nothing(t, arg, result);
	if (!shared_make(&f) || ftruncate(f.fd, (off_t)arg[LENGTH]))
		die("shared memory", "0x%" PRIx64 " bytes cannot be made: %s", arg[LENGTH], strerror(errno));
	VEC_PUSH(m->nameless, f);
	memcpy(own, arg, sizeof own);
	own[FLAGS] &= ~(uint64_t)MAP_ANONYMOUS;
	own[OFFSET] = 0;
	return map_file(t, own, result, f.fd, O_RDWR);
}

bool
mapped_replay(struct mapped *m, struct log *l, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	switch (log_get(l)) {
	case MAP_KIND_NONE: return !log_failed(l) && replay_nothing(m, t, arg, result);
	case MAP_KIND_PROGRAM: return replay_program(m, l, t, arg, result);
	case MAP_KIND_BYTES: return replay_bytes(m, l, t, arg, result);
	}
	if (!log_failed(l))
		say_error(log_name(l), "it is damaged: there is no such mapping");
	return false;
}

bool
mapped_change(struct mapped *m, struct log *l, struct tracee *t, bool grown)
{
	uint64_t kind;

	while ((kind = log_get(l)) != CHANGE_NONE && !log_failed(l)) {
		struct mapped_file *f = file_at(m, l, log_get(l));
		uint64_t at = log_get(l);
		struct pool *pool = pool_new();
		struct str bytes = kind == CHANGE_BYTES ? log_get_bytes(l, pool) : (struct str){0};
		uint64_t n = kind == CHANGE_BYTES ? bytes.n : (uint64_t)INT64_MAX - at;
		bool ok = f && is_apart(m, t, f, at, n, APART_FROM_PRIVATE);

		/* mremap() has grown the mapping: how far it reaches now is not known. */
		if (ok && grown && f->fd < 0)
			store_lose(m, f);
		ok = ok && !m->again && (kind == CHANGE_BYTES ? store_fill(m, f, bytes, at) : store_resize(m, f, at));
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
		if (m->file.at[i].fd >= 0)
			close(m->file.at[i].fd);
	for (size_t i = 0; i < m->nameless.n; i++)
		if (m->nameless.at[i].fd >= 0)
			close(m->nameless.at[i].fd);
	if (m->store)
		close(m->store - 1);
	if (m->changes)
		close(m->changes - 1);
	free(m->file.at);
	free(m->nameless.at);
	free(m->program.at);
	*m = (struct mapped){.pool = m->pool, .apart = m->apart, .lonely = {m->lonely.at, m->lonely.n, m->lonely.cap}};
}
