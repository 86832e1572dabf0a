# Inline assembly that jumps, and an entry of an exception table.
# measures: edges
# gcc -O2 -fno-asynchronous-unwind-tables:
#   int load(const int *p)
#   {
#   	int v, bad = 0;
#
#   	asm volatile("1: movl (%2), %0\n"
#   		"2:\n"
#   		".pushsection .fixup,\"ax\"\n"
#   		"3: movl $1, %1\n"
#   		"jmp 2b\n"
#   		".popsection\n"
#   		".pushsection __ex_table,\"a\"\n"
#   		".quad 1b, 3b\n"
#   		".popsection" : "=r"(v), "+r"(bad) : "r"(p));
#   	return bad ? -1 : v;
#   }
	.file	"inline.c"
	.text
	.p2align 4
	.globl	load
	.type	load, @function
load:
	xorl	%eax, %eax
#APP
# 5 "inline.c" 1
	1: movl (%rdi), %edi
2:
.pushsection .fixup,"ax"
3: movl $1, %eax
jmp 2b
.popsection
.pushsection __ex_table,"a"
.quad 1b, 3b
.popsection
# 0 "" 2
#NO_APP
	testl	%eax, %eax
	movl	$-1, %eax
	cmove	%edi, %eax
	ret
	.size	load, .-load
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
