# A call that returns twice.
# measures: edges calls
# gcc -O2 -fno-asynchronous-unwind-tables:
#   #include <setjmp.h>
#
#   extern jmp_buf there;
#   void work(void);
#
#   int guarded(void)
#   {
#   	if (setjmp(there))
#   		return 1;
#   	work();
#   	return 0;
#   }
	.file	"setjmp.c"
	.text
	.p2align 4
	.globl	guarded
	.type	guarded, @function
guarded:
	leaq	there(%rip), %rdi
	pushq	%rbx
	call	_setjmp@PLT
	movl	$1, %ebx
	testl	%eax, %eax
	jne	.L1
	movl	%eax, %ebx
	call	work@PLT
.L1:
	movl	%ebx, %eax
	popq	%rbx
	ret
	.size	guarded, .-guarded
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
