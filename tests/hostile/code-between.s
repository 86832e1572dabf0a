# SPDX-License-Identifier: MIT
# Places that are given by a number of bytes from another: a jump as bytes over other procedures, and into the middle of
# procedures by name and number.
	.macro begin name
	.globl \name
	.type \name, @function
\name:
	.endm

	.macro end name
	.size \name, .-\name
	.endm

	.text
	# The distance is that of the text as it is.
	begin far
	movl $1, %eax
	.byte 0xe9
	.long 14
	end far

	begin between
	movl $7, %eax
	addl $2, %eax
	incl %eax
	decl %eax
	ret
	end between
	.byte 0x90

	begin landed
	addl $10, %eax
	ret
	end landed

	begin back
	movl $2, %eax
	.byte 0xeb, -11
	end back

	begin into_jump
	movl $7, %eax
	addl $100, %eax
	ret
	end into_jump

	begin into_call
	movl $7, %eax
	addl $100, %eax
	ret
	end into_call

	begin into_address
	movl $7, %eax
	addl $100, %eax
	ret
	end into_address

	begin into_data
	movl $7, %eax
	addl $100, %eax
	ret
	end into_data

	begin into_name
	movl $7, %eax
	addl $100, %eax
	ret
	end into_name

	begin jumps
	movl $3, %eax
	jmp into_jump+5
	end jumps

	begin calls
	movl $4, %eax
	call into_call + 5
	incl %eax
	ret
	end calls

	begin addresses
	leaq into_address+5(%rip), %rdx
	movl $5, %eax
	jmp *%rdx
	end addresses

	begin reads
	movq table(%rip), %rdx
	movl $6, %eax
	jmp *%rdx
	end reads

	.set middle, into_name + 5
	begin names
	movl $7, %eax
	jmp middle
	end names

	# Only whole procedures stand in between, and nothing counts their bytes.
	begin whole
	leaq measured+0(%rip), %rdx
	jmp *%rdx
	end whole

	begin measured
	.cfi_startproc
	movl $8, %eax
	jmp 1f
	nop
1:	ret
	.cfi_endproc
	end measured

	# Where code is woven in before, the padding has another length.
	.section .text.padded, "ax"
	begin before
	movl $9, %eax
	incl %eax
	ret
	end before

	begin padded
	movl $10, %eax
	.byte 0xeb, 17
	end padded
	.p2align 5
	begin behind
	addl $1000, %eax
	ret
	end behind

	.data
table:	.quad into_data+5
	.section .note.GNU-stack
