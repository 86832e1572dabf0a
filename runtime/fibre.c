/* SPDX-License-Identifier: MIT */
/* Stacks that swapcontext and setcontext switch between. Activations on a suspended stack have not ended. They are noted, and if
 * the process ends before control returns to that stack, they end then. A stack is identified by the place of its outermost
 * frame. */

struct chord_rt_context {         /* ucontext_t of glibc */
	uint64_t flags, link, stack[3];
	uint64_t r[17];           /* r8-r15 rdi rsi rbp rbx rdx rax rcx rsp rip */
};

/* Walks up to the outermost frame and gives its place; 0: not found. */
static uint64_t
chord_rt_stack_of(struct chord_rt_walk *w, struct chord_rt_fibre *f)
{
	enum chord_rt_step step;

	for (;; chord_rt_up(w)) {
		step = chord_rt_look(w);
		if (f && f->n < CHORD_RT_FRAMES) {
			f->frame[f->n].pc = w->regs.r[CHORD_RT_PC] + w->exact;
			f->frame[f->n].cfa = w->cfa;
		}
		if (f)
			f->n++;
		if (step != CHORD_RT_FRAME)
			return step == CHORD_RT_OUTERMOST ? w->regs.r[CHORD_RT_SP] : 0;
	}
}

/* The note of a stack; make: adds one if it is missing. NULL: there is none, or no room. */
static struct chord_rt_fibre *
chord_rt_fibre_at(struct chord_rt_ctl *ctl, uint64_t top, bool make)
{
	struct chord_rt_fibre *f, *room = NULL;
	uint64_t at = top * 0x9e3779b97f4a7c15ull >> 40, old;
	uint32_t k;

	for (k = 0; k < CHORD_RT_TABLES && ctl->fibre[k]; k++)
		for (uint32_t i = 0; i < 64; i++) {
			f = &ctl->fibre[k][(at + i) % (CHORD_RT_FIBRES << k)];
			if (f->top == top)
				return f;
			if (!f->live && !room)
				room = f;
			if (!f->top)
				break;
		}
	if (!make || room || k == CHORD_RT_TABLES)
		return make ? room : NULL;
	old = chord_rt_lock(ctl);
	ctl->fibre[k] = (struct chord_rt_fibre *)chord_rt_take_room(ctl, sizeof *f * CHORD_RT_FIBRES << k);
	chord_rt_unlock(ctl, old);
	return ctl->fibre[k] ? &ctl->fibre[k][at % (CHORD_RT_FIBRES << k)] : NULL;
}

/* Is the stack still suspended? Control may have returned to it unseen, when a context's function returned and its linked context
 * went on. now: the stack in use. */
static bool
chord_rt_suspended(struct chord_rt_ctl *ctl, const struct chord_rt_fibre *f, uint64_t now)
{
	const struct chord_rt_fibre *by = f->by ? chord_rt_fibre_at(ctl, f->by, false) : NULL;

	if (!f->live || f->top == now)
		return false;
	if (f->by && f->by != now && !(by && by->live))
		return false;
	/* When a thread has ended, all calls on its own stack have returned. */
	return !f->tid || chord_rt_call(SYS_tgkill, ctl->pid, f->tid, 0) != -ESRCH;
}

/* Counts that the frames of a stack end, or with the flag that they are resumed. */
static void
chord_rt_fibre_count(struct chord_rt_ctl *ctl, const struct chord_rt_fibre *f, uint64_t flag, uint64_t delta)
{
	for (uint32_t i = 0; i < f->n && i < CHORD_RT_FRAMES; i++) {
		chord_rt_leave_fired(ctl, f->frame[i].pc, f->frame[i].cfa, flag ? -delta : delta);
		chord_rt_count_at(ctl, f->frame[i].pc, flag, delta, f->frame[i].cfa);
	}
	if (f->n > CHORD_RT_FRAMES)
		__atomic_fetch_add(&ctl->head->in_flight, delta, __ATOMIC_RELAXED);
}

/* Does the same for all suspended stacks. */
static void
chord_rt_fibres(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t flag, uint64_t delta)
{
	struct chord_rt_walk w;
	uint64_t now;

	if (!ctl->nfibre)
		return;
	chord_rt_walk_from(&w, ctl, regs);
	now = chord_rt_stack_of(&w, NULL);
	for (uint32_t k = 0; k < CHORD_RT_TABLES && ctl->fibre[k]; k++)
		for (uint32_t i = 0; i < (uint32_t)CHORD_RT_FIBRES << k; i++)
			if (chord_rt_suspended(ctl, &ctl->fibre[k][i], now))
				chord_rt_fibre_count(ctl, &ctl->fibre[k][i], flag, delta);
}

/* Stacks may move between threads. A stack that does has no counts per thread. */
static void
chord_rt_note_fibres(struct chord_rt_ctl *ctl)
{
	uint64_t old = chord_rt_lock(ctl);

	chord_rt_text(ctl, "stacks were switched by swapcontext: if one went from thread to thread, "
	    "what each executed is not exact");
	chord_rt_unlock(ctl, old);
}

