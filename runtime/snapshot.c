/* SPDX-License-Identifier: MIT */
/* CHORD_SIGNAL=SIGNAL[:reset]: at that signal a copy of the profile is written to the same folder, as NAME.1.chord, NAME.2.chord
 * and so on, and the profile itself goes on. With reset, each copy has what happened since the last copy. Counters in use cannot be
 * set to zero without losing additions, so the counts at each copy are kept and subtracted from the next.
 *
 * If the program installs a handler for the signal, that handler is used, and the profile says so. */

enum { CHORD_RT_SA = 4 | 0x04000000 | 0x08000000 | 0x10000000 }; /* SIGINFO RESTORER ONSTACK RESTART */

extern void chord_rt_entry_restore(void) __attribute__((visibility("hidden")));

/* ---- which signal ---- */

static uint32_t
chord_rt_signal_named(const char *s, size_t n)
{
	static const struct { char name[6]; uint8_t sig; } known[] = {
		{"HUP", 1}, {"INT", 2}, {"QUIT", 3}, {"USR1", 10}, {"USR2", 12}, {"ALRM", 14}, {"TERM", 15}, {"URG", 23},
		{"WINCH", 28}, {"IO", 29}, {"PWR", 30},
	};
	uint32_t v = 0;

	if (n > 3 && chord_rt_equal(s, "SIG", 3))
		s += 3, n -= 3;
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (n == chord_rt_length(known[i].name) && chord_rt_equal(s, known[i].name, n))
			return known[i].sig;
	for (; n && *s >= '0' && *s <= '9' && v < 100; n--, s++)
		v = v * 10 + (uint32_t)(*s - '0');
	return n || v > 64 || v == 9 || v == 19 || v == 32 || v == 33 ? 0 : v;
}

/* ---- active frames ---- */

/* Counts exits or re-entries for the active frames of the interrupted thread. With paths, the activation that was interrupted is
 * left out, because it is not known how far its path had come. */
static void
chord_rt_active(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t flag, uint64_t delta)
{
	uint64_t left = chord_rt_left(ctl);
	struct chord_rt_walk w;

	chord_rt_walk_from(&w, ctl, regs);
	w.once = w.exact = true;
	for (;;) {
		enum chord_rt_step step = chord_rt_look(&w);

		if (step == CHORD_RT_STUCK || w.regs.r[CHORD_RT_SP] >= left)
			return;
		if (!w.exact || CHORD_RT_ALL(amid, ctl))
			chord_rt_count_at(ctl, w.regs.r[CHORD_RT_PC] + w.exact, flag, delta, w.exact ? 0 : w.cfa);
		if (step != CHORD_RT_FRAME)
			return;
		chord_rt_up(&w);
	}
}

/* ---- copies ---- */

/* The whole profile, mapped as it is in the file. */
static unsigned char *
chord_rt_map_all(struct chord_rt_ctl *ctl, uint64_t size)
{
	int32_t fd = chord_rt_fd(ctl);
	long p = fd < 0 ? -1 : chord_rt_call(SYS_mmap, 0, size, CHORD_RT_PROT_READ, CHORD_RT_MAP_SHARED, fd, 0);

	return chord_rt_failed(p) ? NULL : (unsigned char *)p;
}

/* Copies the profile. Other threads may count meanwhile, so the words of counters are copied from the last one to the first: the
 * number of executions of a loop in which a register counts comes before the counter to which they will add. */
static void
chord_rt_copy_all(unsigned char *to, const unsigned char *from, uint64_t size)
{
	const struct chord_extent_head *h;

	chord_rt_copy(to, from, CHORD_RT_PAGE);
	for (uint64_t at = CHORD_RT_PAGE; at < size; at += h->size) {
		h = (const struct chord_extent_head *)(from + at);
		if (h->type != CHORD_EXTENT_COUNTS) {
			chord_rt_copy(to + at, from + at, h->size);
			continue;
		}
		for (uint64_t i = h->size; i >= 8; i -= 8)
			*(uint64_t *)(to + at + i - 8) = *(const volatile uint64_t *)(from + at + i - 8);
	}
}

