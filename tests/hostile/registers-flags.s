/* SPDX-License-Identifier: MIT */
/* Loops that are left where flags are live, and code on that way counts for them while a register has the counters' address. */
	.file	"walk.c"
	.text
	.globl	walk
	.type	walk, @function
walk:
	.cfi_startproc
	movq	%rdi, %r8
	movl	$300, %r11d
	xorl	%eax, %eax
	movl	$77, %r10d
	testb	$1, %dil
	jne	.L3
	testb	$2, %dil
	jne	.L6
.L0:
	addq	$64, %rdx
	subq	$-16, %rax
	incq	%r9
	movq	%rax, scratch(%rip)
	subl	$1, %r11d
	je	.Lx0
	movabsq	$6364136223846793005, %rdi
	imulq	%rdi, %r8
	addq	$12345, %r8
	btq	$11, %r8
	jnc	.L2
.L1:
	addq	$64, %rdx
	incq	%r9
	subl	$1, %r11d
	je	.Lx1
	jmp	.L1
.L2:
	subq	$-16, %rax
	subl	$1, %r11d
	je	.Lx1
	rorq	$7, %r8
	btq	$50, %r8
	jnc	.L5
.L3:
	addq	$64, %rdx
	subq	$-16, %rax
	incq	%r9
	subl	$1, %r11d
	je	.Lx0
	rorq	$7, %r8
	btq	$56, %r8
	jnc	.L6
.L4:
	incq	%r9
	subl	$1, %r11d
	je	.Lx0
	rorq	$7, %r8
	btq	$8, %r8
	jnc	.L6
	jc	.L1
.L5:
	subl	$1, %r11d
	je	.Lx1
	movabsq	$6364136223846793005, %rdi
	imulq	%rdi, %r8
	addq	$12345, %r8
	btq	$24, %r8
	jc	.L2
	jnc	.L5
.L6:
	addq	$64, %rdx
	addq	$64, %r9
	subl	$1, %r11d
	je	.Lx0
	rorq	$7, %r8
	btq	$19, %r8
	jc	.L4
	jnc	.L1
.Lx0:
	addq	%rdx, %rax
	addq	%r9, %rax
	ret
.Lx1:
	movq	%rdx, %rax
	ret
	.cfi_endproc
	.size	walk, .-walk
	.local	scratch
	.comm	scratch,8,8
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
