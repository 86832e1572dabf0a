/* SPDX-License-Identifier: MIT */
/* Long traces, packed badly, of threads that run at the same time, of a child, and of a thread that continues another one's
 * stream. They take turns with a lock, wait for each other, and have signals, jumps and handlers that lock. Meanwhile main
 * forks. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;
static __thread jmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned
next(unsigned *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static __attribute__((noinline)) void
leaf(unsigned x)
{
	static __thread volatile unsigned n;

	if (x & 1)
		n += x;
	if (x & 2)
		n ^= x;
	if (x & 4)
		n -= x / 3;
	if (x & 8)
		n++;
}

static __attribute__((noinline)) void
turn(unsigned x)
{
	pthread_mutex_lock(&lock);
	sum += x;
	leaf(x);
	pthread_mutex_unlock(&lock);
}

static void
struck(int s)
{
	leaf((unsigned)s);
	turn(1);
	leaf(sum);
}

static __attribute__((noinline)) void
rounds(unsigned n, unsigned x)
{
	for (volatile unsigned i = 0; i < n; i++) {
		unsigned r = next(&x);

		if (setjmp(back))
			continue;
		leaf(r);
		leaf(r >> 4);
		leaf(r >> 8);
		if (r % 4096 == 7)
			turn(r);
		if (r % 8192 == 9)
			raise(SIGUSR1);
		if (r % 8192 == 11)
			longjmp(back, 1);
	}
}

static void *
brief(void *x)
{
	turn(3);
	return x;
}

static void *
run(void *x)
{
	rounds(140000, *(unsigned *)x);
	for (int i = 0; i < 3; i++) {
		pthread_t t;

		pthread_create(&t, NULL, brief, NULL);
		pthread_join(t, NULL);
	}
	rounds(100000, *(unsigned *)x + 1);
	return NULL;
}

int
main(void)
{
	unsigned seed[] = {7, 77};
	pthread_t t[2];
	pid_t child;

	signal(SIGUSR1, struck);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, &seed[i]);
	rounds(150000, 5);
	pthread_join(t[0], NULL);
	child = fork();
	rounds(child ? 50000 : 150000, 9);
	if (!child)
		_exit(0);
	pthread_join(t[1], NULL);
	waitpid(child, NULL, 0);
	pthread_create(&t[0], NULL, run, &seed[1]);
	pthread_join(t[0], NULL);
	return 0;
}
