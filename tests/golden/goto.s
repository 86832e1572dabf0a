# Computed goto: labels whose address is taken are never moved behind a counter.
# measures: edges events
# gcc -O2 -fno-pic -fno-asynchronous-unwind-tables:
#   int run(const unsigned char *code)
#   {
#   	static const void *const op[] = {&&add, &&twice, &&stop};
#   	int a = 0;
#
#   	goto *op[*code++];
#   add:
#   	a++;
#   	goto *op[*code++];
#   twice:
#   	a *= 2;
#   	goto *op[*code++];
#   stop:
#   	return a;
#   }
	.file	"goto.c"
	.text
	.p2align 4
	.globl	run
	.type	run, @function
run:
	movzbl	(%rdi), %eax
	xorl	%edx, %edx
	addq	$2, %rdi
	movq	op.0(,%rax,8), %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L6:
	movl	%edx, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	-1(%rdi), %eax
	addl	%edx, %edx
	addq	$1, %rdi
	movq	op.0(,%rax,8), %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	-1(%rdi), %eax
	addl	$1, %edx
	addq	$1, %rdi
	movq	op.0(,%rax,8), %rax
	jmp	*%rax
	.size	run, .-run
	.section	.rodata
	.align 16
	.type	op.0, @object
	.size	op.0, 24
op.0:
	.quad	.L3
	.quad	.L4
	.quad	.L6
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
