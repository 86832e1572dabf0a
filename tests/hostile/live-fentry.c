/* SPDX-License-Identifier: MIT */
/* Built with -pg -mfentry. clang lets procedures that call nothing but __fentry__ keep all they can below the stack pointer. */
#include <stdio.h>

#define ALL "+r"(v0), "+r"(v1), "+r"(v2), "+r"(v3), "+r"(v4), "+r"(v5), "+r"(v6), "+r"(v7), "+r"(v8), "+r"(v9), "+r"(v10)

__asm__(".text\n\t.globl __fentry__\n\t.hidden __fentry__\n\t.type __fentry__, @function\n"
        "__fentry__:\n\tret\n\t.size __fentry__, . - __fentry__");

static unsigned word[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

__attribute__((noinline)) static unsigned long
crowded(const unsigned *a, unsigned n)
{
	unsigned long v0 = n, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9, v10 = 10, s = 0;
	volatile unsigned long room[15];

	for (unsigned i = 0; i < 15; i++)
		room[i] = i + n;
	for (unsigned k = 0; k < 2; k++) {
		const unsigned *p = a;

		__asm__("" : ALL);
		do
			s += *p++;
		while (*p != 9);
		__asm__("" : ALL);
		s += v0 + 2 * v1 + 3 * v2 + 4 * v3 + 5 * v4 + 6 * v5 + 7 * v6 + 8 * v7 + 9 * v8 + 10 * v9 + 11 * v10;
	}
	for (unsigned i = 0; i < 15; i++)
		s = s * 3 + room[i];
	return s;
}

int
main(void)
{
	printf("%lu\n", crowded(word, 3));
	return 0;
}
