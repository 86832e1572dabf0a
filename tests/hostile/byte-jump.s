# SPDX-License-Identifier: MIT
# A jump that is written as bytes, in a block that only a jump reaches and that begins with bytes.
	.text
	.globl f
	.type f,@function
f:
	movl %edi,%ecx
	xorl %eax,%eax
	cmpl $5,%edi
	jbe .L2
	movl $7,%eax
	ret
	.p2align 4
.L2:
	.byte 0x0f,0x1f,0x00		# nopl (%rax)
	leaq 1(%rdi),%rdi
	.byte 0xeb,0x02			# jmp .+4
	xorl %ecx,%ecx
	movl %ecx,%eax
	ret
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
