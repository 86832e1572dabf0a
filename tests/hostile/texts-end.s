# SPDX-License-Identifier: MIT
# What stands behind .end is no text.
	.text
	.globl main
	.type main,@function
main:	movl $5,%ecx
	xorl %eax,%eax
1:	addl %ecx,%eax
	decl %ecx
	jne 1b
	ret
	.size main,.-main
	.section .note.GNU-stack,"",@progbits
	.end
 garbage in here (
