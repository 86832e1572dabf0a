/* SPDX-License-Identifier: MIT */
/* A trace of several extents that is packed badly: what each round does depends on a random number. The main thread has
 * signals, jumps and a deep stack. Other threads come one after another, and have one stream. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static volatile unsigned sum;
static __thread jmp_buf back;

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
	if (x & 1)
		sum += x;
	if (x & 2)
		sum ^= x;
	if (x & 4)
		sum -= x / 3;
	if (x & 8)
		sum++;
}

static __attribute__((noinline)) void
rare(unsigned x)
{
	leaf(x);
	if (x % 3 == 0)
		longjmp(back, 1);
}

static __attribute__((noinline)) void
struck(int s)
{
	sum += (unsigned)s;
	leaf(sum);
}

static __attribute__((noinline)) unsigned
deep(unsigned n, unsigned x)
{
	leaf(x >> n % 8);
	return n ? deep(n - 1, x) + (x >> n & 1) : 0;
}

static __attribute__((noinline)) void
rounds(unsigned n, unsigned x)
{
	for (volatile unsigned i = 0; i < n; i++) {
		unsigned r = next(&x);

		if (!setjmp(back)) {
			leaf(r);
			leaf(r >> 4);
			if (r % 1000 == 7)
				rare(r >> 10);
			if (r % 1000 == 8)
				sum += deep(40, r);
		}
		if (r % 10000 == 9)
			raise(SIGUSR1);
	}
}

static void *
thread(void *x)
{
	rounds(60000, *(unsigned *)x);
	return NULL;
}

int
main(void)
{
	unsigned seed[] = {7, 77, 777};

	signal(SIGUSR1, struck);
	for (int i = 0; i < 3; i++) {
		pthread_t t;

		rounds(90000, seed[i] + 1);
		pthread_create(&t, NULL, thread, &seed[i]);
		pthread_join(t, NULL);
	}
	printf("%u\n", sum);
	return 0;
}
