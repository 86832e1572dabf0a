/* SPDX-License-Identifier: MIT */
/* Functions to stop in: arguments in registers and on the stack, a leaf, a recursion, a loop at the entry, an aligned frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct s { int a, b; };
__attribute__((noinline)) int
add(int a, const char *text, long c, struct s s, double d)
{
	int sum = a + (int)strlen(text) + (int)c + s.a + s.b + (int)d;
	return sum;
}
__attribute__((noinline)) long
rec(long n)
{
	if (n < 2)
		return n;
	return rec(n - 1) + rec(n - 2);
}
__attribute__((noinline)) long
many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long r = 0;
	while (a-- > 0)
		r += b * c + rec(d % 5) + e + f - g * h;
	return r;
}
__attribute__((noinline)) int
loop(int n)
{
	int k = 0;
	for (;;) {
		k += n;
		if (k > 100)
			return k;
		n++;
	}
}
__attribute__((noinline)) int
align(int n, char *out)
{
	int big[64] __attribute__((aligned(64)));
	memset(big, n, sizeof big);
	memcpy(out, big, 4);
	return big[n & 63];
}
int
main(int argc, char **argv)
{
	static char o[64]; /* not on the stack: what was there before is not the same */
	struct s s = {argc, 2};
	printf("%d\n", add(5, "hello", 7, s, 1.5));
	printf("%ld\n", many(argc, 2, 3, 4, 5, 6, 7, 8));
	printf("%d\n", loop(argc) + align(argc + 3, o));
	return argv[0] == NULL;
}
