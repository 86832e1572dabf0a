/* SPDX-License-Identifier: MIT */
/* Where the profile is: its name, who may have it, and what happens to a file that has the name already. All of this runs under the
 * lock of the control block.
 *
 * Nothing is ever written to a file unless it is a profile of this user's; new files are made with O_EXCL. The heads of profiles
 * say which of them belong to one run. If CHORD_FILE has no %p, the first process of the run has that name, and replaces the file
 * of an earlier run; the others have NAME.p1, NAME.p2 and so on. In a folder (CHORD_DIR) the names are PROGRAM.1.chord and so on.
 * In both cases a process continues the profile of an earlier process of the run that has ended, if it had the same modules. So
 * there are as many files as there were processes at a time. */

enum {
	CHORD_RT_NAMES = 8,           /* tried one after the other */
	CHORD_RT_SLOTS_TRIED = 24,
	CHORD_RT_EXTENTS_KEPT = 256,  /* a file with more is not continued */
	CHORD_RT_GENERATIONS = 64,    /* of ancestors that are looked at */
	CHORD_RT_LOOKUP = 010000000 /* O_PATH */ | O_DIRECTORY | O_CLOEXEC,
	CHORD_RT_OPEN = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
	CHORD_RT_BY_ITSELF = 0x100,   /* AT_SYMLINK_NOFOLLOW */
};

static int32_t chord_rt_fd(struct chord_rt_ctl *ctl);

/* ---- what the name is made of ---- */

static bool
chord_rt_put(struct chord_rt_ctl *ctl, const char *s, size_t n)
{
	return chord_rt_append(ctl->path, sizeof ctl->path, s, n);
}

static bool
chord_rt_put_hex(struct chord_rt_ctl *ctl, uint8_t v)
{
	const char *digits = "0123456789abcdef";

	return chord_rt_put(ctl, digits + (v >> 4), 1) && chord_rt_put(ctl, digits + (v & 15), 1);
}

static bool
chord_rt_put_id(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_mod *m = chord_rt_module(ctl, 0);

	for (uint32_t i = 1; i < ctl->nmodule; i++)
		if (chord_rt_module(ctl, i)->main)
			m = chord_rt_module(ctl, i);
	for (uint32_t i = 0; i < m->idlen; i++)
		if (!chord_rt_put_hex(ctl, m->id[i]))
			return false;
	return true;
}

/* Fills ctl->path from ctl->wanted. */
static bool
chord_rt_expand(struct chord_rt_ctl *ctl)
{
	const char *s = ctl->wanted;
	bool ok = *s != 0;

	ctl->path[0] = 0;
	for (; *s && ok; s++) {
		if (*s != '%' || !s[1])
			ok = chord_rt_put(ctl, s, 1);
		else if (*++s == 'p')
			ok = chord_rt_append_number(ctl->path, sizeof ctl->path, ctl->pid);
		else if (*s == 'n')
			ok = chord_rt_put(ctl, ctl->prog, chord_rt_length(ctl->prog));
		else if (*s == 'b')
			ok = chord_rt_put_id(ctl);
		else
			ok = (*s == '%' || chord_rt_put(ctl, "%", 1)) && chord_rt_put(ctl, s, 1);
	}
	return ok;
}

/* Makes the name of profile number `number`: the first n bytes of the path, a dot, the letter if any, and the number (0: the
 * identity, which no other process has). In a folder the ending follows. */
static bool
chord_rt_suffix(struct chord_rt_ctl *ctl, size_t n, const char *letter, uint64_t number)
{
	bool ok;

	ctl->path[n] = 0;
	ok = chord_rt_put(ctl, ".", 1) && (!number || chord_rt_put(ctl, letter, chord_rt_length(letter)));
	if (number)
		ok = ok && chord_rt_append_number(ctl->path, sizeof ctl->path, number);
	for (uint32_t shift = 64; !number && shift > 0; shift -= 8)
		ok = ok && chord_rt_put_hex(ctl, (uint8_t)(ctl->place.id[0] >> (shift - 8)));
	if (ctl->place.naming == CHORD_RT_BY_FOLDER)
		ok = ok && chord_rt_put(ctl, ".chord", 6);
	return ok;
}

