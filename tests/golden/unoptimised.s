# A frame found by rbp, all variables in memory (-O0), with call frame information.
# measures: edges paths
# gcc -O0:
#   int larger(int a, int b)
#   {
#   	int m = a;
#
#   	if (b > a)
#   		m = b;
#   	return m;
#   }
	.file	"unoptimised.c"
	.text
	.globl	larger
	.type	larger, @function
larger:
.LFB0:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	movl	%edi, -20(%rbp)
	movl	%esi, -24(%rbp)
	movl	-20(%rbp), %eax
	movl	%eax, -4(%rbp)
	movl	-24(%rbp), %eax
	cmpl	-20(%rbp), %eax
	jle	.L2
	movl	-24(%rbp), %eax
	movl	%eax, -4(%rbp)
.L2:
	movl	-4(%rbp), %eax
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE0:
	.size	larger, .-larger
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
