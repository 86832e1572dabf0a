/* SPDX-License-Identifier: MIT */
/* The fast walk: counts the frames that an exception leaves, if the rules of all of them are cached. It needs less stack than the
 * unwinder, so it runs on the program's stack, with no signal blocked. If a rule is missing, the full walk runs on the runtime's
 * own stack (own_stack.c) and caches the rule for the next time. */

enum { CHORD_RT_FAST_FRAMES = 8 }; /* measured frames at a time */

struct chord_rt_fast_walk {
	struct chord_rt_scope in;
	uint64_t pc, sp, fp;         /* of the frame that the walk has reached */
	uint64_t cfa;                 /* its end, after chord_rt_fast_look */
	struct chord_rt_known rule;
	uint64_t from;                /* the stack pointer of the first frame */
	uint32_t n;                   /* measured frames: where they end, less `from`, and their counters */
	uint32_t size[CHORD_RT_FAST_FRAMES];
	uint64_t *count[CHORD_RT_FAST_FRAMES];
};

static void
chord_rt_fast_from(struct chord_rt_fast_walk *b, struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	b->pc = regs->r[CHORD_RT_PC];
	b->sp = b->from = regs->r[CHORD_RT_SP];
	b->fp = regs->r[CHORD_RT_FP];
	b->n = 0;
	chord_rt_scope_from(&b->in, ctl, b->sp);
	b->in.fast = true;
}

/* Not inlined, so that its frame is gone when frames are counted. */
static __attribute__((noinline)) void
chord_rt_find_known(struct chord_rt_scope *in, uint64_t pc)
{
	chord_rt_find_object(in, pc);
}

/* False: the frame's rules or its counter are not cached, or there are too many frames. */
static CHORD_RT_HOT bool
chord_rt_fast_look(struct chord_rt_fast_walk *b)
{
	uint64_t low;

	if (b->pc - 1 - b->in.map >= b->in.map_end - b->in.map)
		chord_rt_find_known(&b->in, b->pc - 1);
	if (!chord_rt_recall(&b->in, b->pc - 1, &b->rule) || !b->rule.count)
		return false;
	b->cfa = (b->rule.by_fp ? b->fp : b->sp) + (uint64_t)(int64_t)b->rule.cfa;
	low = b->cfa - 8 * b->rule.deepest;
	if (b->cfa <= b->sp || ((low < b->in.low || b->cfa > b->in.high) &&
	    (!chord_rt_reach(&b->in, low) || !chord_rt_reach(&b->in, b->cfa - 1))))
		return false;
	if (b->rule.count == CHORD_RT_SILENT)
		return true;
	if (b->n == CHORD_RT_FAST_FRAMES || b->cfa - b->from > UINT32_MAX)
		return false;
	b->size[b->n] = (uint32_t)(b->cfa - b->from);
	b->count[b->n++] = b->rule.count;
	return true;
}

/* Moves to the caller; false: there is none. */
static CHORD_RT_INLINE bool
chord_rt_fast_up(struct chord_rt_fast_walk *b)
{
	if (b->rule.at[CHORD_RT_SAVED_FP])
		b->fp = *((uint64_t *)b->cfa - b->rule.at[CHORD_RT_SAVED_FP]);
	b->sp = b->cfa;
	b->pc = ((uint64_t *)b->cfa)[-1];
	return b->pc != 0;
}

static CHORD_RT_HOT void
chord_rt_fast_count(const struct chord_rt_fast_walk *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		chord_rt_count(b->in.ctl, b->count[i], 1, b->from + b->size[i]);
}

/* Does what chord_rt_land() does, for frames whose rules are all cached. False: nothing has been counted. */
static CHORD_RT_HOT __attribute__((noinline)) bool
chord_rt_land_fast(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	struct chord_rt_fast_walk b;
	uint64_t to, unwinder;

	if (!chord_rt_get_cfa || ctl->quitters)
		return false;
	to = chord_rt_get_cfa((void *)regs->r[CHORD_RT_ARG0]);
	unwinder = chord_rt_unwinder_at(regs, to);
	chord_rt_fast_from(&b, ctl, regs);
	do {
		if (!chord_rt_fast_look(&b))
			return false;
		if (b.cfa <= unwinder)
			b.n = 0;
		if (b.sp == to) {
			chord_rt_fast_count(&b);
			return true;
		}
	} while (chord_rt_fast_up(&b));
	return false;
}
