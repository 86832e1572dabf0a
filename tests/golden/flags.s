# Written by hand: flags are live. inc leaves CF alone; where all flags are needed the counter goes behind what reads them.
# measures: edges events
	.text
	.globl	add_words
	.type	add_words, @function
# rdi: sum, rsi: addend, rcx: words. The carry goes around the loop.
add_words:
	clc
1:	movq	(%rsi), %rax
	adcq	%rax, (%rdi)
	leaq	8(%rsi), %rsi
	leaq	8(%rdi), %rdi
	decq	%rcx
	jnz	1b
	ret
	.size	add_words, .-add_words

	.globl	overflows
	.type	overflows, @function
# All flags are live behind the branch.
overflows:
	addq	%rdi, %rsi
	jo	2f
	pushfq
	popq	%rax
	ret
2:	pushfq
	popq	%rax
	negq	%rax
	ret
	.size	overflows, .-overflows
	.section	.note.GNU-stack,"",@progbits
