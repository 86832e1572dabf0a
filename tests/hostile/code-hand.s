# SPDX-License-Identifier: MIT
# int by_hand(const int *): what is there, or -1; the first instruction may fault, as a table says.
	.text
	.globl	by_hand
	.type	by_hand, @function
by_hand:
1:	movl	(%rdi), %eax
	stc
	ret
2:	movl	$-1, %eax
	cmc
	ret
	.size	by_hand, . - by_hand
	.section my_table, "aw"
	.quad	1b, 2b
	.section .note.GNU-stack, "", @progbits
