/* SPDX-License-Identifier: MIT */
/* Shared memory of System V (shmat(2)). A segment is recorded as a mapped file is: a replay maps a file without a name in its
 * place. */
#include "replay/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

/* ---- recording ---- */

/* What the kernel says of a segment. */
struct segment {
	uint64_t attached;       /* how often it is mapped */
	uint64_t pages;          /* bytes of it that are in memory or swapped out; the others are 0 */
};

/* False: there is no such segment. */
static bool
segment_read(int id, struct segment *s)
{
	struct buf all = {0};
	uint64_t rss, swap;
	bool found = false;
	int is;

	if (file_read("/proc/sysvipc/shm", &all))
		buf_char(&all, 0);
	for (const char *line = all.n ? strchr(all.at, '\n') : NULL; line && !found; line = strchr(line + 1, '\n'))
		found = sscanf(line, "%*d %d %*o %*u %*d %*d %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &is,
		               &s->attached, &rss, &swap) == 4 && is == id;
	s->pages = found ? rss + swap : 0;
	buf_free(&all);
	return found;
}

/* Does the mapping show that segment, whose number the kernel gives as inode? */
static bool
shows(const struct maps_line *m, int id)
{
	return str_starts(m->name, "/SYSV") && m->inode == (uint64_t)id;
}

/* How often the recorded processes show the segment. */
static uint64_t
attached_here(const struct tasks *all, struct pool *pool, int id)
{
	uint64_t n = 0;

	for (size_t i = 0; i < all->at.n; i++) {
		const struct task *task = all->at.at[i];
		const char *maps = NULL;
		struct maps_line m;
		bool first = task->state != TASK_ENDED;

		for (size_t k = 0; k < i; k++)
			first &= all->at.at[k]->group->space != task->group->space || all->at.at[k]->state == TASK_ENDED;
		if (first)
			maps = tracee_proc(&task->t, pool, "maps");
		while (maps_next(&maps, &m))
			n += shows(&m, id);
	}
	return n;
}

/* The number of the file that stands for the segment. */
static size_t
file_of_segment(struct mapped *m, int id)
{
	for (size_t i = 0; i < m->file.n; i++)
		if (m->file.at[i].segment == (uint64_t)id + 1)
			return i;
	VEC_PUSH(m->file, (struct mapped_file){.fd = -1, .watch = -1, .segment = (uint64_t)id + 1});
	return m->file.n - 1;
}

static void
put_content(struct log *l, const struct tracee *t, uint64_t at, uint64_t n)
{
	char *bytes = xmalloc(n + 1);

	log_put_bytes(l, bytes, tracee_read_some(t, at, bytes, n));
	free(bytes);
}

const char *
segment_attached(struct mapped *m, struct log *l, const struct tasks *all, const struct tracee *t, const uint64_t arg[6],
                 uint64_t at)
{
	int id = (int)arg[0], flags = (int)arg[2];
	struct pool *pool = pool_new();
	struct segment s;
	uint64_t length;
	bool known = segment_read(id, &s), alone = known && attached_here(all, pool, id) >= s.attached;

	length = segment_length(t, at);
	pool_free(pool);
	if (!known || !length)
		return "the system does not tell of the segment";
	if (!alone)
		return "memory that other processes have, too";
	log_put(l, (uint64_t)(PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0)));
	log_put(l, length);
	log_put(l, MAP_KIND_BYTES);
	log_put(l, file_of_segment(m, id));
	log_put(l, length);
	put_content(l, t, at, s.pages ? length : 0);
	return NULL;
}

uint64_t
segment_length(const struct tracee *t, uint64_t at)
{
	struct pool *pool = pool_new();
	const char *maps = tracee_proc(t, pool, "maps");
	struct maps_line m;
	uint64_t end = at;
	int id = -1;

	while (maps_next(&maps, &m))
		if (m.start == end && m.offset == end - at && shows(&m, id < 0 ? (int)m.inode : id)) {
			id = (int)m.inode;
			end = m.end;
		}
	pool_free(pool);
	return end - at;
}

/* ---- replaying ---- */

bool
segment_attach(struct mapped *m, struct log *l, struct tracee *t, uint64_t at)
{
	uint64_t prot = log_get(l) & (PROT_READ | PROT_WRITE | PROT_EXEC), length = log_get(l);
	uint64_t arg[6] = {at, length, prot, MAP_SHARED, (uint64_t)-1, 0};

	return !log_failed(l) && mapped_replay(m, l, t, arg, at);
}

bool
segment_detach(struct log *l, struct tracee *t, uint64_t at)
{
	uint64_t length = log_get(l);

	return !log_failed(l) && (!length || !tracee_call_at_once(t, SYS_munmap, (uint64_t [6]){at, length}));
}
