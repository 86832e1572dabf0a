/* SPDX-License-Identifier: MIT */
/* The profile file: its head and its extents. All of this runs under the lock of the control block. */

/* The lowest descriptor that counts as high. Programs do not expect a free one there. */
static uint64_t
chord_rt_least_high(void)
{
	uint64_t limit = chord_rt_limit(CHORD_RT_RLIMIT_NOFILE);

	if (limit > 1024)
		limit = 1024;
	return limit > 24 ? limit - 16 : limit - 1;
}

/* A descriptor of the same file with a high number, or an error. */
static long
chord_rt_high_too(long fd, uint64_t least)
{
	return (uint64_t)fd >= least ? fd : chord_rt_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
}

/* Moves fd to a high number. Gives the new number, or an error. fd is closed, unless it is the result. */
static int32_t
chord_rt_high(long fd)
{
	long high = chord_rt_high_too(fd, chord_rt_least_high());

	if (high != fd)
		chord_rt_call(SYS_close, fd);
	return (int32_t)high;
}

/* Does the same for the profile's descriptor, until the lock is released. If there is no high number (none is left, or a filter
 * forbids fcntl), and no other thread could see a low one, a low one is used. */
static int32_t
chord_rt_high_or_low(const struct chord_rt_ctl *ctl, long fd)
{
	long high = chord_rt_high_too(fd, chord_rt_least_high());

	if (chord_rt_failed(high) && ctl->nregion <= 1 && !ctl->unseen)
		return (int32_t)fd;
	if (high != fd)
		chord_rt_call(SYS_close, fd);
	return (int32_t)high;
}

static bool
chord_rt_is_ours(struct chord_rt_ctl *ctl, long fd)
{
	struct stat st;

	return !chord_rt_failed(fd) && !chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) &&
	    st.st_dev == ctl->dev && st.st_ino == ctl->ino;
}

/* Closes the descriptor, unless the file may no longer be found by its name. */
static void
chord_rt_shut(struct chord_rt_ctl *ctl)
{
	if (ctl->fd < 0 || ctl->holds)
		return;
	if (chord_rt_is_ours(ctl, ctl->fd))
		chord_rt_call(SYS_close, ctl->fd);
	ctl->fd = -1;
}

/* A descriptor of the file: the open one if the program has left it alone, else a new one; or an error. */
static int32_t
chord_rt_fd(struct chord_rt_ctl *ctl)
{
	long fd;

	if (ctl->nofile || ctl->truncated)
		return -EACCES;
	if (ctl->fd >= 0 && chord_rt_is_ours(ctl, ctl->fd))
		return ctl->fd;
	fd = chord_rt_call(SYS_openat, AT_FDCWD, ctl->path, CHORD_RT_OPEN);
	if (chord_rt_failed(fd))
		return (int32_t)fd;
	if (!chord_rt_is_ours(ctl, fd)) {
		chord_rt_call(SYS_close, fd);
		return -EACCES;
	}
	ctl->fd = chord_rt_high_or_low(ctl, fd);
	return ctl->fd;
}

static void chord_rt_trace_hold(struct chord_rt_ctl *ctl);

/* The program is about to change its user, root or name space. From now on the file stays open. */
static void
chord_rt_hold_open(struct chord_rt_ctl *ctl)
{
	uint64_t old;

	if (ctl->holds || chord_rt_other_process(ctl))
		return;
	old = chord_rt_lock(ctl);
	ctl->holds = chord_rt_fd(ctl) >= 0 && (uint64_t)ctl->fd >= chord_rt_least_high();
	chord_rt_trace_hold(ctl);
	chord_rt_unlock(ctl, old);
}

static long
chord_rt_write_zeros(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t size)
{
	long n;

	for (uint64_t done = 0; done < size; done += (uint64_t)n) {
		n = chord_rt_call(SYS_pwrite64, fd, ctl->zero, CHORD_RT_PAGE, at + done);
		if (chord_rt_failed(n))
			return n;
		if (n == 0)
			return -ENOSPC;
	}
	return 0;
}

