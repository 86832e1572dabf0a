/* SPDX-License-Identifier: MIT */
/* Tables after the code of their section. Their numbers happen to be instructions: nothing may be put into them. */
/* expect: behind_trap 10 */
/* expect: behind_call 10 */
/* expect: behind_system 10 */
/* expect: over_text 10 */
/* expect: before 10 */
/* expect: bytes 10 */
/* refused bytes: allowed because with paths nothing says where its frame is after a call within it */
/* expect: left 1 */
#include "situation.h"

#include <stdio.h>
#include <stdlib.h>

/* A function that gives the third of three numbers; how it ends where it does not return. */
#define FUNCTION(name, end) \
	__asm__(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name ":\n\t.cfi_startproc\n" \
		"\ttestl %edi, %edi\n\tje 1f\n\tleaq .Ltable_" #name "(%rip), %rax\n\tmovq 16(%rax), %rax\n\tret\n" \
		"1:\t" end "\n\t.p2align 4\n" \
		".Ltable_" #name ":\n\t.quad 0x0010100001010400, 0x9090909090909090, 0x0010000001010400\n\t" \
		".cfi_endproc\n\t" \
		".size " #name ", .-" #name)

/* Before all code of a section. */
__asm__(".section .text.table, \"ax\", @progbits\n\t.p2align 4\n.Lfirst:\n\t.quad 0x0010100001010400, 0x9090909090909090\n\t"
	".quad 0x0010000001010400\n\t.type before, @function\nbefore:\n\tleaq .Lfirst(%rip), %rax\n\ttestl %edi, %edi\n\t"
	"je 1f\n\taddq $8, %rax\n1:\tmovq 8(%rax), %rax\n\tret\n\t.size before, .-before\n\t.text");

long before(int);
long behind_trap(int);
long behind_call(int);
long behind_system(int);

__attribute__((used, noreturn)) void
left(void)
{
	exit(0);
}

FUNCTION(behind_trap, "jmp left\n\tint3");
FUNCTION(behind_call, "subq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall left");
FUNCTION(behind_system, "movl $231, %eax\n\txorl %edi, %edi\n\tsyscall");

/* A call that only pushes where the text behind it is. */
const char *over_text(int);
__asm__(".text\n\t.type over_text, @function\nover_text:\n\ttestl %edi, %edi\n\tje 2f\n\tcall 1f\n\t.asciz \"PPPP text\"\n"
	"1:\tpopq %rax\n\tret\n2:\tcall 1f\n\t.byte 0x50, 0x50, 0x50, 0\n1:\tpopq %rax\n\tret\n\t"
	".size over_text, .-over_text\n");

/* Bytes that are code behind calls: what is called stands behind them; they have a label that is jumped to. */
int bytes(int);
__asm__(".text\n\t.type bytes, @function\nbytes:\n\txorl %eax, %eax\n\tcall 3f\n\t.byte 0xff, 0xc0\n\tcall 3f\n"
	"1:\t.byte 0xff, 0xc0\n\tdecl %edi\n\tjg 1b\n\tret\n3:\taddl $16, %eax\n\tret\n\t.size bytes, .-bytes\n");

int
main(void)
{
	for (int i = 0; i < 10; i++)
		printf("%d %lx %lx %lx %lx %s\n", bytes(i), before(i % 2), behind_trap(1), i < 9 ? behind_call(1) : 0,
			behind_system(1), over_text(i % 3));
	fflush(stdout);
	behind_call(0);
}
