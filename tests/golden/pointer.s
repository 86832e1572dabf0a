# A call through a pointer: under calls its callee is recorded.
# measures: edges calls
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int apply(int (*f)(int), int n)
#   {
#   	int s = 0;
#
#   	while (n--)
#   		s += f(n);
#   	return s;
#   }
	.file	"pointer.c"
	.text
	.p2align 4
	.globl	apply
	.type	apply, @function
apply:
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	testl	%esi, %esi
	je	.L4
	movq	%rdi, %r12
	leal	-1(%rsi), %ebx
	xorl	%ebp, %ebp
	.p2align 4,,10
	.p2align 3
.L3:
	movl	%ebx, %edi
	call	*%r12
	addl	%eax, %ebp
	subl	$1, %ebx
	jnb	.L3
	movl	%ebp, %eax
	popq	%rbx
	popq	%rbp
	popq	%r12
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	xorl	%ebp, %ebp
	popq	%rbx
	movl	%ebp, %eax
	popq	%rbp
	popq	%r12
	ret
	.size	apply, .-apply
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
