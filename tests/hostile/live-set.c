/* SPDX-License-Identifier: MIT */
/* A linker set with padded records, right before a loop; built twice, with NAME and OTHER. Nothing may get between records. */
#include <stdio.h>

extern long __start_records[], __stop_records[];

__attribute__((noinline)) int
NAME(const int *p, const int *end)
{
	int s = 0;

	__asm__ volatile(".pushsection records,\"aw\"\n\t.quad 1\n\t.p2align 3\n\t.popsection" : "+r"(s), "+r"(p), "+r"(end));
	do {
		s += *p++;
		if (s & 4) {
			s ^= 3;
			__asm__ volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop");
		}
	} while (p != end);
	return s;
}

#ifdef OTHER
int OTHER(const int *p, const int *end);

int
main(void)
{
	int a[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	printf("%d %d", NAME(a, a + 10), OTHER(a, a + 10));
	for (const long *r = __start_records; r < __stop_records; r++)
		printf(" %ld", *r);
	puts("");
	return 0;
}
#endif
