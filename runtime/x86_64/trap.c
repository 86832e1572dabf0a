/* SPDX-License-Identifier: MIT */
/* Exact timers. For the last events before the limit, the trap flag (TF) makes the processor trap after every instruction. At each
 * instruction of the program's own, the records of CHORD_SECTION_TIMED tell what the counter lacks there. When nothing is left, the
 * trap's context is changed so that the thread goes on in __chord_struck, as if it had been called there.
 *
 * While a thread is stepped through, signals are blocked for it, because their handlers would not be stepped through. During system
 * calls they are not blocked. When no thread is stepped through any more, SIGTRAP is the program's again. */

enum { CHORD_RT_SIGTRAP = 5, CHORD_RT_DEBUG = 1, CHORD_RT_TF = 0x100 };
/* Indices of words in a struct ucontext. */
enum {
	CHORD_RT_UC_R10 = 7, CHORD_RT_UC_R11 = 8, CHORD_RT_UC_RDI = 13, CHORD_RT_UC_RSI = 14, CHORD_RT_UC_RDX = 17,
	CHORD_RT_UC_RAX = 18, CHORD_RT_UC_RCX = 19, CHORD_RT_UC_RSP = 20, CHORD_RT_UC_RIP = 21, CHORD_RT_UC_FLAGS = 22,
	CHORD_RT_UC_TRAP = 25, CHORD_RT_UC_MASK = 37,
};

/* The signals that are kept back: all except those of faults, and SIGTRAP. */
#define CHORD_RT_SIGNAL(n) (1ull << ((n) - 1))
#define CHORD_RT_KEPT_BACK \
	~(CHORD_RT_SIGNAL(4) | CHORD_RT_SIGNAL(5) | CHORD_RT_SIGNAL(7) | CHORD_RT_SIGNAL(8) | CHORD_RT_SIGNAL(11))

/* ---- where the program is ---- */

struct chord_rt_place { const unsigned char *p, *end; };

static uint64_t
chord_rt_number(struct chord_rt_place *at)
{
	uint64_t v = 0;
	uint32_t shift = 0;

	while (at->p < at->end) {
		v |= (uint64_t)(*at->p & 0x7f) << shift;
		shift += 7;
		if (!(*at->p++ & 0x80))
			break;
	}
	return v;
}

