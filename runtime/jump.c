/* SPDX-License-Identifier: MIT */
/* Jumps that leave activations: longjmp, and into a receiver of __builtin_longjmp. Programs that jump a lot
 * do it from few places past the same callers: such a way is kept whole, and known again by its return addresses. */

static uint64_t
chord_rt_unmangle(uint64_t v)
{
	uint64_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return (v >> 17 | v << 47) ^ guard;
}

/* The stack pointer and PC that a jmp_buf goes to: glibc's are mangled, musl's
 * are not. */
static void
chord_rt_target(const uint64_t *buf, uint64_t *sp, uint64_t *pc)
{
	*sp = chord_rt_unmangle(buf[6]);
	*pc = chord_rt_unmangle(buf[7]);
	if (*sp >= CHORD_RT_TOP || *pc >= CHORD_RT_TOP)
		*sp = buf[6], *pc = buf[7];
}

/* The counters of the frames that a walk met. */
struct chord_rt_tally {
	uint32_t n;
	bool fixed;                   /* they are of the program's own code, each of a size that its PC tells */
	uint64_t *count[30];
	uint64_t cfa[30];
};

static CHORD_RT_HOT void
chord_rt_tally_add(struct chord_rt_ctl *ctl, const struct chord_rt_tally *t, uint64_t delta)
{
	bool alone = chord_rt_is_alone(ctl), more = ctl->sums || ctl->paths;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->count[i] != CHORD_RT_SILENT && more)
			chord_rt_count(ctl, t->count[i], delta, t->cfa[i]);
		else if (t->count[i] != CHORD_RT_SILENT)
			chord_rt_bump(t->count[i], delta, alone);
}

/* Counts that an activation is taken up again at a PC, and gives the function that
 * has it; 0 if that is not known. Kept under the PC with the flag. *count: where that is, if it is kept. */
static __attribute__((noinline)) uint64_t
chord_rt_take_up(struct chord_rt_walk *w, uint64_t pc, uint64_t delta, uint64_t **count)
{
	struct chord_rt_known rule = {0};

	chord_rt_find_object(w, pc - 1);
	if (chord_rt_recall(w, (pc - 1) | CHORD_EXIT_REENTRY, &rule)) {
		*count = rule.count;
		if (rule.count != CHORD_RT_SILENT)
			chord_rt_count(w->ctl, rule.count, delta, 0);
		return rule.begin;
	}
	rule.begin = chord_rt_find_cfi(w, pc - 1) ? w->cfi.begin : 0;
	rule.count = chord_rt_count_at(w->ctl, pc, CHORD_EXIT_REENTRY, delta, 0);
	if (rule.count && !w->ctl->apart)
		chord_rt_keep(w, (pc - 1) | CHORD_EXIT_REENTRY, &rule);
	return rule.begin;
}

/* The same as chord_rt_frames_to below for stacks of known frames and no doubts: only
 * rsp and rbp are followed. False: it is not that simple. */
static CHORD_RT_HOT bool
chord_rt_known_to(struct chord_rt_tally *t, struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	uint64_t pc = w->regs.r[CHORD_RT_RIP], rsp = w->regs.r[CHORD_RT_RSP], rbp = w->regs.r[6], cfa, low;
	struct chord_rt_known k;

	t->fixed = true;
	for (t->n = 0; t->n < sizeof t->count / sizeof *t->count && pc; pc = ((uint64_t *)cfa)[-1], rsp = cfa) {
		if (pc - 1 - w->map >= w->map_end - w->map)
			chord_rt_find_object(w, pc - 1);
		if (!chord_rt_recall(w, pc - 1, &k) || !k.count)
			return false;
		t->fixed &= !k.by_rbp && pc - 1 - w->ctl->main < w->ctl->main_end - w->ctl->main;
		cfa = (k.by_rbp ? rbp : rsp) + (uint64_t)(int64_t)k.cfa;
		t->cfa[t->n] = cfa;
		t->count[t->n++] = k.count;
		low = cfa - 8 * k.deepest;
		if (cfa <= rsp || ((low < w->low || cfa > w->high) && (!chord_rt_reach(w, low) || !chord_rt_reach(w, cfa - 1))))
			return false;
		if (cfa > sp && rsp <= sp + 512 && (rsp <= sp || k.begin == begin))
			return k.begin == begin;
		if (k.at[1])
			rbp = *((uint64_t *)cfa - k.at[1]);
	}
	return false;
}

/* How many frames, from that of w on, are left by a jump to sp: the last is that of
 * the activation that called setjmp and goes on. 0: it is not on this stack, as with
 * coroutines: then nothing ends. */
