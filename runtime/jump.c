/* SPDX-License-Identifier: MIT */
/* Jumps that leave activations: longjmp, and jumps to a receiver of __builtin_longjmp. Programs that jump a lot do so from few
 * places, over the same callers. So the frames of such a jump are cached, and recognised by their return addresses. */

static uint64_t
chord_rt_unmangle(uint64_t v)
{
	return (v >> 17 | v << 47) ^ chord_rt_jump_guard();
}

/* The stack pointer and PC that a jmp_buf leads to. glibc mangles them, musl does not. */
static void
chord_rt_target(const uint64_t *buf, uint64_t *sp, uint64_t *pc)
{
	*sp = chord_rt_unmangle(buf[CHORD_RT_JMP_SP]);
	*pc = chord_rt_unmangle(buf[CHORD_RT_JMP_PC]);
	if (*sp >= CHORD_RT_TOP || *pc >= CHORD_RT_TOP)
		*sp = buf[CHORD_RT_JMP_SP], *pc = buf[CHORD_RT_JMP_PC];
}

/* The counters of the frames that a walk met. */
struct chord_rt_tally {
	uint32_t n;
	uint16_t traced;              /* frames that write a trace, if there is one */
	bool fixed;                   /* all frames are the program's own code, of sizes that PC and fp tell */
	uint32_t way[30];             /* as in struct chord_rt_jump, without the sizes */
	uint64_t *count[30];
	uint64_t cfa[30];
};

static CHORD_RT_HOT void
chord_rt_tally_add(struct chord_rt_ctl *ctl, const struct chord_rt_tally *t, uint64_t delta)
{
	bool alone = chord_rt_is_alone(ctl), more = CHORD_RT_ANY(leaves, ctl);

	for (uint32_t i = 0; i < t->n; i++)
		if (t->count[i] != CHORD_RT_SILENT && more)
			chord_rt_count(ctl, t->count[i], delta, t->cfa[i]);
		else if (t->count[i] != CHORD_RT_SILENT)
			chord_rt_bump(t->count[i], delta, alone);
}

/* Counts that an activation is resumed at a PC, under the key of the PC with the re-entry bit. Gives the beginning of the function
 * that contains the PC; 0 if it is not known. *count: the counter, if there is one. */
static __attribute__((noinline)) uint64_t
chord_rt_take_up(struct chord_rt_walk *w, uint64_t pc, uint64_t delta, uint64_t **count)
{
	struct chord_rt_known rule = {0};

	chord_rt_find_object(&w->in, pc - 1);
	if (chord_rt_recall(&w->in, (pc - 1) | CHORD_EXIT_REENTRY, &rule)) {
		*count = rule.count;
		if (rule.count != CHORD_RT_SILENT)
			chord_rt_count(w->in.ctl, rule.count, delta, 0);
		return rule.begin;
	}
	rule.begin = chord_rt_find_cfi(w, pc - 1) ? w->cfi.begin : 0;
	rule.count = chord_rt_count_at(w->in.ctl, pc, CHORD_EXIT_REENTRY, delta, 0);
	if (rule.count && !w->in.ctl->per_thread)
		chord_rt_keep(w, (pc - 1) | CHORD_EXIT_REENTRY, &rule);
	return rule.begin;
}

/* Does the frame between here and cfa, or the one above it, go on with the stack pointer sp? At setjmp the stack pointer may have
 * been lower than now, because arguments were being pushed. */
static CHORD_RT_INLINE bool
chord_rt_is_target(uint64_t here, uint64_t cfa, uint64_t sp, bool same)
{
	return cfa > sp && here <= sp + 512 && (here <= sp || same);
}

/* Does what chord_rt_frames_to() does, for stacks whose frames are all cached: it follows only here and fp. False: the stack is not
 * that simple. */
