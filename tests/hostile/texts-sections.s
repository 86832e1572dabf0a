# SPDX-License-Identifier: MIT
# Which section code is in, by a condition that leaves a directive out, and by a macro.
	.macro CODE
	.text
	.endm
	.if 0
	.data
	.endif
	.type twice, @function
twice:	leaq (%rdi,%rdi), %rax
	ret
	.size twice, .-twice

	.data
three:	.quad 3
	CODE
	.globl f
	.type f, @function
f:	call twice
	movq three(%rip), %rcx
1:	addq %rcx, %rax
	decq %rcx
	jne 1b
	ret
	.size f, .-f
	.section .note.GNU-stack,"",@progbits
