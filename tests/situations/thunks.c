/* SPDX-License-Identifier: MIT */
/* Returns by inline thunks: a call that goes on in the procedure itself does not keep what is below the stack. */
/* only: gcc because clang has no thunks in line */
/* options: -mfunction-return=thunk-inline -mindirect-branch=thunk-inline */
/* expect: main 1 */
/* expect: full 200 */
/* expect: chosen 200 */
/* no notes: frames|unfinished */
/* refused: allowed because with paths gcc's directives are wrong after a thunk */
#include "situation.h"

#include <stdio.h>

/* More values than registers, and all that may be kept below the stack pointer is. */
FUNC static long
full(const long *p, long n)
{
	long a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6], h = p[7], i = p[8], j = p[9], k = p[10];
	long l = p[11], m = p[12], o = p[13], q = p[14], r = p[15], s = p[16], t = p[17], u = p[18], v = p[19], w = p[20];
	long x = p[21];

	for (; n > 0; n--) {
		if (n & 1)
			a += b, c ^= d, e += f, g ^= h, i += j, k ^= l;
		else
			m += o, q ^= r, s += t, u ^= v, w += x;
		if (n & 2)
			b ^= a, d += c, f ^= e, h += g, j ^= i, l += k;
		else
			o ^= m, r += q, t ^= s, v += u, x ^= w;
	}
	return a + 3 * b + 5 * c + 7 * d + 9 * e + 11 * f + 13 * g + 15 * h + 17 * i + 19 * j + 21 * k + 23 * l + 25 * m + 27 * o +
	       29 * q + 31 * r + 33 * s + 35 * t + 37 * u + 39 * v + 41 * w + 43 * x;
}

FUNC static long
chosen(long (*f)(const long *, long), const long *p, long n)
{
	return f(p, n) + 1;
}

int
main(void)
{
	long p[22], sum = 0;

	for (int i = 0; i < 22; i++)
		p[i] = i * 7919 + 3;
	for (int i = 0; i < 200; i++)
		sum = sum * 31 + chosen(full, p, i % 9);
	printf("%ld\n", sum);
}
