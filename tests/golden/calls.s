# Recursion: sums behind each call.
# measures: edges calls paths trace
# gcc -O1 -fno-asynchronous-unwind-tables:
#   long fib(long n)
#   {
#   	return n < 2 ? n : fib(n - 1) + fib(n - 2);
#   }
	.file	"calls.c"
	.text
	.globl	fib
	.type	fib, @function
fib:
	pushq	%rbp
	pushq	%rbx
	subq	$8, %rsp
	movq	%rdi, %rbx
	cmpq	$1, %rdi
	jg	.L4
.L2:
	movq	%rbx, %rax
	addq	$8, %rsp
	popq	%rbx
	popq	%rbp
	ret
.L4:
	leaq	-1(%rdi), %rdi
	call	fib
	movq	%rax, %rbp
	leaq	-2(%rbx), %rdi
	call	fib
	leaq	0(%rbp,%rax), %rbx
	jmp	.L2
	.size	fib, .-fib
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
