/* SPDX-License-Identifier: MIT */
/* __builtin_longjmp over measured and unmeasured frames; out of a signal handler; in a procedure with a jump table. */
/* notes: none */
/* expect: main 1 */
/* expect: deep 20 */
/* expect: leave 25 */
/* expect: over 10 */
/* expect: sorted 5 */
/* expect: compare 5 */
/* expect: handler 5 */
/* expect: caught 5 */
/* expect: table 20 */
/* expect: leave_some 20 */
/* expect: stay 15 */
/* expect: work 22 */
/* line: before 20 */
/* line: behind 0 */
/* line: first 10 */
/* line: again 10 */
/* line: sort 5 */
/* line: sorted 0 */
/* line: return 5 */
/* line: struck 5 */
/* line: one 5 */
/* line: two 5 */
/* line: received 5 */
#include "situation.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *receiver[5];

static receiver env;
static __thread receiver own;

FUNC static void
leave(receiver r)
{
	__builtin_longjmp(r, 1);
}

FUNC static void
deep(int n, receiver r)
{
	STEP; /* @before */
	if (n > 0)
		deep(n - 1, r);
	else
		leave(r);
	STEP; /* @behind */
}

/* Two activations of deep are abandoned. */
FUNC static void
over(void)
{
	if (__builtin_setjmp(env)) {
		STEP; /* @again */
		return;
	}
	STEP; /* @first */
	deep(1, env);
	STEP; /* keeps the call from being a tail call */
}

FUNC static int
compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	leave(own);
	return 0;
}

/* The frames of qsort are not measured. */
FUNC static void
sorted(int n)
{
	int v[n + 2];

	v[0] = v[1] = v[n] = n;
	if (__builtin_setjmp(own)) {
		work_times(v[n] - n + 1);
		STEP; /* @return */
		return;
	}
	STEP; /* @sort */
	qsort(v, 2, sizeof *v, compare);
	STEP; /* @sorted */
}

FUNC static void
handler(int sig)
{
	(void)sig;
	leave(env);
}

/* raise is declared as a function that does not come back in other ways than by returning. */
FUNC static void
strike(void)
{
	raise(SIGUSR1);
}

FUNC static void
caught(void)
{
	if (__builtin_setjmp(env)) {
		STEP; /* @struck */
		return;
	}
	strike();
	STEP;
}

FUNC static void
leave_some(int n, receiver r)
{
	if (n % 4 == 3)
		leave(r);
	work_times(n % 4 == 1);
}

FUNC static void
stay(void)
{
	STEP;
}

/* The switch is a table, and nothing in it leads to the receiver. */
FUNC static int
table(int n)
{
	receiver here;
	volatile int seen = 0;

	if (__builtin_setjmp(here)) {
		STEP; /* @received */
		return 2 * seen;
	}
	switch (n % 4) {
	case 0: STEP; /* @one */ seen = 1; break;
	case 1: STEP; /* @two */ seen = 2; break;
	case 2: STEP; seen = 30; break;
	case 3: STEP; seen = 500; break;
	case 4: STEP; seen = 9; break;
	}
	leave_some(n, here);
	stay();
	return seen;
}

int
main(void)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_NODEFER};
	int sum = 0;

	sigaction(SIGUSR1, &sa, NULL);
	for (volatile int i = 0; i < 10; i++)
		over();
	for (volatile int i = 0; i < 5; i++)
		sorted(i);
	for (volatile int i = 0; i < 5; i++)
		caught();
	for (volatile int i = 0; i < 20; i++)
		sum += table(i);
	work_times(sum == 5 * (1 + 2 + 30 + 1000) ? 12 : 0);
	return 0;
}
