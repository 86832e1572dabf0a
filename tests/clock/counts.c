/* SPDX-License-Identifier: MIT */
/* The clock around code with known loops and calls. Each piece of code is in a procedure of its own, so that no loop is
 * unrolled into another one. The sink keeps the compiler from computing the loops. */
#include <chord.h>
#include <inttypes.h>
#include <stdio.h>

#define HOT __attribute__((noinline, noclone))

static volatile int sink;

/* Tested at the end: a round counts, and so the execution is counted. */
HOT void
rounds(int n)
{
	do
		sink++;
	while (--n);
}

HOT void
nested(int n)
{
	do
		rounds(10);
	while (--n);
}

HOT void
leaf(void)
{
	sink++;
}

HOT void
calls(void)
{
	leaf();
	leaf();
	leaf();
}

/* One call enters it: the rounds around that are enough. */
HOT static void
sole(void)
{
	sink += 2;
}

HOT void
sole_rounds(int n)
{
	do
		sole();
	while (--n);
}

HOT void
recurs(int n)
{
	if (n)
		recurs(n - 1);
	sink++;
}

HOT void
recurs_and_rounds(int n)
{
	int k = 7;

	do
		sink++;
	while (--k);
	if (n)
		recurs_and_rounds(n - 1);
	sink++;
}

#define COUNT(what, call) \
	do { \
		uint64_t before = chord_clock(), after; \
\
		call; \
		after = chord_clock(); \
		printf("%s: %" PRIu64 "\n", what, after - before); \
	} while (0)

int
main(void)
{
	COUNT("100 rounds", rounds(100));
	COUNT("10 times 10 rounds", nested(10));
	COUNT("no round", leaf());
	COUNT("three calls", calls());
	COUNT("three rounds with a call", sole_rounds(3));
	COUNT("recursion 7 deep", recurs(7));
	COUNT("seven rounds in recursion 2 deep", recurs_and_rounds(2));
	return 0;
}
