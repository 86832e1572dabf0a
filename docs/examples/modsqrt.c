/* SPDX-License-Identifier: MIT */
/* The square root of a number modulo a prime: Weinberger 1984, 10.3, where some lines were never tested. */
#include <stdio.h>

static const short primetab[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

/* a to the e-th power modulo p */
static int
mpow(int a, int e, int p)
{
	int r = 1;

	for (; e; e >>= 1) {
		if (e & 1)
			r = r * a % p;
		a = a * a % p;
	}
	return r;
}

/* 1 if a is a square modulo p, else -1 */
static int
legendre(int a, int p)
{
	return mpow(a, (p - 1) / 2, p) == 1 ? 1 : -1;
}

int
modsqrt(int a, int p)
{
	const short *x;
	int i, j, s, t, e, u;

	a %= p;
	if (a < 0)
		a += p;
	if (a == 0)
		return 0;
	if (p % 4 == 3)
		return mpow(a, (p + 1) / 4, p);
	u = p - 1;
	for (e = 0; (u & 1) == 0; e++)
		u >>= 1;
	s = mpow(a, u, p);
	if (s == 1)
		return mpow(a, (u + 1) / 2, p);
	for (x = primetab + 1; legendre(*x, p) != -1; x++)
		;
	for (j = 0; j < e; j++)
		if (s == p - 1)
			break;
		else
			s = s * s % p;
	s = mpow(*x, u, p);
	for (i = 0; i < e - j - 2; i++)
		s = s * s % p;
	i = (1 - u) / 2;
	i %= p - 1;
	if (i < 0)
		i += p - 1;
	t = mpow(a, i, p);
	t = s * t % p;
	s = s * s % p;
	while (t * t % p != a)
		t = t * s % p;
	return t;
}

int
main(void)
{
	static const int of[][2] = {{2, 7}, {3, 11}, {5, 11}, {5, 19}, {2, 23}, {4, 13}, {10, 13}, {2, 17}};
	int wrong = 0;

	for (int i = 0; i < 8; i++) {
		int t = modsqrt(of[i][0], of[i][1]);

		wrong += t * t % of[i][1] != of[i][0];
	}
	printf("%d wrong\n", wrong);
	return wrong > 0;
}
