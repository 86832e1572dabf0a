/* SPDX-License-Identifier: MIT */
/* scale WHAT N: libs (many0.so and so on are opened and called), threads (one after the other), alive (threads at the same
 * time), forks. Prints on standard error how many seconds that took. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t all;
static long sum;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) long
work(long n)
{
	long s = 0;

	for (long i = 0; i < n; i++)
		s += i;
	return s;
}

static void *
short_one(void *a)
{
	__atomic_fetch_add(&sum, work(10), __ATOMIC_RELAXED);
	return a;
}

static void *
waiting_one(void *a)
{
	short_one(a);
	pthread_barrier_wait(&all);
	return a;
}

static void
libs(int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		void *h;
		int (*f)(int);

		snprintf(name, sizeof name, "./many%d.so", i);
		h = dlopen(name, RTLD_NOW);
		f = h ? (int (*)(int))dlsym(h, "work") : NULL;
		if (!f) {
			puts(dlerror());
			exit(1);
		}
		sum += f(10);
	}
}

static void
threads(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, short_one, NULL))
			exit(1);
		pthread_join(t, NULL);
	}
}

static void
alive(int n)
{
	pthread_t *t = calloc((size_t)n, sizeof *t);
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (int i = 0; t && i < n; i++)
		if (pthread_create(&t[i], &a, waiting_one, NULL))
			exit(1);
	for (int i = 0; t && i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

static void
forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t p = fork();

		if (!p) {
			sum += work(10);
			exit(0);
		}
		if (p < 0)
			exit(1);
		waitpid(p, NULL, 0);
		sum += 45;
	}
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	double begun = now();

	if (!strcmp(argv[1], "libs"))
		libs(n);
	else if (!strcmp(argv[1], "threads"))
		threads(n);
	else if (!strcmp(argv[1], "alive"))
		alive(n);
	else
		forks(n);
	if (sum != 45l * n)
		return 1;
	fprintf(stderr, "%.3f\n", now() - begun);
	return 0;
}
