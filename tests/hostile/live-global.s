# SPDX-License-Identifier: MIT
# count of live-global.c, compiled by gcc 14, with a caller that keeps values in the registers that it leaves alone.
	.text
	.type	inner, @function
inner:
	.cfi_startproc
	xorl	%eax, %eax
	cmpq	%rsi, %rdi
	jnb	.L6
	.p2align 5
	.p2align 4
	.p2align 3
.L5:
	xorl	%ecx, %ecx
	cmpb	%dl, (%rdi)
	sete	%cl
	addq	$1, %rdi
	addq	%rcx, %rax
	cmpq	%rdi, %rsi
	jne	.L5
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	ret
	.cfi_endproc
	.size	inner, .-inner
	.globl	count_14
	.type	count_14, @function
count_14:
	.cfi_startproc
	movl	$1, %r8d
	movl	$2, %r9d
	movl	$3, %r10d
	call	inner
	addq	%r8, %rax
	subq	%r10, %rax
	addq	%r9, %rax
	ret
	.cfi_endproc
	.size	count_14, .-count_14
	.ident	"GCC: (Debian 14.2.0-19) 14.2.0"
	.section	.note.GNU-stack,"",@progbits
