# Written by hand: a jump into the middle of an instruction. That procedure is refused and passes through as it is, the other one
# is measured.
# measures: edges paths
	.text
	.globl	inside
	.type	inside, @function
inside:
	testl	%edi, %edi
	je	1f+1
1:	movl	$0xc3, %eax
	ret
	.size	inside, .-inside

	.globl	fine
	.type	fine, @function
fine:
	testl	%edi, %edi
	je	2f
	movl	$1, %eax
	ret
2:	movl	$2, %eax
	ret
	.size	fine, .-fine
	.section	.note.GNU-stack,"",@progbits
