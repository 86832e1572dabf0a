# Loops in which registers count: one of the program's, two others, and one of the program's where no register is dead.
# measures: registers path-registers
# gcc -O2 -fno-tree-vectorize:
#   #include <stddef.h>
#   long sum(const long *a, size_t n)
#   {
#   	long s = 0;
#
#   	for (size_t i = 0; i < n; i++)
#   		s += a[i];
#   	return s;
#   }
#
#   int both(const int *a, int n)
#   {
#   	int k = 0;
#
#   	for (int i = 0; i < n; i++)
#   		if (a[i] > 3)
#   			k++;
#   		else if (a[i] < -7)
#   			k += a[i];
#   	return k;
#   }
#
#   void product(int n, double *restrict a, const double *restrict b, const double *restrict c)
#   {
#   	for (int j = 0; j < n; j++)
#   		for (int k = 0; k < n; k++)
#   			for (int i = 0; i < n; i++)
#   				a[j * n + i] += b[k * n + i] * c[j * n + k];
#   }
	.file	"promote.c"
	.text
	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
.LFB0:
	.cfi_startproc
	testq	%rsi, %rsi
	je	.L4
	leaq	(%rdi,%rsi,8), %rdx
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L3:
	addq	(%rdi), %rax
	addq	$8, %rdi
	cmpq	%rdx, %rdi
	jne	.L3
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%eax, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	sum, .-sum
	.p2align 4
	.globl	both
	.type	both, @function
both:
.LFB1:
	.cfi_startproc
	testl	%esi, %esi
	jle	.L12
	movslq	%esi, %rsi
	xorl	%edx, %edx
	leaq	(%rdi,%rsi,4), %rcx
	jmp	.L11
	.p2align 4,,10
	.p2align 3
.L14:
	addq	$4, %rdi
	addl	$1, %edx
	cmpq	%rcx, %rdi
	je	.L7
.L11:
	movl	(%rdi), %eax
	cmpl	$3, %eax
	jg	.L14
	cmpl	$-7, %eax
	leal	(%rdx,%rax), %esi
	cmovl	%esi, %edx
	addq	$4, %rdi
	cmpq	%rcx, %rdi
	jne	.L11
.L7:
	movl	%edx, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L12:
	xorl	%edx, %edx
	movl	%edx, %eax
	ret
	.cfi_endproc
.LFE1:
	.size	both, .-both
	.p2align 4
	.globl	product
	.type	product, @function
product:
.LFB2:
	.cfi_startproc
	testl	%edi, %edi
	jle	.L23
	movslq	%edi, %r8
	movq	%rcx, %r11
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %r10d
	salq	$3, %r8
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	movq	%rsi, %r9
	movq	%rdx, %rbx
	addq	%r8, %r11
	leaq	(%rsi,%r8), %rcx
	xorl	%ebp, %ebp
	.p2align 4,,10
	.p2align 3
.L17:
	movq	%r11, %rsi
	movq	%rbx, %rdi
	subq	%r8, %rsi
	.p2align 4,,10
	.p2align 3
.L20:
	movsd	(%rsi), %xmm1
	movq	%rdi, %rdx
	movq	%r9, %rax
	.p2align 4,,10
	.p2align 3
.L18:
	movsd	(%rdx), %xmm0
	addq	$8, %rax
	addq	$8, %rdx
	mulsd	%xmm1, %xmm0
	addsd	-8(%rax), %xmm0
	movsd	%xmm0, -8(%rax)
	cmpq	%rcx, %rax
	jne	.L18
	addq	$8, %rsi
	addq	%r8, %rdi
	cmpq	%rsi, %r11
	jne	.L20
	addl	$1, %ebp
	addq	%r8, %r11
	addq	%r8, %r9
	addq	%r8, %rcx
	cmpl	%ebp, %r10d
	jne	.L17
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
.L23:
	.cfi_restore 3
	.cfi_restore 6
	ret
	.cfi_endproc
.LFE2:
	.size	product, .-product
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
