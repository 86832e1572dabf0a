/* SPDX-License-Identifier: MIT */
/* In the woven code padding before a loop may be gone, or longer. It does not belong to the loop's line. */
/* expect: main 1 */
/* expect: loops 1 */
/* line exactly: loop 160 */
#include "situation.h"

#define LONGER(n) __asm__ volatile(".rept " #n "\n\tnop\n\t.endr" : : : "memory")

FUNC static void
loops(long n)
{
	long i;

	LONGER(0);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(1);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(2);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(3);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(4);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(5);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(6);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(7);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(8);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(9);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(10);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(11);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(12);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(13);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(14);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);

	LONGER(15);
	i = n;
	do {
		STEP; /* @loop */
		i--;
	} while (i > 0);
}

int
main(void)
{
	loops(10);
	return 0;
}
