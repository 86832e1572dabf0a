/* SPDX-License-Identifier: MIT */
/* Loops that change nothing. A thread may wait for another one, or for a signal, by looking at memory again and again. It then
 * comes back to the same registers with the same memory. As only one thread runs at a time, it stays in that loop for ever. So the
 * PC and the registers name each state of the loop, even in code that counts nothing, however often it has gone round. */
#include "clock/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

/* Loops that write to more places are not recognised. */
enum { PLACES = 64 };

/* What has been done since a certain step, which may be in the loop. */
struct round {
	bool lost;               /* it is not known any more what has been done */
	bool counts;             /* counters were written, of which nothing is kept */
	int8_t cell;             /* that step went to a counter's next cell: as struct traced_writes has it */
	struct traced_regs regs; /* at that step */
	char vectors[TRACED_STATE_MOST];
	size_t state;            /* bytes of vectors */
	unsigned n;
	struct kept {
		uint64_t at;
		uint32_t size;
		char was[TRACED_WRITE];
	} kept[PLACES];          /* places written since, as they were before */
};

static bool
is_step(const struct tracee *t, enum stop stop)
{
	return stop == STOP_SIGNAL && tracee_signal(t) == SIGTRAP;
}

static struct traced_regs
seen_regs(const struct tracee *t, int8_t cell)
{
	struct traced_regs regs = t->machine->bare(&t->regs);

	return cell < 0 ? regs : t->machine->any_cell(&regs, cell);
}

/* Begins where the thread stands. cell: of the step that led there. */
static void
round_begin(struct round *r, const struct tracee *t, int8_t cell)
{
	r->cell = cell;
	r->regs = seen_regs(t, cell);
	r->state = t->machine->get_state(t->pid, r->vectors);
	r->lost = !r->state;
	r->counts = false;
	r->n = 0;
}

static void
keep(struct round *r, const struct tracee *t, const struct traced_writes *to)
{
	for (unsigned i = 0; i < to->n && !r->lost; i++) {
		struct kept *k = &r->kept[r->n];

		r->counts |= to->of[i].counter;
		if (to->of[i].counter)
			continue;
		r->lost = r->n == PLACES || !tracee_read(t, to->of[i].at, k->was, to->of[i].size);
		if (r->lost)
			return;
		k->at = to->of[i].at;
		k->size = to->of[i].size;
		r->n++;
	}
}

/* Is all memory as it was? A place that was written twice is kept twice, and the first one has its old bytes. */
static bool
memory_is_again(const struct round *r, const struct tracee *t)
{
	char now[TRACED_WRITE];

	for (unsigned i = 0; i < r->n; i++) {
		const struct kept *k = &r->kept[i];
		bool later = false;

		for (unsigned j = 0; j < i; j++)
			later |= r->kept[j].at == k->at && r->kept[j].size >= k->size;
		if (!later && (!tracee_read(t, k->at, now, k->size) || memcmp(now, k->was, k->size)))
			return false;
	}
	return true;
}

static bool
is_again(const struct round *r, const struct tracee *t)
{
	struct traced_regs regs;
	char *vectors;
	bool same;

	if (r->lost)
		return false;
	regs = seen_regs(t, r->cell);
	if (memcmp(&regs, &r->regs, sizeof regs) || !memory_is_again(r, t))
		return false;
	vectors = xmalloc(TRACED_STATE_MOST);
	same = t->machine->get_state(t->pid, vectors) == r->state && !memcmp(vectors, r->vectors, r->state);
	free(vectors);
	return same;
}

/* What the next instruction will write. False: it may do anything. */
static bool
next_writes(const struct tracee *t, struct traced_writes *to)
{
	uint8_t code[32];
	size_t n = tracee_read_some(t, tracee_word(t, t->machine->pc), code, sizeof code);

	return t->machine->writes(code, n, &t->regs, to);
}

/* Does the thread come back to where it stands? As the loop need not begin there, the places after 8, 16, 32 steps and so on are
 * compared, too (Brent). A counter that consists of cells is in another cell after each round: there, such a place is one behind a
 * step to the next cell. */
