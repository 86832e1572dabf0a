/* SPDX-License-Identifier: MIT */
/* Keeps a value in r11 across a call of a procedure that keeps all registers. */
#include <stdio.h>

__attribute__((no_caller_saved_registers)) void keeps(void);

__attribute__((noinline)) long
kept(const long *p)
{
	register long x __asm__("r11") = *p;

	__asm__ volatile("" : "+r"(x));
	keeps();
	__asm__ volatile("" : "+r"(x));
	return x;
}

int
main(void)
{
	long v = 12345;

	printf("%ld\n", kept(&v));
	return 0;
}
