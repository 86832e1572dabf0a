# SPDX-License-Identifier: MIT
# Blocks in blocks, as the assembler nests them: a macro's end is its .endm, whatever else is in it. Behind names, and not behind
# numbers, it sees where one begins or ends.
	.text
	.globl f
	.type f,@function
f:	movq %rdi, %rax
	.macro first n
65:	.rept 2; incq %rax; .endr
	addq $\n, %rax
	.endm
	first 7
	testb $2, %al
	je 2f
	first 9
2:	.rept 1
	.Lname: .Lother: .irp n, 3, 4
	addq $\n, %rax
	.endr
	.endr
	cmpq $30, %rax
	jb 3f
	incq %rax
3:
	.macro second
	.macro third
	subq $5, %rax
	.endm
	third; .Lend: .endm
	second
	third
	jc 4f
	incq %rax
4:	ret
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
