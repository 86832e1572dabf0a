/* SPDX-License-Identifier: MIT */
/* Keeps values in rsi and rdi across a call of a procedure whose convention keeps them. */
#include <stdio.h>

__attribute__((CONVENTION)) void passes(void);
__attribute__((CONVENTION)) void another(void);
static int calls;

__attribute__((CONVENTION, noinline)) void
another(void)
{
	calls++;
}

int
main(void)
{
	long rsi = 101, rdi = 102;

	/* The callee of ms_abi may write to 32 bytes above its return address; the red zone is below. */
	__asm__ volatile("subq $256, %%rsp\n\tcall passes\n\taddq $256, %%rsp"
	                 : "+S"(rsi), "+D"(rdi) : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	printf("%ld %ld %d\n", rsi, rdi, calls);
	return 0;
}
