/* SPDX-License-Identifier: MIT */
/* Runs the loops of borrow.s. With "step", a handler walks the stack at each of their instructions: it has to find main. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

long leaf(const long *, long), carry(const long *, long), longer(const long *, long), aligned(const long *, long),
     beyond(const long *, long);
int main(int argc, char **argv);

static volatile long walks, lost;

static _Unwind_Reason_Code
look(struct _Unwind_Context *c, void *found)
{
	*(int *)found |= _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(c)) == (void *)main;
	return _URC_NO_REASON;
}

static void
walk(int sig)
{
	int found = 0;

	(void)sig;
	_Unwind_Backtrace(look, &found);
	walks++;
	lost += !found;
}

int
main(int argc, char **argv)
{
	static const long words[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const int step = argc > 1 && !strcmp(argv[1], "step");
	long sum[5] = {0};

	signal(SIGTRAP, walk);
	if (step)
		walk(0);
	if (step)
		__asm__ volatile("pushfq\n\torq $256, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	for (long n = 1; n <= 3; n++) {
		sum[0] += leaf(words, n);
		sum[1] += carry(words, n);
		sum[2] += aligned(words, n);
		sum[4] += longer(words, n);
	}
	if (step)
		__asm__ volatile("pushfq\n\tandq $~256, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	for (long n = 1; n <= 8; n++)
		sum[3] += beyond(words, n);
	printf("%ld %ld %ld %ld %ld\n", sum[0], sum[1], sum[2], sum[3], sum[4]);
	return !step || (walks > 100 && !lost) ? 0 : 1 + (lost > 0);
}
