/* SPDX-License-Identifier: MIT */
/* Hooks in static programs, which have no tables to put them in. Measured code calls the hooks by itself. Calls by other code are
 * caught where the function begins, by a jump to the hook. The instructions that the jump overwrites are copied, and after the copy
 * there is a jump to the rest of the function.
 *
 * This is correct for these reasons. The constructor of the program does it before there is a second thread, so no other code runs
 * meanwhile. The functions are seven of libc's and the unwinder's, found by name. All copied instructions are of a few kinds that
 * do the same elsewhere, once operands relative to the instruction have been adjusted. If there is any other instruction, the
 * function stays as it is, and the profile says what was not seen. It is assumed that no jump leads to the middle of these
 * instructions: compilers put there what a function does once (its frame, its arguments), so loops go back to places after them.
 * Pages are writable and executable at once only during the write, and not even then if /proc/self/mem can be written. */

enum { CHORD_RT_JUMP = 5, CHORD_RT_MOVED = 40 };

extern unsigned char chord_rt_moved[7][CHORD_RT_MOVED] __attribute__((visibility("hidden")));

/* Length of a ModRM operand in bytes. */
static uint32_t
chord_rt_operand(const unsigned char *p)
{
	uint32_t mod = *p >> 6, rm = *p & 7, n = mod != 3 && rm == 4 ? 2 : 1;

	if (mod == 0 && rm == 5)
		return 5; /* relative to the PC */
	if (mod == 0 && rm == 4 && (p[1] & 7) == 5)
		return n + 4;
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Length of an instruction that does the same elsewhere, once chord_rt_adjust has changed it; 0: not known. */
static uint32_t
chord_rt_movable(const unsigned char *p)
{
	static const unsigned char plain[] = {0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b,
	    0x85, 0x89, 0x8b, 0x8d};
	const unsigned char *from = p;
	uint32_t n;

	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa)
		return 4;
	p += *p == 0x64;
	p += (*p & 0xf0) == 0x40;
	if ((*p & 0xf8) == 0x50)
		return (uint32_t)(p + 1 - from);
	if ((*p & 0xf8) == 0xb8 && p == from)
		return 5;
	n = chord_rt_operand(p + 1);
	if (*p == 0x83)
		return (uint32_t)(p + 1 - from) + n + 1;
	if (*p == 0x81 || *p == 0xc7)
		return (uint32_t)(p + 1 - from) + n + 4;
	for (uint32_t i = 0; i < sizeof plain; i++)
		if (*p == plain[i])
			return (uint32_t)(p + 1 - from) + n;
	return 0;
}

/* Adjusts an operand relative to the instruction. up: the distance by which the instruction moves. */
static void
chord_rt_adjust(unsigned char *p, int32_t up)
{
	int32_t far;

	if ((*p & 0xf8) == 0x50 || (*p & 0xf8) == 0xb8 || *p == 0xf3)
		return;
	p += *p == 0x64;
	p += (*p & 0xf0) == 0x40;
	if ((*p & 0xf8) == 0x50 || (p[1] & 0xc7) != 5)
		return;
	chord_rt_copy(&far, p + 2, 4);
	far -= up;
	chord_rt_copy(p + 2, &far, 4);
}

static void
chord_rt_put_jump(unsigned char *at, uint64_t from, uint64_t to)
{
	int32_t far = (int32_t)(to - from - CHORD_RT_JUMP);

	at[0] = 0xe9;
	chord_rt_copy(at + 1, &far, 4);
}

/* Reads code by a system call. In a replay this gives the original bytes, and not the breakpoints that a debugger has put there.
 * What cannot be read becomes zeros. */
static void
chord_rt_read_text(uint64_t from, void *to, size_t n)
{
	long fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC), done = 0;
	uint64_t page = CHORD_RT_PAGE - from % CHORD_RT_PAGE;

	chord_rt_clear(to, n);
	if (!chord_rt_failed(fd)) {
		done = chord_rt_call(SYS_pread64, fd, to, n, from);
		chord_rt_call(SYS_close, fd);
	}
	if (done <= 0)
		chord_rt_copy(to, (const void *)from, n < page ? n : page);
}

static bool
chord_rt_write_over(uint64_t to, const void *from, size_t n, uint64_t prot)
{
	uint64_t page = to & -(uint64_t)CHORD_RT_PAGE, size = ((to + n + CHORD_RT_PAGE - 1) & -(uint64_t)CHORD_RT_PAGE) - page;
	long fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC), done = -1;

	if (!chord_rt_failed(fd)) {
		done = chord_rt_call(SYS_pwrite64, fd, from, n, to);
		chord_rt_call(SYS_close, fd);
	}
	if (done == (long)n)
		return true;
	if (chord_rt_failed(chord_rt_call(SYS_mprotect, page, size, CHORD_RT_PROT_RW | prot)))
		return false;
	chord_rt_copy((void *)to, from, n);
	chord_rt_call(SYS_mprotect, page, size, prot);
	return true;
}

static bool
chord_rt_write_text(uint64_t to, const void *from, size_t n)
{
	return chord_rt_write_over(to, from, n, CHORD_RT_PROT_READ | CHORD_RT_PROT_EXEC);
}