static CHORD_RT_HOT bool
chord_rt_known_to(struct chord_rt_tally *t, struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC], here = w->regs.r[CHORD_RT_SP], fp = w->regs.r[CHORD_RT_FP], cfa, low;
	struct chord_rt_known k;

	t->fixed = true;
	t->traced = 0;
	for (t->n = 0; t->n < sizeof t->count / sizeof *t->count && pc; pc = ((uint64_t *)cfa)[-1], here = cfa) {
		if (pc - 1 - w->in.map >= w->in.map_end - w->in.map)
			chord_rt_find_object(&w->in, pc - 1);
		if (!chord_rt_recall(&w->in, pc - 1, &k) || !k.count)
			return false;
		t->fixed &= pc - 1 - w->in.ctl->main < w->in.ctl->main_end - w->in.ctl->main && (!k.by_fp || k.cfa == 16);
		t->way[t->n] = (uint32_t)k.at[CHORD_RT_SAVED_FP] << CHORD_RT_JUMP_SAVED | (uint32_t)k.by_fp << CHORD_RT_JUMP_BY_FP;
		cfa = (k.by_fp ? fp : here) + (uint64_t)(int64_t)k.cfa;
		t->cfa[t->n] = cfa;
		t->count[t->n++] = k.count;
		t->traced = (uint16_t)(t->traced + (w->in.ctl->trace && chord_rt_is_in_traced(w->in.ctl, pc)));
		low = cfa - 8 * k.deepest;
		if (cfa <= here || ((low < w->in.low || cfa > w->in.high) &&
		    (!chord_rt_reach(&w->in, low) || !chord_rt_reach(&w->in, cfa - 1))))
			return false;
		if (chord_rt_is_target(here, cfa, sp, k.begin == begin))
			return k.begin == begin;
		if (k.at[CHORD_RT_SAVED_FP])
			fp = *((uint64_t *)cfa - k.at[CHORD_RT_SAVED_FP]);
	}
	return false;
}

/* The number of frames, from w's on, that a jump to sp leaves. The last is the frame of the activation that called setjmp and goes
 * on. 0: sp is not on this stack, as with coroutines, so nothing ends. */
static uint32_t
chord_rt_frames_to(struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	enum chord_rt_step step;
	uint64_t low;
	uint32_t n = 0;

	do {
		low = w->regs.r[CHORD_RT_SP];
		step = chord_rt_look(w);
		if (step == CHORD_RT_STUCK) {
			__atomic_fetch_add(&w->in.ctl->head->in_flight, 1, __ATOMIC_RELAXED);
			return 0;
		}
		n++;
		if (chord_rt_is_target(low, w->cfa, sp, w->begin == begin))
			break;
		if (step == CHORD_RT_FRAME)
			chord_rt_up(w);
	} while (step == CHORD_RT_FRAME);
	if (step != CHORD_RT_FRAME || w->begin == begin)
		return w->cfa > sp && low <= sp + 512 ? n : 0;
	/* Does a callee's frame begin above sp, or is this a part of the function that the compiler placed elsewhere? */
	chord_rt_up(w);
	low = w->regs.r[CHORD_RT_SP];
	return n + (chord_rt_look(w) != CHORD_RT_STUCK && w->begin == begin && low <= sp + 512);
}

/* Gives the number of frames that are left; w: the last of them. */
static uint32_t
chord_rt_jump_slowly(struct chord_rt_walk *w, const struct chord_rt_regs *regs, uint64_t sp, uint64_t begin, uint64_t delta)
{
	uint32_t n;

	chord_rt_walk_from(w, w->in.ctl, regs);
	n = chord_rt_frames_to(w, sp, begin);
	chord_rt_walk_from(w, w->in.ctl, regs);
	for (uint32_t i = 0; i < n; i++) {
		chord_rt_look(w);
		chord_rt_leave_frame(w, delta);
		chord_rt_up(w);
	}
	return n;
}

/* ---- jumps that were walked before ---- */

