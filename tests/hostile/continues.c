/* SPDX-License-Identifier: MIT */
/* Calls the procedures of continues.s. */
#include <stdio.h>

unsigned long sum(unsigned long n, void **room);
unsigned long ask(unsigned long n, void **room);

int
main(void)
{
	void *room;

	for (unsigned long n = 0; n < 40; n++)
		printf("%lu %lu\n", sum(n, &room), ask(n, &room));
	return 0;
}
