/* SPDX-License-Identifier: MIT */
/* What woven code does at the end of a path, written by hand. Not to be woven. */
#ifndef TOKEN_H
#define TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* The paths of a program: each has 8 bytes among the counters. */
#define TOKENS 64
__asm__(".pushsection chord_cnt,\"aw\",@nobits\n"
    ".balign 16\n"
    "tokens: .zero 8 * 64\n"
    ".popsection\n");
extern uint64_t tokens[TOKENS] __attribute__((visibility("hidden")));

/* As when a handler comes in after path number n has ended and its slot has been reserved. */
static inline void
token_amid(uint64_t n, void (*handler)(void))
{
	extern uint64_t *__chord_trace_home __attribute__((visibility("hidden")));
	uint64_t at;

	__asm__ volatile("movq %%gs:(%1), %0\n\taddq $4, %%gs:(%1)" : "=&r"(at) : "r"(__chord_trace_home) : "memory", "cc");
	handler();
	*(volatile uint32_t *)at = (uint32_t)(uintptr_t)(tokens + n);
}

/* The same where that slot is the last one of a segment, so that the runtime is to be called. */
static inline void
token_at_edge(uint64_t n, void (*handler)(void))
{
	extern uint64_t *__chord_trace_home __attribute__((visibility("hidden")));
	uint64_t at;

	__asm__ volatile("movq %%gs:(%1), %0\n\taddq $4, %%gs:(%1)" : "=&r"(at) : "r"(__chord_trace_home) : "memory", "cc");
	handler();
	__asm__ volatile(
	    "leaq -128(%%rsp), %%rsp\n\t"
	    "call __chord_trace_slow\n\t"
	    "leaq 128(%%rsp), %%rsp" : "+a"(at) : "c"(tokens + n) : "memory", "cc");
}

/* Behind the next slot the address is a multiple of that. */
static inline bool
token_is_before(uint64_t multiple)
{
	extern uint64_t *__chord_trace_home __attribute__((visibility("hidden")));
	uint64_t at;

	__asm__ volatile("movq %%gs:(%1), %0" : "=r"(at) : "r"(__chord_trace_home) : "memory");
	return (at + 4) % multiple == 0;
}

/* Path number n has ended. */
static inline __attribute__((always_inline)) void
token(uint64_t n)
{
	uint64_t *at = tokens + n;

	__asm__ volatile(
	    "	movq __chord_trace_home(%%rip), %%rcx\n"
	    "	movq %%gs:(%%rcx), %%rax\n"
	    "	addq $4, %%gs:(%%rcx)\n"
	    "	addw $4, %%ax\n"
	    "	cmpq %%rax, %%gs:(%%rcx)\n"
	    "	jne 1f\n"
	    "	movq %0, %%rcx\n"
	    "	movl %%ecx, -4(%%rax)\n"
	    "2:\n"
	    "	.subsection 1\n"
	    "1:	subw $4, %%ax\n"
	    "	movq %0, %%rcx\n"
	    "	leaq -128(%%rsp), %%rsp\n"
	    "	call __chord_trace_slow\n"
	    "	leaq 128(%%rsp), %%rsp\n"
	    "	jmp 2b\n"
	    "	.previous\n"
	    : : "r"(at) : "rax", "rcx", "memory", "cc");
}

#endif
