/* SPDX-License-Identifier: MIT */
/* Keeps values in r10 and r11 across calls of a procedure in another text, whose compiler was told to leave them alone. */
#include <stdio.h>

long reserved(long x);

int
main(void)
{
	long sum = 0;

	for (long i = 0; i < 10; i++) {
		long r10 = i * 7, r11 = i * 3, result = i;

		/* The red zone is below the stack pointer. */
		__asm__ volatile("movq %1, %%r10\n\tmovq %2, %%r11\n\tsubq $256, %%rsp\n\tcall reserved\n\taddq $256, %%rsp\n\t"
		                 "movq %%r10, %1\n\tmovq %%r11, %2"
		                 : "+D"(result), "+b"(r10), "+r"(r11)
		                 : : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
		sum += r10 + r11 * 100;
	}
	printf("%ld\n", sum);
	return 0;
}
