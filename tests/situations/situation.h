/* SPDX-License-Identifier: MIT */
/* What the situations share. A FUNC is called as often as the source says, at every level. A STEP is
 * one instruction each time it is executed. No two STEPs have the same text, so compilers do not join
 * them. */
#ifndef SITUATION_H
#define SITUATION_H

#ifdef __clang__
#define FUNC __attribute__((noinline, unused))
#else
#define FUNC __attribute__((noipa, unused))
#endif
#define STEP __asm__ volatile("nop /* %c0 */" : : "i"(__COUNTER__) : "memory")

FUNC static void
work(void)
{
	STEP;
}

FUNC static void
work_times(long n)
{
	while (n-- > 0)
		work();
}

#endif