static uint32_t
chord_rt_word(const unsigned char *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t
chord_rt_near_word(const unsigned char *p)
{
	return (uint64_t)p + (uint64_t)(int64_t)(int32_t)chord_rt_word(p);
}

static struct chord_rt_timed *
chord_rt_timed_of(const struct chord_rt_timer *t)
{
	return (struct chord_rt_timed *)chord_rt_near_word((const unsigned char *)t->due - 4);
}

/* The record of the code that contains the PC; NULL: that code is not measured. */
static const unsigned char *
chord_rt_record_at(struct chord_rt_region *r, struct chord_rt_timed *timed, uint64_t pc)
{
	const unsigned char *p = (const unsigned char *)CHORD_RT_NEAR(timed->start);
	const unsigned char *end = (const unsigned char *)CHORD_RT_NEAR(timed->stop);

	if (r->record >= p && r->record < end && pc - chord_rt_near_word(r->record) < chord_rt_word(r->record + 4))
		return r->record;
	for (; p + 16 <= end && chord_rt_word(p + 8); p += chord_rt_word(p + 8))
		if (pc - chord_rt_near_word(p) < chord_rt_word(p + 4))
			return r->record = p;
	return NULL;
}

/* The last segment that begins at or before an offset, or NULL. */
static const unsigned char *
chord_rt_segment_at(const unsigned char *record, uint32_t offset)
{
	const unsigned char *p = record + 16 + 8 * (size_t)chord_rt_word(record + 12), *end = record + chord_rt_word(record + 8);
	const unsigned char *found = NULL;

	for (; p + 8 <= end; p += 8 + chord_rt_word(p + 4))
		if (chord_rt_word(p) <= offset && (!found || chord_rt_word(p) >= chord_rt_word(found)) && chord_rt_word(p + 4))
			found = p;
	return found;
}

/* Sets *lack to what the counter of that event lacks at an offset. False: no instruction of the program's own begins there. */
static bool
chord_rt_lack_at(const unsigned char *record, uint32_t event, uint32_t offset, int64_t *lack)
{
	const unsigned char *segment = chord_rt_segment_at(record, offset);
	uint32_t nevent = chord_rt_word(record + 12), at;
	struct chord_rt_place in;
	uint64_t v;

	if (!segment)
		return false;
	at = chord_rt_word(segment);
	in = (struct chord_rt_place){segment + 8, segment + 8 + chord_rt_word(segment + 4)};
	for (uint32_t e = 0; e < nevent; e++) {
		v = chord_rt_number(&in);
		if (e == event)
			*lack = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
	}
	while (in.p < in.end && *in.p && at < offset) {
		at += *in.p++;
		for (uint32_t e = 0; e < nevent; e++) {
			v = chord_rt_number(&in);
			if (e == event)
				*lack += (int64_t)v;
		}
	}
	return at == offset && in.p < in.end && *in.p;
}

static bool
chord_rt_in_runtime(struct chord_rt_ctl *ctl, const struct chord_rt_timed *timed, uint64_t pc)
{
	const struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);
	uint64_t first = m && !m->left ? CHORD_RT_NEAR(m->desc->code) : 0;

	/* In timers.s the flags that are about to be restored may contain the trap flag. */
	if (pc >= CHORD_RT_NEAR(timed->code) && pc < CHORD_RT_NEAR(timed->fired_end))
		return true;
	return first && pc >= first && pc < CHORD_RT_NEAR(m->desc->code_end);
}

/* Is the program at one of its own instructions? Then *lack is what the counter lacks there; 0 in code that is not measured. Sets
 * *woven if it is at a woven-in instruction. */
static bool
chord_rt_stands(struct chord_rt_ctl *ctl, struct chord_rt_region *r, const struct chord_rt_timer *t, uint64_t pc, int64_t *lack,
                bool *woven)
{
	struct chord_rt_timed *timed = chord_rt_timed_of(t);
	const unsigned char *record = chord_rt_record_at(r, timed, pc);
	uint32_t nevent = record ? chord_rt_word(record + 12) : 0, e = 0;

	*lack = 0;
	if (!record)
		return !chord_rt_in_runtime(ctl, timed, pc);
	while (e < nevent && chord_rt_near_word(record + 16 + 8 * e) + r->base != (uint64_t)t)
		e++;
	if (e < nevent && chord_rt_lack_at(record, e, (uint32_t)(pc - chord_rt_near_word(record)), lack))
		return true;
	*woven = true;
	return e == nevent;
}

/* ---- SIGTRAP ---- */

static void chord_rt_on_trap(int sig, void *info, uint64_t *context);

static void
chord_rt_watch_trap(struct chord_rt_ctl *ctl)
{
	uint64_t old = chord_rt_lock(ctl);
	struct chord_rt_action a;

	if (!ctl->steppers++) {
		a.handler = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_on_trap);
		a.flags = 4 | 0x04000000;
		a.restorer = (uint64_t)chord_rt_elsewhere((void *)&chord_rt_entry_restore);
		a.mask = ~0ull;
		ctl->trap_handler = a.handler;
		chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGTRAP, &a, &ctl->trap, 8);
	}
	chord_rt_unlock(ctl, old);
}

static void
chord_rt_leave_trap(struct chord_rt_ctl *ctl)
{
	uint64_t old = chord_rt_lock(ctl);
	struct chord_rt_action a;

	if (!--ctl->steppers && !chord_rt_failed(chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGTRAP, 0, &a, 8)) &&
	    a.handler == ctl->trap_handler)
		chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGTRAP, &ctl->trap, 0, 8);
	chord_rt_unlock(ctl, old);
}

