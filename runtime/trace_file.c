/* SPDX-License-Identifier: MIT */
/* The file of a trace. It is in the folder of the profile, and its name is the profile's followed by CHORD_TRACE_SUFFIX. Room in it
 * is allocated before it is mapped, and an extent counts only when the head's `used` says so. So whenever the process is killed,
 * the file is complete as far as it goes. All of this runs under the lock of the control block. */

/* Is the file that has the name a trace of this user's, from an earlier run? */
static bool
chord_rt_is_old_trace(struct chord_rt_ctl *ctl, long dir)
{
	long fd = chord_rt_call(SYS_openat, dir, chord_rt_within(ctl, dir), CHORD_RT_OPEN);
	struct chord_trace_head h = {0};
	struct stat st;
	bool is;

	if (chord_rt_failed(fd))
		return false;
	is = !chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_uid == (uint32_t)chord_rt_call(SYS_geteuid) &&
	    (st.st_size == 0 || (chord_rt_call(SYS_pread64, fd, &h, sizeof h, 0) == sizeof h && h.magic == CHORD_TRACE_MAGIC));
	chord_rt_call(SYS_close, fd);
	return is;
}

/* Makes the file that has the name in ctl->path. */
static long
chord_rt_make_named(struct chord_rt_ctl *ctl)
{
	long dir = chord_rt_folder(ctl), fd = dir;

	if (chord_rt_failed(dir) && dir != AT_FDCWD)
		return dir;
	fd = chord_rt_new_file(ctl, dir);
	if (fd == -EEXIST && chord_rt_is_old_trace(ctl, dir) &&
	    !chord_rt_failed(chord_rt_call(SYS_unlinkat, dir, chord_rt_within(ctl, dir), 0)))
		fd = chord_rt_new_file(ctl, dir);
	chord_rt_call(SYS_close, dir);
	return fd;
}

static long
chord_rt_make_trace(struct chord_rt_ctl *ctl)
{
	size_t n = chord_rt_length(ctl->path);
	long fd = chord_rt_put(ctl, CHORD_TRACE_SUFFIX, sizeof CHORD_TRACE_SUFFIX - 1) ? chord_rt_make_named(ctl) : -ENAMETOOLONG;

	ctl->path[n] = 0;
	return fd;
}

/* The profile's name in ctl->path is not changed meanwhile, because a child of vfork may be killed here. */
static long
chord_rt_open_trace(struct chord_rt_ctl *ctl)
{
	char *name = (char *)ctl->page;

	*name = 0;
	if (!chord_rt_append(name, CHORD_RT_PAGE, ctl->path, chord_rt_length(ctl->path)) ||
	    !chord_rt_append(name, CHORD_RT_PAGE, CHORD_TRACE_SUFFIX, sizeof CHORD_TRACE_SUFFIX - 1))
		return -ENAMETOOLONG;
	return chord_rt_call(SYS_openat, AT_FDCWD, name, CHORD_RT_OPEN);
}

static bool
chord_rt_is_trace(const struct chord_rt_trace *t, long fd)
{
	struct stat st;

	return !chord_rt_failed(fd) && !chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) &&
	    st.st_dev == t->dev && st.st_ino == t->ino;
}

/* A descriptor of the file, for chord_rt_trace_shut(); or an error. */
static long
chord_rt_trace_fd(struct chord_rt_ctl *ctl)
{
	struct chord_rt_trace *t = ctl->trace;
	long fd;

	if (t->fd >= 0 && chord_rt_is_trace(t, t->fd))
		return t->fd;
	fd = chord_rt_open_trace(ctl);
	if (chord_rt_failed(fd) || chord_rt_is_trace(t, fd))
		return fd;
	chord_rt_call(SYS_close, fd);
	return -ENOENT;
}

static void
chord_rt_trace_shut(const struct chord_rt_trace *t, long fd)
{
	if (fd >= 0 && fd != t->fd)
		chord_rt_call(SYS_close, fd);
}

