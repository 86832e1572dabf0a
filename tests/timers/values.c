/* SPDX-License-Identifier: MIT */
/* What chord_timer() and the related functions return for bad input, and when there is nothing to do. */
#include <chord.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int hits;

static void
hit(void *arg)
{
	hits += arg == &hits;
}

static __attribute__((noinline)) void
work(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

int
main(void)
{
	int status = 0;

	printf("%d %d %d ", chord_timer(instructions, 0, hit, &hits), chord_timer(instructions, 1ull << 63, hit, &hits),
	       chord_timer(instructions, ~0ull, hit, &hits));
	printf("%d %d ", chord_timer(instructions, 5, NULL, &hits), chord_timer(loads, 5, hit, &hits));
	printf("%d %d ", chord_timer_cancel(instructions), chord_timer_cancel(stores));
	work();
	printf("%d: ", hits);
	printf("%d ", chord_timer(instructions, (1ull << 63) - 1, hit, &hits));
	work();
	printf("%d ", chord_timer(instructions, 100, hit, &hits));
	work();
	printf("%d: ", hits);
	chord_timer(instructions, 50000, hit, &hits);
	chord_timer_cancel(instructions);
	work();
	printf("%d: ", hits);
	chord_timer(instructions, 50000, hit, &hits);
	fflush(stdout);
	if (!fork()) {
		work();
		_exit(hits);
	}
	wait(&status);
	printf("child %d: ", WEXITSTATUS(status));
	work();
	printf("%d %s\n", hits, chord_timer_late(instructions) < 100 ? "in time" : "late");
}
