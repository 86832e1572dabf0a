/* SPDX-License-Identifier: MIT */
/* work() through the preprocessor */
#define TIMES 100
#define LOOP(r) \
	dec	r

	.text
	.globl	work
	.type	work, @function
work:
	.cfi_startproc
	xor	%eax, %eax
	mov	$TIMES, %ecx
1:	add	%edi, %eax
	LOOP(%ecx)
	jnz	1b
	ret
	.cfi_endproc
	.size	work, .-work
	.section .note.GNU-stack,"",@progbits
