# The same source as base.s, by clang.
# measures: edges events
# clang -O2 -fno-addrsig:
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
	.text
	.file	"clang.c"
	.globl	steps                           # -- Begin function steps
	.p2align	4, 0x90
	.type	steps,@function
steps:                                  # @steps
	.cfi_startproc
# %bb.0:
	pushq	%rax
	.cfi_def_cfa_offset 16
	callq	first@PLT
	cmpq	$1, %rax
	jne	.LBB0_2
# %bb.1:
	xorl	%ecx, %ecx
	jmp	.LBB0_4
.LBB0_2:
	xorl	%edx, %edx
	.p2align	4, 0x90
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	leaq	3(%rdx), %rcx
	movq	%rax, %rsi
	shrq	%rsi
	testb	$1, %al
	leaq	1(%rax,%rax,2), %rax
	cmoveq	%rsi, %rax
	cmoveq	%rdx, %rcx
	addq	$1, %rcx
	movq	%rcx, %rdx
	cmpq	$1, %rax
	jne	.LBB0_3
.LBB0_4:
	movq	%rcx, %rax
	popq	%rcx
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
	.size	steps, .Lfunc_end0-steps
	.cfi_endproc
                                        # -- End function
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
