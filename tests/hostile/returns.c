/* SPDX-License-Identifier: MIT */
/* Calls the procedures of returns.s: with an argument, leap or hop abandons activations of down. */
#include <stdio.h>
#include <string.h>

__attribute__((returns_twice)) int mark(void **buffer);
_Noreturn void leap(void **buffer);
_Noreturn void hop(void **buffer);
int aside(void **room);

static void *buffer[4], *room[40];
static volatile int n;

__attribute__((noinline)) static void
down(int left, const char *how)
{
	if (left)
		down(left - 1, how);
	else if (strcmp(how, "hop"))
		leap(buffer);
	else
		hop(buffer);
	n++;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !mark(buffer))
		down(5, argv[1]);
	printf("%d %d\n", n, aside(room));
	return 0;
}
