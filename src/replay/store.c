/* SPDX-License-Identifier: MIT */
/* What a replay maps in place of files. All that the log has of them is in one file without a name, the store, where each file has
 * a place of its own. Each process of the program opens the store once. The store has no end that could be seen, so a file whose
 * end is mapped or seen is by itself, outside of the store. */
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Room for one file in the store, and the number of files. When LONELY_MOST files have had to be by themselves, all are. */
enum { ROOM_BITS = 40, FILES_MOST = 1 << 20, LONELY_MOST = 16 };
static const uint64_t room = 1ull << ROOM_BITS;

enum { ADDR, LENGTH, PROT, FLAGS, FD, OFFSET };

/* ---- descriptors in the program ---- */

/* By its name in /proc, which is put below the stack for this time. */
int64_t
map_open(struct tracee *t, int fd, int how, int64_t (*make)(struct tracee *t, uint64_t number, const uint64_t arg[6]))
{
	enum { BELOW = 1024, ROOM = 64 };
	uint64_t at = (tracee_word(t, t->machine->sp) - BELOW) & ~15ull;
	char name[ROOM] = "", was[ROOM];
	int64_t result;

	snprintf(name, sizeof name, "/proc/%d/fd/%d", getpid(), fd);
	if (!tracee_read(t, at, was, sizeof was) || !tracee_write(t, at, name, sizeof name))
		return -EFAULT;
	result = make(t, SYS_openat, (uint64_t [6]){(uint64_t)AT_FDCWD, at, (uint64_t)(how | O_CLOEXEC)});
	tracee_write(t, at, was, sizeof was);
	return result;
}

static int64_t
open_there(struct tracee *t, int fd, int how)
{
	return map_open(t, fd, how, tracee_call_at_once);
}

static bool
map_by(struct tracee *t, const uint64_t arg[6], uint64_t result, int64_t theirs, uint64_t offset)
{
	uint64_t flags = (arg[FLAGS] | MAP_FIXED) & ~(uint64_t)(MAP_LOCKED | MAP_POPULATE | MAP_FIXED_NOREPLACE);
	int64_t got;

	if (theirs < 0)
		flags |= MAP_ANONYMOUS;
	got = tracee_call_at_once(t, SYS_mmap, (uint64_t [6]){result, arg[LENGTH], arg[PROT], flags, (uint64_t)theirs, offset});
	if ((uint64_t)got == result)
		return true;
	say_error("replay", "0x%" PRIx64 " bytes cannot be mapped at 0x%" PRIx64 ": %s", arg[LENGTH], result,
	          got < 0 ? strerror((int)-got) : "they are elsewhere");
	return false;
}

static bool
opened(int64_t theirs)
{
	if (theirs < 0)
		say_error("replay", "a file cannot be opened in the program: %s", strerror((int)-theirs));
	return theirs >= 0;
}

bool
map_nothing(struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	return map_by(t, arg, result, -1, 0);
}

bool
map_file(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd, int how)
{
	int64_t theirs = open_there(t, fd, how);
	bool ok = opened(theirs) && map_by(t, arg, result, theirs, arg[OFFSET]);

	if (theirs >= 0)
		tracee_call_at_once(t, SYS_close, (uint64_t [6]){(uint64_t)theirs});
	return ok;
}

/* The last program file stays open, because loaders map several parts of each. */
bool
map_program(struct tracee *t, const uint64_t arg[6], uint64_t result, int fd)
{
	struct stat st;
	int64_t theirs;

	if (fstat(fd, &st))
		return false;
	if (!t->program || t->program_dev != st.st_dev || t->program_ino != st.st_ino) {
		if (t->program)
			tracee_call_at_once(t, SYS_close, (uint64_t [6]){t->program - 1});
		t->program = 0;
		theirs = open_there(t, fd, O_RDONLY);
		if (!opened(theirs))
			return false;
		t->program = (unsigned)theirs + 1;
		t->program_dev = st.st_dev;
		t->program_ino = st.st_ino;
	}
	return map_by(t, arg, result, t->program - 1, arg[OFFSET]);
}

/* ---- the common file ---- */

