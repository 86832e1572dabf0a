# SPDX-License-Identifier: MIT
# A macro that another one defines makes data between code. They could be instructions.
	.macro defd name
	.macro \name
	.byte 1,2,3,4,5,6,7,8
	.byte 0x90,0x90,0x90,0x90,0x31,0xc0,0x31,0xc9
	.endm
	.endm
	defd D
	.text
	.globl f
	.type f,@function
f:	leaq tab(%rip),%rdx
	andl $15,%edi
	movzbl (%rdx,%rdi),%eax
	ret
	.size f,.-f
tab:	D
	.section .note.GNU-stack,"",@progbits
