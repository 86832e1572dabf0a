/* SPDX-License-Identifier: MIT */
/* longjmp again and again, over the same callers and over others. Most of what runs is the runtime's work for it, so signals
 * that come anywhere mostly come there. Some handlers jump out themselves. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static volatile unsigned sum, first, second, may_leave;
static jmp_buf back[3], *target;
static sigjmp_buf out;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n * 3 + (n & 4 ? sum : 1);
}

static void
on_first(int sig)
{
	first++;
	sum += leaf((unsigned)sig);
}

static void
on_second(int sig)
{
	second++;
	if (may_leave && sum % 3) {
		may_leave = 0;
		siglongjmp(out, sig);
	}
}

__attribute__((noinline)) static void
deep(unsigned n)
{
	if (!n)
		longjmp(*target, 1);
	deep(n - 1);
	sum += n;
}

/* Any of the activations may be the one that goes on. */
__attribute__((noinline)) static void
leap(unsigned level, unsigned n)
{
	if (!setjmp(back[level])) {
		if (level < 2)
			leap(level + 1, n);
		else
			deep(n);
	}
	sum += leaf(n);
}

__attribute__((noinline)) static void
round_of(unsigned i, int leaves)
{
	if (!sigsetjmp(out, 1)) {
		may_leave = (unsigned)leaves;
		target = &back[i % 3];
		leap(0, i % 4);
		target = &back[2];
		leap(1, 1);
	}
	may_leave = 0;
	sum += leaf(i);
}

int
main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, on_first);
	signal(SIGUSR2, on_second);
	for (unsigned i = 0; i < (argc > 1 ? 5 : 16); i++) /* handlers that jump out make all of it begin again and again */
		round_of(i, argc > 1);
	return first + second == 0;
}
