# SPDX-License-Identifier: MIT
# The assembler decides by a number of bytes what f is: 8 without anything in between.
	.macro more
	.if (. - f) > 8
	addq $1000, %rax
	.endif
	.endm
	.text
	.globl f
	.type f, @function
f:	movl $5, %eax
	addq %rdi, %rax
1:	.set n, 1b - f
	@
	ret
	.size f, .-f
	.section .note.GNU-stack,"",@progbits
