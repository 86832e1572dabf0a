# SPDX-License-Identifier: MIT
# Jumps to addresses that are computed, each a function int f(int n) that gives n for n from 0 to 8; and some that are understood.
	.macro	function name
	.text
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	counts
	.rept	8
	inc	%eax
	.endr
	.endm

	function minus			# a label less something counted
	lea	2f(%rip), %rdx
	mov	%edi, %ecx
	xor	%eax, %eax
	add	%rcx, %rcx
	sub	%rcx, %rdx
	jmp	*%rdx
1:	counts
2:	ret
	.size	minus, . - minus

	function scaled			# and a multiple
	mov	$8, %ecx
	sub	%edi, %ecx
	xor	%eax, %eax
	lea	1f(%rip), %rdx
	lea	(%rdx,%rcx,2), %rdx
	jmp	*%rdx
1:	counts
	ret
	.size	scaled, . - scaled

	function popped			# the PC as a base
	mov	$8, %ecx
	sub	%edi, %ecx
	call	1f
1:	pop	%rdx
	xor	%eax, %eax
	lea	2f-1b(%rdx,%rcx,2), %rdx
	jmp	*%rdx
2:	counts
	ret
	.size	popped, . - popped

	function returned		# by a return
	mov	$8, %ecx
	sub	%edi, %ecx
	add	%ecx, %ecx
	lea	1f(%rip), %rax
	add	%rcx, %rax
	push	%rax
	mov	$0, %eax
	ret
1:	counts
	ret
	.size	returned, . - returned

	function numbers		# a table of plain numbers
	mov	%edi, %edi
	lea	steps(%rip), %rdx
	movzbl	(%rdx,%rdi), %ecx
	xor	%eax, %eax
	lea	1f(%rip), %rdx
	add	%rcx, %rdx
	jmp	*%rdx
1:	counts
	ret
	.size	numbers, . - numbers
	.section .rodata
steps:	.byte	16, 14, 12, 10, 8, 6, 4, 2, 0

	function called			# a part of another function is called
	push	%rbx
	mov	$8, %ecx
	sub	%edi, %ecx
	xor	%eax, %eax
	lea	inner(%rip), %rdx
	lea	(%rdx,%rcx,2), %rdx
	call	*%rdx
	pop	%rbx
	ret
	.size	called, . - called
	.type	inner, @function
inner:	counts
	ret
	.size	inner, . - inner

	function halved			# a half of a label
	mov	%edi, %eax
	cmp	$0, %edi
	sbb	%ecx, %ecx
	lea	1f(%rip), %rdx
	and	%rcx, %rdx
	jz	2f
	jmp	*%rdx
1:	inc	%eax
2:	ret
	.size	halved, . - halved

	function chosen			# understood: a label, or 0 in its place
	mov	%edi, %eax
	cmp	$5, %edi
	sbb	%rcx, %rcx
	lea	1f(%rip), %rdx
	and	%rcx, %rdx
	jz	2f
	jmp	*%rdx
1:	add	$2, %eax
	sub	$2, %eax
2:	ret
	.size	chosen, . - chosen

	function table			# understood: a table of addresses
	mov	%edi, %edi
	lea	places(%rip), %rdx
	xor	%eax, %eax
	jmp	*(%rdx,%rdi,8)
8:	inc	%eax
7:	inc	%eax
6:	inc	%eax
5:	inc	%eax
4:	inc	%eax
3:	inc	%eax
2:	inc	%eax
1:	inc	%eax
0:	ret
	.size	table, . - table
	.section .data.rel.ro, "aw"
	.balign	8
places:	.quad	0b, 1b, 2b, 3b, 4b, 5b, 6b, 7b, 8b

	function distances		# understood: distances from a label
	mov	%edi, %edi
	lea	far(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rcx
	xor	%eax, %eax
	lea	base(%rip), %rdx
	add	%rcx, %rdx
	jmp	*%rdx
base:
8:	inc	%eax
7:	inc	%eax
6:	inc	%eax
5:	inc	%eax
4:	inc	%eax
3:	inc	%eax
2:	inc	%eax
1:	inc	%eax
0:	ret
	.size	distances, . - distances
	.section .rodata
	.balign	4
far:	.long	0b-base, 1b-base, 2b-base, 3b-base, 4b-base, 5b-base, 6b-base, 7b-base, 8b-base

	.section .note.GNU-stack, "", @progbits
