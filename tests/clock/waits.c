/* SPDX-License-Identifier: MIT */
/* Prints what the clock shows, and waits for the signal that ends it. With an argument it ends at once. */
#include <chord.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

int
main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 1000; i++)
		sink++;
	printf("%" PRIu64 "\n", chord_clock());
	fflush(stdout);
	if (argc == 1)
		pause();
	return 0;
}