/* Keeps the file open from now on. */
static void
chord_rt_trace_hold(struct chord_rt_ctl *ctl)
{
	struct chord_rt_trace *t = ctl->trace;
	long fd = t && t->head && !t->memory && !t->stopped && t->fd < 0 ? chord_rt_trace_fd(ctl) : -1;

	if (fd >= 0)
		t->fd = chord_rt_high(fd);
}

/* From here on nothing is kept. e: the reason. */
static void
chord_rt_trace_stop(struct chord_rt_ctl *ctl, long e)
{
	struct chord_rt_trace *t = ctl->trace;

	if (t->head && !t->stopped) {
		t->head->error = (uint64_t)-e;
		__atomic_fetch_or(&t->head->flags, CHORD_TRACE_STOPPED, __ATOMIC_RELEASE);
	}
	t->stopped = 1;
}

/* ---- a collector (format/trace.h) ---- */

static struct chord_trace_talk *
chord_rt_talk(const struct chord_rt_trace *t)
{
	return (struct chord_trace_talk *)((uint64_t)t->head + CHORD_TRACE_TALK);
}

static void
chord_rt_ring_bell(struct chord_trace_talk *talk)
{
	__atomic_fetch_add(&talk->bell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&talk->sleeps, __ATOMIC_SEQ_CST))
		chord_rt_call(SYS_futex, &talk->bell, 1, 1);
}

/* May the process send to that socket? A filter of system calls may kill the process for the calls that only sending needs. Another
 * user may have a socket where the collector's was, and what is sent can be written to. */
static bool
chord_rt_may_send(const char *socket, bool filtered)
{
	const long GET_SECCOMP = 21;
	struct stat st;

	return (filtered || chord_rt_call(SYS_prctl, GET_SECCOMP, 0, 0, 0, 0) <= 0) &&
	    !chord_rt_failed(chord_rt_call(SYS_newfstatat, AT_FDCWD, socket, &st, CHORD_RT_BY_ITSELF)) && S_ISSOCK(st.st_mode) &&
	    st.st_uid == (uint32_t)chord_rt_call(SYS_geteuid);
}

/* Sends the file to the collector. False: there is no collector, or it cannot be reached, so the process packs by itself. */
static bool
chord_rt_send_trace(const struct chord_rt_trace *t, long fd)
{
	const size_t n = sizeof CHORD_TRACE_FILTERED - 1;
	const bool filtered = chord_rt_equal(t->collector, CHORD_TRACE_FILTERED, n);
	const char *socket = t->collector + (filtered ? n : 0);
	const uint64_t patience[2] = {2, 0};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct { struct cmsghdr head; int32_t fd, pad; } right = {
		.head = {.cmsg_len = CMSG_LEN(sizeof(int32_t)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS},
		.fd = (int32_t)fd,
	};
	char byte = CHORD_TRACE_VERSION;
	struct iovec text = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {
		.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &text, .msg_iovlen = 1,
		.msg_control = &right, .msg_controllen = sizeof right,
	};
	long s, e;

	if (!chord_rt_may_send(socket, filtered))
		return false;
	s = e = chord_rt_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	chord_rt_copy(to.sun_path, socket, chord_rt_length(socket) + 1);
	if (!chord_rt_failed(s)) {
		chord_rt_call(SYS_setsockopt, s, SOL_SOCKET, SO_SNDTIMEO, patience, sizeof patience);
		e = chord_rt_call(SYS_sendmsg, s, &m, MSG_NOSIGNAL);
		chord_rt_call(SYS_close, s);
	}
	return !chord_rt_failed(e);
}

/* Takes the end of the file, which the process has while it adds an extent, because a collector adds extents, too. */
static long
chord_rt_trace_take_end(struct chord_rt_trace *t)
{
	const uint64_t thousandth[2] = {0, 1000000};
	struct chord_trace_talk *talk = chord_rt_talk(t);
	uint32_t now = 0;

	for (uint32_t i = 0; *t->collector && i < CHORD_RT_PATIENCE * 100; i++, now = 0) {
		if (__atomic_compare_exchange_n(&talk->lock, &now, CHORD_TRACE_BY_PROCESS, false, __ATOMIC_ACQUIRE,
		    __ATOMIC_RELAXED) || now == CHORD_TRACE_BY_PROCESS)
			return 0;
		if (__atomic_load_n(&talk->collector, __ATOMIC_RELAXED) & CHORD_TRACE_OWNER_DIED) {
			__atomic_store_n(&talk->lock, CHORD_TRACE_BY_PROCESS, __ATOMIC_RELAXED);
			return 0;
		}
		chord_rt_call(SYS_nanosleep, thousandth, 0);
	}
	return *t->collector ? -ETIMEDOUT : 0;
}

static void
chord_rt_trace_leave_end(struct chord_rt_trace *t)
{
	if (*t->collector)
		__atomic_store_n(&chord_rt_talk(t)->lock, 0, __ATOMIC_RELEASE);
}

/* ---- the file ---- */

/* Writes the head into the new file, and maps it. */
static long
chord_rt_begin_trace(struct chord_rt_ctl *ctl, long fd)
{
	struct chord_trace_head *h = (struct chord_trace_head *)ctl->page;
	long e;

	chord_rt_clear(ctl->page, CHORD_RT_PAGE);
	chord_rt_fill_trace_head(ctl, h);
	e = chord_rt_reserve(ctl, (int32_t)fd, 0, CHORD_RT_PAGE);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_pwrite64, fd, ctl->page, CHORD_RT_PAGE, 0);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_mmap, 0, CHORD_RT_PAGE, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED, fd, 0);
	return e;
}

