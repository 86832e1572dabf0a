/* SPDX-License-Identifier: MIT */
/* Linked to a program: a timer strikes wherever it can, and its handler changes everything that it may change. */
#include <chord.h>
#include <stdlib.h>

static void
spoil(void)
{
	__asm__ volatile("fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fldpi; fstp %%st(0); fstp %%st(0); fstp %%st(0)\n\t"
	                 "fstp %%st(0); fstp %%st(0); fstp %%st(0); fstp %%st(0); fstp %%st(0)\n\t"
	                 "pcmpeqb %%xmm0, %%xmm0; pcmpeqb %%xmm1, %%xmm1; pcmpeqb %%xmm2, %%xmm2; pcmpeqb %%xmm7, %%xmm7\n\t"
	                 "pcmpeqb %%xmm8, %%xmm8; pcmpeqb %%xmm15, %%xmm15\n\t"
	                 "movq $-1, %%rax; movq %%rax, %%rcx; movq %%rax, %%rdx; movq %%rax, %%rsi; movq %%rax, %%rdi\n\t"
	                 "movq %%rax, %%r8; movq %%rax, %%r9; movq %%rax, %%r10; movq %%rax, %%r11; addq %%rax, %%rcx"
	                 : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm7",
	                 "xmm8", "xmm15", "cc", "memory");
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall" : : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
		                 "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

#ifdef EXACT
#define SET chord_timer_exact
#else
#define SET chord_timer
#endif

static void
strike(void *arg)
{
	uint64_t *n = arg;

	spoil();
	*n = *n * 6364136223846793005u + 1442695040888963407u;
	if (SET(instructions, 1 + (*n >> 58), strike, arg))
		abort();
}

static __attribute__((constructor)) void
begin(void)
{
	static uint64_t seed;

	if (SET(instructions, 1, strike, &seed))
		abort();
}
