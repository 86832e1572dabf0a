# SPDX-License-Identifier: MIT
# A condition that makes the assembler fail if f is too long, which it is not.
	.text
	.globl f
	.type f, @function
f:	movl $5, %eax
	addq %rdi, %rax
	.if (. - f) > 4000
	.error "too long"
	.endif
	ret
	.size f, .-f
	.section .note.GNU-stack,"",@progbits
