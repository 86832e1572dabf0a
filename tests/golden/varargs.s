# Variable arguments: al says how many are in vector registers.
# measures: edges
# gcc -O2 -fno-asynchronous-unwind-tables:
#   #include <stdarg.h>
#
#   int total(int n, ...)
#   {
#   	va_list ap;
#   	int s = 0;
#
#   	va_start(ap, n);
#   	while (n--)
#   		s += va_arg(ap, int);
#   	va_end(ap);
#   	return s;
#   }
	.file	"varargs.c"
	.text
	.p2align 4
	.globl	total
	.type	total, @function
total:
	leaq	8(%rsp), %rax
	movq	%rsi, -40(%rsp)
	movq	%rax, -64(%rsp)
	leaq	-48(%rsp), %rax
	movq	%rax, -56(%rsp)
	leal	-1(%rdi), %eax
	movq	%rdx, -32(%rsp)
	movq	%rcx, -24(%rsp)
	movq	%r8, -16(%rsp)
	movq	%r9, -8(%rsp)
	movl	$8, -72(%rsp)
	testl	%edi, %edi
	je	.L6
	movq	-56(%rsp), %r8
	movl	$8, %ecx
	leaq	8(%rsp), %rdi
	xorl	%esi, %esi
	jmp	.L5
	.p2align 4,,10
	.p2align 3
.L9:
	movl	%ecx, %edx
	addl	$8, %ecx
	addq	%r8, %rdx
	addl	(%rdx), %esi
	subl	$1, %eax
	jb	.L1
.L5:
	cmpl	$47, %ecx
	jbe	.L9
	movq	%rdi, %rdx
	addq	$8, %rdi
	addl	(%rdx), %esi
	subl	$1, %eax
	jnb	.L5
.L1:
	movl	%esi, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	xorl	%esi, %esi
	movl	%esi, %eax
	ret
	.size	total, .-total
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
