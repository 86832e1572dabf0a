# SPDX-License-Identifier: MIT
# work(), by hand
	.text
	.globl	work
	.type	work, @function
work:
	.cfi_startproc
	xorl	%eax, %eax
	movl	$100, %ecx
1:	addl	%edi, %eax
	decl	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.size	work, .-work
	.section .note.GNU-stack,"",@progbits