/* In an extent of a module's counters: are the bytes at i a count, and not a key of a hash table? */
static bool
chord_rt_is_added(const struct chord_rt_ctl *ctl, const struct chord_extent_head *h, uint64_t i)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, h->module);
	uint64_t addr = m->first - m->bias + i - CHORD_RT_PAGE;
	const struct chord_path_at *t = chord_rt_table_of(m, addr);

	return !t || (addr - t->addr) % sizeof(struct chord_path_entry) == offsetof(struct chord_path_entry, count);
}

static void
chord_rt_add_keyed(struct chord_callee *to, const void *base, uint64_t n, uint64_t sign)
{
	const struct chord_callee *from = base;

	for (uint64_t i = 0; i < n; i++)
		to[i].count += sign * from[i].count;
}

/* Adds the counts of base, times sign, to those of p. */
static void
chord_rt_add_counts(struct chord_rt_ctl *ctl, unsigned char *p, const unsigned char *base, uint64_t size, uint64_t sign)
{
	const uint64_t slot = sizeof(struct chord_exit);
	const struct chord_extent_head *h;
	uint64_t end, k, v;

	for (uint64_t at = CHORD_RT_PAGE; at < size; at += h->size) {
		h = (const struct chord_extent_head *)(p + at);
		if (h->type == CHORD_EXTENT_CALLEES || h->type == CHORD_EXTENT_PATHS || h->type == CHORD_EXTENT_UNFINISHED)
			chord_rt_add_keyed((struct chord_callee *)(h + 1), base + at + sizeof *h, h->a, sign);
		if (h->type != CHORD_EXTENT_EXITS && h->type != CHORD_EXTENT_COUNTS)
			continue;
		k = h->type == CHORD_EXTENT_EXITS ? sizeof *h : CHORD_RT_PAGE;
		end = h->type == CHORD_EXTENT_EXITS ? k + h->a * slot : h->size;
		for (uint64_t i = k; i < end; i += 8) {
			if (h->type == CHORD_EXTENT_EXITS && (i - k) % slot == 0)
				continue; /* a key */
			v = *(const uint64_t *)(base + at + i);
			if (v && (h->type == CHORD_EXTENT_EXITS || chord_rt_is_added(ctl, h, i)))
				*(uint64_t *)(p + at + i) += sign * v;
		}
	}
}

/* Copies the exits and the unfinished paths to the counts that are subtracted from the next copy. */
static void
chord_rt_take_exits(unsigned char *to, const unsigned char *from, uint64_t size)
{
	const struct chord_extent_head *h;

	for (uint64_t at = CHORD_RT_PAGE; at < size; at += h->size) {
		h = (const struct chord_extent_head *)(from + at);
		if (h->type == CHORD_EXTENT_EXITS || h->type == CHORD_EXTENT_UNFINISHED)
			chord_rt_copy(to + at, from + at, h->size);
	}
}

/* Keeps the present counts. Active frames go on as resumed ones. */
static void
chord_rt_rebase_counts(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, const unsigned char *all, unsigned char *raw,
	uint64_t size)
{
	chord_rt_active(ctl, regs, CHORD_EXIT_REENTRY, -1ull);
	chord_rt_take_exits(raw, all, size);
	chord_rt_active(ctl, regs, CHORD_EXIT_REENTRY, 1);
	if (ctl->kept)
		chord_rt_call(SYS_munmap, ctl->kept, ctl->kept_size);
	ctl->kept = (uint64_t)raw;
	ctl->kept_size = size;
}

static long
chord_rt_write_all(long fd, const unsigned char *p, uint64_t size)
{
	uint64_t done = 0;
	long n;

	while (done < size) {
		n = chord_rt_call(SYS_pwrite64, fd, p + done, size - done, done);
		if (chord_rt_failed(n) && n != -EINTR)
			return n;
		done += n > 0 ? (uint64_t)n : 0;
		if (n == 0)
			return -ENOSPC;
	}
	return 0;
}

