/* SPDX-License-Identifier: MIT */
/* A trace of several extents that is packed badly, so it gets an index: what each round does depends on a random number.
 * Signals strike within traced code and within handlers; the stack is deep; several threads have one stream, one after another. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static volatile unsigned sum;
static __thread jmp_buf back;
static __thread unsigned state;

static unsigned
next(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static __attribute__((noinline)) void
leaf(unsigned x)
{
	if (x & 1)
		sum += x;
	if (x & 2)
		sum ^= x;
	if (x % 16 == 7)
		__asm__ volatile("int3");
	if (x & 4)
		sum -= x / 3;
}

static void
struck(int s)
{
	leaf(next() % 65536);
	if (s == SIGUSR1 && next() % 3 == 0)
		longjmp(back, 1);
}

static __attribute__((noinline)) unsigned
deep(unsigned n, unsigned x)
{
	leaf(x >> n % 8);
	if (x >> n & 2)
		sum += n;
	if (x % 64 == 5)
		__asm__ volatile("int3");
	if (x >> n & 4)
		sum++;
	return n ? deep(n - 1, x) + (x >> n & 1) : 0;
}

static __attribute__((noinline)) unsigned
rounds(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		if (!setjmp(back)) {
			leaf(next());
			sum += deep(next() % 4, next());
			if (next() % 512 == 9)
				raise(SIGUSR1);
		}
	return sum;
}

static __attribute__((noinline)) unsigned
below(unsigned n)
{
	return n ? below(n - 1) + 1 : rounds(50000);
}

static void *
run(void *p)
{
	state = *(unsigned *)p;
	rounds(60000);
	return p;
}

int
main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = struck, .sa_flags = SA_NODEFER};
	unsigned seed = 77;
	pthread_t t;

	sigaction(SIGTRAP, &a, NULL);
	sigaction(SIGUSR1, &a, NULL);
	(void)argv;
	state = 7 + (unsigned)argc;
	for (int i = 0; i < 2; i++) {
		sum += below(20);
		pthread_create(&t, NULL, run, &seed);
		pthread_join(t, NULL);
	}
	return 0;
}
