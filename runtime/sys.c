/* SPDX-License-Identifier: MIT */
/* System calls by name, strings, messages. */

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum {
	CHORD_RT_PROT_NONE = 0, CHORD_RT_PROT_READ = 1, CHORD_RT_PROT_RW = 3, CHORD_RT_PROT_EXEC = 4,
	CHORD_RT_MAP_SHARED = 1, CHORD_RT_MAP_PRIVATE = 2, CHORD_RT_MAP_FIXED = 0x10,
	CHORD_RT_MAP_ANON = 0x20, CHORD_RT_MAP_NORESERVE = 0x4000, CHORD_RT_MAP_NOREPLACE = 0x100000,
	CHORD_RT_RLIMIT_FSIZE = 1, CHORD_RT_RLIMIT_STACK = 3, CHORD_RT_RLIMIT_NOFILE = 7, CHORD_RT_RLIMIT_AS = 9,
};

#include "system.h"

/* System calls, by the number of arguments. */
#define chord_rt_call(...) \
	chord_rt_pick(__VA_ARGS__, chord_rt_call6, chord_rt_call5, chord_rt_call4, chord_rt_call3, chord_rt_call2, \
	    chord_rt_call1, chord_rt_call0, )(__VA_ARGS__)
#define chord_rt_pick(n, a, b, c, d, e, f, call, ...) call
#define chord_rt_call0(n) chord_rt_syscall0(n)
#define chord_rt_call1(n, a) chord_rt_syscall1(n, (long)(a))
#define chord_rt_call2(n, a, b) chord_rt_syscall2(n, (long)(a), (long)(b))
#define chord_rt_call3(n, a, b, c) chord_rt_syscall3(n, (long)(a), (long)(b), (long)(c))
#define chord_rt_call4(n, a, b, c, d) chord_rt_syscall4(n, (long)(a), (long)(b), (long)(c), (long)(d))
#define chord_rt_call5(n, a, b, c, d, e) chord_rt_syscall5(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define chord_rt_call6(n, a, b, c, d, e, f) \
	chord_rt_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Hides a pointer from the compiler. The object it points to belongs to other code and is only a weak reference here. Nothing here
 * writes it, so the compiler would take it for zeros. */
static void *
chord_rt_elsewhere(void *p)
{
	__asm__("" : "+r"(p));
	return p;
}

static bool
chord_rt_failed(long e)
{
	return (unsigned long)e > -4096ul;
}

static size_t
chord_rt_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static bool
chord_rt_equal(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	while (n && *x == *y)
		n--, x++, y++;
	return n == 0;
}