/* No file can be made. If no profile is wanted, no trace is kept either. */
static void
chord_rt_trace_without_file(struct chord_rt_ctl *ctl)
{
	ctl->trace->stopped = 1;
	if (!ctl->place.null && chord_rt_trace_in_memory(ctl))
		chord_rt_text(ctl, "no file could be made for the trace: what each thread did last is kept in memory, for a core "
		    "file");
	else
		chord_rt_text(ctl, "no file could be made for the trace");
}

/* The user wanted to bound the trace, and has to know that it is not bounded. The profile says so, and a message does once for a
 * process and its forked children. */
static void
chord_rt_say_senseless(struct chord_rt_ctl *ctl)
{
	static const char why[] = "not of the form last:SIZE, with a size of 1 or more that may end with K, M or G";

	chord_rt_text(ctl, CHORD_TRACE_VARIABLE " is not of the form last:SIZE, with a size of 1 or more that may end with K, M or "
	    "G: it is ignored");
	if (ctl->trace->senseless == 1 && !ctl->secure)
		chord_rt_say(&ctl->err, CHORD_TRACE_VARIABLE, why, "; it is ignored\n");
	ctl->trace->senseless = 2;
}

/* Makes the file of this process. If the profile is not in a file, there is no file for the trace. */
static void
chord_rt_trace_create(struct chord_rt_ctl *ctl)
{
	struct chord_rt_trace *t = ctl->trace;
	struct stat st;
	long fd, e;

	if (ctl->nofile) {
		chord_rt_trace_without_file(ctl);
		return;
	}
	fd = e = chord_rt_make_trace(ctl);
	if (!chord_rt_failed(fd)) {
		chord_rt_call(SYS_fstat, fd, &st);
		t->dev = st.st_dev;
		t->ino = st.st_ino;
		e = chord_rt_begin_trace(ctl, fd);
		t->collected = *t->collector && !chord_rt_failed(e) && chord_rt_send_trace(t, fd);
		chord_rt_call(SYS_close, fd);
	}
	if (!chord_rt_failed(e)) {
		t->head = (struct chord_trace_head *)e;
		if (t->senseless)
			chord_rt_say_senseless(ctl);
		return;
	}
	chord_rt_trace_without_file(ctl);
}

/* The address at which size bytes of the file from that offset are mapped; at: exactly there, or 0. */
static long
chord_rt_map_trace(long fd, uint64_t from, uint64_t size, uint64_t at)
{
	return chord_rt_call(SYS_mmap, at, size, CHORD_RT_PROT_RW, CHORD_RT_MAP_SHARED | (at ? CHORD_RT_MAP_FIXED : 0), fd, from);
}

