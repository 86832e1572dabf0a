/* SPDX-License-Identifier: MIT */
/* The distances of places are added to one of them, whose address is taken beside that of an array on the stack. */
#include <stdio.h>

#define NEXT goto *(turns++ & 1 ? table[*pc++] : &&push + distance[*pc++])

__attribute__((noinline)) static long
interpret(const int *code)
{
	static const void *const table[] = {&&push, &&dec, &&loop, &&swap, &&end};
	static const int distance[] = {&&push - &&push, &&dec - &&push, &&loop - &&push, &&swap - &&push, &&end - &&push};
	long stack[64], *sp = stack;
	const int *pc = code;
	int turns = 0;

	NEXT;
push:
	*sp++ = *pc++;
	NEXT;
dec:
	sp[-1]--;
	NEXT;
loop:
	pc = sp[-1] ? code + *pc : pc + 1;
	NEXT;
swap: {
		long top = sp[-1];
		sp[-1] = sp[-2];
		sp[-2] = top;
	}
	printf("%ld\n", sp[-1]);
	NEXT;
end:
	return sp[-1];
}

int
main(void)
{
	long sum = 0;
	for (int i = 0; i < 10; i++)
		sum += interpret((const int[]){0, 7, 0, 250, 1, 2, 4, 3, 4});
	printf("%ld\n", sum);
	return 0;
}
