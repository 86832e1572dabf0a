# Written by hand: instructions whose prefix is a statement of its own, at the end of a procedure.
# measures: edges
	.text
	.globl	parted
	.type	parted, @function
parted:
	movl	$1, %eax
	cmpl	$5, %edi
	je	1f
	cmpl	$7, %edi
	je	1f
	movl	$2, %eax
	ret
1:	addl	%edi, %eax
	rep
	ret
	.size	parted, .-parted
	.globl	bytes
	.type	bytes, @function
bytes:
	movl	$1, %eax
	cmpl	$5, %edi
	je	1f
	cmpl	$7, %edi
	je	1f
	movl	$2, %eax
	ret
1:	addl	%edi, %eax
	.byte	0x90, 0xf3
	ret
	.size	bytes, .-bytes
	.section	.note.GNU-stack,"",@progbits
