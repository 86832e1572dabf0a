/* SPDX-License-Identifier: MIT */
/* jumps threads | signals | deep N | reopen LIB LIB: many jumps over the same frames, for what the runtime keeps of
 * frames. */
#define _GNU_SOURCE
#include "count.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define AFTER() __asm__ volatile("" : : : "memory") /* no tail call */

static __thread jmp_buf *target;

NOINLINE static void
three(void)
{
	CHORD_COUNT(1);
	longjmp(*target, 1);
}

NOINLINE static void
two(int n)
{
	char big[n];

	__asm__ volatile("" : : "r"(big) : "memory");
	three();
	AFTER();
}

NOINLINE static void
one(void)
{
	two(40);
	AFTER();
}

NOINLINE static void
jump_many(int n)
{
	jmp_buf here, *outer = target;

	for (volatile int i = 0; i < n; i++)
		if (setjmp(here) == 0) {
			target = &here;
			one();
		}
	target = outer;
}

static void *
thread(void *arg)
{
	jump_many(20000);
	return arg;
}

static void
threads(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static volatile int struck;

static void
on_alarm(int sig)
{
	(void)sig;
	struck++;
	jump_many(3);
}

/* Jumps inside of a handler that strikes in the midst of others. Prints how often. */
static void
signals(void)
{
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (struck < 300)
		jump_many(100);
	setitimer(ITIMER_REAL, &never, NULL);
	jump_many(1);
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
NOINLINE static void
down(volatile int n)
{
	if (n == 0)
		one();
	down(n - 1);
	AFTER();
}

NOINLINE static void
deep(int n)
{
	jmp_buf here;

	for (volatile int i = 0; i < 3; i++)
		if (setjmp(here) == 0) {
			target = &here;
			down(n);
		}
}

/* Calls back through a library's frame, which is another one each time. */
NOINLINE static void
through(void (*call)(void (*)(void)))
{
	jmp_buf here;

	for (volatile int i = 0; i < 3; i++)
		if (setjmp(here) == 0) {
			target = &here;
			call(one);
		}
}

static int
reopen(char **lib)
{
	void *h, *call, *first = NULL;
	int moved = 0;

	for (int i = 0; i < 10; i++) {
		h = dlopen(lib[i % 2], RTLD_NOW);
		call = h ? dlsym(h, "lib_call") : NULL;
		if (!call)
			return 3;
		first = first ? first : call;
		moved |= call != first;
		through((void (*)(void (*)(void)))call);
		dlclose(h);
	}
	return moved ? 4 : 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		threads();
	else if (argc > 1 && strcmp(argv[1], "signals") == 0)
		signals();
	else if (argc > 2 && strcmp(argv[1], "deep") == 0)
		deep(atoi(argv[2]));
	else if (argc > 3 && strcmp(argv[1], "reopen") == 0)
		return reopen(argv + 2);
	else
		return 2;
	return 0;
}
