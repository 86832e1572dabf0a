/* SPDX-License-Identifier: MIT */
/* Inline assembly that goes on at a place of its own by a return: it pushes the place's address. */
#include <stdio.h>

#define RED_ZONE "128"

__attribute__((noinline)) static int
pushed(int n)
{
	int to;

	__asm__ volatile("subq $" RED_ZONE ", %%rsp\n\tleaq 1f(%%rip), %%rax\n\tleaq 2f(%%rip), %%rdx\n\ttestl $1, %1\n\t"
	                 "cmovnzq %%rdx, %%rax\n\tpushq %%rax\n\tret\n"
	                 "1:\tmovl $10, %0\n\tjmp 3f\n2:\tmovl $20, %0\n3:\taddq $" RED_ZONE ", %%rsp"
	                 : "=&r"(to) : "r"(n) : "rax", "rdx", "cc", "memory");
	return to;
}

__attribute__((noinline)) static int
among_cases(int which, int n)
{
	switch (which) {
	case 0: n += 3; break;
	case 1: n *= 7; break;
	case 2: n ^= which; break;
	case 3: n -= 9; break;
	case 4: n = -n; break;
	case 5: n |= 4; break;
	case 6:
		__asm__ volatile("subq $" RED_ZONE ", %%rsp\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\tret\n\tnop\n"
		                 "1:\tmovl $1, %0\n\taddq $" RED_ZONE ", %%rsp" : "+&r"(n) : : "rax", "cc", "memory");
		break;
	case 7: printf("%d\n", n); break;
	}
	return n;
}

int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 70; i++)
		sum += pushed(i % 7) + among_cases(i % 7, i);
	printf("%d\n", sum);
	return 0;
}
