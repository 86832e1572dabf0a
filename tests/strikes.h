/* SPDX-License-Identifier: MIT */
/* Signals for a program that is single-stepped, at places that a seed determines. STRIKE=SEED: SIGUSR1 and SIGUSR2 every few
 * steps. STRIKE=SEED:SWEEPS[:STRIDE]: a handler of SIGUSR1, SIGUSR2 or SIGALRM is struck by a second one, and that by the
 * third. The first is struck at each of its instructions, one after the other (a sweep), or at one of STRIDE; this includes
 * woven code, the runtime, and the return to the kernel. The second, and what the first strikes, are struck anywhere. Each of
 * the three is swept SWEEPS times; then SIGURG says that it is over. Programs for this have one thread, and handlers no stack
 * of their own. */
#ifndef TESTS_STRIKES_H
#define TESTS_STRIKES_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NESTED = 3, ANY_MORE = 200 };

/* What is under way: the program, a handler of it, one of that handler, one of that. */
struct strike_level {
	int signal;
	unsigned struck;         /* so often */
	uint64_t sp, steps, at;  /* when it was entered; its own steps since then; with how many of these it is struck */
};

struct strikes {
	uint32_t seed, wait;     /* of random ones: steps until the next; seed 0: none is sent */
	bool handles;
	unsigned sweeps, stride, swept; /* 0 sweeps: random ones */
	unsigned depth, sent, deep; /* under way; strikes, and those of a handler's handler */
	bool over;
	struct strike_level level[NESTED + 1];
	uint64_t length[NESTED], next; /* of the handlers, as far as is known; where the first one will be struck */
};

static const int nested_signal[NESTED] = {SIGUSR1, SIGUSR2, SIGALRM};

static inline void
strikes_begin(struct strikes *s)
{
	const char *how = getenv("STRIKE");

	s->stride = 1;
	if (how)
		sscanf(how, "%u:%u:%u", &s->seed, &s->sweeps, &s->stride);
	for (int i = 0; i < NESTED; i++)
		s->length[i] = ANY_MORE;
}

static inline uint32_t
strike_draw(struct strikes *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 17;
	s->seed ^= s->seed << 5;
	return s->seed;
}

/* Is there a handler of each? */
static inline bool
strike_handles(struct strikes *s, pid_t tid)
{
	unsigned long long caught = 0, want = 1ull << (SIGUSR1 - 1) | 1ull << (SIGUSR2 - 1);
	char name[64], line[256];
	FILE *f;

	if (s->sweeps)
		want |= 1ull << (SIGALRM - 1) | 1ull << (SIGURG - 1);
	snprintf(name, sizeof name, "/proc/%d/status", tid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "SigCgt: %llx", &caught);
	if (f)
		fclose(f);
	s->handles = (caught & want) == want;
	return s->handles;
}

static inline bool
strike_blocked(pid_t tid, int sig)
{
	uint64_t blocked = 0;

	return ptrace(PTRACE_GETSIGMASK, tid, sizeof blocked, &blocked) || blocked >> (sig - 1) & 1;
}

/* Often two come close to each other, or at once. A signal that is blocked is not sent. */
static inline int
strike_random(struct strikes *s, pid_t tid)
{
	int sig;

	if (s->wait--)
		return 0;
	s->wait = strike_draw(s) % 3 ? strike_draw(s) % 2000 : strike_draw(s) % 12;
	sig = strike_draw(s) % 2 ? SIGUSR1 : SIGUSR2;
	return strike_blocked(tid, sig) ? 0 : sig;
}

static inline bool
strike_under_way(const struct strikes *s, int sig)
{
	for (unsigned i = 1; i <= s->depth; i++)
		if (s->level[i].signal == sig)
			return true;
	return false;
}

