# SPDX-License-Identifier: MIT
# Macros, .rept and .irp that begin with a label to which the text jumps, or that the text does not show by name.
	.macro	begin name
	.globl	\name
	.type	\name, @function
\name:	movl	%edi, %eax
	andl	$7, %eax
	.endm
	.macro	named label
\label:	addl	$1, %eax
	nop
	.endm
	.macro	round
1:	addl	$2, %eax
	nop
	.endm
	.macro	numbered
2:	addl	$3, %eax
	.endm
	.text
	.cfi_startproc
	begin	f
	testl	$1, %edi
	jz	.Lnamed
	incl	%eax
	jmp	.Lover
	named	.Lnamed
.Lover:	movl	$3, %ecx
.Lround:
	round
	decl	%ecx
	jnz	1b
	testl	$2, %edi
	jz	2f
	nop
	numbered
	testl	$4, %edi
	jnz	.Lmany1
	nop
	.irp	n, 1, 2
.Lmany\n:
	addl	$4, %eax
	.endr
	testl	$8, %edi
	jz	.Lonce
	ret
	.rept	1
.Lonce:	addl	$5, %eax
	.endr
	cmpl	$60, %eax
	ja	.Lend
	movl	$2, %ecx
	addl	$9, %eax
	jmp	.Lround
.Lend:	leaq	.Ltable(%rip), %rdx
	movl	%edi, %ecx
	andl	$1, %ecx
	jmp	*(%rdx,%rcx,8)
	named	.Lfirst
	ret
	nop
	named	.Lother
	ret
	.cfi_endproc
	.size	f, . - f
	.section .data.rel.ro, "aw"
	.balign	8
.Ltable:
	.quad	.Lfirst, .Lother
	.section .note.GNU-stack,"",@progbits
