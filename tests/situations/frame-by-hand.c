/* SPDX-License-Identifier: MIT */
/* Assembly that says nothing of its frame, and assembly that says what is not true. */
/* expect: bare 60 */
/* expect: unstated 60 */
/* expect: moved 60 */
/* expect: work 180 */
/* refused unstated: allowed because with paths its frame cannot be found at a call */
#include "situation.h"

/* Three ways to keep two registers, round what needs them kept. */
#define PROCEDURE(name, begin, keep, give, end) \
	__asm__(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name ":\n\t" begin \
		keep "movl %edi, %ebx\n\tmovl $0, %r12d\n" \
		"1:\ttestl $1, %ebx\n\tje 2f\n\tcall step\n\taddl %eax, %r12d\n" \
		"2:\tdecl %ebx\n\tjg 1b\n\tmovl %r12d, %eax\n\t" \
		give "ret\n\t" end ".size " #name ", .-" #name)

int step(void);
int bare(int);
int unstated(int);
int moved(int);

__attribute__((used)) int
step(void)
{
	return 1;
}

PROCEDURE(bare, "", "pushq %rbx\n\tpushq %r12\n\tsubq $8, %rsp\n\t", "addq $8, %rsp\n\tpopq %r12\n\tpopq %rbx\n\t", "");
PROCEDURE(unstated, ".cfi_startproc\n\t", "pushq %rbx\n\tpushq %r12\n\tsubq $8, %rsp\n\t",
	"addq $8, %rsp\n\tpopq %r12\n\tpopq %rbx\n\t", ".cfi_endproc\n\t");
/* Only its end is not stated, and there nothing is called. */
PROCEDURE(moved, ".cfi_startproc\n\t",
	"pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\tmovq %rsp, %rbp\n\t.cfi_def_cfa_register 6\n\t"
	"pushq %rbx\n\tpushq %r12\n\t", "popq %r12\n\tpopq %rbx\n\tleave\n\t", ".cfi_endproc\n\t");

int
main(void)
{
	int n = 0;

	for (int i = 0; i < 60; i++) {
		n += bare(i % 7) + unstated(i % 5) + moved(i % 9);
		work_times(3);
	}
	return n == 0;
}
