/* SPDX-License-Identifier: MIT */
/* unseen [fork]: unseen_calls.c, which is not measured, makes a thread or a process by a system call. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

long raw_fork(void);
long raw_thread(void *, void (*)(void));
static atomic_int done;

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile("");
}

static void
thread(void)
{
	work();
	done = 1;
	for (;;)
		;
}

int
main(int argc, char **argv)
{
	char *stack;
	int status;

	(void)argv;
	if (argc > 1) {
		if (raw_fork() == 0) {
			work();
			exit(3);
		}
		wait(&status);
		return WEXITSTATUS(status);
	}
	stack = malloc(1 << 20);
	raw_thread(stack + (1 << 20) - 64, thread);
	while (!done)
		usleep(100);
	return 0;
}
