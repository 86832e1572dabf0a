# SPDX-License-Identifier: MIT
# Procedures without .cfi that enter one another in the middle, as libraries of long numbers have them: sums of n words (to, a,
# b, n, and a carry), which give the carry. A third one has a frame when it jumps.
	.text
	.p2align 4
	.globl	sum_carry
	.type	sum_carry, @function
sum_carry:
	xorl	%eax, %eax
	jrcxz	.Lnone
	pushq	%rbx
	movq	%r8, %r9
	jmp	.Lloop
	.size	sum_carry, .-sum_carry

	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
	xorl	%eax, %eax
	xorl	%r9d, %r9d
	testq	%rcx, %rcx
	jz	.Lnone
	pushq	%rbx
.Lloop:
	movq	(%rsi,%rax,8), %rbx
	negq	%r9
	adcq	(%rdx,%rax,8), %rbx
	sbbq	%r9, %r9
	movq	%rbx, (%rdi,%rax,8)
	incq	%rax
	cmpq	%rcx, %rax
	jne	.Lloop
	popq	%rbx
	movq	%r9, %rax
.Lnone:
	negq	%rax
	ret
	.size	sum, .-sum

	.p2align 4
	.globl	sum_one
	.type	sum_one, @function
sum_one:
	pushq	%rbx
	movl	$1, %ecx
	xorl	%eax, %eax
	movl	$1, %r9d
	jmp	.Lloop
	.size	sum_one, .-sum_one
	.section .note.GNU-stack, "", @progbits
