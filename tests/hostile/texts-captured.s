# SPDX-License-Identifier: MIT
# Macros with the names of instructions, which Chord puts into texts: incq here changes the carry.
	.macro incq x
	addq $1, \x
	.endm
	.macro leaq a:vararg
	lea \a
	.endm
	.text
	.globl f
	.type f,@function
f:	movq %rdi, %rax
	movl $7, %ecx
	clc
1:	adcq %rcx, %rax
	jc 3f
	testb $1, %al
	je 2f
	add $3, %rax
2:	stc
3:	decl %ecx
	jne 1b
	adcq $0, %rax
	ret
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
