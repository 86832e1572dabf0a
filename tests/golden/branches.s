# Branches in a loop: fewer counters than blocks, on the colder sides.
# measures: edges every-block paths
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int count(const char *s)
#   {
#   	int words = 0, in = 0;
#
#   	for (; *s; s++) {
#   		if (*s == ' ')
#   			in = 0;
#   		else if (!in)
#   			in = 1, words++;
#   	}
#   	return words;
#   }
	.file	"branches.c"
	.text
	.p2align 4
	.globl	count
	.type	count, @function
count:
	movzbl	(%rdi), %eax
	testb	%al, %al
	je	.L5
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L9:
	testl	%edx, %edx
	jne	.L3
	addl	$1, %ecx
	movl	$1, %edx
.L3:
	movzbl	1(%rdi), %eax
	addq	$1, %rdi
	testb	%al, %al
	je	.L1
.L4:
	cmpb	$32, %al
	jne	.L9
	movzbl	1(%rdi), %eax
	addq	$1, %rdi
	xorl	%edx, %edx
	testb	%al, %al
	jne	.L4
.L1:
	movl	%ecx, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	xorl	%ecx, %ecx
	movl	%ecx, %eax
	ret
	.size	count, .-count
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
