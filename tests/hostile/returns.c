/* SPDX-License-Identifier: MIT */
/* Calls the procedures of returns.s: that of the argument abandons activations of down. */
#include <stdio.h>
#include <string.h>

__attribute__((returns_twice)) int mark(void **buffer);
_Noreturn void leap(void **buffer), hop(void **buffer), load(void **buffer), swap(void **buffer), pull(void **buffer),
    reach(void **buffer);
int aside(void **room), beside(void **room), call_on(void **top, int (*function)(void));

static const struct {
	const char *name;
	void (*jump)(void **buffer);
} way[] = {{"leap", leap}, {"hop", hop}, {"load", load}, {"swap", swap}, {"pull", pull}, {"reach", reach}};
static void *buffer[4], *room[1000] __attribute__((aligned(16)));
static volatile int n;

static int
five(void)
{
	return 5;
}

__attribute__((noinline)) static void
down(int left, const char *how)
{
	if (left)
		down(left - 1, how);
	for (unsigned i = 0; !left && i < sizeof way / sizeof *way; i++)
		if (!strcmp(how, way[i].name))
			way[i].jump(buffer);
	n++;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !mark(buffer))
		down(5, argv[1]);
	printf("%d %d %d %d\n", n, aside(room), beside(room), call_on(room + 1000, five));
	return 0;
}