/* ---- who the process is ---- */

static uint64_t
chord_rt_mix(uint64_t v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

/* Gives the profile an identity. That of a forked child is derived from its parent's, because a confined process may not be allowed
 * to ask for random bytes. */
static void
chord_rt_identify(struct chord_rt_ctl *ctl)
{
	struct chord_rt_home *p = &ctl->place;
	struct chord_profile_head *elder = p->elder;
	uint64_t n, now[2] = {0, 0};

	if (elder) {
		n = __atomic_add_fetch(&elder->children, 1, __ATOMIC_RELAXED) << 32 ^ p->forks;
		p->of[0] = elder->id;
		p->of[1] = elder->id2;
		p->id[0] = chord_rt_mix(elder->id ^ chord_rt_mix(n) ^ ctl->pid);
		p->id[1] = chord_rt_mix(elder->id2 + chord_rt_mix(n + ((uint64_t)ctl->pid << 20)));
	} else if (chord_rt_call(SYS_getrandom, p->id, sizeof p->id, 1) != sizeof p->id) {
		chord_rt_call(SYS_clock_gettime, 0, now);
		p->id[0] = chord_rt_mix((uint64_t)now[0] << 30 ^ (uint64_t)now[1]);
		p->id[1] = chord_rt_mix(ctl->pid ^ (uint64_t)ctl->stack << 8);
	}
	p->id[0] += !p->id[0];
	if (!elder) {
		p->run[0] = p->id[0];
		p->run[1] = p->id[1];
	}
	p->forks = 0;
}

/* When a process began (0: this one), in clock ticks since boot. It stays the same through exec. 0: not known. */
static uint64_t
chord_rt_ticks(struct chord_rt_ctl *ctl, uint32_t pid, uint32_t *parent)
{
	char name[40] = "/proc/self/stat", *s = (char *)ctl->page;
	uint64_t v = 0;
	long fd, n;

	if (pid) {
		name[6] = 0;
		chord_rt_append_number(name, sizeof name, pid);
		chord_rt_append(name, sizeof name, "/stat", 5);
	}
	fd = chord_rt_call(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	n = chord_rt_failed(fd) ? 0 : chord_rt_call(SYS_read, fd, s, CHORD_RT_PAGE - 1);
	if (!chord_rt_failed(fd))
		chord_rt_call(SYS_close, fd);
	s[n > 0 ? n : 0] = 0;
	while (n > 0 && s[n - 1] != ')')
		n--;
	/* In /proc/PID/stat the fields are counted from the name in brackets on: the parent is the 2nd, the start the 20th. */
	for (int field = 0; n > 0 && s[n] && field < 20; n++) {
		field += s[n] == ' ';
		v = s[n] == ' ' ? 0 : v * 10 + (uint64_t)(s[n] - '0');
		if (field == 2)
			*parent = (uint32_t)v;
	}
	for (v = 0; n > 0 && s[n] >= '0' && s[n] <= '9'; n++)
		v = v * 10 + (uint64_t)(s[n] - '0');
	return v;
}

/* Is the process that the head names this process before exec, or an ancestor of it? */
static bool
chord_rt_descends(struct chord_rt_ctl *ctl, const struct chord_profile_head *h, uint32_t generations)
{
	uint32_t pid = ctl->pid, parent = 0;
	uint64_t ticks;

	for (; generations-- > 0 && pid; pid = parent) {
		parent = 0;
		ticks = chord_rt_ticks(ctl, pid == ctl->pid ? 0 : pid, &parent);
		if (h->pid == pid && (h->ticks == ticks || !ticks || !h->ticks))
			return true;
	}
	return false;
}

/* ---- the folder ---- */

/* Follows a symbolic link as the kernel does with fs.protected_symlinks, but applies that rule in every folder that others can
 * write to: the link must be root's or this user's. */
static long
chord_rt_follow(long dir, const char *name)
{
	struct stat d, l;

	if (chord_rt_failed(chord_rt_call(SYS_fstat, dir, &d)) ||
	    chord_rt_failed(chord_rt_call(SYS_newfstatat, dir, name, &l, CHORD_RT_BY_ITSELF)))
		return -ENOENT;
	if (!S_ISLNK(l.st_mode))
		return -ENOTDIR;
	if (d.st_mode & 2 && l.st_uid != 0 && l.st_uid != (uint32_t)chord_rt_call(SYS_geteuid))
		return -ELOOP;
	return chord_rt_call(SYS_openat, dir, name, CHORD_RT_LOOKUP);
}

/* Opens a folder in a folder. If it is the last one of CHORD_DIR and is not there, it is made. */
static long
chord_rt_step_into(struct chord_rt_ctl *ctl, long dir, const char *name, bool last)
{
	long fd = chord_rt_call(SYS_openat, dir, name, CHORD_RT_LOOKUP | O_NOFOLLOW);

	if (fd == -ENOENT && last && ctl->place.makes &&
	    !chord_rt_failed(chord_rt_call(SYS_mkdirat, dir, name, 0755)))
		fd = chord_rt_call(SYS_openat, dir, name, CHORD_RT_LOOKUP | O_NOFOLLOW);
	return fd == -ENOTDIR || fd == -ELOOP ? chord_rt_follow(dir, name) : fd;
}

/* The last part of the path. */
static char *
chord_rt_base_name(struct chord_rt_ctl *ctl)
{
	char *last = ctl->path;

	for (char *s = last; *s; s++)
		if (*s == '/')
			last = s + 1;
	return last;
}

/* A descriptor of the folder that the path is in. If the process can have only one more descriptor, this is AT_FDCWD, and the whole
 * path is looked up. */
static long
chord_rt_folder(struct chord_rt_ctl *ctl)
{
	char *name = (char *)ctl->page, *last = chord_rt_base_name(ctl);
	long dir = chord_rt_call(SYS_openat, AT_FDCWD, ctl->path[0] == '/' ? "/" : ".", CHORD_RT_LOOKUP), next;
	size_t n;

	for (char *s = ctl->path; s < last && !chord_rt_failed(dir); s += n + 1) {
		for (n = 0; s[n] != '/'; n++)
			;
		if (!n)
			continue;
		chord_rt_copy(name, s, n);
		name[n] = 0;
		next = chord_rt_step_into(ctl, dir, name, s + n + 1 == last);
		chord_rt_call(SYS_close, dir);
		dir = next;
	}
	return dir == -EMFILE || dir == -ENFILE ? AT_FDCWD : dir;
}

/* For a process that has more rights than its user: is the folder root's, and can nobody remove files of other users there? */
static bool
chord_rt_is_safe(long dir)
{
	struct stat st;

	return !chord_rt_failed(chord_rt_call(SYS_fstat, dir, &st)) && st.st_uid == 0 &&
	    (!(st.st_mode & 022) || st.st_mode & S_ISVTX);
}

static const char *
chord_rt_within(struct chord_rt_ctl *ctl, long dir)
{
	return dir == AT_FDCWD ? ctl->path : chord_rt_base_name(ctl);
}

/* ---- files ---- */

/* Locks the file and checks that it still has its name; if not, closes it. On file systems without locks, a file is in use as long
 * as its process lives. */
static long
chord_rt_hold(long fd, const struct chord_profile_head *h)
{
	struct stat st;
	long e = chord_rt_call(SYS_flock, fd, 2 | 4);

	if (e == -ENOLCK || e == -EOPNOTSUPP || e == -ENOSYS)
		e = h && h->pid && chord_rt_call(SYS_kill, h->pid, 0) != -ESRCH ? -EAGAIN : 0;
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_fstat, fd, &st);
	if (!chord_rt_failed(e) && st.st_nlink != 1)
		e = -EAGAIN;
	if (!chord_rt_failed(e))
		return fd;
	chord_rt_call(SYS_close, fd);
	return e;
}

/* Makes a file that was not there before. Its user may open it again, whatever the umask is. */
static long
chord_rt_new_file(struct chord_rt_ctl *ctl, long dir)
{
	long fd = chord_rt_call(SYS_openat, dir, chord_rt_within(ctl, dir), CHORD_RT_OPEN | O_CREAT | O_EXCL, 0644);
	struct stat st;

	if (!chord_rt_failed(fd) && !chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) && (st.st_mode & 0600) != 0600)
		chord_rt_call(SYS_fchmod, fd, (st.st_mode & 0644) | 0600);
	return chord_rt_failed(fd) ? fd : chord_rt_hold(fd, NULL);
}

