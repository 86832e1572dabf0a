# SPDX-License-Identifier: MIT
# Procedures with every kind of rule that unwind tables have: expressions, values, states kept and taken up, signal frames.
	.text
	.cfi_startproc
one:
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.cfi_remember_state
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_escape 0x10,0x03,0x04,0x76,0x78,0x23,0x10
	.cfi_escape 0x16,0x0c,0x06,0x77,0x08,0x0a,0x00,0x01,0x22
	nop
	.cfi_restore_state
	.cfi_restore %rbp
	.cfi_undefined %rbx
	.cfi_same_value %r12
	.cfi_register %r13, %rax
	.cfi_val_offset %r14, 8
	nop
	.cfi_escape 0x0f,0x0b,0x77,0x10,0x80,0x00,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22
	nop
	.cfi_escape 0x0f,0x0e,0x31,0x12,0x28,0x02,0x00,0x2f,0xf9,0xff,0x77,0x08,0x06,0x14,0x16,0x22
	ret
	.cfi_endproc
	.cfi_startproc simple
	.cfi_signal_frame
two:
	.cfi_def_cfa %rsp, 8
	.cfi_offset %rip, -8
	.cfi_escape 0x2e,0x10
	.skip 300, 0x90
	.cfi_def_cfa_offset 400
	.skip 70000, 0x90
	.cfi_adjust_cfa_offset 8
	ret
	.cfi_endproc
	.globl main
main:
	.cfi_startproc
	.cfi_personality 0x9b, DW.ref.p
	.cfi_lsda 0x1b, main
	xor %eax, %eax
	ret
	.cfi_endproc
	.data
DW.ref.p: .quad main
	.section .note.GNU-stack,"",@progbits
