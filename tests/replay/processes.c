/* SPDX-License-Identifier: MIT */
/* Processes that meet: a pipe, memory that parent and child share, vfork(), a shell, a process that executes another program. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t children;

static void
on_child(int sig)
{
	(void)sig;
	children++;
}

static long
now(void)
{
	struct timeval t;

	gettimeofday(&t, NULL);
	return t.tv_usec;
}

static int
status_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child ? status : -1;
}

int
main(int argc, char **argv)
{
	volatile long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int to[2];
	pid_t child;
	char line[64];

	if (argc > 1) {
		printf("%s of %d\n", argv[1], (int)getpid());
		return 7;
	}
	signal(SIGCHLD, on_child);
	if (pipe(to))
		return 1;
	child = fork();
	if (!child) {
		shared[0] = now();
		dprintf(to[1], "%d at %ld\n", (int)getpid(), shared[0]);
		_exit(5);
	}
	printf("child says %.*s", (int)read(to[0], line, sizeof line), line);
	printf("status %x, shared %ld, %s\n", status_of(child), shared[0], children == 1 ? "one signal" : "no signal");
	child = vfork();
	if (!child)
		_exit(6);
	printf("vfork: %x\n", status_of(child));
	child = fork();
	if (!child)
		for (;;)
			pause();
	kill(child, SIGKILL);
	printf("killed: %x\n", status_of(child));
	fflush(stdout);
	if (system("echo shell $$ | cat; exit 9") != 9 << 8)
		return 1;
	execl(argv[0], argv[0], "last", (char *)NULL);
	return 1;
}
