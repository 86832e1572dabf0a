/* SPDX-License-Identifier: MIT */
/* Straight code with padding inside. The padding has another length in woven code: it may be only there, or only in the plain
 * code. The argument says how often the code runs. */
#include <stdio.h>
#include <stdlib.h>

#define STEP(n) __asm__ volatile(".rept " #n "\n\tnop\n\t.endr\n\t.p2align 4\n\taddl $" #n ", %0" : "+m"(sum) : : "cc")

static volatile unsigned sum;

static __attribute__((noinline)) unsigned
work(unsigned n)
{
	if (n & 1)
		sum += 3;
	STEP(1); STEP(2); STEP(3); STEP(4); STEP(5); STEP(6); STEP(7);
	if (n & 2)
		sum *= 3;
	STEP(8); STEP(9); STEP(10); STEP(11); STEP(12); STEP(13); STEP(14); STEP(15);
	return sum;
}

int
main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 100;

	for (int k = 0; k < times; k++)
		work((unsigned)k);
	printf("%u\n", sum);
	return 0;
}
