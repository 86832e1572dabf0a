/* SPDX-License-Identifier: MIT */
/* Jumps and numeric labels in inline assembly, each twice, while flags are alive. */
/* expect: main 1 */
/* expect: sum 100 */
/* expect: bits 1000 */
/* expect: hinted 50 */
/* line: after 100 */
#include "situation.h"

FUNC static long
sum(long n)
{
	long s = 0, c = n;
	__asm__ volatile("1: addq %1, %0\n\tdecq %1\n\tjnz 1b\n\tjmp 2f\n\tud2\n2:" : "+r"(s), "+r"(c) : : "cc");
	c = n;
	__asm__ volatile("1: subq %1, %0\n\tloop 1b\n\tjrcxz 2f\n\tud2\n2:" : "+r"(s), "+c"(c) : : "cc");
	STEP; /* @after */
	return s;
}

FUNC static int
bits(unsigned n)
{
	int k = 0;
	__asm__ volatile("1: shrl %0\n\tadcl $0, %1\n\ttestl %0, %0\n\tjnz 1b" : "+r"(n), "+r"(k) : : "cc");
	return k;
}

/* A hint for the processor, written as a byte in front of the jump. */
FUNC static int
hinted(int n)
{
	int k = 0;
	__asm__ volatile("1: addl $2, %1\n\tdecl %0\n\t.byte 0x3e\n\tjg 1b" : "+r"(n), "+r"(k) : : "cc");
	return k;
}

int
main(void)
{
	long wrong = 0;
	for (int i = 1; i <= 50; i++)
		wrong += hinted(i) != 2 * i;
	for (int i = 1; i <= 100; i++)
		wrong += sum(i) != 0;
	for (unsigned i = 0; i < 1000; i++)
		wrong += bits(i) != __builtin_popcount(i);
	return wrong != 0;
}