static struct chord_rt_jump *
chord_rt_jump_place(struct chord_rt_ctl *ctl, const struct chord_rt_leap *l)
{
	return &ctl->jump[((l->from ^ l->to << 17 ^ l->sp << 31) * 0x9e3779b97f4a7c15ull) >> (64 - 6)];
}
_Static_assert(CHORD_RT_JUMPS == 1 << 6, "");

static void
chord_rt_keep_jump(struct chord_rt_ctl *ctl, const struct chord_rt_leap *l, uint64_t *up, const struct chord_rt_tally *t,
                   uint64_t here)
{
	struct chord_rt_jump *k = chord_rt_jump_place(ctl, l);

	if (!t->fixed || !t->n || t->n > CHORD_RT_JUMP_FRAMES || t->cfa[t->n - 1] - here > CHORD_RT_JUMP_SIZE ||
	    !chord_rt_claim(&k->seq))
		return;
	k->leap = *l;
	k->up = up;
	k->n = (uint16_t)t->n;
	k->traced = t->traced;
	for (uint32_t i = 0; i < t->n; i++) {
		k->frame[i].way = (uint32_t)(t->cfa[i] - here) | t->way[i];
		k->frame[i].caller = ((const uint64_t *)t->cfa[i])[-1];
		k->frame[i].count = t->count[i];
	}
	chord_rt_disclaim(&k->seq);
}

/* Counts an exit of a frame whose cache entry has been overwritten since it was read, or of which more than a count is recorded. */
static __attribute__((noinline)) void
chord_rt_count_again(struct chord_rt_ctl *ctl, uint64_t *count, uint64_t key, uint64_t cfa)
{
	if (!count)
		chord_rt_count_at(ctl, key & ~CHORD_EXIT_REENTRY, key & CHORD_EXIT_REENTRY, 1, cfa);
	else if (count != CHORD_RT_SILENT)
		chord_rt_count(ctl, count, 1, cfa);
}

/* The counter in the entry; NULL: the entry has been overwritten. */
static CHORD_RT_INLINE uint64_t *
chord_rt_count_of(const struct chord_rt_jump *k, uint32_t seq, uint64_t *const *from)
{
	uint64_t *count = __atomic_load_n(from, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&k->seq, __ATOMIC_RELAXED) == seq ? count : NULL;
}

/* Copies the frames of an entry. Gives their number, and in *traced the number of those that write a trace; 0: the entry is for
 * another jump, or is being written. */
static CHORD_RT_INLINE uint32_t
chord_rt_jump_ways(const struct chord_rt_jump *k, uint32_t seq, const struct chord_rt_leap *l, uint32_t *way, uint32_t *traced)
{
	uint32_t n = k->n < CHORD_RT_JUMP_FRAMES ? k->n : CHORD_RT_JUMP_FRAMES;

	if (k->leap.from != l->from || k->leap.to != l->to || k->leap.sp != l->sp || k->leap.epoch != l->epoch || (seq & 1))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		way[i] = k->frame[i].way;
	*traced = k->traced;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&k->seq, __ATOMIC_RELAXED) == seq ? n : 0;
}

static CHORD_RT_INLINE const uint64_t *
chord_rt_jump_end(uint64_t here, uint32_t way)
{
	return (const uint64_t *)(here + (way & CHORD_RT_JUMP_SIZE));
}

/* Do these frames follow one another, from the stack pointer `here` on? They do if the return addresses are the same, and fp has
 * the value that the frames depend on. Of the last frame only the end is needed. */
static CHORD_RT_INLINE bool
chord_rt_is_way(const struct chord_rt_jump *k, const uint32_t *way, uint32_t n, uint64_t here, uint64_t fp)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *end = chord_rt_jump_end(here, way[i]);

		if ((way[i] >> CHORD_RT_JUMP_BY_FP & 1 && fp + 16 != (uint64_t)end) ||
		    (i + 1 < n && end[-1] != k->frame[i].caller))
			return false;
		if (way[i] >> CHORD_RT_JUMP_SAVED)
			fp = *(end - (way[i] >> CHORD_RT_JUMP_SAVED));
	}
	return true;
}

