/* SPDX-License-Identifier: MIT */
/* The profile file: its name, its lock, its extents. All under the lock of the
 * control block. */

#include <sys/stat.h>

static bool
chord_rt_put(struct chord_rt_ctl *ctl, const char *s, size_t n)
{
	return chord_rt_append(ctl->path, sizeof ctl->path, s, n);
}

static bool
chord_rt_put_id(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_mod *m = ctl->module;
	char hex[2];

	for (uint32_t i = 1; i < ctl->nmodule; i++)
		if (ctl->module[i].main)
			m = &ctl->module[i];
	for (uint32_t i = 0; i < m->idlen; i++) {
		hex[0] = "0123456789abcdef"[m->id[i] >> 4];
		hex[1] = "0123456789abcdef"[m->id[i] & 15];
		if (!chord_rt_put(ctl, hex, 2))
			return false;
	}
	return true;
}

/* Fills ctl->path from ctl->wanted. Attempt 0 is the name as wanted, 1 has the
 * pid behind it, later ones a number more. */
static bool
chord_rt_name(struct chord_rt_ctl *ctl, uint32_t attempt)
{
	const char *s = ctl->wanted;
	size_t size = sizeof ctl->path;
	bool ok = true;

	ctl->path[0] = 0;
	for (; *s && ok; s++) {
		if (*s != '%' || !s[1])
			ok = chord_rt_put(ctl, s, 1);
		else if (*++s == 'p')
			ok = chord_rt_append_number(ctl->path, size, ctl->pid);
		else if (*s == 'n')
			ok = chord_rt_put(ctl, ctl->prog, chord_rt_length(ctl->prog));
		else if (*s == 'b')
			ok = chord_rt_put_id(ctl);
		else
			ok = (*s == '%' || chord_rt_put(ctl, "%", 1)) && chord_rt_put(ctl, s, 1);
	}
	if (attempt > 0)
		ok = ok && chord_rt_put(ctl, ".", 1) && chord_rt_append_number(ctl->path, size, ctl->pid);
	if (attempt > 1)
		ok = ok && chord_rt_put(ctl, ".", 1) && chord_rt_append_number(ctl->path, size, attempt);
	return ok;
}

/* Moves fd out of the program's way; -1 if there is no room up there. */
static int32_t
chord_rt_high(long fd)
{
	uint64_t limit = chord_rt_limit(CHORD_RT_RLIMIT_NOFILE);
	long high;

	if (limit > 1024)
		limit = 1024;
	high = chord_rt_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, limit > 24 ? limit - 16 : limit - 1);
	chord_rt_call(SYS_close, fd);
	return chord_rt_failed(high) ? -1 : (int32_t)high;
}

static bool
chord_rt_is_ours(struct chord_rt_ctl *ctl, long fd)
{
	struct stat st;

	return !chord_rt_failed(fd) && !chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) &&
	    st.st_dev == ctl->dev && st.st_ino == ctl->ino;
}

/* A descriptor of the file: ours if the program left it alone, else a new one. */
static int32_t
chord_rt_fd(struct chord_rt_ctl *ctl)
{
	long fd;

	if (ctl->nofile)
		return -1;
	if (ctl->fd >= 0 && chord_rt_is_ours(ctl, ctl->fd))
		return ctl->fd;
	fd = chord_rt_call(SYS_open, ctl->path, O_RDWR | O_CLOEXEC);
	if (chord_rt_failed(fd))
		return -1;
	if (!chord_rt_is_ours(ctl, fd)) {
		chord_rt_call(SYS_close, fd);
		return -1;
	}
	ctl->fd = chord_rt_high(fd);
	return ctl->fd;
}

static long
chord_rt_write_zeros(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t size)
{
	long n;

	for (uint64_t done = 0; done < size; done += (uint64_t)n) {
		n = chord_rt_call(SYS_pwrite64, fd, ctl->zero, CHORD_PAGE, at + done);
		if (chord_rt_failed(n))
			return n;
		if (n == 0)
			return -ENOSPC;
	}
	return 0;
}

/* Room for size bytes at the offset, really there: a full disk is found out
 * here and not as SIGBUS later. */
static long
chord_rt_reserve(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t size)
{
	long e;

	/* Beyond that limit the kernel would send SIGXFSZ. */
	if (at + size > chord_rt_limit(CHORD_RT_RLIMIT_FSIZE))
		return -EFBIG;
	do
		e = chord_rt_call(SYS_fallocate, fd, 0, at, size);
	while (e == -EINTR);
	if (e == -EOPNOTSUPP || e == -ENOSYS)
		e = chord_rt_write_zeros(ctl, fd, at, size);
	if (chord_rt_failed(e))
		chord_rt_call(SYS_ftruncate, fd, at);
	return e;
}

/* Adds an extent with that head, not yet valid: chord_rt_publish makes it so.
 * Gives its offset, or 0. */
static uint64_t
chord_rt_extent(struct chord_rt_ctl *ctl, const void *head, size_t n, uint64_t size)
{
	uint64_t at = ctl->head->used;
	int32_t fd = chord_rt_fd(ctl);
	long e = -EACCES;

	if (ctl->nofile)
		return 0;
	if (fd >= 0)
		e = chord_rt_reserve(ctl, fd, at, size);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_pwrite64, fd, head, n, at);
	if (!chord_rt_failed(e))
		return at;
	chord_rt_tell(ctl, ctl->path, chord_rt_error(e));
	return 0;
}

static void
chord_rt_publish(struct chord_rt_ctl *ctl, uint64_t end)
{
	__atomic_store_n(&ctl->head->used, end, __ATOMIC_RELEASE);
}

