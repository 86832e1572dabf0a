/* SPDX-License-Identifier: MIT */
/* Stacks to and from which swapcontext switches: coroutines that call deep down before they give way, one that is left for
 * good, and one that continues another one when its function returns. */
#include <stdio.h>
#include <ucontext.h>

enum { STACKS = 3, ROOM = 1 << 16 };

static ucontext_t back, own[STACKS];
static char room[STACKS][ROOM];
static volatile unsigned sum;
static volatile int left = STACKS;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n & 1 ? n * 3 : n + sum;
}

__attribute__((noinline)) static void
give_way(unsigned who, int depth)
{
	if (depth)
		give_way(who, depth - 1);
	else
		swapcontext(&own[who], &back);
	sum += leaf((unsigned)depth);
}

static void
run(unsigned who)
{
	for (unsigned i = 0; i < 2 + who; i++) {
		sum += leaf(i);
		give_way(who, (int)who + 1);
	}
	left--;
}

int
main(void)
{
	for (unsigned i = 0; i < STACKS; i++) {
		getcontext(&own[i]);
		own[i].uc_stack.ss_sp = room[i];
		own[i].uc_stack.ss_size = ROOM;
		own[i].uc_link = i == 1 ? &own[0] : &back;
		makecontext(&own[i], (void (*)(void))run, 1, i);
	}
	for (volatile unsigned round = 0; round < 3; round++)
		for (volatile unsigned i = 0; i < STACKS; i++) {
			swapcontext(&back, &own[i]);
			sum += leaf(i);
		}
	printf("%u %d\n", sum, left);
	return 0;
}
