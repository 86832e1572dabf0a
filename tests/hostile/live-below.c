/* SPDX-License-Identifier: MIT */
/* Inline assembly that keeps something below the stack pointer, in a procedure that calls: the compiler keeps nothing there. No
 * register is dead in the loop. */
#include <stdio.h>

#define ALL "+r"(v0), "+r"(v1), "+r"(v2), "+r"(v3), "+r"(v4), "+r"(v5), "+r"(v6), "+r"(v7), "+r"(v8), "+r"(v9), "+r"(v10)

static unsigned word[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

__attribute__((noinline)) static void
other(unsigned x)
{
	__asm__ volatile("" : : "r"(x) : "memory");
}

__attribute__((noinline)) static unsigned
crowded(const unsigned *a, unsigned n)
{
	unsigned long v0 = n, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9, v10 = 10;
	unsigned s = 0;

	other(n);
	for (unsigned k = 0; k < 2; k++) {
		const unsigned *p = a;

		__asm__("" : ALL);
		do {
			unsigned t;

			__asm__ volatile("movl %1, -120(%%rsp)\n\tmovl -120(%%rsp), %0" : "=r"(t) : "r"(*p) : "memory");
			s += t;
			p++;
		} while (p != a + 16);
		__asm__("" : ALL);
		s += (unsigned)(v0 + 2 * v1 + 3 * v2 + 4 * v3 + 5 * v4 + 6 * v5 + 7 * v6 + 8 * v7 + 9 * v8 + 10 * v9 + 11 * v10);
	}
	return s;
}

int
main(void)
{
	printf("%u\n", crowded(word, 3));
	return 0;
}