/* Are the frames from there on up those of the cached jump? Then the jump is counted. Sizes that another thread may be writing are
 * never used. This takes little stack, because it runs on the program's. */
static CHORD_RT_HOT __attribute__((noinline)) bool
chord_rt_jump_again(struct chord_rt_ctl *ctl, const struct chord_rt_leap *l, const struct chord_rt_regs *regs)
{
	struct chord_rt_jump *k = chord_rt_jump_place(ctl, l);
	uint32_t seq = __atomic_load_n(&k->seq, __ATOMIC_ACQUIRE), way[CHORD_RT_JUMP_FRAMES];
	uint32_t traced, n = chord_rt_jump_ways(k, seq, l, way, &traced);
	uint64_t pc = l->from, here = regs->r[CHORD_RT_SP], *count;
	bool alone, more;

	if (!n || !chord_rt_is_way(k, way, n, here, regs->r[CHORD_RT_FP]) || !(count = chord_rt_count_of(k, seq, &k->up)))
		return false;
	alone = chord_rt_is_alone(ctl);
	more = CHORD_RT_ANY(leaves, ctl);
	chord_rt_count_again(ctl, count, l->to | CHORD_EXIT_REENTRY, 0);
	for (uint32_t i = 0; i < n; i++) {
		count = chord_rt_count_of(k, seq, &k->frame[i].count);
		if (!count || more)
			chord_rt_count_again(ctl, count, pc, (uint64_t)chord_rt_jump_end(here, way[i]));
		else if (count != CHORD_RT_SILENT)
			chord_rt_bump(count, 1, alone);
		pc = chord_rt_jump_end(here, way[i])[-1];
	}
	chord_rt_trace_jump(ctl, traced);
	return true;
}

static __attribute__((noinline)) void
chord_rt_jump_walked(struct chord_rt_ctl *ctl, const struct chord_rt_leap *l, const struct chord_rt_regs *regs, uint64_t sp,
                     uint64_t delta)
{
	struct chord_rt_tally t;
	struct chord_rt_walk w;
	uint64_t begin, *up = NULL;

	chord_rt_walk_from(&w, ctl, regs);
	begin = chord_rt_take_up(&w, l->to, delta, &up);
	if (!chord_rt_known_to(&t, &w, sp, begin)) {
		chord_rt_jump_slowly(&w, regs, sp, begin, delta);
		chord_rt_trace_jump(ctl, w.traced);
		return;
	}
	chord_rt_tally_add(ctl, &t, delta);
	chord_rt_trace_jump(ctl, t.traced);
	if (up)
		chord_rt_keep_jump(ctl, l, up, &t, regs->r[CHORD_RT_SP]);
}

static void
chord_rt_jump_to(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t sp, uint64_t pc, uint64_t delta)
{
	struct chord_rt_leap l = {regs->r[CHORD_RT_PC], pc, sp - regs->r[CHORD_RT_SP],
	                          __atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED)};

	chord_rt_jump_walked(ctl, &l, regs, sp, delta);
	if (ctl->asked)
		chord_rt_forget_asking(ctl, sp);
}

static void
chord_rt_jump(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t sp, pc;

	chord_rt_target((const uint64_t *)regs->r[CHORD_RT_ARG0], &sp, &pc);
	chord_rt_jump_to(ctl, regs, sp, pc, 1);
}

/* Counts a longjmp at once if its frames are cached. */
static CHORD_RT_HOT bool
chord_rt_jumps_again(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_leap l;
	uint64_t sp;

	if (ctl->asked)
		return false;
	l.from = regs->r[CHORD_RT_PC]; /* an initialiser would be a rep stos, which is slow */
	chord_rt_target((const uint64_t *)regs->r[CHORD_RT_ARG0], &sp, &l.to);
	l.sp = sp - regs->r[CHORD_RT_SP];
	l.epoch = __atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED);
	return chord_rt_jump_again(ctl, &l, regs);
}

