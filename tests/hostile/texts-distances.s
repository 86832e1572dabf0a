# SPDX-License-Identifier: MIT
# .irp makes a table of distances in the code.
	.text
	.globl f
	.type f,@function
f:	xorl %eax,%eax
	andl $3,%edi
	leaq tab(%rip),%rdx
	movslq (%rdx,%rdi,4),%rcx
	addq %rcx,%rdx
	jmp *%rdx
.Lcase0: addq $1,%rax
.Lcase1: addq $10,%rax
.Lcase2: addq $100,%rax
.Lcase3: addq $1000,%rax
	ret
	.size f,.-f
	.p2align 3
tab:	.irp i,0,1,2,3
	.long .Lcase\i-tab
	.endr
	.section .note.GNU-stack,"",@progbits
