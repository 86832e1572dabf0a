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

# Moves the stack pointer and has directives that say nothing of it: where the frame is, only a register knows.
	.p2align 4
	.globl	moved
	.type	moved, @function
moved:
	.cfi_startproc
	leaq	(%rsp), %r10
	subq	$0x108, %rsp
	andq	$-256, %rsp
	xorl	%eax, %eax
1:	movq	%rdi, (%rsp,%rax,8)
	incq	%rax
	testb	$1, %al
	jz	2f
	addq	$3, (%rsp)
2:	cmpq	$16, %rax
	jne	1b
	movq	(%rsp), %rax
	leaq	(%r10), %rsp
	ret
	.cfi_endproc
	.size	moved, .-moved

# The sum of the numbers up to n, and of what the caller gives. It ends with a jump to its own start, where it sets up a frame.
	.globl	again
	.type	again, @function
again:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rsi, %rax
	testq	%rdi, %rdi
	je	1f
	addq	%rdi, %rsi
	decq	%rdi
	.cfi_remember_state
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	jmp	again
1:	.cfi_restore_state
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	again, .-again

# A trap before a place that another procedure jumps to, and before one that a table leads to.
	.p2align 4
	.globl	stops
	.type	stops, @function
stops:
	testq	%rdi, %rdi
	js	1f
	movq	%rdi, %rax
	ret
1:	ud2
.Lbehind:
	leaq	1(%rdi), %rax
	ret
	.size	stops, .-stops

	.p2align 4
	.globl	enters
	.type	enters, @function
enters:
	addq	$2, %rdi
	jmp	.Lbehind
	.size	enters, .-enters

	.p2align 4
	.globl	chooses
	.type	chooses, @function
chooses:
	testq	%rdi, %rdi
	js	1f
	leaq	table(%rip), %rax
	andl	$1, %edi
	movslq	(%rax,%rdi,4), %rdx
	addq	%rdx, %rax
	jmp	*%rax
1:	ud2
.Lzero:	movl	$10, %eax
	ret
.Lone:	movl	$11, %eax
	ret
	.size	chooses, .-chooses
	.section .rodata
	.p2align 2
table:	.long	.Lzero-table, .Lone-table
	.section .note.GNU-stack, "", @progbits
