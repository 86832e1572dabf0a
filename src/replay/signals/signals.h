/* SPDX-License-Identifier: MIT */
/* Recording nothing but signals, of a program that does the same again otherwise: it makes its system calls without being stopped,
 * and makes them anew in the replay. docs/replay.md has the rules. */
#ifndef CHORD_REPLAY_SIGNALS_H
#define CHORD_REPLAY_SIGNALS_H

#include "replay/internal.h"

/* Where a signal struck. */
enum struck {
	STRUCK_CODE,             /* at an instruction of code with a clock */
	STRUCK_BEFORE,           /* before a system call */
	STRUCK_WITHIN,           /* in a system call, which it has interrupted */
	STRUCK_KINDS,
};

struct place {
	enum struck how;
	struct state at;         /* in a call: pc is where the innermost call of code with a clock comes back (0: there is none,
	                          * and the count is that of all), sum is live_call_sum() */
	uint64_t number;
	int64_t result;          /* of one that was interrupted */
};

/* A signal that waits, and whether it has been sent again since. */
struct waiting {
	siginfo_t info;
	bool sent;
};

struct live {
	struct log *log;
	struct tracee *t;
	struct clock *clock;
	struct pool *pool;
	const char *file;
	bool over;               /* reported */
	/* recording */
	VEC(struct waiting) held; /* signals that wait for a state that can be named */
	uint64_t held_cpu;       /* tracee_cpu() as the first of them came */
	struct breakpoint back;  /* where control comes back to code with a clock, while some wait */
	struct place before;     /* the call that has been put off, */
	uint64_t before_sum;     /* and the registers' check sum there; 0: none has */
	/* replaying */
	uint64_t event;
	VEC(uint64_t) inside;    /* stack pointers to which handlers are to return */
};

/* ---- live.c: what recording and replaying do alike ---- */

bool live_info(const struct live *l, siginfo_t *info);
/* What the program does itself, it does again. */
bool live_is_own(const struct live *l, const siginfo_t *info);
/* The clock of the module of a PC, or of all. */
uint64_t live_count(const struct live *l, uint64_t pc);
/* What names a call beside the clock: where it is made, which, and with which arguments, the process's own number aside. */
uint64_t live_call_sum(const struct tracee *t);
void live_send(const struct live *l, int sig);
void live_follow_children(const struct live *l);
/* The processor's time is read as ever. */
void live_show_time(const struct live *l);
/* Puts off the call at whose beginning the program stands: it is then before the instruction. */
bool live_put_off(struct live *l);

#endif
