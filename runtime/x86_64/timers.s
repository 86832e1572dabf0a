# SPDX-License-Identifier: MIT
# What the runtime has in addition in objects with timers (-fchord-timers=): entries with call frame information, because unwinders
# follow a handler's frame as any other. This is kept as text, because pack.sh keeps no such information.

	.section .text.chord_timer,"axG",@progbits,__chord_timers_@version@,comdat

# Sets a timer. Called with: rdi n, rsi the handler, rdx its argument, ecx how, r8 the counter's address for base 0, r9 the event's
# __chord_due_... The result is in eax. If the thread has to be stepped through from here on, edx is not 0.
	.globl __chord_timer
	.hidden __chord_timer
	.type __chord_timer, @function
__chord_timer:
	.cfi_startproc
	subq $8, %rsp
	.cfi_def_cfa_offset 16
	call __chord_timer_set
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	testl %edx, %edx
	jne 1f
	ret
1:	pushfq
	.cfi_def_cfa_offset 16
	orl $0x100, (%rsp)
	popfq
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# The body of both routines. It keeps all registers but rbp; the counter's address is at 8(%rbp). If there is a handler to run, it
# also keeps the state of floating point and vectors, but not that of protection keys.
	.macro chord_timer_body ask
	pushfq
	pushq %rax
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	cld
	subq $32, %rsp
	andq $-16, %rsp
	movq 8(%rbp), %rdi
	movq %rsp, %rsi
	\ask
	testl %eax, %eax
	jle 3f
1:	movq 16(%rsp), %rcx
	movq (%rsp), %r8
	movq 8(%rsp), %rdi
	subq %rcx, %rsp
	andq $-64, %rsp
	cmpl $512, %ecx
	je 4f
	xorl %eax, %eax
	movq %rax, 512(%rsp)
	movq %rax, 520(%rsp)
	movq %rax, 528(%rsp)
	movq %rax, 536(%rsp)
	movq %rax, 544(%rsp)
	movq %rax, 552(%rsp)
	movq %rax, 560(%rsp)
	movq %rax, 568(%rsp)
	movl $0xfffffdff, %eax
	movl $-1, %edx
	xsave64 (%rsp)
	fninit
	pushq $0x1f80
	pushq $0
	ldmxcsr 8(%rsp)
	call *%r8
	addq $16, %rsp
	movl $0xfffffdff, %eax
	movl $-1, %edx
	xrstor64 (%rsp)
2:	leaq -80-32(%rbp), %rsp
	andq $-16, %rsp
	movq 8(%rbp), %rdi
	movq %rsp, %rsi
	call __chord_timer_due
	testl %eax, %eax
	jg 1b
3:	je 5f
	orl $0x100, -8(%rbp)
	jmp 5f
4:	fxsave64 (%rsp)
	fninit
	pushq $0x1f80
	pushq $0
	ldmxcsr 8(%rsp)
	call *%r8
	addq $16, %rsp
	fxrstor64 (%rsp)
	jmp 2b
5:	leaq -80(%rbp), %rsp
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	.endm

# Called by woven code through __chord_due_...: is a timer due? On the stack: the counter's address, the return address.
	.globl __chord_due
	.hidden __chord_due
	.type __chord_due, @function
__chord_due:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushq %rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	chord_timer_body "call __chord_timer_due"
	popq %rax
	popfq
	popq %rbp
	.cfi_def_cfa %rsp, 16
	leaq 8(%rsp), %rsp
	ret
	.cfi_endproc

# A thread that is stepped through goes on here when a timer is due between two instructions. On the stack: the counter's address,
# the address of the second instruction, the number that was added to the counter to make it exact, the handler, its argument, the
# bytes for the state of vectors, the red zone.
	.globl __chord_struck
	.hidden __chord_struck
	.type __chord_struck, @function
__chord_struck:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa_offset 176
	.cfi_offset %rip, -168
	pushq %rbp
	.cfi_def_cfa_offset 184
	.cfi_offset %rbp, -184
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	chord_timer_body "call chord_rt_timer_called"
	movq 8(%rbp), %rcx
	movq 24(%rbp), %rax
	subq %rax, %gs:8(%rcx)
	movq -24(%rbp), %rcx
	popq %rax
	popfq
	popq %rbp
	.cfi_def_cfa %rsp, 176
	leaq 8(%rsp), %rsp
	.cfi_def_cfa_offset 168
	ret $160
	.cfi_endproc

chord_rt_timer_called:
	movq 32(%rbp), %rax
	movq %rax, (%rsi)
	movq 40(%rbp), %rax
	movq %rax, 8(%rsi)
	movq 48(%rbp), %rax
	movq %rax, 16(%rsi)
	movl $1, %eax
	ret
	.globl __chord_struck_end
	.hidden __chord_struck_end
__chord_struck_end:
	.purgem chord_timer_body

# struct chord_rt_timed
	.section .data.chord_timer,"awG",@progbits,__chord_timers_@version@,comdat
	.hidden __start_chord_timed
	.hidden __stop_chord_timed
	.globl __chord_timers
	.hidden __chord_timers
	.balign 8
__chord_timers:
	.long __start_chord_timed-.
	.long __stop_chord_timed-.
	.long __chord_struck-.
	.long __chord_struck_end-.
	.long __chord_timer-.
	.long 0
	.quad 0

# The objects that the linker keeps may have no measured code, so this section must exist.
	.section chord_timed,"aoG",@progbits,__chord_timer,__chord_timers_@version@,comdat
	.balign 4
