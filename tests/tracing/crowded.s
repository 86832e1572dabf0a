# SPDX-License-Identifier: MIT
# down() has no register that is free all the way: its caller needs all but rax and rdi, rax has the result from the last block
# on, and rdi is not used any more there. So what is added on the way into that block stands behind its first instruction.
	.text
	.type	down, @function
down:
	.cfi_startproc
1:	subl	$3, %edi
	cmpl	$3, %edi
	jg	1b
	movl	%edi, %eax
	addl	$7, %eax
	ret
	.cfi_endproc
	.size	down, .-down
	.globl	all
	.type	all, @function
all:
	.cfi_startproc
	movl	$1, %ecx
	leal	2(%rdi), %edx
	leal	3(%rdi), %esi
	movl	$4, %r8d
	movl	$5, %r9d
	movl	$6, %r10d
	movl	$7, %r11d
	call	down
	movl	$8, %edi
	addl	%edi, %eax
	addl	%ecx, %eax
	addl	%edx, %eax
	addl	%esi, %eax
	addl	%r8d, %eax
	addl	%r9d, %eax
	addl	%r10d, %eax
	addl	%r11d, %eax
	ret
	.cfi_endproc
	.size	all, .-all
	.section	.note.GNU-stack, "", @progbits
	.ident	"GCC: (GNU) 12.2.0"
