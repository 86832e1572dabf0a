# Written by hand: CF and OF are live all around a loop. lahf and seto keep them in rax, which is written next.
# measures: edges events paths
	.text
	.globl	two_sums
	.type	two_sums, @function
# Two sums of many words at once: rdi += rsi by CF, rdx += rsi by OF; rcx: minus the number of words.
two_sums:
	xorl	%eax, %eax
1:	movq	(%rsi,%rcx,8), %rax
	adcxq	(%rdi,%rcx,8), %rax
	movq	%rax, (%rdi,%rcx,8)
	movq	(%rsi,%rcx,8), %rax
	adoxq	(%rdx,%rcx,8), %rax
	movq	%rax, (%rdx,%rcx,8)
	leaq	1(%rcx), %rcx
	jrcxz	2f
	jmp	1b
2:	setc	%al
	seto	%ah
	ret
	.size	two_sums, .-two_sums
	.section	.note.GNU-stack,"",@progbits
