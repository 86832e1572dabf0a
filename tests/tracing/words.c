/* SPDX-License-Identifier: MIT */
/* Hard cases for words of outcomes: loops that fill them where no register is left, many branches in a row, jump tables,
 * procedures that are left in the middle of a loop, calls in loops. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N 6
static uint64_t table[256], words[400];
static jmp_buf env;

/* As a checksum of several words at a time: two loops, all registers in use. */
__attribute__((noinline)) static uint64_t
braid(const uint64_t *w, size_t n, uint64_t a)
{
	uint64_t b = 0, c = 0, d = 0, e = 0, f = 0, wa, wb, wc, wd, we, wf;

	for (size_t left = n / N; left; left--, w += N) {
		wa = a ^ w[0], wb = b ^ w[1], wc = c ^ w[2], wd = d ^ w[3], we = e ^ w[4], wf = f ^ w[5];
		a = table[wa & 255], b = table[wb & 255], c = table[wc & 255];
		d = table[wd & 255], e = table[we & 255], f = table[wf & 255];
		for (int k = 1; k < 8; k++) {
			a ^= table[(k + (wa >> (k << 3))) & 255];
			b ^= table[(k + (wb >> (k << 3))) & 255];
			c ^= table[(k + (wc >> (k << 3))) & 255];
			d ^= table[(k + (wd >> (k << 3))) & 255];
			e ^= table[(k + (we >> (k << 3))) & 255];
			f ^= table[(k + (wf >> (k << 3))) & 255];
		}
	}
	return a ^ b * 3 ^ c * 5 ^ d * 7 ^ e * 11 ^ f * 13;
}

/* More branches one behind the other than a word has room for. */
__attribute__((noinline)) static int
chain(unsigned n, volatile int *sum)
{
#define LINK(i) if (n >> i & 1) *sum += i; else *sum ^= i;
	LINK(0) LINK(1) LINK(2) LINK(3) LINK(4) LINK(5) LINK(6) LINK(7) LINK(8) LINK(9) LINK(10) LINK(11) LINK(12) LINK(13)
	LINK(14) LINK(15) LINK(16) LINK(17) LINK(18) LINK(19) LINK(20) LINK(21) LINK(22) LINK(23) LINK(24) LINK(25) LINK(26)
	LINK(27) LINK(28) LINK(29) LINK(30)
	return *sum;
}

__attribute__((noinline)) static int
machine(const char *code, int n)
{
	int a = n, steps = 0;

	for (; steps < 500; steps++) {
		switch (*code++) {
		case 'a': a += 3; break;
		case 'b': a -= 5; break;
		case 'c': a *= 7; break;
		case 'd': a ^= 0x55; break;
		case 'e': a = -a; break;
		case 'f': a |= 8; break;
		case 'g': if (a & 1) code++; break;
		case 'h': if (a % 3 == 0) return steps; break;
		case 'i': a += table[a & 255] & 7; break;
		case 'j': code -= 5; if (steps > 200) return a; break;
		default: return a + steps;
		}
	}
	return a;
}

__attribute__((noinline)) static int
deep(int n, int from)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 1)
			sum += deep(n - 1 - i % 2, from);
		if (sum > 4000 && n == from)
			longjmp(env, sum);
		sum += i & 1 ? n : -1;
	}
	return sum;
}

int
main(void)
{
	volatile int sum = 0, jumped;
	uint64_t all = 0;

	for (unsigned i = 0; i < 256; i++)
		table[i] = i * 0x9e3779b97f4a7c15u;
	for (unsigned i = 0; i < 400; i++)
		words[i] = table[i % 251] ^ i;
	for (unsigned i = 0; i < 12; i++)
		all += braid(words + i, 380 - i * 30, all);
	for (unsigned i = 0; i < 40; i++)
		chain(i * 0x01234567u, &sum);
	sum += machine("abcdefgabiijk", 5) + machine("gahbjk", 9) + machine("iiiigbbbbj", 2) + machine("h", 3);
	jumped = setjmp(env);
	if (!jumped)
		sum += deep(9, 3) + deep(12, 12);
	printf("%llu %d %d\n", (unsigned long long)all, sum, jumped);
	return 0;
}
