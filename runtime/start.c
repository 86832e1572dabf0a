/* SPDX-License-Identifier: MIT */
/* The constructor and the destructor of every module, and the control block. */

static unsigned long chord_rt_getauxval(unsigned long) __attribute__((weakref("getauxval")));

/* The places where the address of the control block is written. The first free one is used, so that every copy of the runtime finds
 * the block, whichever list of objects the copy is in. Sanitizers leave only some of the places free. */
static const uint64_t chord_rt_places[] = CHORD_LIVE_PLACES;
enum { CHORD_RT_PLACES = sizeof chord_rt_places / sizeof *chord_rt_places };

/* Valgrind would report a read of an unmapped place, so under Valgrind the place is mapped for a moment to find out whether it is
 * free. Elsewhere this is not done, because another thread could meanwhile think that the place is used. */
static bool
chord_rt_is_anchor(const struct chord_live_anchor *a)
{
	if (chord_rt_valgrind() && !chord_rt_taken((uint64_t)a))
		return false;
	return chord_rt_readable((uint64_t)a) && __atomic_load_n(&a->magic, __ATOMIC_ACQUIRE) == CHORD_ANCHOR_MAGIC;
}

static struct chord_rt_ctl *
chord_rt_new_control(void)
{
	struct chord_rt_ctl *ctl = (struct chord_rt_ctl *)chord_rt_pages(sizeof *ctl);

	if (!ctl)
		return NULL;
	ctl->early_magic = CHORD_RT_EARLY_MAGIC;
	ctl->version = CHORD_FORMAT_VERSION;
	chord_rt_first_memory(ctl);
	return ctl;
}

static struct chord_rt_ctl *
chord_rt_block_of(const struct chord_live_anchor *a)
{
	return (struct chord_rt_ctl *)a->block;
}

/* This version's control block, if there is one. This only reads the places. */
static struct chord_rt_ctl *
chord_rt_moored(void)
{
	const struct chord_live_anchor *a;

	for (uint32_t i = 0; i < CHORD_RT_PLACES; i++) {
		a = (const struct chord_live_anchor *)chord_rt_places[i];
		if (chord_rt_is_anchor(a) && a->version == CHORD_FORMAT_VERSION)
			return chord_rt_block_of(a);
	}
	return NULL;
}

/* The place that leads to that control block; 0: there is none. */
static uint64_t
chord_rt_anchored(const struct chord_rt_ctl *ctl)
{
	const struct chord_live_anchor *a;

	for (uint32_t i = 0; i < CHORD_RT_PLACES; i++) {
		a = (const struct chord_live_anchor *)chord_rt_places[i];
		if (chord_rt_is_anchor(a) && a->version == CHORD_FORMAT_VERSION && chord_rt_block_of(a) == ctl)
			return chord_rt_places[i];
	}
	return 0;
}

/* Writes the address of the control block to the page, which is read-only from then on. */
static void
chord_rt_moor(struct chord_live_anchor *a, struct chord_rt_ctl *ctl)
{
	a->version = CHORD_FORMAT_VERSION;
	a->block = (uint64_t)ctl;
	__atomic_store_n(&a->magic, CHORD_ANCHOR_MAGIC, __ATOMIC_RELEASE);
	chord_rt_call(SYS_mprotect, a, CHORD_RT_PAGE, CHORD_RT_PROT_READ);
}

/* Maps the first free place; NULL: there is none. */
static struct chord_live_anchor *
chord_rt_take_place(uint32_t *i)
{
	for (*i = 0; *i < CHORD_RT_PLACES; ++*i)
		if (!chord_rt_failed(chord_rt_map_at(chord_rt_places[*i], CHORD_RT_PAGE, CHORD_RT_PROT_RW,
		        CHORD_RT_MAP_PRIVATE | CHORD_RT_MAP_ANON)))
			return (struct chord_live_anchor *)chord_rt_places[*i];
	return NULL;
}

