# A loop with two counters, for which a register gets their address.
# measures: edges events
# gcc -O2:
#   unsigned long first(void);
#
#   unsigned long steps(void)
#   {
#   	unsigned long n = first(), k = 0;
#
#   	while (n != 1) {
#   		if (n & 1)
#   			n = 3 * n + 1, k += 3;
#   		else
#   			n /= 2;
#   		k++;
#   	}
#   	return k;
#   }
	.file	"base.c"
	.text
	.p2align 4
	.globl	steps
	.type	steps, @function
steps:
.LFB0:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	call	first@PLT
	xorl	%edx, %edx
	cmpq	$1, %rax
	jne	.L5
	jmp	.L1
	.p2align 4,,10
	.p2align 3
.L10:
	addq	$3, %rdx
	leaq	1(%rax,%rax,2), %rax
	addq	$1, %rdx
	cmpq	$1, %rax
	je	.L1
.L5:
	testb	$1, %al
	jne	.L10
	shrq	%rax
	addq	$1, %rdx
	cmpq	$1, %rax
	jne	.L5
.L1:
	movq	%rdx, %rax
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE0:
	.size	steps, .-steps
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
