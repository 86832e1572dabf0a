# SPDX-License-Identifier: MIT
# The length of one procedure is a number in others, by a macro.
	.macro length
	addq $f_end-f, %rax
	.endm
	.text
	.globl f
	.type f, @function
f:	movl $3, %ecx
	xorl %eax, %eax
1:	addq %rdi, %rax
	decl %ecx
	jne 1b
	call g
	jmp h
f_end:
	.size f, .-f
	.section .text.others, "ax", @progbits
	.type g, @function
g:	length
	ret
	.size g, .-g
	.type h, @function
h:	length
	ret
	.size h, .-h
	.section .note.GNU-stack,"",@progbits