/* Another thread may have mapped an earlier place without having written to it yet. The page may also belong to something else, so
 * the wait is short. */
static void
chord_rt_await_anchors(uint32_t places)
{
	const struct chord_live_anchor *a;

	for (uint32_t i = 0; i < places; i++) {
		a = (const struct chord_live_anchor *)chord_rt_places[i];
		for (uint32_t n = 0; n < 1000 && !chord_rt_valgrind() && chord_rt_readable((uint64_t)a) &&
		     !__atomic_load_n(&a->magic, __ATOMIC_ACQUIRE); n++)
			chord_rt_call(SYS_sched_yield);
	}
}

/* Makes the control block, unless it is there by now. */
static struct chord_rt_ctl *
chord_rt_make_control(void)
{
	struct chord_live_anchor *a;
	struct chord_rt_ctl *ctl;
	uint32_t i;

	a = chord_rt_take_place(&i);
	chord_rt_await_anchors(i);
	ctl = chord_rt_moored();
	if (!ctl && a)
		ctl = chord_rt_new_control();
	if (ctl && a)
		chord_rt_moor(a, ctl);
	return ctl;
}

/* This version's control block, made if there is none. NULL: there is no room. Several threads of a guest may call this at a time,
 * and one of them makes the block. A place is never unmapped again, because another module may be reading it; a place that was not
 * needed leads to the same block. In a forked child the thread that was making the block may be missing, so the wait has an end. */
static struct chord_rt_ctl *
chord_rt_control(void)
{
	struct chord_rt_ctl *ctl = chord_rt_moored();
	uint64_t all = ~0ull, old;

	if (ctl)
		return ctl;
	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8); /* a handler would wait for the code that it has interrupted */
	for (uint32_t n = 0; n < 10000 && __atomic_exchange_n(&chord_rt_desc.mooring, 1, __ATOMIC_ACQUIRE); n++)
		chord_rt_call(SYS_sched_yield);
	ctl = chord_rt_moored();
	if (!ctl)
		ctl = chord_rt_make_control();
	__atomic_store_n(&chord_rt_desc.mooring, 0, __ATOMIC_RELEASE);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
	return ctl;
}

/* The control block of another version, if the process belongs to that version; or NULL. A block that a guest made for its own
 * stacks has no magic number. */
static struct chord_rt_ctl *
chord_rt_host(void)
{
	const struct chord_live_anchor *a;

	for (uint32_t i = 0; i < CHORD_RT_PLACES; i++) {
		a = (const struct chord_live_anchor *)chord_rt_places[i];
		if (chord_rt_is_anchor(a) && a->version != CHORD_FORMAT_VERSION &&
		    chord_rt_block_of(a)->magic == CHORD_LIVE_MAGIC)
			return chord_rt_block_of(a);
	}
	return NULL;
}

/* Before a resolver of this module runs. The module may not be relocated yet, so another module's copy of the runtime looks at the
 * lists. While the process is loaded there is none, and all counters are at base 0. */
static __attribute__((used)) void
chord_rt_resolver(void)
{
	struct chord_rt_ctl *ctl = chord_rt_desc.ctl ? NULL : chord_rt_moored();

	if (ctl && ctl->magic && ctl->resolving)
		((void (*)(void))ctl->resolving)();
}

/* ---- what the process was started with ---- */

static uint64_t
chord_rt_auxv_file(uint64_t type)
{
	uint64_t v[2], found = 0;
	long fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/auxv", O_RDONLY | O_CLOEXEC);

	if (chord_rt_failed(fd))
		return 0;
	while (chord_rt_call(SYS_read, fd, v, sizeof v) == sizeof v && v[0] != AT_NULL)
		if (v[0] == type)
			found = v[1];
	chord_rt_call(SYS_close, fd);
	return found;
}

