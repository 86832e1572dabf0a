/* SPDX-License-Identifier: MIT */
/* leave N: again and again a timer's handler leaves by longjmp the activations that it struck, and the last time by exit(). If
 * N is so large that the timer is never due, it leaves none. Prints the number of events just before. */
#include <chord.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static volatile long sum;
static volatile int hits;

__attribute__((noinline)) static void
work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i & 3 ? i : -i;
}

__attribute__((noinline)) static void
end(void)
{
	printf("%d %" PRIu64 "\n", hits, chord_events(instructions));
	exit(0);
}

static void
leave(void *arg)
{
	(void)arg;
	if (++hits == 50)
		end();
	longjmp(back, 1);
}

int
main(int argc, char **argv)
{
	volatile uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	volatile int i = 0;

	(void)setjmp(back);
	while (i++ < 60) {
		chord_timer(instructions, n + (uint64_t)i, leave, NULL);
		work(3000);
	}
	end();
}
