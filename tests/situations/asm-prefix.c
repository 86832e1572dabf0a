/* SPDX-License-Identifier: MIT */
/* A prefix that is a statement of its own, or bytes, before the last instruction of a procedure: code that is woven in behind the
 * procedure's end must not stand between the two. */
/* expect: main 1 */
/* expect: parted 10 */
/* expect: bytes 10 */
#include "situation.h"

int parted(int n), bytes(int n);

#define PROCEDURE(name, prefix) \
	__asm__(".text\n\t.globl " name "\n\t.type " name ", @function\n" \
		name ":\tmovl $1, %eax\n\tcmpl $5, %edi\n\tje 1f\n\tcmpl $7, %edi\n\tje 1f\n\tmovl $2, %eax\n\tret\n" \
		"1:\taddl %edi, %eax\n\t" prefix "\n\tret\n\t.size " name ", . - " name)

PROCEDURE("parted", "rep");
PROCEDURE("bytes", ".byte 0x90, 0xf3");

int
main(void)
{
	int wrong = 0;

	for (int i = 0; i < 10; i++) {
		int right = i == 5 || i == 7 ? i + 1 : 2;

		wrong += parted(i) != right;
		wrong += bytes(i) != right;
	}
	return wrong != 0;
}
