# A loop of one block, and a branch around it.
# measures: edges every-block every-edge events paths calls trace
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int sum(const int *a, int n)
#   {
#   	int s = 0;
#
#   	for (int i = 0; i < n; i++)
#   		if (a[i] > 0)
#   			s += a[i];
#   	return s;
#   }
	.file	"loop.c"
	.text
	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
	testl	%esi, %esi
	jle	.L5
	movslq	%esi, %rsi
	xorl	%eax, %eax
	leaq	(%rdi,%rsi,4), %rsi
	.p2align 4,,10
	.p2align 3
.L4:
	movl	(%rdi), %edx
	testl	%edx, %edx
	leal	(%rax,%rdx), %ecx
	cmovg	%ecx, %eax
	addq	$4, %rdi
	cmpq	%rsi, %rdi
	jne	.L4
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%eax, %eax
	ret
	.size	sum, .-sum
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
