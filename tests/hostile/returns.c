/* SPDX-License-Identifier: MIT */
/* Calls the procedures of returns.s: with an argument, leap abandons activations of down. */
#include <stdio.h>

__attribute__((returns_twice)) int mark(void **buffer);
_Noreturn void leap(void **buffer);
int aside(void **room);

static void *buffer[4], *room[40];
static volatile int n;

__attribute__((noinline)) static void
down(int left)
{
	if (left)
		down(left - 1);
	else
		leap(buffer);
	n++;
}

int
main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 && !mark(buffer))
		down(5);
	printf("%d %d\n", n, aside(room));
	return 0;
}
