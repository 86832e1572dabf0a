# SPDX-License-Identifier: MIT
# What a module has in addition if its code writes a trace (-fchord=trace): struct chord_rt_traced, and room for the slots that are
# written before the runtime is up.

	.section .data.chord_trace,"awG",@progbits,__chord_trace_@version@,comdat
	.balign 8
	.globl __chord_trace_home
	.hidden __chord_trace_home
	.type __chord_trace_home, @object
	.size __chord_trace_home, 8
__chord_trace_home:
	.quad .Lchord_trace_cell
.Lchord_trace_cell:
	.quad .Lchord_trace_early
	.quad .Lchord_trace_early
	.quad 0
	.long .Lchord_trace_join-.
	.long 0

# Two segments and a page. They are not aligned to segments, so it is not known before where the first segment ends.
	.section .bss.chord_trace,"awG",@nobits,__chord_trace_@version@,comdat
	.balign 16
.Lchord_trace_early:
	.zero 135168

# Tells the runtime where struct chord_rt_traced is: the second number is a distance.
	.section chord_path,"aoG",@progbits,__chord_trace_home,__chord_trace_@version@,comdat
	.balign 4
	.long 0
	.long __chord_trace_home-.

# The runtime goes here in place of a function that joins a thread. The function's address is in r10, the number of the thread that
# is joined in rax. The waiting thread may be cancelled and unwound in the function, so this frame has call frame information.
	.section .text.chord_trace,"axG",@progbits,__chord_trace_@version@,comdat
.Lchord_trace_join:
	pushq %rax
.Lchord_trace_join_1:
	call *%r10
	testl %eax, %eax
	jne .Lchord_trace_join_2
	movq (%rsp), %rdi
	movq %rax, (%rsp)
	call __chord_joined
	movq (%rsp), %rax
.Lchord_trace_join_2:
	addq $8, %rsp
.Lchord_trace_join_3:
	ret
.Lchord_trace_join_end:

# The table is not written with .cfi directives, because the compiler's text may have sent their output to another section. The
# weaver puts the section directive here.
@eh_frame@
	.balign 8
.Lchord_trace_cie:
	.long .Lchord_trace_cie_end-.Lchord_trace_cie_1
.Lchord_trace_cie_1:
	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8
	.byte 0x90, 1
	.balign 8, 0
.Lchord_trace_cie_end:
	.long .Lchord_trace_fde_end-.Lchord_trace_fde
.Lchord_trace_fde:
	.long .Lchord_trace_fde-.Lchord_trace_cie
	.long .Lchord_trace_join-.
	.long .Lchord_trace_join_end-.Lchord_trace_join
	.uleb128 0
	.byte 0x02, .Lchord_trace_join_1-.Lchord_trace_join
	.byte 0x0e, 16
	.byte 0x02, .Lchord_trace_join_3-.Lchord_trace_join_1
	.byte 0x0e, 8
	.balign 8, 0
.Lchord_trace_fde_end:
