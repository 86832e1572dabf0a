/* SPDX-License-Identifier: MIT */
/* One thread runs the program's code in callbacks of dl_iterate_phdr, under the loader's lock. Another one opens and closes a
 * library, or looks up names under a lock that the callback wants, or the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile unsigned sum;

__attribute__((noinline)) static void
work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (i * 2654435761u >> 13 & 1)
			sum += i;
		else
			sum ^= i;
}

static int
callback(struct dl_phdr_info *info, size_t size, void *of)
{
	(void)info, (void)size;
	do
		work(3000);
	while (of);
	return 1;
}

static void *
walk(void *a)
{
	while (!stop)
		dl_iterate_phdr(callback, a);
	return a;
}

static int
lock(struct dl_phdr_info *info, size_t size, void *of)
{
	(void)info, (void)size, (void)of;
	pthread_mutex_lock(&mutex);
	work(1);
	pthread_mutex_unlock(&mutex);
	return 1;
}

static void *
locks(void *a)
{
	while (!stop)
		dl_iterate_phdr(lock, NULL);
	return a;
}

static void
look_up(int n)
{
	int all = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, locks, NULL);
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		sched_yield();
		all += dlsym(RTLD_DEFAULT, "getpid") != NULL;
		pthread_mutex_unlock(&mutex);
		usleep(10);
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%d\n", all);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, all = 0;
	pthread_t thread;
	void *library;

	if (argc > 2 && !strcmp(argv[2], "names")) {
		look_up(n);
		return 0;
	}
	pthread_create(&thread, NULL, walk, argc > 2 ? argv[2] : NULL);
	if (argc > 2) {
		usleep(100000);
		puts("the thread stays there");
		return 0;
	}
	for (int i = 0; i < n; i++) {
		library = dlopen("./liblist.so", RTLD_NOW);
		if (!library)
			return 1;
		all += ((int (*)(int))dlsym(library, "next"))(i);
		dlclose(library);
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%d\n", all);
	return 0;
}
