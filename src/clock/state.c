/* SPDX-License-Identifier: MIT */
/* Running to a state that is named by the PC and the clock. Far from the state, the program runs until code with timers asks, until
 * a countdown is over, or for a time too short to get there. Near it, a breakpoint stands at the PC, and the clock is read at each
 * stop. An instruction that repeats itself (rep) is stepped. */
#include "clock/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

/* ---- breakpoints ---- */

bool
breakpoint_put(struct tracee *t, struct breakpoint *b, uint64_t at)
{
	uint8_t n = t->machine->break_size;

	if (!tracee_read(t, at, b->was, n) || !tracee_write(t, at, t->machine->breakpoint, n))
		return false;
	b->at = at;
	return true;
}

void
breakpoint_take(struct tracee *t, struct breakpoint *b)
{
	if (b->at)
		tracee_write(t, b->at, b->was, t->machine->break_size);
	b->at = 0;
}

bool
breakpoint_hit(struct tracee *t, const struct breakpoint *b, enum stop stop)
{
	if (!b->at || stop != STOP_SIGNAL || tracee_signal(t) != SIGTRAP ||
	    tracee_word(t, t->machine->pc) != b->at + t->machine->break_stop)
		return false;
	t->regs.word[t->machine->pc] = b->at;
	return tracee_set(t, &t->regs);
}

bool
breakpoint_run(struct tracee *t, uint64_t at, enum stop *stop)
{
	struct breakpoint b = {0};
	bool hit = breakpoint_put(t, &b, at);

	if (hit)
		*stop = tracee_go_own(t, PTRACE_SYSEMU);
	hit = hit && breakpoint_hit(t, &b, *stop);
	breakpoint_take(t, &b);
	return hit;
}

/* ---- names ---- */

uint64_t
state_name(const struct tracee *t, const struct breakpoint *b)
{
	uint64_t name[3] = {tracee_word(t, t->machine->pc), tracee_word(t, t->machine->sp), 0};
	uint8_t code[16];
	size_t n = tracee_read_some(t, name[0], code, sizeof code);

	if (b->at && b->at == name[0])
		memcpy(code, b->was, t->machine->break_size);
	if (t->machine->repeats(code, n))
		name[2] = tracee_word(t, t->machine->round);
	return bytes_sum(name, sizeof name);
}

/* Are the registers those of the state? After a call, and at the beginning of a handler that has interrupted one, the kernel
 * keeps the call's number until the program runs again. A signal may have struck there just after that. */
static bool
is_sum(const struct tracee *t, const struct state *s)
{
	struct tracee behind = *t;

	if (s->bare)
		return state_name(t, &(struct breakpoint){0}) == s->sum;
	behind.regs.word[t->machine->number] = (uint64_t)-1;
	return tracee_sum(t) == s->sum || tracee_sum(&behind) == s->sum;
}

/* ---- steps ---- */

static void
step(struct tracee *t, enum stop *stop)
{
	uint8_t bytes[2];
	bool read = tracee_read(t, tracee_word(t, t->machine->pc), bytes, sizeof bytes);

	*stop = tracee_go_own(t, PTRACE_SYSEMU_SINGLESTEP);
	if (read && *stop == STOP_SIGNAL)
		tracee_hide_step(t, bytes);
}

static bool
is_step(const struct tracee *t, enum stop stop)
{
	return stop == STOP_SIGNAL && tracee_signal(t) == SIGTRAP;
}

/* ---- far from it ---- */

static int64_t
left_to(struct clock *c, const struct state *s)
{
	uint64_t now;

	clock_at(c, s->pc, &now);
	return (int64_t)(s->count - now);
}

/* Has the routine that code with timers calls return as if there were no timers. */
static bool
pass_over(struct tracee *t)
{
	uint64_t sp = tracee_word(t, t->machine->sp), back;

	if (!tracee_read(t, sp, &back, sizeof back))
		return false;
	t->regs.word[t->machine->pc] = back;
	t->regs.word[t->machine->sp] = sp + sizeof back;
	return tracee_set(t, &t->regs);
}

/* Runs to where the code asks. A debugger may halt the program shortly before, at a place that is not one of the run: it is stepped
 * on. */
static bool
run_until_asked(struct tracee *t, struct clock *c, uint64_t at, enum stop *stop)
{
	enum { STUB = 64 };
	bool hit;

	*stop = STOP_ENDED;
	hit = breakpoint_run(t, at, stop);
	if (hit || *stop != STOP_HALT || !clock_asks(c))
		return hit;
	for (int i = 0; i < STUB && !hit && *stop != STOP_ENDED; i++) {
		step(t, stop);
		hit = tracee_word(t, t->machine->pc) == at;
	}
	return hit;
}

/* Runs until code with timers asks, as often as it can be made to ask. */
static enum reach
run_by_timers(struct tracee *t, struct clock *c, const struct state *s, enum stop *stop)
{
	uint64_t at;
	int64_t left;

	while ((left = left_to(c, s)) > 0 && (at = clock_arm(c, s->pc, (uint64_t)left))) {
		bool hit = run_until_asked(t, c, at, stop);

		clock_disarm(c);
		if (!hit || !pass_over(t))
			return REACH_OTHER;
	}
	return REACH_THERE;
}