enum spin
spin_here(struct tracee *t, bool live, unsigned *steps, enum stop *stop)
{
	struct round *here = xmalloc(2 * sizeof *here), *later = here + 1;
	struct traced_writes to;
	enum spin spin = SPIN_NOT;
	unsigned begun = 0, cell = 0; /* the steps at which `later` has begun, and that last went to a next cell */

	*stop = STOP_SIGNAL;
	round_begin(here, t, -1);
	later->lost = true;
	for (unsigned i = 1, begin = 8, most = *steps; i <= most && spin == SPIN_NOT && next_writes(t, &to); i++) {
		keep(here, t, &to);
		keep(later, t, &to);
		cell = to.cell >= 0 ? i : cell;
		*stop = live ? tracee_go(t, PTRACE_SINGLESTEP, 0) : tracee_go_own(t, PTRACE_SYSEMU_SINGLESTEP);
		if (!is_step(t, *stop)) {
			spin = SPIN_STOPPED;
		} else if (is_again(here, t)) {
			spin = here->counts ? SPIN_COUNTS : SPIN_STAYS;
			*steps = i;
		} else if (is_again(later, t)) {
			spin = later->counts ? SPIN_COUNTS : SPIN_COMES;
			*steps = i - begun;
		} else if (i >= begin && (cell == i || i - cell >= begin)) {
			round_begin(later, t, to.cell);
			begun = i;
			begin *= 2;
		}
	}
	free(here);
	return spin;
}

static bool
is_at(const struct tracee *t, const struct spin_state *s)
{
	return tracee_word(t, t->machine->pc) == s->pc && tracee_sum(t) == s->sum;
}

/* The thread is in such a loop: steps to the state. */
static enum reach
go_round(struct tracee *t, const struct spin_state *s, enum stop *stop)
{
	for (unsigned i = 0; i < s->steps; i++) {
		if (is_at(t, s))
			return REACH_THERE;
		*stop = tracee_go_own(t, PTRACE_SYSEMU_SINGLESTEP);
		if (!is_step(t, *stop))
			return REACH_OTHER;
	}
	return REACH_OTHER;
}

/* The thread gets into the loop by itself, and stays there. Looks again and again whether it has. */
static enum reach
reach_by_time(struct tracee *t, const struct spin_state *s, enum stop *stop)
{
	enum { FIRST_NS = 50000, MOST_NS = 20000000 };

	for (uint64_t ns = FIRST_NS;; ns = ns < MOST_NS ? 2 * ns : ns) {
		unsigned steps = s->steps;

		switch (spin_here(t, false, &steps, stop)) {
		case SPIN_STAYS: case SPIN_COMES: return go_round(t, s, stop);
		case SPIN_STOPPED: return REACH_OTHER;
		case SPIN_COUNTS: case SPIN_NOT: break;
		}
		*stop = tracee_go_for(t, PTRACE_SYSEMU, ns);
		if (*stop != STOP_GROUP)
			return REACH_OTHER;
	}
}

/* The same if a debugger looks on: the thread is stopped at each arrival. */
static enum reach
reach_by_breakpoint(struct tracee *t, const struct spin_state *s, enum stop *stop)
{
	for (;;) {
		unsigned steps = s->steps;

		if (is_at(t, s)) {
			switch (spin_here(t, false, &steps, stop)) {
			case SPIN_STAYS: return REACH_THERE;
			case SPIN_STOPPED: return REACH_OTHER;
			case SPIN_COMES: case SPIN_COUNTS: case SPIN_NOT: break;
			}
		}
		if (tracee_word(t, t->machine->pc) == s->pc) {
			*stop = tracee_go_own(t, PTRACE_SYSEMU_SINGLESTEP);
			if (!is_step(t, *stop))
				return REACH_OTHER;
			continue;
		}
		if (!breakpoint_run(t, s->pc, stop))
			return REACH_OTHER;
	}
}

enum reach
spin_reach(struct tracee *t, const struct spin_state *s, enum stop *stop)
{
	return t->own ? reach_by_breakpoint(t, s, stop) : reach_by_time(t, s, stop);
}
