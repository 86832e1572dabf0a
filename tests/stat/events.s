# SPDX-License-Identifier: MIT
# long events(long n): every event that is about jumps, so many times as the
# comments say; n > 0.
	.text
	.globl	events
	.type	events, @function
events:
	.cfi_startproc
	movq	%rdi, %rcx
	xorl	%eax, %eax
.Lloop:
	addq	$1, %rax
	decq	%rcx
	jne	.Lloop			# branch n, taken n-1, backward n-1
	movq	%rdi, %rcx
.Lstep:
	movq	%rcx, %rdx
	andl	$1, %edx
	leaq	.Ltable(%rip), %rsi
	movslq	(%rsi,%rdx,4), %rdx	# load n
	addq	%rsi, %rdx
	jmp	*%rdx
.Leven:
	addq	$2, %rax
	jmp	.Lnext
.Lodd:
	addq	$3, %rax
.Lnext:
	loop	.Lstep			# branch n, taken n-1, backward n-1
	jrcxz	.Lforward		# branch 1, taken 1
	ud2
.Lforward:
	cmpq	$5, %rdi
	je	other			# branch 1, taken if n is 5: then a tail call of other
	cmpq	$6, %rdi
	jne	.Lout			# branch 1 unless n is 5, taken unless n is 6
	jmp	other@PLT		# a tail call of other if n is 6
.Lout:
	ret				# return 1 unless n is 5 or 6
	.cfi_endproc
	.size	events, .-events
	.section .rodata
	.balign 4
.Ltable:
	.long	.Leven-.Ltable, .Lodd-.Ltable
	.text
	.globl	other
	.type	other, @function
other:
	.cfi_startproc
	ret				# return 1 if n is 5 or 6
	.cfi_endproc
	.size	other, .-other
	.section .note.GNU-stack,"",@progbits
