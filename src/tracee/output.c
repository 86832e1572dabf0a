/* SPDX-License-Identifier: MIT */
/* The memory that a system call has written or read, by what the table says of it; and which descriptors are the standard
 * streams. */
#include "tracee/tracee.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 1 << 20 }; /* elements of an array */

static void
add(pieces *to, uint64_t addr, uint64_t n)
{
	if (addr && n)
		VEC_PUSH(*to, (struct piece){addr, n});
}

/* The first n bytes of a vector. */
static void
add_vector(const struct tracee *t, uint64_t at, uint64_t count, uint64_t n, pieces *to)
{
	struct iovec v;

	for (uint64_t i = 0; i < count && n && tracee_read(t, at + i * sizeof v, &v, sizeof v); i++) {
		uint64_t part = v.iov_len < n ? v.iov_len : n;

		add(to, (uint64_t)(uintptr_t)v.iov_base, part);
		n -= part;
	}
}

/* What recvmsg() writes: the head's own lengths and flags, name, control data, bytes. */
static void
add_message(const struct tracee *t, uint64_t at, uint64_t n, pieces *to)
{
	struct msghdr h;

	if (!tracee_read(t, at, &h, sizeof h))
		return;
	add(to, at, sizeof h);
	add(to, (uint64_t)(uintptr_t)h.msg_name, h.msg_name ? h.msg_namelen : 0);
	add(to, (uint64_t)(uintptr_t)h.msg_control, h.msg_controllen);
	add_vector(t, (uint64_t)(uintptr_t)h.msg_iov, h.msg_iovlen, n, to);
}

static void
add_messages(const struct tracee *t, uint64_t at, uint64_t count, pieces *to)
{
	struct mmsghdr h;

	for (uint64_t i = 0; i < count && tracee_read(t, at + i * sizeof h, &h, sizeof h); i++) {
		add_message(t, at + i * sizeof h, h.msg_len, to);
		add(to, at + i * sizeof h, sizeof h);
	}
}

static void
add_length(const struct tracee *t, uint64_t at, uint64_t length_at, pieces *to)
{
	uint32_t n;

	if (length_at && tracee_read(t, length_at, &n, sizeof n))
		add(to, at, n);
}

static void
add_counted(const struct tracee *t, uint64_t at, pieces *to)
{
	struct { uint32_t n, pad; uint64_t to; } counted;

	if (!tracee_read(t, at, &counted, sizeof counted))
		return;
	add(to, at, sizeof counted);
	add(to, counted.to, counted.n);
}

/* If a call fails, what it has written is of fixed size, or of no use to the program. False: it may have written too much. */
static bool
add_out(const struct tracee *t, const struct call_out *o, const uint64_t arg[6], int64_t result, pieces *to)
{
	uint64_t at = arg[o->arg], done = result > 0 ? (uint64_t)result : 0;

	switch ((enum out_size)o->size) {
	case OUT_NOTHING: break;
	case OUT_FIXED: add(to, at, o->n); break;
	case OUT_RESULT: add(to, at, done * o->n); break;
	case OUT_TYPED: add(to, at, result < 0 ? 0 : sizeof(uint64_t) + done); break;
	case OUT_ARG: add(to, at, arg[o->by] <= MOST ? arg[o->by] * o->n : 0); break;
	case OUT_LENGTH: add_length(t, at, arg[o->by], to); break;
	case OUT_COUNTED:
		if (result >= 0)
			add_counted(t, at, to);
		break;
	case OUT_BITS: add(to, at, ((uint32_t)arg[o->by] + 63) / 64 * 8); break;
	case OUT_PAGES: add(to, at, result ? 0 : (arg[o->by] + 4095) / 4096); break;
	case OUT_VECTOR: add_vector(t, at, arg[o->by], done, to); break;
	case OUT_MESSAGE:
		if (result >= 0)
			add_message(t, at, done, to);
		break;
	case OUT_MESSAGES: add_messages(t, at, done, to); break;
	}
	return o->size != OUT_ARG || arg[o->by] <= MOST || result < 0 || !at;
}

bool
pieces_written(const struct tracee *t, const struct system_call *c, const uint64_t arg[6], int64_t result, pieces *to)
{
	bool known = true;

	for (size_t i = 0; i < OUTS; i++)
		known &= add_out(t, &c->out[i], arg, result, to);
	return known;
}

void
pieces_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], uint64_t result, pieces *to)
{
	switch (number) {
	case SYS_write: case SYS_pwrite64: case SYS_sendto:
		add(to, arg[1], result);
		break;
	default:
		add_vector(t, arg[1], arg[2], result, to);
	}
}

/* ---- streams ---- */

/* May others see what is written through a file that was opened once more (/dev/stderr)? */
static bool
is_seen_by_others(const struct stat *st, int mine)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) || S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && isatty(mine));
}

static bool
same_description(pid_t pid, int mine, int theirs)
{
	return syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, mine, theirs) == 0;
}

int
stream_of(const struct tracee *t, int fd)
{
	int first = fd == 2 ? 2 : 1, order[2] = {first, 3 - first};
	struct stat theirs, mine;
	bool same[2] = {true, true}, known = descriptor_stat(t, (uint64_t)fd, &theirs);

	/* The same description is of the same file, which is quicker to check. */
	for (int i = 0; known && i < 2; i++)
		same[i] = !fstat(order[i], &mine) && mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
	for (int i = 0; i < 2; i++)
		if (same[i] && same_description(t->pid, order[i], fd))
			return order[i];
	for (int i = 0; known && i < 2; i++)
		if (same[i] && is_seen_by_others(&theirs, order[i]))
			return order[i];
	return 0;
}

bool
descriptor_stat(const struct tracee *t, uint64_t fd, struct stat *st)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/fd/%d", t->pid, (int)fd);
	return !stat(name, st);
}
