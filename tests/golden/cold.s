# A part that is taken to run rarely (NAME.cold), and a call that does not come back.
# measures: edges
# gcc -O2 -fno-asynchronous-unwind-tables:
#   #include <stdlib.h>
#
#   extern void complain(int) __attribute__((cold));
#
#   int check(int a)
#   {
#   	if (a < 0) {
#   		complain(a);
#   		abort();
#   	}
#   	if (a > 100)
#   		complain(a);
#   	return a + 1;
#   }
	.file	"cold.c"
	.text
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.globl	check
	.type	check, @function
check:
	subq	$24, %rsp
	testl	%edi, %edi
	js	.L4
	cmpl	$100, %edi
	jg	.L5
.L3:
	leal	1(%rdi), %eax
	addq	$24, %rsp
	ret
	.section	.text.unlikely
	.type	check.cold, @function
check.cold:
.L4:
	call	complain@PLT
	call	abort@PLT
.L5:
	movl	%edi, 12(%rsp)
	call	complain@PLT
	movl	12(%rsp), %edi
	jmp	.L3
	.text
	.size	check, .-check
	.section	.text.unlikely
	.size	check.cold, .-check.cold
.LCOLDE0:
	.text
.LHOTE0:
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
