/* SPDX-License-Identifier: MIT */
/* Two threads, one of them made by clone(), jump back at the same time. libc believes that the process has a single thread. */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

static atomic_int go;

__attribute__((noinline, noclone)) static void
leap(jmp_buf b)
{
	longjmp(b, 1);
}

__attribute__((noinline, noclone)) void
work(int n)
{
	jmp_buf b;

	for (volatile int i = 0; i < n; i++)
		if (!setjmp(b))
			leap(b);
}

static int
thread(void *n)
{
	go = 1;
	work((int)(long)n);
	return 0;
}

int
main(void)
{
	char *stack = malloc(1 << 20);
	int p = clone(thread, stack + (1 << 20), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, (void *)1000000L);

	while (!go)
		;
	work(1000000);
	return waitpid(p, NULL, 0) != p;
}
