/* SPDX-License-Identifier: MIT */
/* What emulators of processes do in their own way: threads, fork, vfork, signals, and jumps out of what is active. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf away;

__attribute__((noinline)) static void
step(void)
{
	__asm__ volatile("");
}

static void
steps(int n)
{
	for (int i = 0; i < n; i++)
		step();
}

static void
handler(int signal)
{
	(void)signal;
	steps(10);
}

__attribute__((noinline)) static void
leave(void)
{
	steps(100);
	longjmp(away, 1);
}

static void *
thread(void *arg)
{
	steps(1000);
	return arg;
}

int
main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 5; i++) {
		if (!vfork()) {
			step();
			_exit(0);
		}
		wait(NULL);
	}
	if (!fork()) {
		steps(7);
		return 0;
	}
	wait(NULL);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (!setjmp(away))
		leave();
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
