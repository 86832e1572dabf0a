# Written by hand: the stack pointer points to data in a loop, so nothing may be put below it there.
# measures: edges
	.text
	.globl	sum_by_pop
	.type	sum_by_pop, @function
# rdi: words, rsi: how many, at least one.
sum_by_pop:
	movq	%rsp, %rdx
	movq	%rdi, %rsp
	xorl	%eax, %eax
1:	popq	%rcx
	addq	%rcx, %rax
	decq	%rsi
	jnz	1b
	movq	%rdx, %rsp
	ret
	.size	sum_by_pop, .-sum_by_pop
	.section	.note.GNU-stack,"",@progbits
