# SPDX-License-Identifier: MIT
# Procedures without .cfi that store the address of a place for others to go on there, as compilers of functional languages write
# them: sum(n, room) adds the numbers below n, and 3 for each odd one. give jumps to .Lback more often than sum jumps to give by
# its address, and it takes the address of .Lend itself. ask(n, room) adds the numbers only; another procedure stores the address.
	.text
	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
	xorl	%eax, %eax
	leaq	.Lback(%rip), %rdx
	movq	%rdx, (%rsi)
	leaq	give(%rip), %rcx
	jmp	*%rcx
.Lback:
	addq	%rdi, %rax
	testb	$1, %dil
	jz	give
	addq	$3, %rax
	jmp	give
.Lend:
	addq	$1, %rax
	ret
	.size	sum, .-sum

	.p2align 4
	.globl	give
	.type	give, @function
give:
	testq	%rdi, %rdi
	jz	1f
	decq	%rdi
	jmp	*(%rsi)
1:	leaq	.Lend(%rip), %rdx
	jmp	*%rdx
	.size	give, .-give

	.p2align 4
	.globl	ask
	.type	ask, @function
ask:
	xorl	%eax, %eax
	leaq	.Lagain(%rip), %rdx
	call	keep
	leaq	give(%rip), %rcx
	jmp	*%rcx
.Lagain:
	addq	%rdi, %rax
	jmp	give
	.size	ask, .-ask

	.p2align 4
	.type	keep, @function
keep:
	movq	%rdx, (%rsi)
	ret
	.size	keep, .-keep
	.section .note.GNU-stack, "", @progbits
