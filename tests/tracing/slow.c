/* SPDX-License-Identifier: MIT */
/* A long run that writes more slowly than a collector packs, so that the ring is never half full. */
static volatile unsigned sum;

__attribute__((noinline)) static void
f(unsigned i)
{
	__asm__ volatile(".rept 100\n\timull %0, %0\n\t.endr" : "+r"(i));
	if (i & 1)
		sum += i;
	else
		sum ^= i;
}

int
main(void)
{
	for (volatile unsigned i = 0; i < 3000000; i++)
		f(i);
	return 0;
}
