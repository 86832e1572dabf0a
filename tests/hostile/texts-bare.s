# SPDX-License-Identifier: MIT
# Operands name registers without %, in the order of AT&T.
	.text
	.att_syntax noprefix
	.globl f
	.type f,@function
f:	mov rdi, rax
	mov $7, ecx
1:	add rcx, rax
	test $1, al
	je 2f
	add $3, rax
2:	sub $1, ecx
	jne 1b
	mov rax, rdx
	mov rdx, rax
	ret
	.size f,.-f
	.att_syntax prefix
	.section .note.GNU-stack,"",@progbits
