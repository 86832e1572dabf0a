/* SPDX-License-Identifier: MIT */
/* The address of data is written as a distance in bytes, which cannot be kept. */
/* only: gcc because the number is of what its assembler makes */
/* expect: main 1 */
/* expect: datum 100 */
/* refused datum: allowed because of that */
#include "situation.h"

long datum(long);

__asm__(".text\n\t.type datum, @function\ndatum:\n\tmovq 9(%rip), %rax\n\ttestl %edi, %edi\n\t"
	"je 1f\n\tincl %eax\n\tjmp 1f\n\tnop\n\t"
	".quad 7\n1:\tret\n\t.size datum, .-datum\n");

int
main(void)
{
	long wrong = 0;

	for (long i = 0; i < 50; i++)
		wrong += datum(i) - datum(0) != (i > 0);
	return wrong != 0;
}
