/* SPDX-License-Identifier: MIT */
/* Results in more registers than the ABI has: rax, rdx, rcx, r8. */
#include <stdio.h>

typedef struct {
	long a, b, c, d;
} four;

static volatile int five = 5;

static __attribute__((swiftcall, noinline)) four
results(long x, const long *p, int n)
{
	long s = 0, t = 0, c = x * 3, d = x * 7;

	__asm__ volatile("" : "+c"(c));
	register long last __asm__("r8") = d;
	__asm__ volatile("" : "+r"(last));
	do {
		s += *p;
		if (s & 4) {
			t += s;
			__asm__ volatile("nop");
		}
		p++;
		__asm__ volatile("" : : : "rsi", "rdi", "r9", "r10", "r11", "memory");
	} while (--n);
	return (four){s, t, c, last};
}

int
main(void)
{
	long a[100];
	four q;

	for (int i = 0; i < 100; i++)
		a[i] = i * 3;
	q = results(five, a, 100);
	printf("%ld %ld %ld %ld\n", q.a, q.b, q.c, q.d);
	return 0;
}
