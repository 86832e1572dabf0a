/* SPDX-License-Identifier: MIT */
/* Jumps that leave their function by numbers of labels: what comes later in the text has labels of the same numbers. */
#include <stdio.h>

__attribute__((noinline)) static int
size_of(int n)
{
	int r;

	__asm__ volatile("testl %1, %1\n\tjs 3f\n1:\tmovl %1, %0\n"
	                 "\t.subsection 1\n3:\tnegl %1\n\tjmp 1b\n\t.previous" : "=&r"(r), "+r"(n) : : "cc");
	return r;
}

__attribute__((noinline)) static int
other(int n)
{
	__asm__ volatile("decl %0\n\tjns 3f\n\taddl $100, %0\n3:" : "+r"(n) : : "cc");
	return n;
}

int
main(void)
{
	for (int i = -3; i < 4; i++)
		printf("%d %d\n", size_of(i), other(i));
	return 0;
}
