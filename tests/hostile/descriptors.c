/* SPDX-License-Identifier: MIT */
/* Prints which descriptors are open, at the start, and when a thread and a child have been made. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void
show(const char *when)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	printf("%s", when);
	while ((e = readdir(d)))
		printf(" %s", e->d_name);
	printf(" next %d\n", fcntl(1, F_DUPFD, 500));
	fflush(stdout);
	closedir(d);
}

static void *
start(void *arg)
{
	show("thread");
	return arg;
}

int
main(void)
{
	pthread_t t;
	pid_t p;

	show("main");
	pthread_create(&t, NULL, start, NULL);
	pthread_join(t, NULL);
	show("joined");
	p = fork();
	if (p == 0) {
		show("child");
		return 0;
	}
	waitpid(p, NULL, 0);
	show("parent");
	return 0;
}