static bool
chord_rt_snapshot_name(struct chord_rt_ctl *ctl, char *name, size_t size)
{
	size_t n = chord_rt_length(ctl->path);

	if (n > 6 && chord_rt_equal(ctl->path + n - 6, ".chord", 6))
		n -= 6;
	name[0] = 0;
	return chord_rt_append(name, size, ctl->path, n) && chord_rt_append(name, size, ".", 1) &&
	    chord_rt_append_number(name, size, ++ctl->snapshots) && chord_rt_append(name, size, ".chord", 6);
}

/* Removes a snapshot of that name from an earlier run, if runs use the same names. */
static bool
chord_rt_old_snapshot(struct chord_rt_ctl *ctl, const char *name)
{
	struct chord_profile_head h;
	struct stat st;
	bool old;
	long fd;

	if (ctl->place.naming != CHORD_RT_BY_NAME ||
	    chord_rt_failed(chord_rt_call(SYS_newfstatat, AT_FDCWD, name, &st, CHORD_RT_BY_ITSELF)) || !S_ISREG(st.st_mode))
		return false;
	fd = chord_rt_call(SYS_openat, AT_FDCWD, name, CHORD_RT_OPEN);
	if (chord_rt_failed(fd))
		return false;
	old = chord_rt_is_profile(fd, &h) && h.flags & CHORD_PROFILE_SNAPSHOT && h.run != ctl->place.run[0];
	chord_rt_call(SYS_close, fd);
	return old && !chord_rt_failed(chord_rt_call(SYS_unlinkat, AT_FDCWD, name, 0));
}

/* Makes a new file with the next free number. The name is in ctl->page. */
static long
chord_rt_open_snapshot(struct chord_rt_ctl *ctl)
{
	char *name = (char *)ctl->page;
	long fd = -EEXIST;

	for (uint32_t i = 0; fd == -EEXIST && i < 1000; i++) {
		if (!chord_rt_snapshot_name(ctl, name, CHORD_RT_PAGE))
			return -ENAMETOOLONG;
		fd = chord_rt_call(SYS_openat, AT_FDCWD, name, CHORD_RT_OPEN | O_CREAT | O_EXCL, 0644);
		if (fd == -EEXIST && chord_rt_old_snapshot(ctl, name))
			fd = chord_rt_call(SYS_openat, AT_FDCWD, name, CHORD_RT_OPEN | O_CREAT | O_EXCL, 0644);
	}
	return fd;
}

static long
chord_rt_write_snapshot(struct chord_rt_ctl *ctl, unsigned char *p, uint64_t size)
{
	struct chord_profile_head *h = (struct chord_profile_head *)p;
	long fd = chord_rt_open_snapshot(ctl), e;

	if (chord_rt_failed(fd))
		return fd;
	h->used = size;
	h->flags |= CHORD_PROFILE_SNAPSHOT | (CHORD_RT_ALL(amid, ctl) ? CHORD_PROFILE_INTERRUPTED : 0) |
	            (ctl->kept ? CHORD_PROFILE_SINCE : 0);
	h->of = h->id;
	h->of2 = h->id2;
	h->id = chord_rt_mix(h->id + ctl->snapshots);
	h->id2 = chord_rt_mix(h->id2 ^ ctl->snapshots);
	e = size > chord_rt_file_limit(ctl) ? -EFBIG : chord_rt_write_all(fd, p, size);
	chord_rt_call(SYS_close, fd);
	if (chord_rt_failed(e))
		chord_rt_call(SYS_unlinkat, AT_FDCWD, ctl->page, 0);
	return e;
}

/* Copies the profile, subtracts the last reset's counts, writes the result, and keeps the copy for the next reset. */
static long
chord_rt_copy_profile(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, unsigned char *all, unsigned char *raw,
	uint64_t size)
{
	const unsigned char *kept = (const unsigned char *)ctl->kept;
	long e;

	chord_rt_active(ctl, regs, 0, 1);
	chord_rt_copy_all(raw, all, size);
	chord_rt_active(ctl, regs, 0, -1ull);
	chord_rt_add_counts(ctl, raw, kept, ctl->kept_size, -1ull);
	e = chord_rt_write_snapshot(ctl, raw, size);
	if (!ctl->reset || chord_rt_failed(e)) {
		chord_rt_call(SYS_munmap, raw, size);
		return e;
	}
	chord_rt_add_counts(ctl, raw, kept, ctl->kept_size, 1);
	chord_rt_rebase_counts(ctl, regs, all, raw, size);
	return 0;
}

