# SPDX-License-Identifier: MIT
# A length of code is a number in an instruction.
	.macro len from, to
	addq $\to - \from, %rax
	.endm
	.macro own
	addq $(2b - 1b), %rax
	.endm
	.macro more what
	addq $\what, %rax
	.endm
	.text
	.globl f
	.type f, @function
f:	movl $3, %ecx
	xorl %eax, %eax
1:	addq %rdi, %rax
	decl %ecx
	jne 1b
2:	.set length, 2b - 1b
	.set twice, length * 2
	@
	ret
	.size f, .-f
	.section .note.GNU-stack,"",@progbits