/* Allocates size bytes at the offset, so that a full disk is an error here and not a SIGBUS later. */
static long
chord_rt_allocate(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t size)
{
	long e;

	/* Beyond that limit the kernel would send SIGXFSZ. */
	if (at + size > chord_rt_file_limit(ctl))
		return -EFBIG;
	do
		e = chord_rt_call(SYS_fallocate, fd, 0, at, size);
	while (e == -EINTR);
	if (e == -EOPNOTSUPP || e == -ENOSYS)
		e = chord_rt_write_zeros(ctl, fd, at, size);
	return e;
}

/* Does the same at the end of the file. */
static long
chord_rt_reserve(struct chord_rt_ctl *ctl, int32_t fd, uint64_t at, uint64_t size)
{
	long e = chord_rt_allocate(ctl, fd, at, size);

	if (chord_rt_failed(e))
		chord_rt_call(SYS_ftruncate, fd, at);
	return e;
}

/* Adds an extent with that head. It is valid only after chord_rt_publish(). Gives its offset, or 0. */
static uint64_t
chord_rt_extent(struct chord_rt_ctl *ctl, const void *head, size_t n, uint64_t size)
{
	uint64_t at = ctl->head->used;
	int32_t fd = chord_rt_fd(ctl);
	long e = fd;

	if (ctl->nofile)
		return 0;
	if (fd >= 0)
		e = chord_rt_reserve(ctl, fd, at, size);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_pwrite64, fd, head, n, at);
	if (!chord_rt_failed(e))
		return at;
	if (at > CHORD_RT_PAGE)
		chord_rt_warn_of_some(ctl, ctl->path, chord_rt_error(e));
	else
		chord_rt_warn(ctl, ctl->path, chord_rt_error(e));
	return 0;
}

/* Extents of an earlier process are complete already, so `used` only grows. */
static void
chord_rt_publish(struct chord_rt_ctl *ctl, uint64_t end)
{
	if (end > ctl->head->used)
		__atomic_store_n(&ctl->head->used, end, __ATOMIC_RELEASE);
}

/* Adds a message for the reader. */
static void
chord_rt_text(struct chord_rt_ctl *ctl, const char *s)
{
	struct chord_extent_head h = {.type = CHORD_EXTENT_TEXT, .size = CHORD_RT_PAGE};
	char *text = (char *)ctl->page + sizeof h;
	uint64_t at;

	chord_rt_clear(ctl->page, CHORD_RT_PAGE);
	chord_rt_copy(ctl->page, &h, sizeof h);
	chord_rt_append(text, CHORD_RT_PAGE - sizeof h, s, chord_rt_length(s));
	at = chord_rt_extent(ctl, ctl->page, CHORD_RT_PAGE, CHORD_RT_PAGE);
	if (at)
		chord_rt_publish(ctl, at + CHORD_RT_PAGE);
}

/* ---- the head ---- */

/* The stack size of the first thread, which libc by default also gives to all others. 0: there is no limit. */
static uint64_t
chord_rt_stack_limit(void)
{
	uint64_t n = chord_rt_limit(CHORD_RT_RLIMIT_STACK);

	return n < 1ull << 46 ? n : 0;
}

static void
chord_rt_fill_head(struct chord_rt_ctl *ctl, struct chord_profile_head *h)
{
	const struct chord_rt_home *p = &ctl->place;

	chord_rt_clear(h, sizeof *h);
	h->magic = CHORD_PROFILE_MAGIC;
	h->version = CHORD_FORMAT_VERSION;
	h->flags = ctl->per_thread ? CHORD_PROFILE_PER_THREAD : 0;
	h->page = CHORD_RT_PAGE;
	h->used = CHORD_RT_PAGE;
	h->pid = ctl->pid;
	h->processes = 1;
	h->id = p->id[0];
	h->id2 = p->id[1];
	h->run = p->run[0];
	h->run2 = p->run[1];
	h->of = p->of[0];
	h->of2 = p->of[1];
	h->ticks = p->ticks;
	h->slot = p->slot;
	h->stack = chord_rt_stack_limit();
}

/* Continues the profile that this process found. */
static void
chord_rt_continue_head(struct chord_rt_ctl *ctl, struct chord_profile_head *h)
{
	h->state = CHORD_STATE_RUNNING;
	h->pid = ctl->pid;
	h->stack = chord_rt_stack_limit();
	h->processes++;
	ctl->place.id[0] = h->id;
	ctl->place.id[1] = h->id2;
}

