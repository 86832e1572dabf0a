# SPDX-License-Identifier: MIT
# A module's own sections: those that the linker, the C library and other copies of the runtime find. They refer to the code by
# name.

	.section .init_array.00000,"awG",@init_array,__chord_runtime_@version@,comdat
	.balign 8
chord_rt_init:
	.quad chord_rt_entry_construct
	.section .fini_array.00000,"awG",@fini_array,__chord_runtime_@version@,comdat
	.balign 8
	.quad chord_rt_entry_destruct

# These words are no counts: struct chord_rt_desc describes them at `mine` and `shadow`.
	.section chord_cnt,"awG",@nobits,__chord_runtime_@version@,comdat
	.balign 16
chord_rt_mine:
	.zero 16
	.globl __chord_shadow
	.hidden __chord_shadow
__chord_shadow:
	.zero 16

	.section chord_sum,"aoG",@progbits,.text.chord_rt,__chord_runtime_@version@,comdat
	.balign 4
	.long 0

	.section chord_path,"aoG",@progbits,.text.chord_rt,__chord_runtime_@version@,comdat
	.balign 4
	.long 0, 2

	.section .note.chord,"aG",@note,__chord_runtime_@version@,comdat
	.balign 4
	.long 6
	.long 8
	.long 1
	.asciz "Chord"
	.balign 4
	.long chord_rt_desc-.
	.long chord_rt_init-.

	.section .data.rel.ro.chord_rt,"awG",@progbits,__chord_runtime_@version@,comdat
	.balign 8
chord_rt_links:
	@links@

# struct chord_rt_desc
	.section .data.chord_rt,"awG",@progbits,__chord_runtime_@version@,comdat
	.hidden __start_chord_cnt
	.hidden __stop_chord_cnt
	.hidden __start_chord_sum
	.hidden __stop_chord_sum
	.hidden __start_chord_path
	.hidden __stop_chord_path
	.balign 8
chord_rt_desc:
	.long 0x4d524843
	.long @version@
	.long __start_chord_cnt-.
	.long __stop_chord_cnt-.
	.long __start_chord_sum-.
	.long __stop_chord_sum-.
	@hooks@
	.balign 8
	.quad 0
	.quad 0
	.long __chord_pointer-.
	.long chord_rt_pointer_end-.
	.long chord_rt_mine-.
	.long __start_chord_path-.
	.long __stop_chord_path-.
	.long __chord_shadow-.
	.long __chord_stack-.
	.long __chord_path-.
	.long chord_rt_called_end-.
	.long 0
	.balign 8
	.quad 0
	.long chord_rt_first-.
	.long chord_rt_last-.
	.long chord_rt_links-.
	.long chord_rt_entry_mapped-.
	.long 0
	.long __chord_trace_slow-.
	.long __chord_trace_signal-.
	.long __chord_stamp-.
	.long chord_rt_entry_resolving-.
