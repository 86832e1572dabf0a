/* SPDX-License-Identifier: MIT */
/* A leaf that finds its frame by a register which it reads no more, while all others are taken. clang -O2 makes such texts. */
#include <stdio.h>

typedef unsigned long word;

word sum(word a, word b, word c, word d, word e) __attribute__((ms_abi));

word __attribute__((ms_abi, noinline))
sum(word a, word b, word c, word d, word e)
{
	word s = a;

	for (word i = 0; i < d % 9; i++)
		if (s & 1)
			s += b * i;
		else
			s ^= c + e;
	return s;
}

int
main(void)
{
	word s = 1;

	for (word i = 0; i < 50; i++)
		s += sum(s, i, s, s >> 2, 7);
	printf("%lx\n", s);
}
