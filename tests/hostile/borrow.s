# SPDX-License-Identifier: MIT
# Short loops by hand in which no register is known to be dead. All return a sum of n words.

	.text
# The frame is found by the stack pointer, and words right below it are in use.
	.globl	leaf
	.type	leaf, @function
leaf:
	.cfi_startproc
	movq	%rsi, -8(%rsp)
	xorl	%eax, %eax
	.p2align 4
1:	addq	(%rdi), %rax
	addq	$8, %rdi
	decq	%rsi
	jnz	1b
	addq	-8(%rsp), %rax
	subq	-8(%rsp), %rax
	ret
	.cfi_endproc
	.size	leaf, .-leaf

# The carry goes from round to round.
	.globl	carry
	.type	carry, @function
carry:
	.cfi_startproc
	xorl	%eax, %eax
	clc
1:	adcq	(%rdi), %rax
	leaq	8(%rdi), %rdi
	decq	%rsi
	jnz	1b
	ret
	.cfi_endproc
	.size	carry, .-carry

# A loop of as many instructions as borrow at most.
	.globl	longer
	.type	longer, @function
longer:
	.cfi_startproc
	xorl	%eax, %eax
1:	addq	(%rdi), %rax
	addq	$8, %rdi
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	decq	%rsi
	jnz	1b
	ret
	.cfi_endproc
	.size	longer, .-longer

# The frame is found by r11, as where a function aligns its stack.
	.globl	aligned
	.type	aligned, @function
aligned:
	.cfi_startproc
	movq	%rsp, %r11
	.cfi_def_cfa_register %r11
	subq	$64, %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax
1:	addq	(%rdi), %rax
	addq	$8, %rdi
	movq	%rax, (%rsp)
	decq	%rsi
	jnz	1b
	movq	(%rsp), %rax
	movq	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size	aligned, .-aligned

# It keeps a word where only signals and calls may write.
	.globl	beyond
	.type	beyond, @function
beyond:
	.cfi_startproc
	movq	$0, -136(%rsp)
	movq	$0, -144(%rsp)
1:	movq	(%rdi), %rax
	addq	%rax, -136(%rsp)
	addq	$8, %rdi
	decq	%rsi
	jnz	1b
	movq	-136(%rsp), %rax
	ret
	.cfi_endproc
	.size	beyond, .-beyond
	.section	.note.GNU-stack,"",@progbits
