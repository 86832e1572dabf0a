/* SPDX-License-Identifier: MIT */
/* Data in text that is named with a blank before its register. That is a name, and no number of bytes. */
/* expect: main 1 */
/* expect: datum 100 */
#include "situation.h"

long datum(long);

__asm__(".text\n\t.type datum, @function\ndatum:\n\tmovq .Ltable (%rip), %rax\n\tlock addl $0, (%rsp)\n\ttestl %edi, %edi\n\t"
	"je 1f\n\taddq .Ltable+8 (%rip), %rax\n1:\tret\n\t.size datum, .-datum\n"
	"\t.p2align 3\n.Ltable:\n\t.quad 7, 8\n");

int
main(void)
{
	long wrong = 0;

	for (long i = 0; i < 100; i++)
		wrong += datum(i) != (i ? 15 : 7);
	return wrong != 0;
}
