# Written by hand: jumps that have a short form only.
# measures: edges
	.text
	.globl	zeros
	.type	zeros, @function
# rdi: bytes, rcx: how many.
zeros:
	xorl	%eax, %eax
	jrcxz	3f
1:	cmpb	$0, -1(%rdi,%rcx)
	jne	2f
	incl	%eax
2:	loop	1b
3:	ret
	.size	zeros, .-zeros
	.section	.note.GNU-stack,"",@progbits
