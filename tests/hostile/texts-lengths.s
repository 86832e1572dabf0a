# SPDX-License-Identifier: MIT
# A length of code is a number in an instruction.
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