/* Handles frequent cases, if everything needed is cached. */
static CHORD_RT_HOT bool
chord_rt_leaves_quickly(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook)
{
	if (ctl->dying)
		return false;
	if (hook - CHORD_RT_HOOK_longjmp <= CHORD_RT_HOOK___longjmp_chk - CHORD_RT_HOOK_longjmp)
		return chord_rt_jumps_again(ctl, regs);
	return hook == CHORD_RT_HOOK__Unwind_SetIP && !ctl->trace && chord_rt_land_fast(ctl, regs);
}
_Static_assert(CHORD_RT_HOOK_longjmp + 1 == CHORD_RT_HOOK__longjmp && CHORD_RT_HOOK__longjmp + 1 == CHORD_RT_HOOK_siglongjmp &&
    CHORD_RT_HOOK_siglongjmp + 1 == CHORD_RT_HOOK___longjmp_chk, "");

/* ---- jumps to receivers ---- */

/* The beginning of the function that contains a receiver; 0: not known. */
static uint64_t
chord_rt_function_of(struct chord_rt_walk *w, uint64_t pc)
{
	struct chord_rt_known rule = {.count = CHORD_RT_SILENT};

	chord_rt_find_object(&w->in, pc);
	if (chord_rt_recall(&w->in, pc | CHORD_EXIT_REENTRY, &rule))
		return rule.begin;
	rule.begin = chord_rt_find_cfi(w, pc) ? w->cfi.begin : 0;
	chord_rt_keep(w, pc | CHORD_EXIT_REENTRY, &rule);
	return rule.begin;
}

/* Counts exits of the activations from that of regs up to the one that goes on with that stack pointer. */
static __attribute__((noinline)) void
chord_rt_abandon(struct chord_rt_walk *w, const struct chord_rt_regs *regs, uint64_t sp, uint64_t begin)
{
	struct chord_rt_tally t;

	if (begin && !w->in.ctl->trace && chord_rt_known_to(&t, w, sp, begin))
		chord_rt_tally_add(w->in.ctl, &t, 1);
	else if (chord_rt_jump_slowly(w, regs, sp, begin, 1) && begin && w->begin != begin)
		/* The last frame is another function's. Has the function with the receiver ended before, by a tail call? */
		__atomic_fetch_add(&w->in.ctl->head->in_flight, 1, __ATOMIC_RELAXED);
}

struct chord_rt_aim { const struct chord_rt_regs *regs; uint64_t sp, pc; };

/* The activation that jumps leaves by an edge of its own. The activations between, and the one that has the receiver, end at their
 * calls. */
static uint64_t
chord_rt_go_away(struct chord_rt_ctl *ctl, uint64_t aim, uint64_t none)
{
	const struct chord_rt_aim *a = (const struct chord_rt_aim *)aim;
	uint64_t begin, low = a->regs->r[CHORD_RT_SP];
	struct chord_rt_regs caller;
	struct chord_rt_walk w;

	(void)none;
	chord_rt_walk_from(&w, ctl, a->regs);
	if (chord_rt_look(&w) != CHORD_RT_FRAME || low - a->sp < CHORD_RT_PAGE) {
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (a->sp - low < w.cfa - low)
		return 0; /* the jump stays in the activation */
	chord_rt_up(&w);
	caller = w.regs;
	begin = chord_rt_function_of(&w, a->pc);
	chord_rt_abandon(&w, &caller, a->sp, begin);
	chord_rt_trace_jump(ctl, w.traced ? w.traced + 1 : 0); /* the one that jumps ends, too */
	return 0;
}

/* Woven code is about to go on at a receiver. */
static __attribute__((used)) void
chord_rt_away(const struct chord_rt_regs *regs, uint64_t sp, uint64_t pc)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_aim aim = {regs, sp, pc};

	if (ctl && ctl->magic && !chord_rt_other_process(ctl))
		chord_rt_on_own_stack(ctl, chord_rt_go_away, (uint64_t)&aim, 0);
}