/* Is the file empty, or a profile of this user's? */
static bool
chord_rt_is_profile(long fd, struct chord_profile_head *h)
{
	struct stat st;

	chord_rt_clear(h, sizeof *h);
	if (chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid != (uint32_t)chord_rt_call(SYS_geteuid))
		return false;
	return st.st_size == 0 ||
	    (chord_rt_call(SYS_pread64, fd, h, sizeof *h, 0) == sizeof *h && h->magic == CHORD_PROFILE_MAGIC);
}

/* Opens the file that has the name, and locks it. -EAGAIN: it is in use; -EEXIST: it is no profile of ours; -EISDIR: it is no
 * regular file. */
static long
chord_rt_old_file(struct chord_rt_ctl *ctl, long dir, struct chord_profile_head *h)
{
	struct stat st;
	long fd = chord_rt_call(SYS_newfstatat, dir, chord_rt_within(ctl, dir), &st, CHORD_RT_BY_ITSELF);

	if (chord_rt_failed(fd))
		return fd;
	if (S_ISLNK(st.st_mode))
		return -EEXIST;
	if (!S_ISREG(st.st_mode)) {
		ctl->place.null = S_ISCHR(st.st_mode); /* /dev/null: no profile is wanted */
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	}
	fd = chord_rt_call(SYS_openat, dir, chord_rt_within(ctl, dir), CHORD_RT_OPEN);
	if (fd == -EACCES || fd == -EPERM || fd == -ELOOP || fd == -EROFS)
		return -EEXIST;
	if (chord_rt_failed(fd) || chord_rt_is_profile(fd, h))
		return chord_rt_failed(fd) ? fd : chord_rt_hold(fd, h);
	chord_rt_call(SYS_close, fd);
	return -EEXIST;
}

