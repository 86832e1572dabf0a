# SPDX-License-Identifier: MIT
# Intel syntax in which names without % are symbols, even if a register has that name.
	.text
	.intel_syntax prefix
	.globl f
	.type f,@function
f:	mov %rax, %rdi
	mov %ecx, 7
1:	add %rax, %rcx
	test %al, 1
	je 2f
	add %rax, 3
2:	sub %ecx, 1
	mov %rdx, offset cl
	jne 1b
	add %rax, edx
	ret
	.size f,.-f
	.att_syntax
	.data
edx:	.quad 1000
cl:	.quad 1
	.section .note.GNU-stack,"",@progbits
