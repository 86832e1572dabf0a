# SPDX-License-Identifier: MIT
# .irp makes a table of addresses that count bytes.
	.text
	.globl f
	.type f,@function
f:	andl $3,%edi
	leaq tab(%rip),%rdx
	movl $1,%eax
	jmp *(%rdx,%rdi,8)
	nop
	nop
	addq $1,%rax
	addq $10,%rax
	addq $100,%rax
	addq $100,%rax
	ret
	.size f,.-f
	.section .data.rel.ro,"aw"
	.p2align 3
tab:	.irp i,0,4,8,12
	.quad f+20+\i
	.endr
	.section .note.GNU-stack,"",@progbits
