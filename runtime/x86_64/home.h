/* SPDX-License-Identifier: MIT */
/* The home of counters: how a thread's counters are addressed, set up, added to and read, and what a signal in between may see.
 *
 * Addressing: each thread has a base. A counter at address A in its module is at A plus the base. A thread with base 0 has no
 * counters of its own: it uses the module's own section.
 *
 * Setting up: the runtime reserves addresses at a base, and maps the profile's extents there, before it gives the base to a thread.
 * So woven code needs no call and no test.
 *
 * Adding: woven code adds by one instruction. A signal arrives before or after the addition, never in the middle, whatever its
 * handler counts. A port to a machine that needs more instructions has to say here how a handler's additions are not lost.
 *
 * Reading: anybody who has mapped the extent may read; words are written whole. */

/* ---- words by the thread's base; `at` is the address minus the base ---- */

static __attribute__((unused)) uint64_t
chord_rt_home_load(uint64_t at)
{
	uint64_t v;

	__asm__ volatile("movq %%gs:(%1), %0" : "=r"(v) : "r"(at) : "memory");
	return v;
}

static __attribute__((unused)) void
chord_rt_home_add(uint64_t at, uint64_t n)
{
	__asm__ volatile("lock addq %0, %%gs:(%1)" : : "r"(n), "r"(at) : "memory", "cc");
}

/* Writes v if the word is 0. Returns the word's value afterwards. */
static __attribute__((unused)) uint64_t
chord_rt_home_claim(uint64_t at, uint64_t v)
{
	uint64_t was = 0;

	__asm__ volatile("lock cmpxchgq %1, %%gs:(%2)" : "+a"(was) : "r"(v), "r"(at) : "memory", "cc");
	return was ? was : v;
}

/* ---- the segment base ---- */

/* Tests build runtimes that lack one or both ways to set the base. */
#if defined CHORD_RT_NO_FSGSBASE || defined CHORD_RT_NO_BASE
#define CHORD_RT_FSGSBASE 0
#else
#define CHORD_RT_FSGSBASE 1
#endif

/* Without rdgsbase a system call reads the base, which takes some microseconds on virtual machines. Therefore each base gets a page
 * that contains it, as soon as there are bases. */
static uint64_t
chord_rt_get_base(struct chord_rt_ctl *ctl)
{
	uint64_t base = 0;

	if (ctl->fsgsbase)
		__asm__ volatile("rdgsbase %0" : "=r"(base));
	else if (ctl->bases)
		base = chord_rt_home_load(ctl->bases);
	else
		chord_rt_call(SYS_arch_prctl, CHORD_RT_GET_GS, &base);
	return base;
}

/* True if that needs no system call. */
static bool
chord_rt_base_at_hand(const struct chord_rt_ctl *ctl)
{
	return ctl->fsgsbase || ctl->bases;
}

/* False: the kernel refuses. */
static bool
chord_rt_set_base(struct chord_rt_ctl *ctl, uint64_t base)
{
#ifdef CHORD_RT_NO_BASE
	return false;
#endif
	if (!ctl->fsgsbase)
		return !chord_rt_failed(chord_rt_call(SYS_arch_prctl, CHORD_RT_SET_GS, base));
	__asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
	return true;
}

/* ---- a region's words in this module ---- */

/* The number of the calling thread's region plus 1, as noted in this module; 0: not noted yet. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_home_mine(void)
{
	uint64_t mine;

	__asm__ volatile("movq %%gs:chord_rt_mine(%%rip), %0" : "=r"(mine));
	return mine;
}

static inline __attribute__((always_inline)) void
chord_rt_home_set_mine(uint64_t mine)
{
	__asm__ volatile("movq %0, %%gs:chord_rt_mine(%%rip)" : : "r"(mine) : "memory");
}

/* Set the words of __chord_shadow: the mask, and the number of the mapped piece. */
static inline __attribute__((always_inline)) void
chord_rt_home_set_mask(uint64_t mask)
{
	__asm__ volatile("movq %0, %%gs:__chord_shadow(%%rip)" : : "r"(mask) : "memory");
}

static inline __attribute__((always_inline)) void
chord_rt_home_set_piece(uint64_t word)
{
	__asm__ volatile("movq %0, %%gs:__chord_shadow+8(%%rip)" : : "r"(word) : "memory");
}

/* ---- in one instruction ---- */

static inline __attribute__((always_inline)) void
chord_rt_home_bump(uint64_t *count, uint64_t delta)
{
	__asm__ volatile("addq %1, %0" : "+m"(*count) : "r"(delta));
}

/* Returns the value before. */
static inline __attribute__((always_inline)) uint64_t
chord_rt_home_take(uint64_t *count, uint64_t delta)
{
	__asm__ volatile("xaddq %1, %0" : "+m"(*count), "+r"(delta) : : "memory", "cc");
	return delta;
}

static inline __attribute__((always_inline)) void
chord_rt_home_count(uint64_t *count)
{
	__asm__ volatile("incq %0" : "+m"(*count));
}