static uint64_t
whole_pages(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

/* False: there is no store here. */
static bool
has_store(struct mapped *m)
{
	struct rlimit limit;

	if (m->store || m->alone || m->apart)
		return m->store && !m->alone && !m->apart;
	m->alone = getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur != RLIM_INFINITY;
	if (m->alone)
		return false;
	m->store = memfd_create("replay", MFD_CLOEXEC) + 1;
	if (m->store && !ftruncate(m->store - 1, (off_t)((uint64_t)FILES_MOST << ROOM_BITS)))
		return true;
	m->alone = true;
	return false;
}

static bool
is_lonely(const struct mapped *m, size_t i)
{
	for (size_t j = 0; j < m->lonely.n; j++)
		if (m->lonely.at[j] == i)
			return true;
	return m->lonely.n >= LONELY_MOST;
}

void
store_lose(struct mapped *m, const struct mapped_file *f)
{
	VEC_PUSH(m->lonely, (size_t)(f - m->file.at));
	m->again = true;
}

bool
store_takes(struct mapped *m, size_t i, uint64_t size, const uint64_t arg[6])
{
	return i < FILES_MOST && !is_lonely(m, i) && size <= room && arg[OFFSET] <= room && arg[LENGTH] <= room &&
	       arg[OFFSET] + arg[LENGTH] <= whole_pages(size) && has_store(m);
}

static uint64_t
store_at(const struct mapped *m, const struct mapped_file *f)
{
	return (uint64_t)(f - m->file.at) << ROOM_BITS;
}

static bool
put(struct mapped *m, const struct mapped_file *f, struct str bytes, uint64_t at)
{
	int fd = f->fd < 0 ? m->store - 1 : f->fd;
	uint64_t base = f->fd < 0 ? store_at(m, f) : 0;

	for (size_t done = 0; done < bytes.n;) {
		ssize_t n = pwrite(fd, bytes.at + done, bytes.n - done, (off_t)(base + at + done));

		if (n <= 0) {
			say_error("replay", "a mapped file cannot be filled: %s", strerror(errno));
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

bool
store_fill(struct mapped *m, struct mapped_file *f, struct str bytes, uint64_t at)
{
	if (f->fd < 0 && (at > room || bytes.n > room - at))
		store_lose(m, f);
	return !m->again && put(m, f, bytes, at);
}

bool
store_clear(const struct mapped *m, const struct mapped_file *f, uint64_t at, uint64_t n)
{
	int fd = f->fd < 0 ? m->store - 1 : f->fd;
	uint64_t base = f->fd < 0 ? store_at(m, f) : 0;

	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(base + at), (off_t)n))
		return true;
	say_error("replay", "a mapped file cannot be cleared: %s", strerror(errno));
	return false;
}

bool
store_resize(struct mapped *m, struct mapped_file *f, uint64_t size)
{
	uint64_t was = f->size;
	bool ok = true;

	f->size = size;
	if (f->fd >= 0) {
		ok = !ftruncate(f->fd, (off_t)size);
	} else {
		/* The program can see the file's end now. */
		if (size > room || whole_pages(size) < f->end)
			store_lose(m, f);
		if (!m->again && size < was)
			ok = !fallocate(m->store - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(store_at(m, f) + size),
			                (off_t)(room - size));
	}
	if (!ok)
		say_error("replay", "a mapped file cannot have %" PRIu64 " bytes: %s", size, strerror(errno));
	return ok && !m->again;
}

bool
store_map(struct mapped *m, struct mapped_file *f, struct tracee *t, const uint64_t arg[6], uint64_t result)
{
	int64_t theirs;

	if (f->fd >= 0)
		return map_file(t, arg, result, f->fd, O_RDWR);
	f->end = arg[OFFSET] + arg[LENGTH] > f->end ? arg[OFFSET] + arg[LENGTH] : f->end;
	if (!t->store) {
		theirs = open_there(t, m->store - 1, O_RDWR);
		if (!opened(theirs))
			return false;
		t->store = (unsigned)theirs + 1;
	}
	return map_by(t, arg, result, t->store - 1, store_at(m, f) + arg[OFFSET]);
}
