/* SPDX-License-Identifier: MIT */
/* A function that begins with bytes of data that are a jump. */
/* refused skips: allowed because the distance is written as a number */
/* expect: main 1 */
#include "situation.h"

#include <stdio.h>

int skips(void);
__asm__(".text\n.globl skips\n.type skips,@function\nskips: .byte 0xeb,0x05\n"
	"movl $1,%eax\nmovl $2,%eax\nret\n.size skips,.-skips\n");

int
main(void)
{
	printf("%d\n", skips());
	return 0;
}
