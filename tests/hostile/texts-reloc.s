# SPDX-License-Identifier: MIT
# Relocations that are given apart from the instructions: one at the next one's operand, or at that of a label's.
	.text
	.globl f
	.type f, @function
f:	movl $5, %ecx
	xorl %eax, %eax
1:	addq %rdi, %rax
	testb $1, %al
	jne 2f
	.reloc @, R_X86_64_PC32, value-4
3:	leaq 0(%rip), %rdx
	addq (%rdx), %rax
2:	decl %ecx
	jne 1b
	.reloc 0, R_X86_64_NONE, value
	ret
	.size f, .-f
	.data
value:	.quad 1000
	.section .note.GNU-stack,"",@progbits