/* A trap that is not the runtime's. */
static void
chord_rt_pass_trap(struct chord_rt_ctl *ctl, void *info, uint64_t *context)
{
	struct chord_rt_action a;

	if (ctl->trap.handler > 1) {
		((void (*)(int, void *, uint64_t *))ctl->trap.handler)(CHORD_RT_SIGTRAP, info, context);
		return;
	}
	if (ctl->trap.handler == 1)
		return;
	chord_rt_clear(&a, sizeof a);
	chord_rt_call(SYS_rt_sigaction, CHORD_RT_SIGTRAP, &a, 0, 8);
	chord_rt_call(SYS_tgkill, ctl->pid, chord_rt_call(SYS_gettid), CHORD_RT_SIGTRAP);
}

/* ---- steps ---- */

/* Does the thread have to be stepped through, from now on or still? */
static bool
chord_rt_steps(struct chord_rt_ctl *ctl, struct chord_rt_region *r, struct chord_rt_timer *t)
{
	uint64_t mask = CHORD_RT_KEPT_BACK, old = 0;
	uint32_t i = 0;

	if (!r)
		return false;
	if (t->seq & 1 && t->how == CHORD_RT_EXACT && chord_rt_timer_left(t) <= 0) {
		while (i < r->nstep && r->step[i] != t)
			i++;
		if (i == CHORD_RT_STEPS)
			return true;
		if (!r->nstep)
			chord_rt_watch_trap(ctl);
		r->step[i] = t;
		r->nstep += i == r->nstep;
	}
	if (!r->nstep)
		return false;
	chord_rt_call(SYS_rt_sigprocmask, 2, &mask, &old, 8);
	if (old != mask)
		r->mask = old;
	r->in_call = r->pushed = 0;
	return true;
}

/* The thread runs without steps again. */
static void
chord_rt_let_run(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint64_t *context, bool all)
{
	context[CHORD_RT_UC_FLAGS] &= ~(uint64_t)CHORD_RT_TF;
	context[CHORD_RT_UC_MASK] = r->mask;
	if (all)
		r->nstep = 0;
	if (!r->nstep)
		chord_rt_leave_trap(ctl);
}

/* Notes where __chord_struck is, because walks have to know it. */
static void
chord_rt_note_fired(struct chord_rt_ctl *ctl, struct chord_rt_timed *timed)
{
	struct chord_rt_mod *m = chord_rt_mod_of(ctl, CHORD_RT_NEAR(timed->fired));

	if (!m)
		return;
	m->fired_end = CHORD_RT_NEAR(timed->fired_end);
	m->fired = CHORD_RT_NEAR(timed->fired);
	ctl->fired = 1;
}

/* Makes the thread go on in __chord_struck, which finds all that it needs on the stack. */
static bool
chord_rt_strike(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint32_t i, int64_t lack, uint64_t late, uint64_t *context)
{
	struct chord_rt_timer *t = r->step[i];
	uint64_t *sp = (uint64_t *)(context[CHORD_RT_UC_RSP] - 128) - 6;
	struct chord_rt_timed *timed = chord_rt_timed_of(t);
	struct chord_rt_call call;

	if (!chord_rt_take_due(ctl, t, late, t->seq, &call))
		return false;
	chord_rt_note_fired(ctl, timed);
	sp[0] = (uint64_t)t - r->base;
	sp[1] = context[CHORD_RT_UC_RIP];
	sp[2] = (uint64_t)lack;
	sp[3] = call.handler;
	sp[4] = call.arg;
	sp[5] = call.room;
	__asm__ volatile("addq %1, %0" : "+m"(t->pair[0].rest) : "r"(lack));
	context[CHORD_RT_UC_RSP] = (uint64_t)sp;
	context[CHORD_RT_UC_RIP] = CHORD_RT_NEAR(timed->fired);
	r->step[i] = r->step[--r->nstep];
	chord_rt_let_run(ctl, r, context, false);
	return true;
}

