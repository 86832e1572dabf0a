# SPDX-License-Identifier: MIT
# Places where code can only be woven in if something waits on the stack meanwhile, in frames that unwinders find in several ways.
	.text
	.globl	flags, early, rounds
	.type	flags, @function
	.type	early, @function
	.type	rounds, @function

# The frame is found by the stack pointer. No register is dead, and jumps read flags that were set in other blocks.
flags:
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	movq	%rdi, %rax
	movq	%rsi, %rbx
	cmpq	%rsi, %rdi
	je	.Lequal
	js	.Lsign
	leaq	5(%rax), %rax
.Lsign:
	leaq	1(%rbx), %rbx
	jl	.Lless
	leaq	(%rax, %rbx), %rbx
	jo	.Lless
	leaq	(%rax, %rbx, 2), %rbx
.Lless:
	leaq	(%rax, %rbx), %rbx
	js	.Llast
	leaq	2(%rax, %rbx), %rbx
.Llast:
	adcq	$0, %rax
	call	other
	addq	%rbx, %rax
.Lequal:
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	flags, . - flags

# The frame is found by rax for some time.
early:
	.cfi_startproc
	movq	%rsp, %rax
	.cfi_def_cfa_register %rax
	cmpq	%rsi, %rdi
	jg	.Lgreater
	js	.Lbelow
	leaq	1(%rdi), %rdi
.Lbelow:
	jl	.Lgreater
	leaq	2(%rdi), %rdi
.Lgreater:
	js	.Ldone
	leaq	4(%rdi), %rdi
.Ldone:
	leaq	-40(%rsp), %rsp
	movq	%rax, %rsp
	.cfi_def_cfa_register %rsp
	movq	%rdi, %rax
	ret
	.cfi_endproc
	.size	early, . - early

# The frame is found by what is on the stack, at a place that another register gives.
rounds:
	.cfi_startproc
	movq	%rsp, %rax
	.cfi_def_cfa_register %rax
	pushq	%rbx
	.cfi_offset %rbx, -16
	leaq	8(,%rdx,8), %r10
	negq	%r10
	leaq	-8(%rsp, %r10), %rsp
	movq	%rax, 8(%rsp, %rdx, 8)
	# DW_CFA_def_cfa_expression: DW_OP_breg7 8, DW_OP_breg1 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus, DW_OP_deref,
	# DW_OP_plus_uconst 8
	.cfi_escape 0x0f, 0x0a, 0x77, 0x08, 0x71, 0x00, 0x38, 0x1e, 0x22, 0x06, 0x23, 0x08
	xorl	%eax, %eax
	movq	$1, %rbx
.Lround:
	addq	(%rsi), %rax
	addq	$8, %rsi
	addq	$1, %rbx
	decq	%rdi
	jnz	.Lround
	cmpq	$20, %rax
	je	.Lout
	js	.Lout
	leaq	3(%rax), %rax
.Lout:
	jl	.Lfew
	leaq	9(%rax), %rax
.Lfew:
	adcq	%rbx, %rax
	movq	8(%rsp, %rdx, 8), %rcx
	.cfi_def_cfa %rcx, 8
	movq	-8(%rcx), %rbx
	.cfi_restore %rbx
	leaq	(%rcx), %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size	rounds, . - rounds
	.section .note.GNU-stack, "", @progbits