/* The first is the one that is swept; of the others one that is not under way. */
static inline int
strike_chosen(struct strikes *s)
{
	unsigned i = strike_draw(s) % NESTED;

	if (!s->depth)
		return s->swept < s->sweeps * NESTED ? nested_signal[s->swept % NESTED] : SIGURG;
	while (strike_under_way(s, nested_signal[i]))
		i = (i + 1) % NESTED;
	return nested_signal[i];
}

static inline uint64_t *
strike_length(struct strikes *s, int sig)
{
	for (unsigned i = 0; i < NESTED; i++)
		if (nested_signal[i] == sig)
			return &s->length[i];
	return &s->next;         /* SIGURG's: of no matter any more */
}

static inline void
strike_entered(struct strikes *s, uint64_t sp)
{
	struct strike_level *l = &s->level[++s->depth];
	uint64_t length = *strike_length(s, l->signal);

	l->sp = sp;
	l->steps = l->struck = 0;
	l->at = s->depth == 1 ? s->next : s->depth == 2 ? strike_draw(s) % (length + 1) : UINT64_MAX;
	s->deep += s->depth == NESTED;
}

/* A handler's way back is over. The first one that ended before it was to be struck has been struck everywhere. */
static inline void
strike_left(struct strikes *s)
{
	struct strike_level *l = &s->level[s->depth--];

	*strike_length(s, l->signal) = l->steps;
	if (s->depth)
		return;
	if (!l->struck) {
		s->swept++;
		s->next = 0;
	}
	s->level[0].steps = 0;
	s->level[0].at = strike_draw(s) % 3 ? strike_draw(s) % ANY_MORE : strike_draw(s) % 4;
}

/* Now and then what was struck is struck once more, there or a little further on; but not on its way back to the kernel: whose
 * way back that is, its own or that of what struck it amid its last instructions, is one of the things that no trace tells
 * (docs/tracing.md). */
static inline void
strike_send(struct strikes *s, pid_t tid, int sig)
{
	struct strike_level *l = &s->level[s->depth];

	if (!l->struck++ && s->depth == 1)
		s->next = l->steps + 1 + strike_draw(s) % (2 * s->stride - 1);
	l->at = s->depth && strike_draw(s) % 4 == 0 ? l->steps + strike_draw(s) % 4 : UINT64_MAX;
	l[1].signal = sig;
	s->sent++;
	s->over |= sig == SIGURG;
	syscall(SYS_tgkill, tid, tid, sig);
}

/* A step has been made, or (entered) a signal given, and the stack pointer is there. Is a signal sent that comes before the
 * next? */
static inline bool
strike_nested(struct strikes *s, pid_t tid, bool entered, uint64_t sp)
{
	struct strike_level *l = &s->level[s->depth];
	bool left = false;
	int sig;

	if (entered) {
		strike_entered(s, sp);
	} else {
		/* The restorer's instructions, where the return address has been taken, are still the handler's. */
		for (; s->depth && sp > s->level[s->depth].sp + 8; left = true)
			strike_left(s);
		s->level[s->depth].steps += !left;
	}
	l = &s->level[s->depth];
	if (s->over || s->depth == NESTED || l->steps < l->at || (s->depth && l->struck && sp > l->sp))
		return false;
	sig = strike_chosen(s);
	if (strike_blocked(tid, sig))
		return false;
	strike_send(s, tid, sig);
	return true;
}

/* The signal to be given with the next step, or 0. *sent: one has been sent, which comes before that. Entered: a signal was given
 * with the last one; where a handler has just been entered the kernel takes none but one that was sent. */
static inline int
strike_now(struct strikes *s, pid_t tid, bool entered, uint64_t sp, bool *sent)
{
	*sent = false;
	if (!s->seed || (!s->handles && !strike_handles(s, tid)))
		return 0;
	if (!s->sweeps)
		return entered ? 0 : strike_random(s, tid);
	*sent = strike_nested(s, tid, entered, sp);
	return 0;
}

static inline void
strikes_say(const struct strikes *s)
{
	if (s->sweeps)
		printf("%u strikes, %u of a handler's handler\n", s->sent, s->deep);
}
#endif
