# No branch: one counter at most.
# measures: edges events paths trace
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int twice(int a)
#   {
#   	return 2 * a + 1;
#   }
	.file	"leaf.c"
	.text
	.p2align 4
	.globl	twice
	.type	twice, @function
twice:
	leal	1(%rdi,%rdi), %eax
	ret
	.size	twice, .-twice
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
