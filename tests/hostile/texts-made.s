# SPDX-License-Identifier: MIT
# A macro and .irp make tables of addresses and distances by which f jumps.
	.macro ENTRY to
	.quad \to
	.endm
	.text
	.globl f
	.type f, @function
f:	xorl %eax, %eax
	andl $3, %edi
	leaq addresses(%rip), %rdx
	jmp *(%rdx,%rdi,8)
.Lfirst0: addq $1, %rax
.Lfirst1: addq $10, %rax
.Lfirst2: addq $100, %rax
.Lfirst3: addq $1000, %rax
	leaq distances(%rip), %rdx
	movslq (%rdx,%rdi,4), %rcx
	addq %rcx, %rdx
	jmp *%rdx
.Lsecond0: addq $1, %rax
.Lsecond1: addq $10, %rax
.Lsecond2: addq $100, %rax
.Lsecond3: addq $1000, %rax
	ret
	.size f, .-f

	.section .data.rel.ro, "aw"
	.p2align 3
addresses:
	ENTRY .Lfirst0
	ENTRY .Lfirst1
	ENTRY .Lfirst2
	ENTRY .Lfirst3
	.section .rodata
	.quad 5
distances:
	.irpc i,0123
	.long .Lsecond\i - distances
	.endr
	.section .note.GNU-stack,"",@progbits
