/* SPDX-License-Identifier: MIT */
/* A thread that the program makes by calling clone() itself. */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: work 11000 */
#define _GNU_SOURCE
#include "situation.h"
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

FUNC static int
thread(void *arg)
{
	(void)arg;
	work_times(1000);
	return 0;
}

int
main(void)
{
	char *stack = malloc(65536);
	for (int i = 0; i < 10; i++) {
		int pid = clone(thread, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);
		work_times(100);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
