/* SPDX-License-Identifier: MIT */
/* What a guest must not disturb, between "begin" and "end" on standard output: memory, streams, signals, errno. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf env;
static volatile int signals;

static void
handler(int sig)
{
	(void)sig;
	signals++;
}

__attribute__((noinline)) static void
jump(int n)
{
	if (n)
		jump(n - 1);
	else
		longjmp(env, 1);
	__asm__ volatile("");
}

/* Twice, so that what is asked only once has been. */
static int
things(void)
{
	char *p = malloc(100);

	if (!p)
		return 1;
	memset(p, 'x', 100);
	free(p);
	errno = 77;
	if (setjmp(env) == 0)
		jump(5);
	signals = 0;
	raise(SIGUSR1);
	return signals != 1 || errno != 77;
}

int
main(void)
{
	int bad = signal(SIGUSR1, handler) != SIG_DFL || things();

	puts("begin");
	fflush(stdout);
	for (int i = 0; i < 100; i++)
		bad |= things();
	puts("end");
	fflush(stdout);
	return bad;
}
