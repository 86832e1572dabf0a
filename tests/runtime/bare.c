/* SPDX-License-Identifier: MIT */
/* A program without libc. With INIT it runs its constructors as libc would. */
#include "count.h"

extern void (*__init_array_start[])(int, char **, char **) __attribute__((visibility("hidden")));
extern void (*__init_array_end[])(int, char **, char **) __attribute__((visibility("hidden")));
extern void (*__fini_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*__fini_array_end[])(void) __attribute__((visibility("hidden")));

__attribute__((used)) static void
begin(long *sp)
{
#ifdef INIT
	for (long i = 0; i < __init_array_end - __init_array_start; i++)
		__init_array_start[i]((int)*sp, (char **)sp + 1, (char **)sp + *sp + 2);
#endif
	for (int i = 0; i < 1000; i++)
		CHORD_COUNT(1);
#ifdef INIT
	for (long i = __fini_array_end - __fini_array_start; i-- > 0;)
		__fini_array_start[i]();
#endif
	__asm__ volatile("syscall" : : "a"(231), "D"(sp == 0));
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