/* Makes a new file in place of an old one whose lock is held. Processes that have the old one mapped keep it. */
static long
chord_rt_replace(struct chord_rt_ctl *ctl, long dir, long fd)
{
	long e = chord_rt_call(SYS_unlinkat, dir, chord_rt_within(ctl, dir), 0);

	if (!chord_rt_failed(e)) {
		chord_rt_call(SYS_close, fd);
		return chord_rt_new_file(ctl, dir);
	}
	e = chord_rt_call(SYS_ftruncate, fd, 0);
	if (!chord_rt_failed(e))
		e = chord_rt_call(SYS_fchmod, fd, 0600);
	if (!chord_rt_failed(e))
		return fd;
	chord_rt_call(SYS_close, fd);
	return e;
}

/* ---- going on with a profile ---- */

/* Is the extent that of a module which this process has under the same number? */
static bool
chord_rt_is_module(struct chord_rt_ctl *ctl, long fd, const struct chord_extent_head *h, uint64_t at)
{
	const struct chord_rt_mod *m = h->module < ctl->nmodule ? chord_rt_module(ctl, h->module) : NULL;
	unsigned char id[32];

	return m && m->life == CHORD_LIFE_LOADED && m->idlen && h->c == m->idlen && h->b == m->size &&
	    h->a == m->first - m->bias && chord_rt_call(SYS_pread64, fd, id, sizeof id, at + sizeof *h) == sizeof id &&
	    chord_rt_equal(id, m->id, sizeof id);
}

/* Has the process of that profile ended, and can this process add its counts to it? It must have the same modules, and nothing in
 * the profile may have to begin at 0. */
