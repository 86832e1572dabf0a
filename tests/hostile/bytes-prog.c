/* SPDX-License-Identifier: MIT */
/* Procedures of many shapes. The tests write their instructions as bytes. Prints what the procedures compute. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

APART long
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

APART uint32_t
mix(const uint8_t *p, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ p[i]) * 16777619u;
		if (h & 0x100)
			h = h << 7 | h >> 25;
	}
	return h;
}

APART int
choose(int what, int n)
{
	switch (what) {
	case 0: return n + 3;
	case 1: return n * n;
	case 2: n ^= 0x12345678; break;
	case 3: n = n > 10 ? n - 10 : n * 7; break;
	case 4: for (int i = 0; i < n % 5; i++) n += i; break;
	case 5: n = choose(3, n) + 1; break;
	case 6: n = -n; break;
	case 7: return 77;
	}
	return n * 3;
}

APART int
interpret(const char *code, int n)
{
	static const void *const table[] = {&&add, &&twice, &&less, &&loop, &&end};
	int rounds = 0;

	goto *table[*code++ - '0'];
add:
	n += 5;
	goto *table[*code++ - '0'];
twice:
	n *= 2;
	goto *table[*code++ - '0'];
less:
	if (n > 20)
		n -= 20;
	goto *table[*code++ - '0'];
loop:
	if (++rounds < 4)
		code -= 3;
	goto *table[*code++ - '0'];
end:
	return n;
}

APART void
sort(int *a, int n)
{
	for (int i = 1; i < n; i++) {
		int v = a[i], k = i;

		while (k > 0 && a[k - 1] > v) {
			a[k] = a[k - 1];
			k--;
		}
		a[k] = v;
	}
}

APART double
series(int n)
{
	double sum = 0;

	for (int i = 1; i <= n; i++)
		sum += i & 1 ? 1.0 / i : -1.0 / i;
	return sum;
}

static int by_choose(int n) { return choose(n & 7, n); }
static int by_fib(int n) { return (int)fib(n & 7); }
static int (*const volatile calls[])(int) = {by_choose, by_fib};

APART int
through(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += calls[i & 1](i);
	return sum;
}

int
main(void)
{
	int a[40];

	for (int i = 0; i < 40; i++)
		a[i] = (i * 37 + 11) % 101;
	sort(a, 40);
	printf("%ld %u %d %d %.6f\n", fib(12), mix((const uint8_t *)a, sizeof a), a[7], through(30), series(50));
	for (int i = -1; i < 9; i++)
		printf("%d ", choose(i, i + 20));
	printf("%d %d\n", interpret("0120314", 3), interpret("1110034", 9));
	return 0;
}
