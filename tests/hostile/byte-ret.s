# SPDX-License-Identifier: MIT
# Returns and additions that are written as bytes there: f runs 68 instructions for 0 to 7.
	.text
	.globl f
	.type f,@function
f:
	xorl %eax,%eax
	cmpl $5,%edi
	jbe .L2
	movl $7,%eax
	ret
	.p2align 4
.L2:
	.byte 0x0f,0x1f,0x00		# nopl (%rax)
	movl %edi,%ecx
	testl %ecx,%ecx
	jz .L4
	.byte 0x66,0x90			# xchg %ax,%ax
	.byte 0xf3,0xc3			# rep ret, as perlasm writes it
	.p2align 4
.L3:	movl $9,%eax
	ret
.L4:	.byte 0xff,0xc0			# incl %eax
	.byte 0xff,0xc0			# incl %eax
	incl %eax
	jmp .L3
	.size f,.-f
	.section .note.GNU-stack,"",@progbits
