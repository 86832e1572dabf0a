/* SPDX-License-Identifier: MIT */
/* Which system calls are made without a stop, and what is done for each of them. */
#include "replay/buffer/buffer.h"

#include <sys/syscall.h>

enum { STAT = 144, STATX = 256, TIME = 16, TERMIOS = 36, ACTION = 32 };

#define MAY(name, ...) {SYS_##name, SBUF_CALL(__VA_ARGS__)}
#define MAY_NOT_WRITE(name) MAY(name, 0, 0, 0, 0)

/* None of these calls waits, ends a wait, or changes what the recorder knows. */
static const struct { uint16_t number; uint64_t how; } may[] = {
	MAY(read, SBUF_FILE | SBUF_RESULT, 1, 2, 0), MAY(pread64, SBUF_FILE | SBUF_RESULT, 1, 2, 0),
	MAY(close, SBUF_CLOSES, 0, 0, 0),
	MAY(write, SBUF_OUTPUT | SBUF_RESULT, 1, 2, 0), MAY(pwrite64, SBUF_OUTPUT | SBUF_RESULT, 1, 2, 0),
	MAY(openat, SBUF_OPENS, 0, 0, 0), MAY(fcntl, SBUF_ASKS, 0, 0, 0), MAY_NOT_WRITE(lseek),
	MAY(stat, 0, 1, 0, STAT), MAY(lstat, 0, 1, 0, STAT), MAY(fstat, 0, 1, 0, STAT), MAY(newfstatat, 0, 2, 0, STAT),
	MAY(statx, 0, 4, 0, STATX), MAY_NOT_WRITE(access), MAY_NOT_WRITE(faccessat), MAY_NOT_WRITE(faccessat2),
	MAY(readlink, SBUF_RESULT, 1, 2, 0), MAY(readlinkat, SBUF_RESULT, 2, 3, 0), MAY(getcwd, SBUF_RESULT, 0, 1, 0),
	MAY(getdents64, SBUF_RESULT, 1, 2, 0), MAY(getdents, SBUF_RESULT, 1, 2, 0), MAY_NOT_WRITE(chdir), MAY_NOT_WRITE(fchdir),
	MAY_NOT_WRITE(unlink), MAY_NOT_WRITE(unlinkat), MAY_NOT_WRITE(mkdir), MAY_NOT_WRITE(mkdirat), MAY_NOT_WRITE(rmdir),
	MAY_NOT_WRITE(rename), MAY_NOT_WRITE(renameat), MAY_NOT_WRITE(renameat2), MAY_NOT_WRITE(link), MAY_NOT_WRITE(linkat),
	MAY_NOT_WRITE(symlink), MAY_NOT_WRITE(symlinkat), MAY_NOT_WRITE(chmod), MAY_NOT_WRITE(fchmod), MAY_NOT_WRITE(fchmodat),
	MAY_NOT_WRITE(umask), MAY_NOT_WRITE(fadvise64), MAY(ioctl, SBUF_TERMINAL, 2, 0, TERMIOS),
	MAY(rt_sigaction, SBUF_HANDLES, 2, 0, ACTION),
	MAY(mmap, SBUF_ANONYMOUS, 0, 0, 0), MAY_NOT_WRITE(munmap), MAY_NOT_WRITE(mprotect), MAY_NOT_WRITE(brk),
	MAY(clock_gettime, 0, 1, 0, TIME), MAY(clock_getres, 0, 1, 0, TIME), MAY(gettimeofday, SBUF_ALONE, 0, 0, TIME),
	MAY(time, 0, 0, 0, 8), MAY(getrusage, 0, 1, 0, STAT), MAY(times, 0, 0, 0, 32),
	MAY_NOT_WRITE(getpid), MAY_NOT_WRITE(getppid), MAY_NOT_WRITE(gettid), MAY_NOT_WRITE(getuid), MAY_NOT_WRITE(geteuid),
	MAY_NOT_WRITE(getgid), MAY_NOT_WRITE(getegid), MAY_NOT_WRITE(getpgrp), MAY_NOT_WRITE(getpgid), MAY_NOT_WRITE(getsid),
};

void
calls_put(struct syscallbuf_data *data)
{
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (may[i].number < SBUF_CALLS)
			data->call[may[i].number] = may[i].how;
}

bool
may_be_free(uint64_t number)
{
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (may[i].number == number)
			return true;
	return false;
}

bool
arranges_memory(uint64_t number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect || number == SYS_brk;
}

bool
is_output(uint64_t number)
{
	return number == SYS_write || number == SYS_pwrite64;
}

bool
moves_files(uint64_t number)
{
	return number == SYS_close || number == SYS_close_range || number == SYS_dup2 || number == SYS_dup3 ||
	       number == SYS_unshare;
}
