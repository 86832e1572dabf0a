# A jump table: all cases meet in one hub.
# measures: edges paths trace
# gcc -O2 -fno-pic -fno-asynchronous-unwind-tables:
#   int g(int);
#
#   int pick(int a)
#   {
#   	switch (a) {
#   	case 0: return g(1);
#   	case 1: return 7;
#   	case 2: return g(3) + 1;
#   	case 3: return g(a) - 2;
#   	case 4: return a * a;
#   	}
#   	return -1;
#   }
	.file	"switch.c"
	.text
	.p2align 4
	.globl	pick
	.type	pick, @function
pick:
	cmpl	$4, %edi
	ja	.L2
	movl	%edi, %edi
	subq	$8, %rsp
	jmp	*.L4(,%rdi,8)
	.section	.rodata
	.align 8
	.align 4
.L4:
	.quad	.L8
	.quad	.L7
	.quad	.L6
	.quad	.L5
	.quad	.L9
	.text
	.p2align 4,,10
	.p2align 3
.L7:
	movl	$7, %eax
	addq	$8, %rsp
	ret
	.p2align 4,,10
	.p2align 3
.L9:
	movl	$16, %eax
	addq	$8, %rsp
	ret
	.p2align 4,,10
	.p2align 3
.L8:
	movl	$1, %edi
	addq	$8, %rsp
	jmp	g
	.p2align 4,,10
	.p2align 3
.L6:
	movl	$3, %edi
	call	g
	addq	$8, %rsp
	addl	$1, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	movl	$3, %edi
	call	g
	addq	$8, %rsp
	subl	$2, %eax
	ret
.L2:
	movl	$-1, %eax
	ret
	.size	pick, .-pick
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