static bool
chord_rt_may_go_on(struct chord_rt_ctl *ctl, long fd, const struct chord_profile_head *head)
{
	const uint32_t kept = 1u << CHORD_EXTENT_MODULE | 1u << CHORD_EXTENT_COUNTS | 1u << CHORD_EXTENT_EXITS |
	    1u << CHORD_EXTENT_TEXT;
	struct chord_extent_head h;
	uint32_t n = 0, modules = 0;

	if (head->version != CHORD_FORMAT_VERSION || head->page != CHORD_RT_PAGE || head->state != CHORD_STATE_ENDED ||
	    head->flags || ctl->per_thread || ctl->nogs || !CHORD_RT_ALL(goes_on, ctl))
		return false;
	for (uint64_t at = CHORD_RT_PAGE; at < head->used; at += h.size) {
		if (n++ == CHORD_RT_EXTENTS_KEPT || chord_rt_call(SYS_pread64, fd, &h, sizeof h, at) != sizeof h ||
		    h.size < CHORD_RT_PAGE || h.type > 31 || !(kept >> h.type & 1))
			return false;
		if (h.type == CHORD_EXTENT_MODULE && (h.module != modules++ || !chord_rt_is_module(ctl, fd, &h, at)))
			return false;
	}
	return modules == ctl->nmodule;
}

/* In a profile that is continued: the offset of a module's counters, or of the next extent of exits; 0: there is none. */
static uint64_t
chord_rt_kept(struct chord_rt_ctl *ctl, const struct chord_extent_head *want, struct chord_extent_head *h)
{
	bool exits = want->type == CHORD_EXTENT_EXITS;
	int32_t fd = ctl->place.reused ? chord_rt_fd(ctl) : -1;

	for (uint64_t at = exits ? ctl->place.exits : CHORD_RT_PAGE; fd >= 0 && at < ctl->place.reused; at += h->size) {
		if (chord_rt_call(SYS_pread64, fd, h, sizeof *h, at) != sizeof *h || h->size < CHORD_RT_PAGE)
			return 0;
		if (exits)
			ctl->place.exits = at + h->size;
		if (h->type == want->type && (exits || (h->module == want->module && h->a == want->a && h->size == want->size)))
			return at;
	}
	return 0;
}

/* ---- the way to a file ---- */

/* The next number to try: one by one at first, then at random from ranges that grow. */
static uint64_t
chord_rt_slot_number(struct chord_rt_ctl *ctl, uint32_t attempt)
{
	if (attempt < CHORD_RT_NAMES)
		return attempt + 1;
	return 1 + chord_rt_mix(ctl->place.id[1] + attempt) % ((uint64_t)CHORD_RT_NAMES << (attempt - 6) / 2);
}

/* Opens the file of an earlier process that had that number, if this process may continue it or replace it. */
static long
chord_rt_old_slot(struct chord_rt_ctl *ctl, long dir, uint64_t number)
{
	struct chord_profile_head h;
	long fd = chord_rt_old_file(ctl, dir, &h);
	bool named = ctl->place.naming == CHORD_RT_BY_NAME;

	if (chord_rt_failed(fd))
		return -EEXIST;
	if (named && h.magic && (h.run != ctl->place.run[0] || h.run2 != ctl->place.run[1])) {
		if (h.slot == number) /* it is of the run whose first profile has been replaced */
			return chord_rt_replace(ctl, dir, fd);
	} else if (h.magic && chord_rt_may_go_on(ctl, fd, &h)) {
		ctl->place.reused = h.used;
		ctl->place.exits = CHORD_RT_PAGE;
		return fd;
	}
	chord_rt_call(SYS_close, fd);
	return -EEXIST;
}

/* Opens a file for a process whose run has other files. */
static long
chord_rt_slot_file(struct chord_rt_ctl *ctl, long dir)
{
	const char *letter = ctl->place.naming == CHORD_RT_BY_NAME ? "p" : "";
	long fd = -EEXIST;
	uint64_t number;

	for (uint32_t i = 0; (fd == -EEXIST || fd == -EAGAIN) && i <= CHORD_RT_SLOTS_TRIED; i++) {
		number = i < CHORD_RT_SLOTS_TRIED ? chord_rt_slot_number(ctl, i) : 0;
		if (!chord_rt_suffix(ctl, ctl->place.length, letter, number))
			return -ENAMETOOLONG;
		fd = chord_rt_new_file(ctl, dir);
		if (fd == -EEXIST)
			fd = chord_rt_old_slot(ctl, dir, number);
		ctl->place.slot = ctl->place.naming == CHORD_RT_BY_FOLDER ? 0 : number ? number : ~0ull;
	}
	return fd;
}

