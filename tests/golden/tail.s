# Tail calls, one of them under a condition.
# measures: edges events calls
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int g(int), h(int);
#
#   int either(int a)
#   {
#   	if (a > 10)
#   		return g(a);
#   	return h(a + 1);
#   }
	.file	"tail.c"
	.text
	.p2align 4
	.globl	either
	.type	either, @function
either:
	cmpl	$10, %edi
	jg	.L4
	addl	$1, %edi
	jmp	h@PLT
	.p2align 4,,10
	.p2align 3
.L4:
	jmp	g@PLT
	.size	either, .-either
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