/* Is room for the extent allocated later, piece by piece (trace_ring.c)? */
static bool
chord_rt_is_holed(const struct chord_rt_ctl *ctl, const struct chord_extent_head *h)
{
	return ctl->trace->last && h->type == CHORD_TRACE_RING && h->size > CHORD_RT_PAGE + CHORD_RT_RING;
}

/* Adds an extent. After that the caller calls chord_rt_trace_publish(), or chord_rt_trace_leave_end() if it fails. Gives the
 * extent's offset, or an error. */
static long
chord_rt_trace_extent(struct chord_rt_ctl *ctl, long fd, const struct chord_extent_head *h)
{
	long e = chord_rt_trace_take_end(ctl->trace);
	uint64_t at = ctl->trace->head->used;

	if (chord_rt_failed(e))
		return e;
	e = chord_rt_reserve(ctl, (int32_t)fd, at, chord_rt_is_holed(ctl, h) ? CHORD_RT_PAGE : h->size);
	if (!chord_rt_failed(e) && chord_rt_is_holed(ctl, h))
		e = at + h->size > chord_rt_file_limit(ctl) ? -EFBIG : chord_rt_call(SYS_ftruncate, fd, at + h->size);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_pwrite64, fd, h, sizeof *h, at);
	if (chord_rt_failed(e))
		chord_rt_trace_leave_end(ctl->trace);
	return chord_rt_failed(e) ? e : (long)at;
}

static void
chord_rt_trace_publish(struct chord_rt_ctl *ctl, uint64_t end)
{
	__atomic_store_n(&ctl->trace->head->used, end, __ATOMIC_RELEASE);
	chord_rt_trace_leave_end(ctl->trace);
}

/* Adds an extent and maps all of it; NULL: tracing has stopped. */
static struct chord_extent_head *
chord_rt_trace_mapped(struct chord_rt_ctl *ctl, const struct chord_extent_head *h)
{
	long fd, at, p;

	if (ctl->trace->memory)
		return chord_rt_trace_extent_in_memory(ctl, h);
	fd = at = p = chord_rt_trace_fd(ctl);
	if (!chord_rt_failed(fd))
		at = p = chord_rt_trace_extent(ctl, fd, h);
	if (!chord_rt_failed(at))
		p = chord_rt_map_trace(fd, (uint64_t)at, h->size, 0);
	if (chord_rt_failed(p)) {
		if (!chord_rt_failed(at))
			chord_rt_trace_leave_end(ctl->trace);
		chord_rt_trace_stop(ctl, p);
	} else {
		chord_rt_trace_publish(ctl, (uint64_t)at + h->size);
	}
	chord_rt_trace_shut(ctl->trace, fd);
	return chord_rt_failed(p) ? NULL : (struct chord_extent_head *)p;
}

/* ---- the list of modules ---- */

static uint32_t
chord_rt_list_room(void)
{
	return (uint32_t)(CHORD_RT_PAGE / sizeof(struct chord_trace_module));
}

/* Adds a module to the list. */
static void
chord_rt_trace_add_module(struct chord_rt_ctl *ctl, const struct chord_rt_mod *m)
{
	struct chord_extent_head h = {.type = CHORD_TRACE_MODULES, .size = 2 * CHORD_RT_PAGE};
	struct chord_rt_trace *t = ctl->trace;
	struct chord_trace_module *e;

	if (!t->list || t->list->a == chord_rt_list_room()) {
		if (t->list && !t->memory)
			chord_rt_call(SYS_munmap, t->list, h.size);
		t->list = chord_rt_trace_mapped(ctl, &h);
	}
	if (!t->list)
		return;
	e = (struct chord_trace_module *)((uint64_t)t->list + CHORD_RT_PAGE) + t->list->a;
	*e = (struct chord_trace_module){
		.low = (uint32_t)m->first, .bytes = (uint32_t)m->size, .first = m->first - m->bias, .module = m->index,
		.high = (uint32_t)(m->first >> 32),
	};
	__atomic_store_n(&t->list->a, t->list->a + 1, __ATOMIC_RELEASE);
	t->listed++;
}