/* Opens a file that no other process has: the path as it is, or with a number after it. */
static long
chord_rt_own_file(struct chord_rt_ctl *ctl, long dir, bool with_pid)
{
	size_t n = chord_rt_length(ctl->path);
	long fd = -EEXIST;
	bool ok = true;

	for (uint32_t i = 0; (fd == -EEXIST || fd == -EAGAIN) && i <= CHORD_RT_NAMES; i++) {
		if (i || with_pid)
			ok = chord_rt_suffix(ctl, n, "", i == CHORD_RT_NAMES ? 0 : i ? i + 1 : ctl->pid);
		if (i == 0)
			n = chord_rt_length(ctl->path);
		fd = ok ? chord_rt_new_file(ctl, dir) : -ENAMETOOLONG;
	}
	ctl->place.length = (uint32_t)chord_rt_length(ctl->path);
	return fd;
}

static void
chord_rt_belong(struct chord_rt_ctl *ctl, const struct chord_profile_head *h)
{
	ctl->place.member = 1;
	ctl->place.run[0] = h->run;
	ctl->place.run[1] = h->run2;
}

/* Opens the name that was asked for, if no other process of the run has it. */
static long
chord_rt_first_file(struct chord_rt_ctl *ctl, long dir)
{
	struct chord_profile_head h;
	uint32_t parent;
	long fd;

	h.magic = 0; /* the file may not be open to be read */
	fd = chord_rt_old_file(ctl, dir, &h);
	if (fd >= 0) {
		if (h.magic && chord_rt_descends(ctl, &h, 1)) { /* nobody had a chance to read that profile */
			chord_rt_belong(ctl, &h);
			chord_rt_call(SYS_close, fd);
			return -EAGAIN;
		}
		fd = chord_rt_replace(ctl, dir, fd);
	} else if (fd == -ENOENT) {
		fd = chord_rt_new_file(ctl, dir);
	} else if (fd == -EAGAIN && h.magic && chord_rt_descends(ctl, &h, CHORD_RT_GENERATIONS)) {
		chord_rt_belong(ctl, &h);
	}
	ctl->place.strange = fd == -EEXIST;
	ctl->place.ticks = fd < 0 ? 0 : chord_rt_ticks(ctl, 0, &parent);
	return fd;
}

static long
chord_rt_named_file(struct chord_rt_ctl *ctl, long dir)
{
	long fd;

	if (!ctl->place.member) {
		ctl->place.length = (uint32_t)chord_rt_length(ctl->path);
		fd = chord_rt_first_file(ctl, dir);
		if (fd != -EAGAIN && fd != -EEXIST)
			return fd;
	}
	return ctl->place.member ? chord_rt_slot_file(ctl, dir) : chord_rt_own_file(ctl, dir, true);
}

/* Makes ctl->path and opens it. dir: its folder, which the caller closes. */
static long
chord_rt_open_file(struct chord_rt_ctl *ctl, long *dir)
{
	struct chord_rt_home *p = &ctl->place;

	p->slot = p->ticks = p->reused = p->exits = p->strange = 0;
	if (p->naming == CHORD_RT_BY_NAME && p->member)
		ctl->path[p->length] = 0;
	else if (!chord_rt_expand(ctl))
		return -ENAMETOOLONG;
	*dir = chord_rt_folder(ctl);
	if (chord_rt_failed(*dir) && *dir != AT_FDCWD)
		return *dir;
	if (ctl->secure && !chord_rt_is_safe(*dir))
		return -EACCES;
	if (p->naming == CHORD_RT_BY_NAME)
		return chord_rt_named_file(ctl, *dir);
	if (p->naming == CHORD_RT_BY_PID)
		return chord_rt_own_file(ctl, *dir, false);
	p->length = (uint32_t)chord_rt_length(ctl->path);
	return chord_rt_slot_file(ctl, *dir);
}
