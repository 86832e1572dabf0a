# SPDX-License-Identifier: MIT
# Code that tables describe: alternatives that a loader copies over it, by their lengths. int choice(void), int plain(int).
	.text
	.globl	choice
	.type	choice, @function
choice:
5:	mov	$1, %eax
6:	ret
	.size	choice, . - choice
	.globl	plain
	.type	plain, @function
plain:
	test	%edi, %edi
	je	1f
	lea	1(%rdi), %eax
	ret
1:	xor	%eax, %eax
	ret
	.size	plain, . - plain
	.section my_replacements, "ax"
3:	mov	$2, %eax
4:
	.section my_alternatives, "a"
	.long	5b - ., 3b - .
	.byte	6b - 5b, 4b - 3b
	.section .note.GNU-stack, "", @progbits
