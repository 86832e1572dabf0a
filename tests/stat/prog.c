/* SPDX-License-Identifier: MIT */
/* Some of everything that events count; the same every time.
 *
 *	prog [N]             N rounds (default 20), a number is printed, status 3
 *	prog N fork          a child does it too
 *	prog N exec PROGRAM  and then PROGRAM runs in its place
 *	prog N kill          it kills itself
 *	prog N fault         it is killed
 *	prog N threads       three threads, of N, 2N and 3N rounds, one after the other; those with
 *	                     odd numbers leave through pthread_exit
 *	prog N together      all three are made before the first may run
 *	prog N exit          exit() is called deep in calls */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static uint32_t seed = 1;
static double reals[64];
static float singles[64];
static long counts[16];
static char text[256], copy[256];

static APART uint32_t
rnd(uint32_t n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static int
by_value(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static APART long
sort(void)
{
	long v[40], sum = 0;

	for (int i = 0; i < 40; i++)
		v[i] = rnd(1000);
	qsort(v, 40, sizeof *v, by_value);
	for (int i = 0; i < 40; i++)
		sum += v[i] * i;
	return sum;
}

static APART double
floats(int n)
{
	long double wide = 1;
	double sum = 0;

	for (int i = 0; i < 64; i++) {
		reals[i] = reals[i] * 0.5 + i;
		singles[i] += (float)i / 3;
		sum += reals[i] / (i + 1) + singles[i];
	}
	for (int i = 0; i < n % 7; i++)
		wide = wide * 1.25L + (long double)sum;
	return sum + (double)wide;
}

static APART long
choose(uint32_t kind, long v)
{
	switch (kind) {
	case 0: return v + 1;
	case 1: return v ^ 0x55;
	case 2: return v * 3;
	case 3: return v >> 2;
	case 4: return -v;
	case 5: return v & 0xff;
	case 6: return v | 8;
	case 7: return v % 77;
	default: return v;
	}
}

static APART long
bits(uint64_t v)
{
	long n = 0;

	for (int i = 0; i < 64; i += 3)
		n += v >> i & 1;
	__atomic_fetch_add(&counts[v % 16], 1, __ATOMIC_SEQ_CST);
	return n + __atomic_exchange_n(&counts[3], n, __ATOMIC_SEQ_CST);
}

/* A rep prefix is one instruction, however long it runs. */
static APART void
strings(size_t n)
{
	void *d = copy, *s = text;

	memset(text, 'a' + (int)(n % 26), sizeof text);
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

static APART long
fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static long (*const through)(long) = fib;

static APART long
rounds(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		long (*volatile f)(long) = through;

		sum += sort() + (long)floats((int)i) + bits((uint64_t)i * 77);
		for (int k = 0; k < 30; k++)
			sum += choose(rnd(9), sum);
		strings((size_t)rnd(200) * (i % 5 != 0));
		sum += f(i % 12);
	}
	return sum;
}

static APART void
leave(long n, int how)
{
	if (n)
		leave(n - 1, how);
	else if (how)
		exit(3);
	else
		pthread_exit(NULL);
	seed++;
}

static sem_t turn[4];
static long share;

static void *
thread(void *arg)
{
	long i = (long)arg;

	sem_wait(&turn[i]);
	rounds(share * i);
	if (i % 2)
		leave(5, 0);
	return NULL;
}

static void
threads(long n, int together)
{
	pthread_t t[4];

	share = n;
	for (long i = 1; i <= 3; i++) {
		sem_init(&turn[i], 0, !together);
		pthread_create(&t[i], NULL, thread, (void *)i);
		if (!together)
			pthread_join(t[i], NULL);
	}
	for (long i = 1; i <= 3 && together; i++) {
		sem_post(&turn[i]);
		pthread_join(t[i], NULL);
	}
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20;
	const char *what = argc > 2 ? argv[2] : "";
	pid_t child = strcmp(what, "fork") ? 1 : fork();

	if (!strcmp(what, "threads") || !strcmp(what, "together"))
		threads(n, !strcmp(what, "together"));
	else
		printf("%ld\n", rounds(n));
	fflush(stdout);
	if (!child)
		_exit(0);
	if (!strcmp(what, "fork"))
		wait(NULL);
	if (!strcmp(what, "exec"))
		execv(argv[3], argv + 3);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "fault"))
		*(volatile char *)(intptr_t)(n * 0) = 1;
	if (!strcmp(what, "exit"))
		leave(4, 1);
	return 3;
}
