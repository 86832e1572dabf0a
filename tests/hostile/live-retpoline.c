/* SPDX-License-Identifier: MIT */
/* If this is built with inline retpolines, its jumps within a procedure are returns. */
#include <stdio.h>

#define LOOP(x) \
	for (int i = 0; i < 20; i++) { \
		sum += p[i] ^ x; \
		if (sum & 8) \
			sum += 3; \
	}

__attribute__((noinline)) long
interpret(const unsigned char *code, const int *p, long a, long b, long c)
{
	static void *const table[] = {&&op0, &&op1, &&op2, &&end};
	long sum = 0;

	goto *table[*code++];
op0:
	LOOP(a)
	goto *table[*code++];
op1:
	a += b;
	LOOP(b)
	goto *table[*code++];
op2:
	b ^= c;
	LOOP(c)
	goto *table[*code++];
end:
	return sum + a * 3 + b * 5 + c * 7;
}

int
main(void)
{
	int p[20];

	for (int i = 0; i < 20; i++)
		p[i] = i * 7;
	printf("%ld\n", interpret((const unsigned char *)"\0\1\2\0\1\2\3", p, 11, 22, 33));
	return 0;
}