/* Redirects a function to its hook. The real function is then reached through the copy of its first instructions. */
static bool
chord_rt_divert(struct chord_rt_ctl *ctl, int hook, unsigned char *room)
{
	uint64_t f = ctl->real[hook];
	unsigned char was[CHORD_RT_MOVED], moved[CHORD_RT_MOVED], jump[CHORD_RT_JUMP];
	uint32_t n = 0, k;

	if (!f)
		return true;
	chord_rt_read_text(f, was, sizeof was);
	for (; n < CHORD_RT_JUMP; n += k) {
		if ((k = chord_rt_movable(was + n)) == 0)
			return false;
		chord_rt_copy(moved + n, was + n, k);
		chord_rt_adjust(moved + n, (int32_t)((uint64_t)room - f));
	}
	chord_rt_put_jump(moved + n, (uint64_t)room + n, f + n);
	chord_rt_put_jump(jump, f, chord_rt_wrapper(&chord_rt_desc, hook));
	if (!chord_rt_write_text((uint64_t)room, moved, n + CHORD_RT_JUMP) || !chord_rt_write_text(f, jump, sizeof jump))
		return false;
	ctl->real[hook] = (uint64_t)room;
	return true;
}

static void
chord_rt_divert_all(struct chord_rt_ctl *ctl)
{
	static const uint8_t more[] = {CHORD_RT_HOOK__Unwind_SetIP, CHORD_RT_HOOK__Unwind_ForcedUnwind, CHORD_RT_HOOK_abort,
		CHORD_RT_HOOK_raise, CHORD_RT_HOOK_kill, CHORD_RT_HOOK___pthread_unwind_next};

	if (!chord_rt_divert(ctl, CHORD_RT_HOOK_pthread_create, chord_rt_moved[0])) {
		ctl->head->flags |= CHORD_PROFILE_NOT_WATCHED;
		chord_rt_text(ctl, "threads made by code that is not measured were not seen in this static program");
	}
	for (uint32_t i = 0; i < sizeof more; i++)
		chord_rt_divert(ctl, more[i], chord_rt_moved[1 + i]);
}

/* Hooks all objects loaded since the last time. again: the next time these objects are visited once more, because another thread
 * may be loading them now, and they may not have been relocated. */
static void
chord_rt_hook_all(struct chord_rt_ctl *ctl, bool again)
{
	struct chord_rt_space *space = chord_rt_space_here(ctl);
	uint32_t wanted = chord_rt_hooks_wanted(ctl);
	uint32_t skip = ctl->hooker && wanted == ctl->hooks_wanted ? space->hooked : 0; /* 0: some hooks are not in yet */
	struct chord_rt_mod *m;

	if (ctl->hooker && chord_rt_module(ctl, ctl->hooker - 1)->space != space->id)
		return;
	chord_rt_learn(ctl, skip);
	if (ctl->nogs)
		return;
	if (!ctl->dynamic && !ctl->hooker) {
		ctl->hooker = 1;
		chord_rt_divert_all(ctl);
	}
	if (!ctl->dynamic || !chord_rt_dl_iterate_phdr || (skip && skip == space->known && !again))
		return;
	m = ctl->hooker ? chord_rt_module(ctl, ctl->hooker - 1) : chord_rt_hooker(ctl, NULL);
	if (!m || m->space != space->id)
		return;
	if (!ctl->hooker)
		chord_rt_watch_maps(ctl, m->desc);
	ctl->hooker = m->index + 1;
	chord_rt_rehook(ctl, NULL, m->desc, skip);
	if (again)
		return;
	ctl->hooks_wanted = wanted;
	space->hooked = space->known;
	ctl->dl_asked = space->adds;
	ctl->changes_asked = ctl->changes;
}

/* ---- an empty function, redirected ---- */

/* Length of an instruction that does nothing; 0: the instruction does something. */
static uint32_t
chord_rt_padding(const unsigned char *p)
{
	const unsigned char *from = p;

	if (*p == 0xcc)
		return 1;
	while (*p == 0x66 || *p == 0x2e)
		p++;
	if (*p == 0x90)
		return (uint32_t)(p + 1 - from);
	return p[0] == 0x0f && p[1] == 0x1f ? (uint32_t)(p + 2 - from) + chord_rt_operand(p + 2) : 0;
}

/* Is the function empty, and everything up to the end of the jump padding? */
static bool
chord_rt_is_empty(const unsigned char p[CHORD_RT_FAR_JUMP + CHORD_RT_INSN])
{
	const unsigned char *end = p + CHORD_RT_FAR_JUMP;
	uint32_t n;

	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa)
		p += 4;
	if (*p++ != 0xc3)
		return false;
	for (; p < end; p += n)
		if ((n = chord_rt_padding(p)) == 0)
			return false;
	return true;
}

/* A jump to anywhere. */
static inline __attribute__((always_inline)) void
chord_rt_far_jump(unsigned char jump[CHORD_RT_FAR_JUMP], uint64_t to)
{
	static const unsigned char code[] = {0xff, 0x25, 0, 0, 0, 0};

	chord_rt_copy(jump, code, sizeof code);
	chord_rt_copy(jump + sizeof code, &to, 8);
}