/* Writes the head into an empty file by one call, so that a file that is not empty has a complete head. */
static long
chord_rt_write_head(struct chord_rt_ctl *ctl, long fd)
{
	long e;

	if (CHORD_RT_PAGE > chord_rt_file_limit(ctl))
		return -EFBIG;
	chord_rt_clear(ctl->page, CHORD_RT_PAGE);
	chord_rt_fill_head(ctl, (struct chord_profile_head *)ctl->page);
	e = chord_rt_call(SYS_pwrite64, fd, ctl->page, CHORD_RT_PAGE, 0);
	if (!chord_rt_failed(e))
		e = e == CHORD_RT_PAGE ? chord_rt_call(SYS_fallocate, fd, 0, 0, CHORD_RT_PAGE) : -ENOSPC;
	return e == -EOPNOTSUPP || e == -ENOSYS || e == -EINTR ? 0 : e;
}

/* The file of this process, mapped at ctl->head. */
static long
chord_rt_create(struct chord_rt_ctl *ctl)
{
	long dir = AT_FDCWD, fd = chord_rt_open_file(ctl, &dir), e = 0;
	struct stat st;

	if (!chord_rt_failed(fd)) {
		chord_rt_call(SYS_fstat, fd, &st);
		ctl->dev = st.st_dev;
		ctl->ino = st.st_ino;
		if (!ctl->place.reused)
			e = chord_rt_write_head(ctl, fd);
		if (!chord_rt_failed(e))
			e = chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, fd, 0);
		if (chord_rt_failed(e) && !ctl->place.reused)
			chord_rt_call(SYS_unlinkat, dir, chord_rt_within(ctl, dir), 0);
		if (chord_rt_failed(e))
			chord_rt_call(SYS_close, fd);
		else
			ctl->fd = chord_rt_high_or_low(ctl, fd);
	}
	if (!chord_rt_failed(dir))
		chord_rt_call(SYS_close, dir);
	if (chord_rt_failed(fd) || chord_rt_failed(e))
		return chord_rt_failed(fd) ? fd : e;
	ctl->head = (struct chord_profile_head *)e;
	return 0;
}

/* A child could not have a profile. The profile of its parent says so, or that of its nearest ancestor with a profile. */
static void
chord_rt_orphan(struct chord_rt_ctl *ctl, long e)
{
	struct chord_profile_head *elder = ctl->place.elder;
	uint64_t none = 0;

	if (!elder)
		return;
	__atomic_compare_exchange_n(&elder->orphan_error, &none, (uint64_t)-e, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_fetch_add(&elder->orphans, 1, __ATOMIC_RELAXED);
}

/* There is no file: the counts are in memory only. */
static void
chord_rt_begin_in_memory(struct chord_rt_ctl *ctl, long why)
{
	long e = chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);

	ctl->nofile = 1;
	ctl->fd = -1;
	ctl->warned |= ctl->place.null;
	if (!ctl->place.null) {
		chord_rt_orphan(ctl, why);
		chord_rt_warn(ctl, ctl->path, chord_rt_error(why));
	}
	ctl->head = (struct chord_profile_head *)(chord_rt_failed(e) ? (long)ctl->spare_head : e);
	chord_rt_fill_head(ctl, ctl->head);
}

/* Starts a profile. Afterwards there is a ctl->head; it is in anonymous memory if there can be no file. */
static void
chord_rt_begin(struct chord_rt_ctl *ctl)
{
	long e = -EACCES;

	ctl->nofile = 0;
	ctl->fd = -1;
	ctl->head = NULL;
	chord_rt_identify(ctl);
	if (!ctl->place.null)
		e = chord_rt_create(ctl);
	if (chord_rt_failed(e))
		chord_rt_begin_in_memory(ctl, e);
	if (ctl->place.reused)
		chord_rt_continue_head(ctl, ctl->head);
	ctl->profile = (uint64_t)ctl->head;
	ctl->file = ctl->nofile ? 0 : (uint64_t)ctl->path;
	if (!ctl->nofile && ctl->place.elder) {
		chord_rt_call(SYS_munmap, ctl->place.elder, CHORD_RT_PAGE);
		ctl->place.elder = NULL;
	}
	if (ctl->place.strange)
		chord_rt_text(ctl, "what CHORD_FILE names was there and is no profile of this user's: it was left alone");
}