static long
chord_rt_snapshot(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	unsigned char *all;
	uint64_t size;
	long e, raw;

	if (ctl->nofile)
		return 0;
	chord_rt_fold_all(ctl);
	size = ctl->head->used;
	all = chord_rt_map_all(ctl, size);
	if (!all)
		return -ENOMEM;
	raw = chord_rt_call(SYS_mmap, 0, size, CHORD_RT_PROT_RW, CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON, -1, 0);
	e = chord_rt_failed(raw) ? raw : chord_rt_copy_profile(ctl, regs, all, (unsigned char *)raw, size);
	chord_rt_call(SYS_munmap, all, size);
	return e;
}

/* ---- the signal ---- */

static uint64_t
chord_rt_take_snapshot(struct chord_rt_ctl *ctl, uint64_t at, uint64_t none)
{
	const struct chord_rt_regs *regs = (const struct chord_rt_regs *)at;
	uint64_t old;
	long e;

	(void)none;
	chord_rt_active(ctl, regs, 0, 0); /* makes the records now, because that may take the lock */
	chord_rt_active(ctl, regs, CHORD_EXIT_REENTRY, 0);
	old = chord_rt_lock(ctl);
	e = chord_rt_snapshot(ctl, regs);
	if (chord_rt_failed(e))
		chord_rt_text(ctl, "a snapshot could not be written");
	chord_rt_unlock(ctl, old);
	return 0;
}

static void
chord_rt_on_signal(int sig, void *info, const uint64_t *context)
{
	static const uint8_t from[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16}; /* gregs by DWARF number */
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_regs regs;

	(void)sig, (void)info;
	if (!ctl || !ctl->magic || ctl->ended || chord_rt_other_process(ctl))
		return;
	for (uint32_t i = 0; i < sizeof from; i++)
		regs.r[i] = context[5 + from[i]];
	chord_rt_on_own_stack(ctl, chord_rt_take_snapshot, (uint64_t)&regs, 0);
}

/* Called in the program's own constructor, because the program's code is never closed. */
static void
chord_rt_watch_signal(struct chord_rt_ctl *ctl)
{
	const char *s = ctl->secure ? NULL : chord_rt_getenv(chord_rt_environment(), "CHORD_SIGNAL"), *end = s;
	struct chord_rt_action a, was;

	if (!s || !*s || ctl->signal)
		return;
	while (*end && *end != ':')
		end++;
	ctl->signal = chord_rt_signal_named(s, (size_t)(end - s));
	if (!ctl->signal || (*end && !chord_rt_same(end, ":reset"))) {
		chord_rt_text(ctl, "CHORD_SIGNAL is not of the form SIGNAL or SIGNAL:reset, or names no signal that can be had");
		ctl->signal = 0;
		return;
	}
	ctl->reset = *end == ':';
	was.handler = 2;
	chord_rt_call(SYS_rt_sigaction, ctl->signal, 0, &was, 8);
	if (was.handler > 1)
		chord_rt_text(ctl, "the signal of CHORD_SIGNAL has a handler already: there are no snapshots");
	a.handler = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_on_signal); /* not from a table, which would be data */
	a.flags = CHORD_RT_SA;
	a.restorer = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_entry_restore);
	a.mask = ~(1ull << (7 - 1)); /* see truncated.c */
	if (was.handler <= 1)
		chord_rt_call(SYS_rt_sigaction, ctl->signal, &a, 0, 8);
}

/* The process ends. Did the runtime have the signal all the time? */
static void
chord_rt_signal_kept(struct chord_rt_ctl *ctl)
{
	struct chord_rt_action now;

	if (ctl->signal && !chord_rt_failed(chord_rt_call(SYS_rt_sigaction, ctl->signal, 0, &now, 8)) &&
	    now.handler != (uint64_t)&chord_rt_on_signal)
		chord_rt_text(ctl, "the program put its own handler for the signal of CHORD_SIGNAL: no snapshots from then on");
}