static uint32_t
chord_rt_frames_to(struct chord_rt_walk *w, uint64_t sp, uint64_t begin)
{
	enum chord_rt_step step;
	uint64_t low;
	uint32_t n = 0;

	do {
		low = w->regs.r[CHORD_RT_RSP];
		step = chord_rt_look(w);
		if (step == CHORD_RT_STUCK) {
			__atomic_fetch_add(&w->ctl->head->in_flight, 1, __ATOMIC_RELAXED);
			return 0;
		}
		n++;
		/* Arguments being pushed may make it lower at setjmp than it is now. */
		if (w->cfa > sp && low <= sp + 512 && (low <= sp || w->begin == begin))
			break;
		if (step == CHORD_RT_FRAME)
			chord_rt_up(w);
	} while (step == CHORD_RT_FRAME);
	if (step != CHORD_RT_FRAME || w->begin == begin)
		return w->cfa > sp && low <= sp + 512 ? n : 0;
	/* A callee whose frame begins above sp, or a part of the function that the
	 * compiler moved elsewhere? */
	chord_rt_up(w);
	low = w->regs.r[CHORD_RT_RSP];
	return n + (chord_rt_look(w) != CHORD_RT_STUCK && w->begin == begin && low <= sp + 512);
}

/* Gives how many frames were left; w: the last of them. */
static uint32_t
chord_rt_jump_slowly(struct chord_rt_walk *w, const struct chord_rt_regs *regs, uint64_t sp, uint64_t begin, uint64_t delta)
{
	uint32_t n;

	chord_rt_walk_from(w, w->ctl, regs);
	n = chord_rt_frames_to(w, sp, begin);
	chord_rt_walk_from(w, w->ctl, regs);
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
                   uint64_t rsp)
{
	struct chord_rt_jump *k = chord_rt_jump_place(ctl, l);

	if (!t->fixed || !t->n || t->n > CHORD_RT_JUMP_FRAMES || t->cfa[t->n - 1] - rsp >= 1u << 31 || !chord_rt_claim(&k->seq))
		return;
	k->leap = *l;
	k->up = up;
	k->n = t->n;
	for (uint32_t i = 0; i < t->n; i++) {
		k->frame[i].size = (uint32_t)(t->cfa[i] - rsp);
		k->frame[i].caller = ((const uint64_t *)t->cfa[i])[-1];
		k->frame[i].count = t->count[i];
	}
	chord_rt_disclaim(&k->seq);
}

/* Counts for a frame, in the counter that the entry has for it; if that has been written over since, in the one of its PC. */
static CHORD_RT_HOT void
chord_rt_count_again(struct chord_rt_ctl *ctl, const uint32_t *now, uint32_t seq, uint64_t *const *from, uint64_t key, uint64_t cfa)
{
	uint64_t *count = __atomic_load_n(from, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(now, __ATOMIC_RELAXED) != seq)
		chord_rt_count_at(ctl, key & ~CHORD_EXIT_REENTRY, key & CHORD_EXIT_REENTRY, 1, cfa);
	else if (count != CHORD_RT_SILENT)
		chord_rt_count(ctl, count, 1, cfa);
}

/* Is the way from the stack pointer rsp on up the one that was walked? Then it is counted. Frames of known size follow one
 * another if the return addresses are the same; none is read by a size that another thread may be writing. It takes little stack:
 * this runs on the program's. */
static CHORD_RT_HOT bool
chord_rt_jump_again(struct chord_rt_ctl *ctl, const struct chord_rt_leap *l, uint64_t rsp)
{
	struct chord_rt_jump *k = chord_rt_jump_place(ctl, l);
	uint32_t seq = __atomic_load_n(&k->seq, __ATOMIC_ACQUIRE), n, size[CHORD_RT_JUMP_FRAMES];
	uint64_t pc = l->from;

	if (k->leap.from != l->from || k->leap.to != l->to || k->leap.sp != l->sp || k->leap.epoch != l->epoch || (seq & 1))
		return false;
	n = k->n < CHORD_RT_JUMP_FRAMES ? k->n : CHORD_RT_JUMP_FRAMES;
	for (uint32_t i = 0; i < n; i++)
		size[i] = k->frame[i].size;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&k->seq, __ATOMIC_RELAXED) != seq)
		return false;
	for (uint32_t i = 0; i + 1 < n; i++)
		if (((const uint64_t *)(rsp + size[i]))[-1] != k->frame[i].caller)
			return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&k->seq, __ATOMIC_RELAXED) != seq)
		return false;
	chord_rt_count_again(ctl, &k->seq, seq, &k->up, l->to | CHORD_EXIT_REENTRY, 0);
	for (uint32_t i = 0; i < n; i++) {
		chord_rt_count_again(ctl, &k->seq, seq, &k->frame[i].count, pc, rsp + size[i]);
		pc = ((const uint64_t *)(rsp + size[i]))[-1];
	}
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
		return;
	}
	chord_rt_tally_add(ctl, &t, delta);
	if (up)
		chord_rt_keep_jump(ctl, l, up, &t, regs->r[CHORD_RT_RSP]);
}

