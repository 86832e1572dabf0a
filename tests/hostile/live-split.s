# SPDX-License-Identifier: MIT
# A compiler's procedure in pieces that have names of their own: a piece reads the flags that another one has set.
	.text
	.globl	compare
	.type	compare, @function
compare:
	.cfi_startproc
	cmpq	%rsi, %rdi
	jne	compare.differ
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	compare, .-compare
	.section	.text.compare.differ,"ax",@progbits
	.type	compare.differ, @function
compare.differ:
	.cfi_startproc
	jmp	compare.order
	.cfi_endproc
	.size	compare.differ, .-compare.differ
	.section	.text.compare.order,"ax",@progbits
	.type	compare.order, @function
compare.order:
	.cfi_startproc
	movl	$1, %eax
	jg	.Lgreater
	movl	$-1, %eax
.Lgreater:
	ret
	.cfi_endproc
	.size	compare.order, .-compare.order
	.ident	"GCC: (GNU) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