/* Runs while the countdown counts. Handlers return to where the program may go on, and instructions fail at the place where they
 * fail without a countdown. */
static enum stop
count_down(struct tracee *t, const struct countdown *d, bool *hit, bool *on)
{
	enum stop stop;

	do
		stop = tracee_go_own(t, PTRACE_SYSEMU);
	while (stop == STOP_RETURN && !countdown_amid(d, tracee_word(t, t->machine->pc)));
	*hit = countdown_hit(d, t, stop);
	*on = stop == STOP_RETURN || (!*hit && stop == STOP_SIGNAL && countdown_home(d, t) && t->alone);
	return stop;
}

/* Runs until additions to the clock have counted down, if they can be replaced. */
static enum reach
run_by_countdown(struct tracee *t, struct clock *c, const struct state *s, enum stop *stop)
{
	enum { NEAR = 16 };
	struct countdown *d = t->own && !t->alone && !t->admits ? NULL : clock_countdown(c, s->pc);
	int64_t left, last = INT64_MAX;
	bool hit, on = false;

	/* When a round gains nothing, the program stands at the addition after which the state comes. */
	for (; d && (left = left_to(c, s)) > NEAR && (left < last || on); last = left) {
		while (on || countdown_amid(d, tracee_word(t, t->machine->pc))) {
			on = false;
			step(t, stop);
			if (!is_step(t, *stop))
				return REACH_OTHER;
		}
		if (!countdown_put(d, t, (uint64_t)left))
			break;
		*stop = count_down(t, d, &hit, &on);
		if (*stop != STOP_ENDED)
			countdown_take(d, t);
		if (!hit && !on)
			return REACH_OTHER;
	}
	return REACH_THERE;
}

/* Runs for times too short to get there, taking 4 instructions for a nanosecond. The program may still run for longer because this
 * process is late. */
static enum reach
run_by_time(struct tracee *t, struct clock *c, const struct state *s, unsigned care, enum stop *stop)
{
	enum { NEAR = 100000, A_NANOSECOND = 4 };
	int64_t left;

	while (care < CARE_MOST && (left = left_to(c, s)) > NEAR << 2 * care) {
		*stop = tracee_go_for(t, PTRACE_SYSEMU, (uint64_t)left / (A_NANOSECOND << 2 * care));
		if (*stop != STOP_GROUP)
			return REACH_OTHER;
	}
	return left_to(c, s) < 0 ? REACH_PAST : REACH_THERE;
}

/* ---- near it ---- */

/* The program is at the PC. If this is not the state, the instruction is executed. */
static enum reach
look_here(struct tracee *t, struct clock *c, const struct state *s, enum stop *stop)
{
	uint64_t now;

	do {
		if (clock_at(c, s->pc, &now) && now == s->count && is_sum(t, s))
			return REACH_THERE;
		if ((int64_t)(s->count - now) < 0)
			return REACH_PAST;
		step(t, stop);
		if (!is_step(t, *stop))
			return REACH_OTHER;
	} while (tracee_word(t, t->machine->pc) == s->pc);
	return REACH_OTHER;
}

static enum reach
run_by_breakpoint(struct tracee *t, struct clock *c, const struct state *s, enum stop *stop)
{
	enum reach reach = REACH_OTHER;

	*stop = STOP_SIGNAL;
	for (bool here = tracee_word(t, t->machine->pc) == s->pc;; here = true) {
		if (here) {
			reach = look_here(t, c, s, stop);
			if (reach != REACH_OTHER || !is_step(t, *stop))
				return reach;
		}
		if (!breakpoint_run(t, s->pc, stop))
			return REACH_OTHER;
	}
}

enum reach
state_reach(struct tracee *t, struct clock *c, const struct state *s, unsigned care, enum stop *stop)
{
	enum reach reach = REACH_OTHER;

	*stop = STOP_SIGNAL;
	if (clock_still(c, true))
		reach = care < CARE_STEADY ? run_by_timers(t, c, s, stop) : REACH_THERE;
	if (reach == REACH_THERE && care < CARE_STEADY)
		reach = run_by_countdown(t, c, s, stop);
	if (reach == REACH_THERE) {
		reach = run_by_time(t, c, s, care, stop);
		if (reach == REACH_THERE)
			reach = run_by_breakpoint(t, c, s, stop);
		/* The program has met something after the state, for instance a system call. */
		if (reach == REACH_OTHER && care < CARE_MOST && *stop != STOP_ENDED && left_to(c, s) < 0)
			reach = REACH_PAST;
	}
	clock_still(c, false);
	return reach;
}

enum stop
state_near(struct tracee *t, struct clock *c, const struct state *s)
{
	enum stop stop = STOP_SIGNAL;
	enum reach reach = REACH_OTHER;

	if (clock_still(c, true))
		reach = run_by_timers(t, c, s, &stop);
	if (reach == REACH_THERE)
		reach = run_by_countdown(t, c, s, &stop);
	clock_still(c, false);
	return reach == REACH_THERE ? STOP_SIGNAL : stop == STOP_SIGNAL ? STOP_GROUP : stop;
}