/* Checks all timers for which the thread is stepped through. True: a handler is to run. *woven: a call of the runtime by woven-in
 * code can be skipped. */
static bool
chord_rt_look_at_timers(struct chord_rt_ctl *ctl, struct chord_rt_region *r, uint64_t *context, bool *woven)
{
	for (uint32_t i = 0; i < r->nstep;) {
		struct chord_rt_timer *t = r->step[i];
		int64_t lack, left;

		/* The timer was set again or has ended. That is not so if the counter only changed while the runtime was called,
		 * and is changed back. */
		if (!(t->seq & 1) || t->how != CHORD_RT_EXACT || t->users != r->users ||
		    chord_rt_timer_left(t) > (int64_t)(2 * t->most)) {
			chord_rt_settle(t);
			r->step[i] = r->step[--r->nstep];
			continue;
		}
		i++;
		if (!chord_rt_stands(ctl, r, t, context[CHORD_RT_UC_RIP], &lack, woven))
			continue;
		left = (int64_t)(chord_rt_whole(t->limit) - chord_rt_timer_count(t) - (uint64_t)lack);
		if (left <= 0 && chord_rt_strike(ctl, r, i - 1, lack, (uint64_t)-left, context))
			return true;
	}
	return false;
}

/* ---- instructions that steps would change, or that would end them ---- */

/* Emulates rt_sigprocmask on the mask that the thread would have without steps. */
static bool
chord_rt_mask_call(struct chord_rt_region *r, uint64_t *context)
{
	uint64_t how = context[CHORD_RT_UC_RDI], set = context[CHORD_RT_UC_RSI], old = context[CHORD_RT_UC_RDX], was = r->mask, v;
	const uint64_t never = CHORD_RT_SIGNAL(9) | CHORD_RT_SIGNAL(19);

	if (context[CHORD_RT_UC_R10] != 8 || (set && (how > 2 || !chord_rt_readable(set))) || (old && !chord_rt_readable(old)))
		return false;
	if (set) {
		__builtin_memcpy(&v, (const void *)set, 8);
		r->mask = (how == 0 ? was | v : how == 1 ? was & ~v : v) & ~never;
	}
	if (old)
		__builtin_memcpy((void *)old, &was, 8);
	context[CHORD_RT_UC_RAX] = 0;
	context[CHORD_RT_UC_RIP] += 2;
	context[CHORD_RT_UC_RCX] = context[CHORD_RT_UC_RIP];
	context[CHORD_RT_UC_R11] = context[CHORD_RT_UC_FLAGS] & ~(uint64_t)CHORD_RT_TF;
	return true;
}

/* A system call comes next. It runs with the mask that the thread would have without steps. True: the thread cannot be stepped
 * through it. */
static bool
chord_rt_before_call(struct chord_rt_region *r, uint64_t *context)
{
	uint64_t number = context[CHORD_RT_UC_RAX], *frame = (uint64_t *)context[CHORD_RT_UC_RSP];

	switch (number) {
	case SYS_clone: case SYS_fork: case SYS_vfork: case 435 /* clone3 */: case SYS_execve: case SYS_execveat:
		return true;
	case SYS_rt_sigaction:
		return context[CHORD_RT_UC_RDI] == CHORD_RT_SIGTRAP;
	case SYS_rt_sigreturn:
		frame[CHORD_RT_UC_FLAGS] |= CHORD_RT_TF;
		r->mask = frame[CHORD_RT_UC_MASK];
		frame[CHORD_RT_UC_MASK] = CHORD_RT_KEPT_BACK;
		return false;
	case SYS_rt_sigprocmask:
		return !chord_rt_mask_call(r, context);
	default:
		context[CHORD_RT_UC_MASK] = r->mask & ~CHORD_RT_SIGNAL(CHORD_RT_SIGTRAP);
		r->in_call = 1;
		return false;
	}
}