/* An entry of the auxiliary vector. env is the environment at the start of the process, or NULL if that is not certain. */
static uint64_t
chord_rt_auxv(char **env, uint64_t type)
{
	const uint64_t *p;

	if (chord_rt_getauxval)
		return chord_rt_getauxval(type);
	if (!env)
		return chord_rt_auxv_file(type);
	while (*env)
		env++;
	for (p = (const uint64_t *)(env + 1); p[0] != AT_NULL; p += 2)
		if (p[0] == type)
			return p[1];
	return 0;
}

static const char *
chord_rt_basename(const char *s)
{
	const char *base = s;

	for (; *s; s++)
		if (*s == '/')
			base = s + 1;
	return base;
}

static void
chord_rt_program(struct chord_rt_ctl *ctl, char **env, char **argv)
{
	const char *s = (const char *)ctl->page;
	size_t n;

	chord_rt_clear(ctl->page, CHORD_RT_PAGE);
	if (chord_rt_failed(chord_rt_call(SYS_readlink, "/proc/self/exe", ctl->page, CHORD_RT_PAGE - 1)))
		s = (const char *)chord_rt_auxv(env, AT_EXECFN);
	if (!s)
		s = argv && argv[0] ? argv[0] : "program";
	s = chord_rt_basename(s);
	n = chord_rt_length(s);
	chord_rt_append(ctl->prog, sizeof ctl->prog, s, n < sizeof ctl->prog ? n : sizeof ctl->prog - 1);
}

/* The folder that root allows for profiles of programs that have more rights than their users (set-user-id). It follows the word
 * "secure" in the first line of /etc/chord.conf, if that file is root's and only root can write to it. In ctl->page. */
