/* SPDX-License-Identifier: MIT */
/* Calls through pointers. The source says their callees as CALLER CALLEE CALLS, over all call sites of the caller. */
/* callees: twice half 10 */
/* callees: twice third 20 */
/* callees: main (not measured) 7 */
/* callees: jumper away 5 */
/* callees: walk walk 15 */
/* callees: walk half 5 */
/* callees: main walk 5 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef int fn(int);

static volatile int sink;
static jmp_buf out;

int half(int n), third(int n), twice(fn *f, int n), order(const void *a, const void *b), away(int n), jumper(fn *f);

__attribute__((noinline)) int
half(int n)
{
	return n / 2 + sink;
}

__attribute__((noinline)) int
third(int n)
{
	return n / 3 + sink;
}

__attribute__((noinline)) int
twice(fn *f, int n)
{
	return f(n) + f(n + 1);
}

/* Called by the library, not by a call that is measured. */
__attribute__((noinline)) int
order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) int
away(int n)
{
	if (n == 0)
		longjmp(out, 1);
	return n;
}

__attribute__((noinline)) int
jumper(fn *f)
{
	return f(0) + sink;
}

struct deep { int (*f)(struct deep *, int); };
int walk(struct deep *d, int n);

__attribute__((noinline)) int
walk(struct deep *d, int n)
{
	fn *volatile end = half;

	return n == 0 ? end(n) + sink : d->f(d, n - 1) + sink;
}

int
main(void)
{
	size_t (*volatile length)(const char *) = strlen;
	int v[] = {5, 2, 8, 1, 9, 3};
	struct deep d = {walk};
	fn *volatile leaves = away;
	volatile int i;

	for (i = 0; i < 15; i++)
		sink = 0 * twice(i % 3 ? third : half, i);
	for (i = 0; i < 7; i++)
		sink = 0 * (int)length("some");
	for (i = 0; i < 5; i++)
		if (!setjmp(out))
			jumper(leaves);
	for (i = 0; i < 5; i++) {
		int (*volatile f)(struct deep *, int) = walk;
		sink = 0 * f(&d, 3);
	}
	qsort(v, 6, sizeof *v, order);
	return v[0] != 1;
}
