/* SPDX-License-Identifier: MIT */
/* Assembly outside of functions: a function returns flags to its caller. */
/* expect: flags 3 */
/* expect: uses 3 */
#include "situation.h"

#include <stdio.h>

long uses(long);
__asm__(".text\n.type flags,@function\nflags: cmpq $5,%rdi\njb 1f\nja 1f\n1: ret\n.size flags,.-flags\n"
	".globl uses\n.type uses,@function\nuses: call flags\nje 1f\nmovl $3,%eax\nret\n1: movl $1,%eax\nret\n.size uses,.-uses\n");

int
main(void)
{
	for (long i = 4; i < 7; i++)
		printf("%ld\n", uses(i));
	return 0;
}
