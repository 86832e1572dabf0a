# SPDX-License-Identifier: MIT
# setjmp and longjmp by hand. leap returns on the stack that mark left in its buffer, and hop jumps there; load, swap, pull and reach
# set the stack pointer in other ways. aside, beside and call_on work on another stack, and come back.
	.text
	.globl	mark
	.type	mark, @function
mark:
	movq	%rbx, (%rdi)
	movq	%rbp, 8(%rdi)
	leaq	8(%rsp), %rdx
	movq	%rdx, 16(%rdi)
	movq	(%rsp), %rdx
	movq	%rdx, 24(%rdi)
	xorl	%eax, %eax
	ret
	.size	mark, .-mark

	.globl	leap
	.type	leap, @function
leap:
	movl	$1, %eax
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %rsp
	pushq	24(%rdi)
	ret
	.size	leap, .-leap

	.globl	hop
	.type	hop, @function
hop:
	movl	$1, %eax
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	24(%rdi), %rdx
	movq	16(%rdi), %rsp
	pushq	%rdx
	leaq	8(%rsp), %rsp
	movq	%rax, %rdi
	jmp	*%rdx
	.size	hop, .-hop

	.globl	load
	.type	load, @function
load:
	movl	$1, %eax
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %rcx
	movq	%rcx, %rsp
	pushq	24(%rdi)
	ret
	.size	load, .-load

	.globl	swap
	.type	swap, @function
swap:
	movl	$1, %eax
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	xchgq	16(%rdi), %rsp
	pushq	24(%rdi)
	ret
	.size	swap, .-swap

	.globl	pull
	.type	pull, @function
pull:
	movl	$1, %eax
	movq	24(%rdi), %rdx
	xchgq	%rdi, %rsp
	popq	%rbx
	popq	%rbp
	popq	%rsp
	pushq	%rdx
	ret
	.size	pull, .-pull

	.globl	reach
	.type	reach, @function
reach:
	movl	$1, %eax
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %rcx
	leaq	(%rcx), %rsp
	testl	%eax, %eax
	je	1f
	pushq	24(%rdi)
1:	ret
	.size	reach, .-reach

	.globl	aside
	.type	aside, @function
aside:
	movq	%rsp, (%rdi)
	leaq	256(%rdi), %rsp
	pushq	$3
	popq	%rax
	movq	(%rdi), %rsp
	ret
	.size	aside, .-aside

	.globl	beside
	.type	beside, @function
beside:
	leaq	256(%rdi), %rdi
	xchgq	%rdi, %rsp
	pushq	$4
	popq	%rax
	xchgq	%rdi, %rsp
	ret
	.size	beside, .-beside

	.globl	call_on
	.type	call_on, @function
call_on:
	pushq	%rbx
	movq	%rsp, %rbx
	movq	%rdi, %rsp
	call	*%rsi
	movq	%rbx, %rsp
	popq	%rbx
	ret
	.size	call_on, .-call_on
	.section .note.GNU-stack, "", @progbits
