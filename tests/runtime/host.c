/* SPDX-License-Identifier: MIT */
/* host LIB: an unmeasured program with threads that opens a measured library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void (*volatile count)(void);
static pthread_barrier_t barrier;

static void *
early(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++)
		count();
	return arg;
}

static void *
late(void *arg)
{
	for (int i = 0; i < 50000; i++)
		count();
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
	count = (void (*)(void))dlsym(h, "lib_count");
	return h;
}

static void
eight(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, late, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void
nothing(void)
{
}

int
main(int argc, char **argv)
{
	pthread_t t;
	void *h;

	pthread_barrier_init(&barrier, NULL, 2);
	if (argc > 2)
		pthread_create(&t, NULL, early, NULL), pthread_barrier_wait(&barrier);
	h = open_it(argv[1]);
	eight();
	if (argc > 2)
		pthread_barrier_wait(&barrier), pthread_join(t, NULL);
	dlclose(h);
	count = nothing;
	eight();
	h = open_it(argv[1]);
	eight();
	return 0;
}
