/* SPDX-License-Identifier: MIT */
/* Memory that processes share, when all of them are copied for a checkpoint. A copied process still maps the files without names of
 * the one that it was copied from. Here it gets files of its own, which have the same content. */
#include "replay/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files ---- */

/* Copies n bytes from one place of a file to the same place of another. */
static bool
copy_part(int from, int to, off_t at, off_t n)
{
	enum { PART = 1 << 16 };
	static char bytes[PART];

	while (n > 0) {
		ssize_t got = pread(from, bytes, n < PART ? (size_t)n : PART, at);

		if (got <= 0 || pwrite(to, bytes, (size_t)got, at) != got)
			return false;
		at += got;
		n -= got;
	}
	return true;
}

/* Copies what mappings show behind the end of a file, up to the end of its last page. read() does not see it. */
static bool
copy_behind(int from, int to, off_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	off_t at = size / (off_t)page * (off_t)page;
	void *was, *is;
	bool ok;

	if (at == size)
		return true;
	was = mmap(NULL, page, PROT_READ, MAP_SHARED, from, at);
	is = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, to, at);
	ok = was != MAP_FAILED && is != MAP_FAILED;
	if (ok)
		memcpy(is, was, page);
	if (was != MAP_FAILED)
		munmap(was, page);
	if (is != MAP_FAILED)
		munmap(is, page);
	return ok;
}

bool
shared_make(struct mapped_file *f)
{
	struct stat st;

	f->fd = memfd_create("replay", MFD_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st))
		return false;
	f->ino = st.st_ino;
	return true;
}

/* Puts a file with the same content in the place of one. Parts that were never written stay so. False: there is none. */
static bool
make_own(struct mapped_file *f)
{
	int from = f->fd;
	struct stat st;
	off_t at = 0, end;
	bool ok = shared_make(f) && !fstat(from, &st) && !ftruncate(f->fd, st.st_size);

	while (ok && at < st.st_size && (at = lseek(from, at, SEEK_DATA)) >= 0) {
		end = lseek(from, at, SEEK_HOLE);
		ok = end > at && copy_part(from, f->fd, at, end - at);
		at = end;
	}
	ok = ok && copy_behind(from, f->fd, st.st_size);
	close(from);
	return ok;
}

/* ---- mappings ---- */

/* Finds the file that has the number in the original, and its copy. NULL: no file of the replay is it. */
static struct mapped_file *
find_file(const struct mapped *from, struct mapped *to, uint64_t ino)
{
	for (size_t i = 0; i < from->file.n; i++)
		if (from->file.at[i].fd >= 0 && from->file.at[i].ino == ino)
			return &to->file.at[i];
	for (size_t i = 0; i < from->nameless.n; i++)
		if (from->nameless.at[i].fd >= 0 && from->nameless.at[i].ino == ino)
			return &to->nameless.at[i];
	return NULL;
}

static bool
map_again(struct tracee *t, const struct maps_line *s, int fd)
{
	int64_t theirs = map_open(t, fd, O_RDWR, tracee_call_here), got;
	int prot = (s->mode[0] == 'r' ? PROT_READ : 0) | (s->mode[1] == 'w' ? PROT_WRITE : 0) | (s->mode[2] == 'x' ? PROT_EXEC : 0);

	if (theirs < 0)
		return false;
	got = tracee_call_here(t, SYS_mmap, (uint64_t [6]){s->start, s->end - s->start, (uint64_t)prot, MAP_SHARED | MAP_FIXED,
	                       (uint64_t)theirs, s->offset});
	tracee_call_here(t, SYS_close, (uint64_t [6]){(uint64_t)theirs});
	return got == (int64_t)s->start;
}

/* Gives one memory its own files in place of those that it shares with what it was copied from. */
static bool
part_memory(struct tracee *t, const struct mapped *from, struct mapped *to)
{
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(t, pool, "maps");
	struct maps_line s;
	bool ok = maps;

	while (ok && maps_next(&maps, &s)) {
		struct mapped_file *f;

		if (s.mode[3] != 's')
			continue;
		f = find_file(from, to, s.inode);
		ok = f && (f->ino != s.inode || make_own(f)) && map_again(t, &s, f->fd);
	}
	pool_free(pool);
	return ok;
}

/* Closes files without a mapping: nothing can bring them back. */
static void
drop_unmapped(const struct mapped *from, struct mapped *to)
{
	for (size_t i = 0; i < to->nameless.n; i++)
		if (to->nameless.at[i].fd >= 0 && to->nameless.at[i].ino == from->nameless.at[i].ino) {
			close(to->nameless.at[i].fd);
			to->nameless.at[i].fd = -1;
		}
}

bool
shared_part(struct tasks *copies, const struct mapped *from, struct mapped *to)
{
	bool ok = true;

	for (size_t i = 0; i < copies->at.n && ok; i++) {
		struct task *task = copies->at.at[i];
		bool first = task->tid == task->group->pid;

		for (size_t k = 0; k < i; k++)
			first &= copies->at.at[k]->group->space != task->group->space;
		if (first)
			ok = part_memory(&task->t, from, to);
	}
	if (ok)
		drop_unmapped(from, to);
	return ok;
}