static void
chord_rt_suspend(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t top, uint64_t by)
{
	struct chord_rt_fibre *f = chord_rt_fibre_at(ctl, top, true);
	struct chord_rt_region *r = chord_rt_region_mine(ctl);
	struct chord_rt_walk w;

	if (!f) {
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
		return;
	}
	if (ctl->per_thread && !ctl->nfibre)
		chord_rt_note_fibres(ctl);
	ctl->nfibre += !f->top;
	f->top = top;
	f->sp = regs->r[CHORD_RT_SP];
	f->pc = regs->r[CHORD_RT_PC];
	f->by = by;
	f->tid = r && r->stack && f->sp < r->stack + 64 && top >= r->stack ? r->tid : 0;
	f->n = 0;
	chord_rt_walk_from(&w, ctl, regs);
	chord_rt_stack_of(&w, f);
	f->live = 1;
}

/* Control returns to a stack, usually to the point where it was suspended. If it goes to another point of that stack, this is a
 * jump. */
static void
chord_rt_resume(struct chord_rt_ctl *ctl, struct chord_rt_fibre *f, uint64_t sp, uint64_t pc)
{
	bool known = f && f->live && f->n <= CHORD_RT_FRAMES;

	if (f && f->live && f->sp == sp && f->pc == pc) {
		f->live = 0;
		return;
	}
	if (!known)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; known && i < f->n; i++) {
		chord_rt_leave_fired(ctl, f->frame[i].pc, f->frame[i].cfa, 1);
		chord_rt_count_at(ctl, f->frame[i].pc, 0, 1, f->frame[i].cfa);
		if (f->frame[i].cfa <= sp)
			continue;
		chord_rt_leave_fired(ctl, pc, f->frame[i].cfa, -1ull);
		break;
	}
	chord_rt_count_at(ctl, pc, CHORD_EXIT_REENTRY, 1, 0);
	if (f)
		f->live = 0;
}

/* The stack of a stored context; 0: not found. */
static __attribute__((noinline)) uint64_t
chord_rt_stack_at(struct chord_rt_ctl *ctl, const struct chord_rt_context *c)
{
	static const uint8_t number[] = CHORD_RT_CONTEXT_ORDER;
	struct chord_rt_regs regs;
	struct chord_rt_walk w;

	for (uint32_t i = 0; i < sizeof number; i++)
		regs.r[number[i]] = c->r[i];
	chord_rt_walk_from(&w, ctl, &regs);
	w.in.low = w.in.high = 0; /* nothing is known of that stack yet */
	return chord_rt_stack_of(&w, NULL);
}

static void
chord_rt_switch(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t save, const struct chord_rt_context *to)
{
	uint64_t sp = to->r[CHORD_RT_CONTEXT_SP], pc = to->r[CHORD_RT_CONTEXT_PC], here, there;
	struct chord_rt_fibre *f;
	struct chord_rt_walk w;
	bool begins;

	chord_rt_walk_from(&w, ctl, regs);
	here = chord_rt_stack_of(&w, NULL);
	begins = chord_rt_begins(&w, pc); /* is it a context of makecontext? */
	there = begins ? sp + 8 : chord_rt_stack_at(ctl, to);
	if (!here || !there)
		__atomic_fetch_add(&ctl->head->in_flight, 1, __ATOMIC_RELAXED);
	if (here == there) {
		chord_rt_jump_to(ctl, regs, sp, pc, 1);
		return;
	}
	f = there ? chord_rt_fibre_at(ctl, there, false) : NULL;
	if (!begins && there) {
		chord_rt_resume(ctl, f, sp, pc);
	} else if (f && f->live) {
		/* The earlier activations on that stack were abandoned. */
		if (chord_rt_suspended(ctl, f, here))
			chord_rt_fibre_count(ctl, f, 0, 1);
		f->live = 0;
	}
	if (here)
		chord_rt_suspend(ctl, regs, here, save && to->link == save ? there : 0);
}

/* Handles swapcontext; save 0: setcontext. Under a lock of its own, because counting may take the other lock. */
static void
chord_rt_to_context(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs, uint64_t save, uint64_t to)
{
	uint64_t all = ~0ull, old = 0;

	/* A switch to itself: the context to read is not stored yet, and control goes on here. */
	if (save == to)
		return;
	chord_rt_call(SYS_rt_sigprocmask, 0, &all, &old, 8);
	chord_rt_take_word(ctl, &ctl->switching, (uint32_t)chord_rt_call(SYS_gettid));
	chord_rt_switch(ctl, regs, save, (const struct chord_rt_context *)to);
	chord_rt_give_word(&ctl->switching);
	chord_rt_call(SYS_rt_sigprocmask, 2, &old, 0, 8);
}
