# Written by hand: a function that runs into the next one, and an instruction written as bytes.
# measures: edges calls
	.text
	.globl	one_more
	.type	one_more, @function
one_more:
	incl	%edi
	.size	one_more, .-one_more
	.globl	doubled
	.type	doubled, @function
doubled:
	.byte	0x8d, 0x04, 0x3f	# lea (%rdi,%rdi), %eax
	ret
	.size	doubled, .-doubled
	.section	.note.GNU-stack,"",@progbits