/* A message for the reader. */
static void
chord_rt_text(struct chord_rt_ctl *ctl, const char *s)
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_TEXT, .size = CHORD_PAGE};
	char *text = (char *)ctl->page + sizeof h;
	uint64_t at;

	chord_rt_clear(ctl->page, CHORD_PAGE);
	chord_rt_copy(ctl->page, &h, sizeof h);
	chord_rt_append(text, CHORD_PAGE - sizeof h, s, chord_rt_length(s));
	at = chord_rt_extent(ctl, ctl->page, CHORD_PAGE, CHORD_PAGE);
	if (at)
		chord_rt_publish(ctl, at + CHORD_PAGE);
}

/* ---- another program's file ---- */

/* When this process began, in nanoseconds of the clock that files have; it stays
 * the same through exec. 0: not known. */
static int64_t
chord_rt_began(struct chord_rt_ctl *ctl)
{
	long fd = chord_rt_call(SYS_open, "/proc/self/stat", O_RDONLY | O_CLOEXEC), n, now[2], up[2];
	char *s = (char *)ctl->page;
	int64_t ticks = 0;

	if (chord_rt_failed(fd))
		return 0;
	n = chord_rt_call(SYS_read, fd, s, CHORD_PAGE - 1);
	chord_rt_call(SYS_close, fd);
	while (n > 0 && s[n - 1] != ')')
		n--;
	/* After the name in brackets, the 20th field; in ticks of 10 ms. */
	for (int field = 0; n > 0 && field < 20; s++)
		field += s[n] == ' ';
	for (; n > 0 && s[n] >= '0' && s[n] <= '9'; s++)
		ticks = ticks * 10 + (s[n] - '0');
	if (n <= 0 || chord_rt_failed(chord_rt_call(SYS_clock_gettime, 0, now)) ||
	    chord_rt_failed(chord_rt_call(SYS_clock_gettime, 7, up)))
		return 0;
	return (now[0] - up[0]) * 1000000000 + now[1] - up[1] + ticks * 10000000;
}

/* Is the file the profile of a program that this process was before exec? It must
 * not be replaced: nobody had a chance to read it. */
static bool
chord_rt_from_before_exec(struct chord_rt_ctl *ctl, long fd, const struct stat *st)
{
	struct chord_profile_head h;

	return chord_rt_call(SYS_pread64, fd, &h, sizeof h, 0) == sizeof h && h.magic == CHORD_PROFILE_MAGIC &&
	    h.pid == ctl->pid && st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec > chord_rt_began(ctl);
}

/* Opens the name and takes its lock. */
static long
chord_rt_open_locked(struct chord_rt_ctl *ctl)
{
	struct stat st;
	long fd, e;
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | (ctl->secure ? O_NOFOLLOW : 0);

	fd = chord_rt_call(SYS_open, ctl->path, flags, 0666);
	if (chord_rt_failed(fd))
		return fd;
	e = chord_rt_call(SYS_fstat, fd, &st);
	if (!chord_rt_failed(e) && !S_ISREG(st.st_mode)) {
		ctl->told |= S_ISCHR(st.st_mode); /* /dev/null: no profile is wanted */
		e = -EISDIR;
	}
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_flock, fd, 2 | 4);
	if (!chord_rt_failed(e) && st.st_size > 0 && chord_rt_from_before_exec(ctl, fd, &st))
		e = -EAGAIN;
	if (chord_rt_failed(e) && e != -ENOLCK && e != -EOPNOTSUPP) {
		chord_rt_call(SYS_close, fd);
		return e;
	}
	ctl->dev = st.st_dev;
	ctl->ino = st.st_ino;
	return fd;
}

/* The file of this process, empty but for its head, mapped at ctl->head. */
static long
chord_rt_create(struct chord_rt_ctl *ctl)
{
	long fd = -EAGAIN, e;
	int32_t high;

	for (uint32_t i = 0; fd == -EAGAIN && i < 100; i++)
		fd = chord_rt_name(ctl, i) ? chord_rt_open_locked(ctl) : -ENAMETOOLONG;
	if (chord_rt_failed(fd))
		return fd;
	e = chord_rt_call(SYS_ftruncate, fd, 0);
	if (!chord_rt_failed(e))
		e = chord_rt_reserve(ctl, (int32_t)fd, 0, CHORD_PAGE);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_mmap, 0, CHORD_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, fd, 0);
	high = chord_rt_high(fd);
	if (chord_rt_failed(e))
		return e;
	ctl->head = (struct chord_profile_head *)e;
	ctl->fd = high;
	return 0;
}

/* Starts a profile: ctl->head is there afterwards, in anonymous memory if the
 * file could not be had. */
static bool
chord_rt_begin(struct chord_rt_ctl *ctl)
{
	struct chord_profile_head *h;
	long e;

	ctl->nofile = 0;
	ctl->fd = -1;
	e = chord_rt_create(ctl);
	if (chord_rt_failed(e)) {
		chord_rt_tell(ctl, ctl->path, chord_rt_error(e));
		ctl->nofile = 1;
		e = chord_rt_call(SYS_mmap, 0, CHORD_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
		if (chord_rt_failed(e))
			return false;
		ctl->head = (struct chord_profile_head *)e;
	}
	h = ctl->head;
	h->version = CHORD_FORMAT_VERSION;
	h->pid = ctl->pid;
	h->flags = ctl->apart ? CHORD_PROFILE_APART : 0;
	h->used = CHORD_PAGE;
	ctl->profile = (uint64_t)h;
	ctl->file = ctl->nofile ? 0 : (uint64_t)ctl->path;
	__atomic_store_n(&h->magic, CHORD_PROFILE_MAGIC, __ATOMIC_RELEASE);
	return true;
}
