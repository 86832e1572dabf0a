# SPDX-License-Identifier: MIT
# A macro makes the table that says where a handler goes on.
	.macro EX from,to
	.pushsection __ex_table,"a"
	.long \from - ., \to - .
	.popsection
	.endm
	.text
	.globl f
	.type f,@function
f:	xorl %eax,%eax
	movl $3,%ecx
1:	addq %rdi,%rax
	loop 1b
	testb $1,%dil
	je 4f
2:	movq 0(%rax),%rdx
	addq $1,%rax
	ret
3:	movl $77,%eax
	ret
4:	addq $5,%rax
	ret
	EX 2b,3b
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
