# Written by hand, in Intel syntax: what is woven in changes the syntax and changes it back.
# measures: edges
	.intel_syntax noprefix
	.text
	.globl	clamp
	.type	clamp, @function
clamp:
	mov	eax, edi
	cmp	eax, 100
	jle	1f
	mov	eax, 100
	ret
1:	test	eax, eax
	jns	2f
	xor	eax, eax
2:	ret
	.size	clamp, .-clamp
	.section	.note.GNU-stack,"",@progbits
