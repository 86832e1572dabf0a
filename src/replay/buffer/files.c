/* SPDX-License-Identifier: MIT */
/* Recording: which files and pipes are written and read without a stop. */
#include "replay/buffer/buffer.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <stdio.h>

#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x100
#endif

void
forget_outputs(const struct buffer *b, struct tracee *t)
{
	static const uint8_t none[SBUF_FILES / 8];

	tracee_write(t, data_at(b, offsetof(struct syscallbuf_data, output)), none, sizeof none);
}

void
forget_streams(const struct buffer *b, struct tracee *t)
{
	static const uint8_t none[2 * (SBUF_FILES / 8)];

	forget_outputs(b, t);
	tracee_write(t, data_at(b, offsetof(struct syscallbuf_data, pipe_from)), none, sizeof none);
}

void
buffer_forget_outputs(struct recorder *r)
{
	for (size_t i = 0; i < r->all.at.n; i++) {
		struct task *task = r->all.at.at[i];
		const struct buffer *b = task->group->space->buffer;

		if (b && b->base && task->t.pid > 0)
			forget_outputs(b, &task->t);
	}
}

/* Is it a file, and does writing to it wait for nothing, cause no signal, and change nothing that is mapped? */
static bool
is_plain_file(struct recorder *r, uint64_t fd)
{
	struct rlimit limit;
	struct statfs system;
	struct stat st;
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/fd/%d", r->t->pid, (int)fd);
	return descriptor_stat(r->t, fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && !mapped_shows(&r->mapped, &st) &&
	       !statfs(name, &system) && system.f_type != PROC_SUPER_MAGIC && system.f_type != SYSFS_MAGIC &&
	       !prlimit(r->t->pid, RLIMIT_FSIZE, NULL, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

static bool
is_pipe(struct recorder *r, uint64_t fd)
{
	struct stat st;

	return descriptor_stat(r->t, fd, &st) && S_ISFIFO(st.st_mode);
}

/* Can the kernel write to a pipe without waiting, and without a signal if nobody reads it? */
static bool
writes_pipes(void)
{
	static int can = -1;
	struct iovec one = {"", 1};
	int end[2];

	if (can >= 0)
		return can;
	if (pipe2(end, O_CLOEXEC))
		return false;
	can = syscall(SYS_pwritev2, end[1], &one, 1ul, -1l, -1l, RWF_NOWAIT | RWF_NOSIGNAL) == 1;
	close(end[0]);
	close(end[1]);
	return can;
}

/* Sets the descriptor's bit in one of those sets. */
static bool
set_bit(struct recorder *r, const struct buffer *b, size_t set, uint64_t fd)
{
	uint64_t at = data_at(b, set + fd / 8);
	uint8_t bits;

	if (!tracee_read(r->t, at, &bits, 1))
		return false;
	bits |= (uint8_t)(1 << fd % 8);
	return tracee_write(r->t, at, &bits, 1);
}

bool
learn_output(struct recorder *r, struct buffer *b, int64_t result)
{
	uint64_t fd = (uint32_t)r->made->arg[0];
	bool pipe;

	if (fd >= SBUF_FILES || result <= 0 || r->task->group->living > 1)
		return false;
	pipe = is_pipe(r, fd);
	if (pipe ? !writes_pipes() : !is_plain_file(r, fd))
		return false;
	if (!b->base)
		return true;
	b->stream[fd] = (uint8_t)stream_of(r->t, (int)fd);
	tracee_stop_at_end(r->t, true);
	return set_bit(r, b, pipe ? offsetof(struct syscallbuf_data, pipe_to) : offsetof(struct syscallbuf_data, output), fd);
}

void
learn_input(struct recorder *r, const struct buffer *b)
{
	uint64_t fd = (uint32_t)r->made->arg[0];

	if (b->base && fd < SBUF_FILES && r->task->group->living == 1 && is_pipe(r, fd))
		set_bit(r, b, offsetof(struct syscallbuf_data, pipe_from), fd);
}
