/* SPDX-License-Identifier: MIT */
/* Calls the procedures of code-stack.s, in which the stack pointer points to data. */
#include <stdio.h>

enum { ALL = 4096, FROM = 1024, N = 2048 };

unsigned long streaming(unsigned long *, long), summed(unsigned long *, long);
unsigned long lent(long), borrower(long, unsigned long *), framed(long), framed_too(long);
static unsigned long a[ALL];

static unsigned long
value(unsigned long i)
{
	return i * 0x9e3779b97f4a7c15ul;
}

int
main(void)
{
	unsigned long r, s;
	int bad = 0;

	for (unsigned long i = 0; i < ALL; i++)
		a[i] = value(i);
	r = streaming(a + FROM, N);
	s = summed(a + FROM, N);
	s ^= borrower(N, a + FROM);
	for (unsigned long i = 0; i < ALL; i++)
		bad += a[i] != value(i);
	printf("%lx %lx changed %d\n", r, s, bad);
	printf("%lx %lx %lx\n", lent(N), framed(N), framed_too(N));
	return 0;
}
