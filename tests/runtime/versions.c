/* SPDX-License-Identifier: MIT */
/* versions LIB...: opens, closes and opens again libraries whose runtimes have other versions, before and after there are
 * threads, with fork, and with code that holds a path register. Prints what this program must count. */
#define _GNU_SOURCE
#include "shadow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long run_fn(long (*f)(long), long arg);

static run_fn *run[16];
static int nrun;
static pthread_barrier_t barrier;

static long
inner(long n)
{
	return n ? hold(inner, n - 1, &dense[n]) : 0;
}

/* Through all libraries and back. */
static long
through(long k)
{
	return k < nrun ? run[k](through, k + 1) : inner(10);
}

static void *
early(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < 100; k++)
			through(0);
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static void *
late(void *arg)
{
	for (int k = 0; k < 100; k++)
		through(0);
	return arg;
}

static void *
open_it(const char *path)
{
	void *h = dlopen(path, RTLD_NOW);

	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	run[nrun++] = (run_fn *)dlsym(h, "run");
	return h;
}

static void
threads(void)
{
	pthread_t t[8];

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, late, NULL))
			abort();
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_wait(&barrier);
}

static void
child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		through(0);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		abort();
}

int
main(int argc, char **argv)
{
	void *h = NULL;
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&t, NULL, early, NULL))
		abort();
	threads();
	for (int i = 1; i < argc; i++)
		h = open_it(argv[i]);
	threads();
	child();
	dlclose(h);
	nrun--;
	h = open_it(argv[argc - 1]);
	threads();
	pthread_join(t, NULL);
	for (int k = 1; k <= 10; k++)
		printf("counter %d %d\n", k, 3 * 9 * 100 + 1); /* the last in the child */
	return 0;
}
