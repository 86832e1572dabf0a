/* SPDX-License-Identifier: MIT */
/* flight FILE [THREADS]: keeps in a file how far it is. It raises each number right after what the number counts has begun, so
 * of each kind at most one for each thread has begun and is not in the file. It never ends. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNC __attribute__((noinline))

enum { TURN, LEAF, TREE, EVEN, COMPARE, CASES };

static struct told { uint64_t n[8]; } *told;
static __thread struct told *mine;

static inline void
tell(int what)
{
	__atomic_fetch_add(&mine->n[what], 1, __ATOMIC_RELAXED);
}

FUNC static int
leaf(int n)
{
	tell(LEAF);
	return n & 1 ? n + 3 : n / 2;
}

FUNC static int
tree(int depth)
{
	int sum = 0;

	tell(TREE);
	if (depth == 0)
		return leaf(depth);
	for (int i = 0; i < 2; i++)
		sum += tree(depth - 1);
	return sum;
}

FUNC static int odd(int n);
FUNC static int
even(int n)
{
	tell(EVEN);
	return n == 0 ? 1 : odd(n - 1) + 1;
}

FUNC static int
odd(int n)
{
	return n == 0 ? 0 : even(n - 1) + 1;
}

FUNC static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	tell(COMPARE);
	return (x > y) - (x < y);
}

FUNC static int
cases(int n)
{
	tell(CASES);
	switch (n % 7) {
	case 0: return leaf(n);
	case 1: return n + 9;
	case 2: n += leaf(n); /* fallthrough */
	case 3: return n ^ 5;
	case 5: while (n > 3) n -= 3; return n;
	default: return -n;
	}
}

FUNC static void *
turn(void *arg)
{
	volatile int sum = 0;
	int v[16];

	mine = arg;
	for (int k = 0;; k++) {
		tell(TURN);
		for (int i = 0; i < 16; i++)
			v[i] = i * 7 % 16;
		qsort(v, 16, sizeof *v, compare);
		for (int i = 0; i < 20; i++)
			sum += cases(i + k % 5);
		sum += tree(3) + even(6) + v[k % 16];
	}
	return arg;
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	pthread_t t;

	if (ftruncate(fd, 4096))
		return 2;
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 1; i <= n; i++)
		pthread_create(&t, NULL, turn, told + i);
	turn(told);
	return 0;
}