static bool
chord_rt_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static const char *
chord_rt_getenv(char **env, const char *name)
{
	size_t n = chord_rt_length(name);

	for (; env && *env; env++)
		if (chord_rt_equal(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Appends to a string that has room for size bytes; true if it fitted. */
static bool
chord_rt_append(char *to, size_t size, const char *s, size_t n)
{
	size_t at = chord_rt_length(to);

	if (at + n >= size)
		return false;
	chord_rt_copy(to + at, s, n);
	to[at + n] = 0;
	return true;
}

static bool
chord_rt_append_number(char *to, size_t size, uint64_t v)
{
	char digit[20];
	size_t n = sizeof digit;

	do
		digit[--n] = (char)('0' + v % 10);
	while (v /= 10);
	return chord_rt_append(to, size, digit + n, sizeof digit - n);
}

/* Can the 8 bytes at p be read? The kernel reads the signal set before it finds that -1 is no valid way to change the mask.
 * Valgrind would refuse the -1. Under Valgrind the set is blocked, while all signals are blocked already. */
static bool
chord_rt_readable(uint64_t p)
{
	uint64_t all = ~0ull, old = 0;
	long e;

	if (p < CHORD_RT_PAGE) /* the kernel takes 0 for no set */
		return false;
	if (!chord_rt_valgrind())
		return chord_rt_call(SYS_rt_sigprocmask, -1, p, 0, 8) != -EFAULT;
	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	e = chord_rt_call(SYS_rt_sigprocmask, 0, p, 0, 8);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
	return e != -EFAULT;
}

static const char chord_rt_errors[] =
	"\1Operation not permitted\0" "\2No such file or directory\0" "\14Cannot allocate memory\0"
	"\15Permission denied\0" "\21It is there already\0" "\24Not a directory\0" "\25Is a directory\0" "\26Not a regular file\0"
	"\27Too many open files in system\0" "\30Too many open files\0" "\33File too large\0"
	"\34No space left on device\0" "\36Read-only file system\0" "\44File name too long\0"
	"\50Too many levels of symbolic links\0" "\172Disk quota exceeded\0" "\0";

static const char *
chord_rt_error(long e)
{
	const char *p = chord_rt_errors;

	while (*p && *p != (char)-e)
		p += chord_rt_length(p) + 1;
	return *p ? p + 1 : "it cannot be written";
}

/* ---- messages ---- */

/* Notes which file descriptor 2 is. In a library that is opened late, nothing tells which file it was when the process began, so
 * `early` stays 0. */
static void
chord_rt_look_at_stderr(struct chord_rt_stderr *err)
{
	struct stat st;

	chord_rt_clear(err, sizeof *err);
	if (chord_rt_failed(chord_rt_call(SYS_fstat, 2, &st)))
		return;
	err->dev = st.st_dev;
	err->ino = st.st_ino;
	err->type = st.st_mode & S_IFMT;
}

/* Is it a terminal? By the kernel's numbers: consoles and the slave side of pseudo-terminals, which can be opened without side
 * effects. */
static bool
chord_rt_is_terminal(const struct stat *st)
{
	uint64_t major = st->st_rdev >> 8 & 0xfff, minor = st->st_rdev & 0xff;

	return S_ISCHR(st->st_mode) && ((major == 4 && minor < 64) || (major >= 136 && major <= 143));
}

/* A descriptor to which a message can be written without waiting: descriptor 2 itself, or the same file opened once more as
 * nonblocking; negative if there is none. seen NULL: it is not known which file it was. */
static long
chord_rt_message_fd(const struct chord_rt_stderr *seen)
{
	struct stat st, in;
	uint32_t type;

	if (chord_rt_failed(chord_rt_call(SYS_fstat, 2, &st)))
		return -1;
	type = st.st_mode & S_IFMT;
	if (seen && (seen->type != type || seen->dev != st.st_dev || seen->ino != st.st_ino))
		return -1;
	if (chord_rt_is_terminal(&st) || (type == S_IFIFO && seen && seen->early))
		return chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (!seen || !seen->early)
		return -1;
	/* If the file also answers reads (a service of inetd), messages must not go there. */
	if (type == S_IFSOCK && !chord_rt_failed(chord_rt_call(SYS_fstat, 0, &in)) && in.st_ino == st.st_ino)
		return -1;
	return type == S_IFREG || type == S_IFSOCK ? 2 : -1;
}

struct chord_rt_part { const char *at; size_t n; };

/* If a pipe has no reader, or a file would grow beyond its largest size, writing makes the kernel send a signal to the thread. That
 * signal is blocked here, and discarded if it came. */
static void
chord_rt_write_quietly(long fd, struct chord_rt_part *part, uint64_t n)
{
	const uint64_t ours = 1ull << (13 - 1) | 1ull << (25 - 1); /* PIPE XFSZ */
	struct { uint64_t name; uint32_t namelen, pad; struct chord_rt_part *part; uint64_t n, control, controllen, flags; } msg;
	uint64_t all = ~0ull, old = 0, before = 0, after = 0, none[2] = {0, 0};

	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	chord_rt_call(SYS_rt_sigpending, &before, 8);
	chord_rt_clear(&msg, sizeof msg);
	msg.part = part;
	msg.n = n;
	if (fd != 2 || chord_rt_call(SYS_sendmsg, 2, &msg, 0x4000 | 0x40) == -ENOTSOCK) /* NOSIGNAL DONTWAIT */
		chord_rt_call(SYS_writev, fd, part, n);
	chord_rt_call(SYS_rt_sigpending, &after, 8);
	after &= ours & ~before;
	if (after)
		chord_rt_call(SYS_rt_sigtimedwait, &after, 0, none, 8);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}

static const char CHORD_RT_ALL_LOST[] = "; counts of this process are lost\n";
static const char CHORD_RT_SOME_LOST[] = "; not all counts of this process are kept\n";

/* Writes one line, which ends with `so`, to standard error, if that is still the file that it was. It does not wait, and causes no
 * signal. */
static void
chord_rt_say(const struct chord_rt_stderr *seen, const char *what, const char *why, const char *so)
{
	struct chord_rt_part part[] = {
		{"chord: ", 7}, {what, chord_rt_length(what)}, {": ", 2}, {why, chord_rt_length(why)},
		{so, chord_rt_length(so)},
	};
	long fd = chord_rt_message_fd(seen);

	if (chord_rt_failed(fd))
		return;
	if (part[1].n > 2048) { /* so that a pipe takes the line as a whole */
		part[1].at += part[1].n - 2048;
		part[1].n = 2048;
	}
	chord_rt_write_quietly(fd, part, sizeof part / sizeof *part);
	if (fd != 2)
		chord_rt_call(SYS_close, fd);
}

/* Warns once in a process; never in a process that has more rights than its user (set-user-id). */
static void
chord_rt_warn(struct chord_rt_ctl *ctl, const char *what, const char *why)
{
	if (ctl->warned || ctl->secure)
		return;
	ctl->warned = 1;
	chord_rt_say(&ctl->err, what, why, CHORD_RT_ALL_LOST);
}

/* Does the same if the file may have some of the counts. */
static void
chord_rt_warn_of_some(struct chord_rt_ctl *ctl, const char *what, const char *why)
{
	if (ctl->warned || ctl->secure)
		return;
	ctl->warned = 1;
	chord_rt_say(&ctl->err, what, why, CHORD_RT_SOME_LOST);
}

/* The signals that the runtime blocks while it must not be interrupted: all, except SIGBUS if its handler is the runtime's own, for
 * a profile that somebody made shorter. */
static uint64_t
chord_rt_all_signals(const struct chord_rt_ctl *ctl)
{
	return ctl->bus ? ~(1ull << (7 - 1)) : ~0ull;
}

/* Is this a child of vfork? It uses this memory, but its actions are not this process's. */
static bool
chord_rt_other_process(struct chord_rt_ctl *ctl)
{
	return ctl->pid != (uint32_t)chord_rt_call(SYS_getpid);
}

/* False: the runtime may not ask. */
static bool
chord_rt_ask_limit(int which, uint64_t *limit)
{
	uint64_t v[2] = {0, 0};

	if (chord_rt_failed(chord_rt_call(SYS_prlimit64, 0, which, 0, v)) &&
	    chord_rt_failed(chord_rt_call(SYS_getrlimit, which, v)))
		return false;
	*limit = v[0];
	return true;
}

static uint64_t
chord_rt_limit(int which)
{
	uint64_t limit = ~0ull;

	chord_rt_ask_limit(which, &limit);
	return limit;
}

/* The most bytes that a file may have: beyond them the kernel would send SIGXFSZ. If a filter forbids asking, the limit is that of
 * the time when the filter was installed. */
static uint64_t
chord_rt_file_limit(struct chord_rt_ctl *ctl)
{
	chord_rt_ask_limit(CHORD_RT_RLIMIT_FSIZE, &ctl->file_limit);
	return ctl->file_limit;
}

/* Maps at exactly that address, or not at all. Kernels before 4.17 treat the address as a hint. */
static long
chord_rt_map_at(uint64_t at, uint64_t size, int prot, int flags)
{
	long p = chord_rt_call(SYS_mmap, at, size, prot, flags | CHORD_RT_MAP_NOREPLACE, -1, 0);

	if (!chord_rt_failed(p) && (uint64_t)p != at) {
		chord_rt_call(SYS_munmap, p, size);
		return -EEXIST;
	}
	return p;
}

/* Is something mapped at that page? */
static bool
chord_rt_taken(uint64_t at)
{
	long p = chord_rt_map_at(at, CHORD_RT_PAGE, CHORD_RT_PROT_NONE,
	    CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON | CHORD_RT_MAP_NORESERVE);

	if (!chord_rt_failed(p))
		chord_rt_call(SYS_munmap, p, CHORD_RT_PAGE);
	return p == -EEXIST;
}

/* Is a debugger attached? Under the lock. */
static bool
chord_rt_traced(struct chord_rt_ctl *ctl)
{
	long fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC), n;
	const char *s = (const char *)ctl->page;

	if (chord_rt_failed(fd))
		return false;
	n = chord_rt_call(SYS_read, fd, ctl->page, CHORD_RT_PAGE - 32);
	chord_rt_call(SYS_close, fd);
	for (; n > 12; n--, s++)
		if (chord_rt_equal(s, "\nTracerPid:\t", 12))
			return s[12] != '0';
	return false;
}
