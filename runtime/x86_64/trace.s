# SPDX-License-Identifier: MIT
# What a module has in addition whose code writes a trace (-fchord=trace): struct chord_rt_traced, and room for what is written
# before the runtime is up.

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

# Two segments and a page, not aligned to segments: where the first ends is not known before.
	.section .bss.chord_trace,"awG",@nobits,__chord_trace_@version@,comdat
	.balign 16
.Lchord_trace_early:
	.zero 135168

# Tells the runtime where that is: the second number is a distance.
	.section chord_path,"aoG",@progbits,__chord_trace_home,__chord_trace_@version@,comdat
	.balign 4
	.long 0
	.long __chord_trace_home-.