static void
chord_rt_jump_to(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t sp, uint64_t pc, uint64_t delta)
{
	struct chord_rt_leap l = {regs->r[CHORD_RT_RIP], pc, sp - regs->r[CHORD_RT_RSP],
	                          __atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED)};

	chord_rt_jump_walked(ctl, &l, regs, sp, delta);
	if (ctl->asked)
		chord_rt_forget_asking(ctl, sp);
}

static void
chord_rt_jump(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	uint64_t sp, pc;

	chord_rt_target((const uint64_t *)regs->r[5], &sp, &pc);
	chord_rt_jump_to(ctl, regs, sp, pc, 1);
}

/* A longjmp whose way is known is counted at once. */
static CHORD_RT_HOT bool
chord_rt_jumps_again(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint32_t hook)
{
	struct chord_rt_leap l = {.from = regs->r[CHORD_RT_RIP]};
	uint64_t sp;

	if (hook < CHORD_RT_HOOK_longjmp || hook > CHORD_RT_HOOK___longjmp_chk || ctl->asked)
		return false;
	chord_rt_target((const uint64_t *)regs->r[5], &sp, &l.to);
	l.sp = sp - regs->r[CHORD_RT_RSP];
	l.epoch = __atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED);
	return chord_rt_jump_again(ctl, &l, regs->r[CHORD_RT_RSP]);
}
_Static_assert(CHORD_RT_HOOK_longjmp + 1 == CHORD_RT_HOOK__longjmp && CHORD_RT_HOOK__longjmp + 1 == CHORD_RT_HOOK_siglongjmp &&
    CHORD_RT_HOOK_siglongjmp + 1 == CHORD_RT_HOOK___longjmp_chk, "");

/* ---- jumps to receivers ---- */

/* Where the function begins that has a receiver; 0: not known. */
static uint64_t
chord_rt_function_of(struct chord_rt_walk *w, uint64_t pc)
{
	struct chord_rt_known rule = {.count = CHORD_RT_SILENT};

	chord_rt_find_object(w, pc);
	if (chord_rt_recall(w, pc | CHORD_EXIT_REENTRY, &rule))
		return rule.begin;
	rule.begin = chord_rt_find_cfi(w, pc) ? w->cfi.begin : 0;
	chord_rt_keep(w, pc | CHORD_EXIT_REENTRY, &rule);
	return rule.begin;
}

/* Leaves the activations from that of regs on, up to the one that goes on with that stack pointer. */
static void
chord_rt_abandon(struct chord_rt_walk *w, const struct chord_rt_regs *regs, uint64_t sp, uint64_t begin)
{
	struct chord_rt_tally t;

	if (begin && chord_rt_known_to(&t, w, sp, begin))
		chord_rt_tally_add(w->ctl, &t, 1);
	else if (chord_rt_jump_slowly(w, regs, sp, begin, 1) && begin && w->begin != begin)
		/* The last one is of another function: did that with the receiver end before, in a tail call? */
		__atomic_fetch_add(&w->ctl->head->in_flight, 1, __ATOMIC_RELAXED);
}

struct chord_rt_aim { const struct chord_rt_regs *regs; uint64_t sp, pc; };

/* The activation that jumps leaves by an edge of its own; those between end at their calls, and so does the one that has the
 * receiver. */
static uint64_t
chord_rt_go_away(struct chord_rt_ctl *ctl, uint64_t aim, uint64_t none)
{
	const struct chord_rt_aim *a = (const struct chord_rt_aim *)aim;
	uint64_t begin, low = a->regs->r[CHORD_RT_RSP];
	struct chord_rt_regs caller;
	struct chord_rt_walk w;

	(void)none;
	chord_rt_walk_from(&w, ctl, a->regs);
	if (chord_rt_look(&w) != CHORD_RT_FRAME || low - a->sp < CHORD_PAGE) {
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (a->sp - low < w.cfa - low)
		return 0; /* to itself */
	chord_rt_up(&w);
	caller = w.regs;
	begin = chord_rt_function_of(&w, a->pc);
	chord_rt_abandon(&w, &caller, a->sp, begin);
	return 0;
}

/* Woven code is about to go on at a receiver. */
static __attribute__((used)) void
chord_rt_away(const struct chord_rt_regs *regs, uint64_t sp, uint64_t pc)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_aim aim = {regs, sp, pc};

	if (ctl && ctl->magic && !chord_rt_other_process(ctl))
		chord_rt_aside(ctl, chord_rt_go_away, (uint64_t)&aim, 0);
}
