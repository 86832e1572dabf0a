# SPDX-License-Identifier: MIT
# What the compiler cannot write: sections of the runtime's own, and entries that
# keep registers. Local symbols except for the hidden ones that woven code calls.

	.section .init_array.00000,"awG",@init_array,__chord_runtime_1,comdat
	.balign 8
	.quad chord_rt_construct
	.section .fini_array.00000,"awG",@fini_array,__chord_runtime_1,comdat
	.balign 8
	.quad chord_rt_entry_destruct

# A counter that nobody counts, so that the section is there.
	.section chord_cnt,"awoG",@nobits,.text.chord_rt,__chord_runtime_1,comdat
	.balign 8
	.zero 8

	.section .note.chord,"aG",@note,__chord_runtime_1,comdat
	.balign 4
	.long 6
	.long 4
	.long 1
	.asciz "Chord"
	.balign 4
	.long chord_rt_desc-.

# struct chord_rt_desc
	.section .data.chord_rt,"awG",@progbits,__chord_runtime_1,comdat
	.hidden __start_chord_cnt
	.hidden __stop_chord_cnt
	.balign 8
chord_rt_desc:
	.long 0x4d524843
	.long 1
	.long __start_chord_cnt-.
	.long __stop_chord_cnt-.
# CHORD_RT_HOOKS, in that order
	.long chord_rt_hook_pthread_create-.
	.long chord_rt_hook__Fork-.
	.long 0 # _exit
	.long 0 # _Exit
	.long 0 # quick_exit
	.long 0 # pthread_exit
	.long 0 # longjmp
	.long 0 # _longjmp
	.long 0 # siglongjmp
	.long 0 # __longjmp_chk
	.long 0 # _Unwind_SetIP
	.long 0 # execve
	.long 0 # execv
	.long 0 # execvp
	.long 0 # execvpe
	.long 0 # fexecve
	.long 0 # execl
	.long 0 # execlp
	.long 0 # execle
	.long 19
	.balign 8
	.quad 0

	.section .text.chord_rt,"axG",@progbits,__chord_runtime_1,comdat

# The start routine of a thread: rdi is its region. Nothing of this is left on
# the stack when the thread's own routine starts.
chord_rt_thread_entry:
	pushq %rdi
	call chord_rt_thread_begin
	popq %rax
	movq 16(%rax), %rdx
	movq 24(%rax), %rdi
	jmp *%rdx

	.globl __chord_pthread_create
	.hidden __chord_pthread_create
	.type __chord_pthread_create, @function
__chord_pthread_create:
	jmp chord_rt_hook_pthread_create

# struct chord_rt_regs at %rsp, of the caller as it is after the return.
chord_rt_entry_destruct:
	subq $136, %rsp
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_destruct
	addq $136, %rsp
	ret

# Fills the struct that lies just above this routine's return address and just
# below that of its caller. Changes rax only.
chord_rt_save:
	movq %rbx, 8+3*8(%rsp)
	movq %rbp, 8+6*8(%rsp)
	leaq 8+136+8(%rsp), %rax
	movq %rax, 8+7*8(%rsp)
	movq %r12, 8+12*8(%rsp)
	movq %r13, 8+13*8(%rsp)
	movq %r14, 8+14*8(%rsp)
	movq %r15, 8+15*8(%rsp)
	movq 8+136(%rsp), %rax
	movq %rax, 8+16*8(%rsp)
	ret
