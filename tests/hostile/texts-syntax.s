# SPDX-License-Identifier: MIT
# A condition leaves a change of the syntax out.
	.if 0
	.intel_syntax noprefix
	.endif
	.text
	.globl f
	.type f,@function
f:	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rsi
	test %rax, %rax
	jz 1f
	mov %rax, %rcx
	add %rcx, %rax
1:	mov %rax, %rdx
	mov %rdx, %rax
	ret
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
