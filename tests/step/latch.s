# SPDX-License-Identifier: MIT
# Two edges lead back to the beginning of the loop. Its text is a compiler's, so it may use registers.
	.file	"latch.c"
	.text
	.globl	latch
	.type	latch, @function
latch:
	.cfi_startproc
	xorl	%eax, %eax
.Lh:
	addq	$1, %rdi
	addl	$3, %eax
	testb	$1, (%rdi)
	jne	.Lh
	cmpb	$0, (%rdi)
	jne	.Lh
	xorl	%r11d, %r11d
	ret
	.cfi_endproc
	.size	latch, .-latch
	.section	.note.GNU-stack,"",@progbits
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