static const char *
chord_rt_secure_folder(struct chord_rt_ctl *ctl)
{
	long fd = chord_rt_call(SYS_openat, AT_FDCWD, "/etc/chord.conf", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char *s = (char *)ctl->page;
	struct stat st;
	long n = 0;

	if (chord_rt_failed(fd))
		return NULL;
	if (!chord_rt_failed(chord_rt_call(SYS_fstat, fd, &st)) && S_ISREG(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022))
		n = chord_rt_call(SYS_read, fd, s, CHORD_RT_PAGE - 1);
	chord_rt_call(SYS_close, fd);
	s[n > 0 ? n : 0] = 0;
	for (n = 0; s[n] && s[n] != '\n'; n++)
		;
	s[n] = 0;
	return n > 8 && chord_rt_equal(s, "secure /", 8) ? s + 7 : NULL;
}

/* Appends a folder's name, with % escaped, and a slash. */
static void
chord_rt_want_folder(struct chord_rt_ctl *ctl, const char *s)
{
	for (; *s; s++) {
		if (*s == '%')
			chord_rt_append(ctl->wanted, sizeof ctl->wanted, "%", 1);
		chord_rt_append(ctl->wanted, sizeof ctl->wanted, s, 1);
	}
	chord_rt_append(ctl->wanted, sizeof ctl->wanted, "/", 1);
}

static bool
chord_rt_has_pid(const char *s)
{
	for (; *s && s[1]; s++) {
		if (*s == '%' && *++s == 'p')
			return true;
	}
	return false;
}

/* Makes CHORD_FILE absolute, in CHORD_DIR or the current folder, so that a later chdir changes nothing. */
static void
chord_rt_wanted(struct chord_rt_ctl *ctl, char **env)
{
	const char *s = ctl->secure ? NULL : chord_rt_getenv(env, "CHORD_FILE");
	const char *dir = ctl->secure ? NULL : chord_rt_getenv(env, "CHORD_DIR");

	dir = ctl->secure ? chord_rt_secure_folder(ctl) : dir && *dir ? dir : NULL;
	ctl->place.null = ctl->secure && !dir;
	ctl->place.makes = !ctl->secure && dir;
	if (s && *s)
		ctl->place.naming = chord_rt_has_pid(s) ? CHORD_RT_BY_PID : CHORD_RT_BY_NAME;
	else
		ctl->place.naming = dir && !ctl->secure ? CHORD_RT_BY_FOLDER : CHORD_RT_BY_PID;
	if (!s || !*s)
		s = ctl->place.naming == CHORD_RT_BY_FOLDER ? "%n" : "%n.%p.chord";
	if (dir && *s != '/' && *dir == '/') {
		chord_rt_want_folder(ctl, dir);
	} else if (*s != '/' && !chord_rt_failed(chord_rt_call(SYS_getcwd, ctl->page, CHORD_RT_PAGE))) {
		chord_rt_want_folder(ctl, (const char *)ctl->page);
		if (dir)
			chord_rt_want_folder(ctl, dir);
	}
	if (!chord_rt_append(ctl->wanted, sizeof ctl->wanted, s, chord_rt_length(s)))
		ctl->wanted[0] = 0;
}

/* glibc passes arguments to constructors, and musl does not. They are used only if they are the arguments that the kernel put on
 * the stack. */
static char **
chord_rt_environment_at_start(int argc, char **argv, char **env)
{
	bool so = argc > 0 && argv && env == argv + argc + 1 && (uint64_t)argv > (uint64_t)__builtin_frame_address(0) &&
	    (uint64_t)argv < CHORD_RT_TOP;

	return so ? env : NULL;
}

/* Is this module the program itself? phdr: where the program's headers are. */
static bool
chord_rt_is_program(uint64_t phdr)
{
	const Elf64_Ehdr *e = chord_rt_elsewhere(&chord_rt_ehdr);

	return e && (uint64_t)e + e->e_phoff == phdr;
}

static void
chord_rt_look_around(struct chord_rt_ctl *ctl, int argc, char **argv, char **env)
{
	char **start = chord_rt_environment_at_start(argc, argv, env);

	env = start ? start : chord_rt_environment();
	ctl->pid = (uint32_t)chord_rt_call(SYS_getpid);
	ctl->file_limit = chord_rt_limit(CHORD_RT_RLIMIT_FSIZE);
	ctl->traced = chord_rt_traced(ctl);
	ctl->stack = chord_rt_auxv(start, AT_RANDOM);
	if (!ctl->stack)
		ctl->stack = (uint64_t)__builtin_frame_address(0);
	ctl->phdr = chord_rt_auxv(start, AT_PHDR);
	ctl->phnum = chord_rt_auxv(start, AT_PHNUM);
	for (uint64_t i = 0; ctl->phdr && i < ctl->phnum; i++) /* in a name space there may be no object that shows this */
		ctl->dynamic |= ((const Elf64_Phdr *)ctl->phdr)[i].p_type == PT_INTERP;
	ctl->secure = chord_rt_auxv(start, AT_SECURE) != 0;
	ctl->fsgsbase = CHORD_RT_FSGSBASE && (chord_rt_auxv(start, AT_HWCAP2) & 2) != 0;
	chord_rt_look_at_stderr(&ctl->err);
	ctl->err.early = chord_rt_is_program(ctl->phdr);
	chord_rt_program(ctl, start, start ? argv : NULL);
	chord_rt_wanted(ctl, env);
}

/* ---- the first runtime of the process ---- */

/* Without a base, all threads count in the sections at base 0; the counts are added to region 0 at the end. */
static void
chord_rt_no_base(struct chord_rt_ctl *ctl)
{
	ctl->nogs = 1;
	if (!ctl->nregion)
		chord_rt_region_get(ctl);
	ctl->head->flags |= CHORD_PROFILE_NOT_WATCHED;
	chord_rt_text(ctl, "no thread could be given counters of its own: all share one set, written at the end");
}

/* Reads CHORD_THREADS. per-thread, once named `apart`: the profile has the counts of each thread by itself. False: it has another
 * value. */
static bool
chord_rt_threads(struct chord_rt_ctl *ctl)
{
	const char *s = ctl->secure ? NULL : chord_rt_getenv(chord_rt_environment(), "CHORD_THREADS");

	ctl->per_thread = s && (chord_rt_same(s, "per-thread") || chord_rt_same(s, "apart"));
	return !s || !*s || ctl->per_thread;
}

static void
chord_rt_first(struct chord_rt_ctl *ctl, int argc, char **argv, char **env)
{
	uint64_t foreign;
	bool sensible;

	chord_rt_look_around(ctl, argc, argv, env);
	foreign = chord_rt_get_base(ctl);
	sensible = chord_rt_threads(ctl);
	chord_rt_find_emulator(ctl);
	chord_rt_scan(ctl);
	chord_rt_begin(ctl);
	if (!sensible)
		chord_rt_text(ctl, "CHORD_THREADS is not `per-thread`: it is ignored");
	if (!ctl->place.reused)
		chord_rt_extents_of_modules(ctl);
	if (!foreign && !ctl->fsgsbase && ctl->nmodule)
		ctl->bases = chord_rt_page_at_bases(ctl, chord_rt_module(ctl, 0));
	if (foreign || (!chord_rt_is_starting(ctl) && !chord_rt_region_enter(ctl)))
		chord_rt_no_base(ctl);
	chord_rt_first_slots(ctl);
	chord_rt_fold_all(ctl);
	__atomic_store_n(&ctl->magic, CHORD_LIVE_MAGIC, __ATOMIC_RELEASE);
}

struct chord_rt_start {
	int argc;
	char **argv, **env;
};

static void
chord_rt_begin_module(struct chord_rt_ctl *ctl, void *of)
{
	const struct chord_rt_start *start = (const struct chord_rt_start *)of;

	if (!ctl->magic) {
		chord_rt_first(ctl, start->argc, start->argv, start->env);
	} else {
		if (!ctl->ended && ctl->head->state == CHORD_STATE_ENDED)
			ctl->head->state = CHORD_STATE_RUNNING; /* all modules had been closed */
		chord_rt_scan(ctl);
		if (!ctl->nogs && !chord_rt_get_base(ctl) && !chord_rt_is_starting(ctl) && chord_rt_region_enter(ctl) &&
		    ctl->nregion == 1)
			chord_rt_fold_all(ctl);
		if (chord_rt_me(ctl))
			chord_rt_me(ctl)->space = chord_rt_space_id();
	}
	if (ctl->magic) {
		CHORD_RT_NOTIFY(constructed, ctl);
		chord_rt_warn_of_guests(ctl);
		chord_rt_hook_all(ctl, false);
		if (chord_rt_me(ctl) && chord_rt_me(ctl)->main)
			chord_rt_watch_signal(ctl), chord_rt_watch_bus(ctl);
	}
}

static __attribute__((used)) void
chord_rt_construct(int argc, char **argv, char **env)
{
	struct chord_rt_start start = {argc, argv, env};
	struct chord_rt_ctl *ctl = chord_rt_host();
	struct chord_rt_stderr err;
	uint64_t old;

	if (ctl) {
		old = chord_rt_lock(ctl);
		chord_rt_join(ctl, CHORD_RT_NEAR(chord_rt_desc.start), CHORD_RT_NEAR(chord_rt_desc.stop));
		chord_rt_unlock(ctl, old);
		return;
	}
	ctl = chord_rt_control();
	if (!ctl) {
		chord_rt_look_at_stderr(&err);
		err.early = chord_rt_is_program(chord_rt_auxv(chord_rt_environment_at_start(argc, argv, env), AT_PHDR));
		chord_rt_say(&err, "counters", "there is no room at the addresses kept for them", CHORD_RT_ALL_LOST);
		return;
	}
	chord_rt_locked_with_list(ctl, chord_rt_begin_module, &start);
	chord_rt_watch_fork();
}