/* Emulates popf, which would clear the trap flag and so end the steps. */
static void
chord_rt_pop_flags(uint64_t *context)
{
	const uint64_t may = 0x244dd5; /* the flags that a program may change: ID, AC, NT, OF, DF, TF, SF, ZF, AF, PF and CF */
	uint64_t v = *(const uint64_t *)context[CHORD_RT_UC_RSP];

	context[CHORD_RT_UC_FLAGS] = (context[CHORD_RT_UC_FLAGS] & ~may) | (v & may);
	context[CHORD_RT_UC_RSP] += 8;
	context[CHORD_RT_UC_RIP]++;
}

/* Is this a call of the runtime by woven code? Such a call can be skipped while the thread is stepped through. */
static bool
chord_rt_is_asking(const struct chord_rt_region *r, const unsigned char *pc)
{
	for (uint32_t i = 0; i < r->nstep; i++)
		if (chord_rt_near_word(pc + 1) + 4 == r->step[i]->due)
			return true;
	return false;
}

/* True: the thread cannot be stepped through the next instruction. If it is emulated here, the PC has changed. */
static bool
chord_rt_before_next(struct chord_rt_region *r, uint64_t *context, bool woven)
{
	const unsigned char *pc = (const unsigned char *)context[CHORD_RT_UC_RIP];

	if (*pc == 0x9c)
		r->pushed = 1;
	else if (*pc == 0x9d)
		chord_rt_pop_flags(context);
	else if (*pc == 0xe8 && woven && chord_rt_is_asking(r, pc))
		context[CHORD_RT_UC_RIP] += 5;
	else if (*pc == 0x0f && pc[1] == 0x05)
		return chord_rt_before_call(r, context);
	return false;
}

/* Runs after pushf and after system calls. */
static void
chord_rt_after_last(struct chord_rt_region *r, const uint64_t *context)
{
	const uint64_t trap = CHORD_RT_SIGNAL(CHORD_RT_SIGTRAP);

	if (r->pushed)
		*(uint64_t *)context[CHORD_RT_UC_RSP] &= ~(uint64_t)CHORD_RT_TF;
	if (r->in_call)
		r->mask = (context[CHORD_RT_UC_MASK] & ~trap) | (r->mask & trap);
	r->pushed = r->in_call = 0;
}

static void
chord_rt_on_trap(int sig, void *info, uint64_t *context)
{
	struct chord_rt_ctl *ctl = chord_rt_ctl_here();
	struct chord_rt_region *r = chord_rt_timer_region(ctl);
	uint64_t pc;
	bool woven, traced = context[CHORD_RT_UC_TRAP] == CHORD_RT_DEBUG;

	(void)sig;
	if (!r || !r->nstep || !traced) {
		/* A thread that was made while its maker was stepped through begins with TF set. */
		if (traced && ctl->trap.handler <= 1)
			context[CHORD_RT_UC_FLAGS] &= ~(uint64_t)CHORD_RT_TF;
		else
			chord_rt_pass_trap(ctl, info, context);
		return;
	}
	chord_rt_after_last(r, context);
	do {
		pc = context[CHORD_RT_UC_RIP];
		woven = false;
		if (chord_rt_look_at_timers(ctl, r, context, &woven))
			return;
		context[CHORD_RT_UC_MASK] = CHORD_RT_KEPT_BACK;
		if (!r->nstep || chord_rt_before_next(r, context, woven)) {
			chord_rt_let_run(ctl, r, context, true);
			return;
		}
	} while (pc != context[CHORD_RT_UC_RIP]);
	context[CHORD_RT_UC_FLAGS] |= CHORD_RT_TF;
}
