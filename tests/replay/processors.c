/* SPDX-License-Identifier: MIT */
/* processors [early | alone]: prints on which processors it may run, as the kernel says of itself, a thread and a child, and in
 * /proc, before and after it has set these processors. It first makes many calls, so a recording binds it to one processor.
 * early: it reads /proc first; alone: it makes a call that cannot be recorded. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
tell(const char *who, pid_t of)
{
	unsigned long mask[16] = {0};
	long n = syscall(SYS_sched_getaffinity, of, sizeof mask, mask);

	printf("%s: %ld bytes:", who, n);
	for (int i = 0; i < 16; i++)
		printf(" %lx", mask[i]);
	printf("; %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	fflush(stdout);
}

/* They have a stop each. */
static void
many_calls(void)
{
	int fd[2];
	char c = 0;

	if (pipe(fd))
		exit(1);
	for (int i = 0; i < 2000; i++)
		if (write(fd[1], &c, 1) != 1 || read(fd[0], &c, 1) != 1)
			exit(1);
	close(fd[0]);
	close(fd[1]);
}

static void *
in_thread(void *of)
{
	many_calls();
	tell("thread", 0);
	tell("its first thread", *(pid_t *)of);
	return NULL;
}

static void
from_proc(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[4096];

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "Cpus_allowed", 12))
			fputs(line, stdout);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	pid_t self = getpid(), child;
	pthread_t thread;
	cpu_set_t all, one;

	many_calls();
	if (argc > 1 && !strcmp(argv[1], "alone"))
		syscall(SYS_memfd_secret, -1);
	else if (argc > 1)
		from_proc();
	tell("first", 0);
	pthread_create(&thread, NULL, in_thread, &self);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		many_calls();
		tell("child", 0);
		tell("parent", getppid());
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	sched_setaffinity(0, sizeof one, &one);
	many_calls();
	tell("bound by itself", 0);
	sched_setaffinity(0, sizeof all, &all);
	many_calls();
	tell("as before", 0);
	from_proc();
	return 0;
}
