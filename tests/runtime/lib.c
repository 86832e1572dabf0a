/* SPDX-License-Identifier: MIT */
/* A measured library: NAME() counts. */
#include "count.h"

#ifndef NAME
#define NAME lib_count
#endif

extern void NAME(void);
extern void lib_call(void (*f)(void));

__attribute__((noinline)) void
NAME(void)
{
	CHORD_COUNT(1);
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void
early(void)
{
	CHORD_COUNT(1);
}
#endif

void
lib_call(void (*f)(void))
{
	CHORD_COUNT(1);
	f();
	__asm__ volatile("");
}
