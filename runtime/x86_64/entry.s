# SPDX-License-Identifier: MIT
# Entries that keep registers, which cannot be written in C. All symbols are local, except the hidden ones that woven code calls.
# Where control can be interrupted, directives say how to find the frame, as in the program's own code, because handlers take
# backtraces, and threads are cancelled and unwound anywhere.

# A struct chord_rt_regs is at the stack pointer. chord_rt_keep fills it, but for rax, the stack pointer and the PC.
# chord_rt_restore loads the registers that a call may have changed, but for r10 and r11.
	.macro chord_rt_keep
	movq %rdx, 1*8(%rsp)
	movq %rcx, 2*8(%rsp)
	movq %rbx, 3*8(%rsp)
	movq %rsi, 4*8(%rsp)
	movq %rdi, 5*8(%rsp)
	movq %rbp, 6*8(%rsp)
	movq %r8, 8*8(%rsp)
	movq %r9, 9*8(%rsp)
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	movq %r12, 12*8(%rsp)
	movq %r13, 13*8(%rsp)
	movq %r14, 14*8(%rsp)
	movq %r15, 15*8(%rsp)
	.endm
	.macro chord_rt_restore
	movq (%rsp), %rax
	movq 1*8(%rsp), %rdx
	movq 2*8(%rsp), %rcx
	movq 4*8(%rsp), %rsi
	movq 5*8(%rsp), %rdi
	movq 8*8(%rsp), %r8
	movq 9*8(%rsp), %r9
	.endm

# Room for the beginnings of functions that divert.c moves.
	.balign 8
chord_rt_moved:
	.fill 280, 1, 0xcc

# The start routine of a thread: rdi is its region. Nothing of this routine is left on the stack when the thread's own routine
# starts.
chord_rt_thread_entry:
	.cfi_startproc
	pushq %rdi
	.cfi_def_cfa_offset 16
	call chord_rt_thread_begin
	popq %rax
	.cfi_def_cfa_offset 8
	movq 32(%rax), %rdx
	movq 40(%rax), %rdi
	jmp *%rdx
	.cfi_endproc

# The start routine of a process with memory of its own. It has no call frame information, so walks end there.
chord_rt_process_entry:
	pushq 32(%rdi)
	pushq 40(%rdi)
	call chord_rt_process_begin
	popq %rdi
	popq %rdx
	subq $8, %rsp
	call *%rdx
chord_rt_process_back:
	movq %rax, (%rsp)
	call chord_rt_process_returns
	popq %rax
	ret

# The routines that woven code calls in place of the real functions. Tables have chord_rt_table_NAME. The registers are saved in a
# struct chord_rt_regs.
	.macro chord_rt_hook number, name
	.globl __chord_\name
	.hidden __chord_\name
	.type __chord_\name, @function
__chord_\name:
	.cfi_startproc
	.if \number < 2
	leaq chord_rt_hook_\name(%rip), %r11
	movl $1, %r8d
	jmp chord_rt_in_child
chord_rt_table_\name:
.Lchord_rt_table_\name:
	leaq chord_rt_hook_\name(%rip), %r11
	xorl %r8d, %r8d
	jmp chord_rt_in_child
	.elseif \number < 3
	movl $1, %r8d
	jmp chord_rt_hook_\name
chord_rt_table_\name:
.Lchord_rt_table_\name:
	xorl %r8d, %r8d
	jmp chord_rt_hook_\name
	.else
	movl $\number, %r11d
	jmp chord_rt_common
chord_rt_table_\name:
.Lchord_rt_table_\name:
	movl $\number+256, %r11d
	jmp chord_rt_common
	.endif
	.cfi_endproc
	.endm
	@hooks@
	.purgem chord_rt_hook

# Ends with a jump to the real function, its arguments as they were; or returns from here if that function has been called already.
chord_rt_common:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_hooked
	testq %rax, %rax
	je chord_rt_common_done
	movq %rax, %r11
	chord_rt_restore
	movq 10*8(%rsp), %r10
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	jmp *%r11
chord_rt_common_done:
	.cfi_def_cfa_offset 144
	movq (%rsp), %rax
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# Goes on in the function in r11, whose arguments are in rdi, rsi, rdx, rcx and r8. This may be a child of fork that the runtime has
# not seen yet, in which a handler of pthread_atfork's runs before the runtime's.
chord_rt_in_child:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_be_child_first
	movq 1*8(%rsp), %rdx
	movq 2*8(%rsp), %rcx
	movq 4*8(%rsp), %rsi
	movq 5*8(%rsp), %rdi
	movq 8*8(%rsp), %r8
	movq 11*8(%rsp), %r11
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	jmp *%r11
	.cfi_endproc

# Called by woven code before a jump into another activation's frame. On the stack: the return address, the address that the jump
# leads to (0: not known), the stack pointer after it, the red zone. Changes nothing.
	.globl __chord_away
	.hidden __chord_away
	.type __chord_away, @function
__chord_away:
	.cfi_startproc
	pushfq
	.cfi_def_cfa_offset 16
	subq $136, %rsp
	.cfi_def_cfa_offset 152
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	call chord_rt_save
	movq 136+8(%rsp), %rax
	movq %rax, 16*8(%rsp)
	leaq 136+4*8+128(%rsp), %rax
	movq %rax, 7*8(%rsp)
	movq 136+16(%rsp), %rdx
	movq 136+24(%rsp), %rsi
	movq %rsp, %rdi
	call chord_rt_away
	chord_rt_restore
	movq 10*8(%rsp), %r10
	movq 11*8(%rsp), %r11
	addq $136, %rsp
	.cfi_def_cfa_offset 16
	popfq
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# Jumped to by woven code before a call through a pointer. Below the stack pointer: at -24 the pointer, at -32 the address of the
# word for its slot, at -40 the address to go on at, which must be just above the registers saved. Changes the flags only.
	.globl __chord_pointer
	.hidden __chord_pointer
	.type __chord_pointer, @function
__chord_pointer:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_offset 16, -40
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 176
	movq %rax, (%rsp)
	chord_rt_keep
	leaq 176(%rsp), %rax
	movq %rax, 7*8(%rsp)
	movq 176-40(%rsp), %rax
	movq %rax, 16*8(%rsp)
	movq 176-24(%rsp), %rsi
	movq 176-32(%rsp), %rdi
	movq %gs:chord_rt_mine+8(%rip), %rax
	movq %rax, 144(%rsp)
	movq %rsp, %gs:chord_rt_mine+8(%rip)
	call chord_rt_through
	movq 144(%rsp), %rax
	movq %rax, %gs:chord_rt_mine+8(%rip)
	chord_rt_restore
	movq 10*8(%rsp), %r10
	movq 11*8(%rsp), %r11
	leaq 176(%rsp), %rsp
	.cfi_def_cfa_offset 0
chord_rt_pointer_end:
	jmp *-40(%rsp)
	.cfi_endproc

# Called by trace.s.
	.globl __chord_joined
	.hidden __chord_joined
	.type __chord_joined, @function
__chord_joined:
	.cfi_startproc
	jmp chord_rt_joined
	.cfi_endproc

# Called by woven code. __chord_stack: before it uses its slot in the shadow of the stack, that of the address in rax. __chord_path:
# rax has the sum of a path, rcx the address of its struct chord_path_table. __chord_trace_slow: rax has the value of the cursor
# that was read, rcx the token. __chord_trace_signal: rdx has the address of the interrupted context. __chord_stamp: no arguments.
# All of them change the flags only.
	.globl __chord_stack
	.hidden __chord_stack
	.type __chord_stack, @function
__chord_stack:
	.cfi_startproc
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 184
	movq %rax, (%rsp)
	leaq chord_rt_stack(%rip), %rax
	jmp chord_rt_called
	.cfi_def_cfa_offset 8
	.globl __chord_trace_slow
	.hidden __chord_trace_slow
	.type __chord_trace_slow, @function
__chord_trace_slow:
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 184
	movq %rax, (%rsp)
	leaq chord_rt_trace_of(%rip), %rax
	jmp chord_rt_called
	.cfi_def_cfa_offset 8
	.globl __chord_trace_signal
	.hidden __chord_trace_signal
	.type __chord_trace_signal, @function
__chord_trace_signal:
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 184
	movq %rax, (%rsp)
	leaq chord_rt_signal_of(%rip), %rax
	jmp chord_rt_called
	.cfi_def_cfa_offset 8
	.globl __chord_stamp
	.hidden __chord_stamp
	.type __chord_stamp, @function
__chord_stamp:
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 184
	movq %rax, (%rsp)
	leaq chord_rt_trace_stamp(%rip), %rax
	jmp chord_rt_called
	.cfi_def_cfa_offset 8
	.globl __chord_path
	.hidden __chord_path
	.type __chord_path, @function
__chord_path:
	leaq -176(%rsp), %rsp
	.cfi_def_cfa_offset 184
	movq %rax, (%rsp)
	leaq chord_rt_path_of(%rip), %rax
chord_rt_called:
	chord_rt_keep
	leaq 176+8(%rsp), %rdi
	movq %rdi, 7*8(%rsp)
	movq 176(%rsp), %rdx
	movq %rdx, 16*8(%rsp)
	movq %gs:chord_rt_mine+8(%rip), %rdx
	movq %rdx, 144(%rsp)
	movq %rsp, %gs:chord_rt_mine+8(%rip)
	movq (%rsp), %rsi
	call *%rax
	movq 144(%rsp), %rax
	movq %rax, %gs:chord_rt_mine+8(%rip)
	chord_rt_restore
	movq 10*8(%rsp), %r10
	movq 11*8(%rsp), %r11
	leaq 176(%rsp), %rsp
	.cfi_def_cfa_offset 8
chord_rt_called_end:
	ret
chord_rt_path_of:
	movq %rcx, %rdi
	jmp chord_rt_path
chord_rt_trace_of:
	movq %rcx, %rdi
	jmp chord_rt_trace
chord_rt_signal_of:
	movq 1*8+8(%rsp), %rdi
	jmp chord_rt_trace_signal
	.cfi_endproc

# The child returns first, from here, on the stack with which the parent then goes on. So nothing is kept on it. The child jumps to
# the return address, because the parent returns to it.
chord_rt_hook_vfork:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_vfork_begins
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	popq %rdi
	.cfi_def_cfa_offset 0
	.cfi_register 16, 5
	movl $58, %eax
	syscall
	testq %rax, %rax
	jne chord_rt_vfork_parent
	pushq %rdi
	.cfi_def_cfa_offset 8
	.cfi_offset 16, -8
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_vfork_child
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	popq %rdi
	.cfi_def_cfa_offset 0
	.cfi_register 16, 5
	xorl %eax, %eax
	notrack jmp *%rdi
chord_rt_vfork_parent:
	pushq %rdi
	.cfi_def_cfa_offset 8
	.cfi_offset 16, -8
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_vfork_done
	movq (%rsp), %rax
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# The C library's pthread_create returns to this if it was not the program that asked for the thread. Only chord_rt_libc_thread_made
# knows the real return address.
	nop
chord_rt_created:
	leaq -8-136(%rsp), %rsp
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_libc_thread_made
	movq %rax, 136(%rsp)
	chord_rt_restore
	leaq 136(%rsp), %rsp
	ret

chord_rt_entry_destruct:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_destruct
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# Whoever finds the entry in a table of constructors finds the module's description by the word before it.
chord_rt_entry_desc:
	.long chord_rt_desc-.
chord_rt_entry_construct:
	.cfi_startproc
	leaq chord_rt_construct(%rip), %r11
	jmp chord_rt_in_child
	.cfi_endproc

# Runs in place of the dynamic linker's function for debuggers.
chord_rt_entry_mapped:
	.cfi_startproc
	leaq chord_rt_mapped(%rip), %r11
	jmp chord_rt_in_child
	.cfi_endproc

# The same for an object whose first resolver is about to run: chord_rt_resolver() calls it in another copy of the runtime.
chord_rt_entry_resolving:
	.cfi_startproc
	leaq chord_rt_resolving(%rip), %r11
	jmp chord_rt_in_child
	.cfi_endproc

# Jumped to before an ifunc's resolver, whose address is in r11. Keeps what may be an argument.
	.globl __chord_resolver
	.hidden __chord_resolver
	.type __chord_resolver, @function
__chord_resolver:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	chord_rt_keep
	movq %rax, (%rsp)
	call chord_rt_resolver
	chord_rt_restore
	movq 10*8(%rsp), %r10
	movq 11*8(%rsp), %r11
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	jmp *%r11
	.cfi_endproc

# fork calls this before it makes the child.
chord_rt_entry_prepare:
	.cfi_startproc
	leaq chord_rt_fork_prepare(%rip), %r11
	jmp chord_rt_in_child
	.cfi_endproc

# fork calls this in the child.
chord_rt_entry_forked:
	.cfi_startproc
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_fork_child
	addq $136, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

# Jumped to by woven code before a system call, whose number is in rax. Goes on at the address in r11, or at that in rcx if the call
# may make a thread or process. Changes nothing else.
	.globl __chord_trap
	.hidden __chord_trap
	.type __chord_trap, @function
__chord_trap:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_register 16, 11
	leaq -128(%rsp), %rsp
	.cfi_def_cfa_offset 128
	pushfq
	.cfi_def_cfa_offset 136
	cmpq $435, %rax
	je chord_rt_syscall_birth
	cmpq $56, %rax
	jb chord_rt_syscall_other
	cmpq $58, %rax
	jbe chord_rt_syscall_birth
	cmpq $60, %rax
	je chord_rt_syscall_plain
	cmpq $62, %rax
	je chord_rt_syscall_plain
	cmpq $231, %rax
	je chord_rt_syscall_plain
	cmpq $234, %rax
	je chord_rt_syscall_plain
	cmpq $200, %rax
	je chord_rt_syscall_plain
	cmpq $157, %rax
	je chord_rt_syscall_plain
	cmpq $317, %rax
	je chord_rt_syscall_plain
chord_rt_syscall_other:
	popfq
	.cfi_def_cfa_offset 128
	leaq 128(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp *%r11
chord_rt_syscall_birth:
	.cfi_def_cfa_offset 136
	xchgq %rcx, %r11
	addq $2, %rcx
	jmp chord_rt_syscall_ask
chord_rt_syscall_plain:
	leaq 2(%r11), %rcx
chord_rt_syscall_ask:
	subq $136, %rsp
	.cfi_def_cfa_offset 272
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	movq %rcx, 2*8(%rsp)
	leaq chord_rt_system_call(%rip), %rcx
	jmp chord_rt_around
	.cfi_endproc

# Jumped to by woven code after a system call that may have made a thread or process and gave 0. Goes on at the address in r11.
# Changes nothing but rcx.
	.globl __chord_born
	.hidden __chord_born
	.type __chord_born, @function
__chord_born:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_register 16, 11
	leaq -128(%rsp), %rsp
	.cfi_def_cfa_offset 128
	pushfq
	.cfi_def_cfa_offset 136
	subq $136, %rsp
	.cfi_def_cfa_offset 272
	movq %r10, 10*8(%rsp)
	movq %r11, 11*8(%rsp)
	movq %r11, 2*8(%rsp)
	leaq chord_rt_made_here(%rip), %rcx

# Calls rcx with the registers as they were before; 2*8(%rsp) has the PC.
chord_rt_around:
	.cfi_offset 16, 11*8-272
	movq %rax, (%rsp)
	movq %rdx, 1*8(%rsp)
	movq %rbx, 3*8(%rsp)
	movq %rsi, 4*8(%rsp)
	movq %rdi, 5*8(%rsp)
	movq %rbp, 6*8(%rsp)
	movq %r8, 8*8(%rsp)
	movq %r9, 9*8(%rsp)
	movq %r12, 12*8(%rsp)
	movq %r13, 13*8(%rsp)
	movq %r14, 14*8(%rsp)
	movq %r15, 15*8(%rsp)
	leaq 136+8+128(%rsp), %rax
	movq %rax, 7*8(%rsp)
	movq 2*8(%rsp), %rax
	btsq $63, %rax
	movq %rax, 16*8(%rsp)
	movq %rsp, %rdi
	call *%rcx
	movq (%rsp), %rax
	movq 1*8(%rsp), %rdx
	movq 4*8(%rsp), %rsi
	movq 5*8(%rsp), %rdi
	movq 8*8(%rsp), %r8
	movq 9*8(%rsp), %r9
	movq 10*8(%rsp), %r10
	movq 11*8(%rsp), %r11
	.cfi_register 16, 11
	addq $136, %rsp
	.cfi_def_cfa_offset 136
	popfq
	.cfi_def_cfa_offset 128
	leaq 128(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp *%r11
	.cfi_endproc

# Does what the instruction syscall does. If some thread of the process has confined itself, only if the calling thread may make the
# call.
chord_rt_gate:
	.cfi_startproc
	movq chord_rt_desc+264(%rip), %r11
	testq %r11, %r11
	je chord_rt_gate_open
	cmpq $0, 152(%r11)
	jne chord_rt_gate_asks
chord_rt_gate_open:
	syscall
	.globl chord_rt_gate_behind
	.hidden chord_rt_gate_behind
chord_rt_gate_behind:
	ret
chord_rt_gate_asks:
	subq $136, %rsp
	.cfi_def_cfa_offset 144
	movq %r10, 10*8(%rsp)
	call chord_rt_save
	movq %rsp, %rdi
	call chord_rt_permits
	testq %rax, %rax
	movq (%rsp), %rax
	movq 1*8(%rsp), %rdx
	movq 4*8(%rsp), %rsi
	movq 5*8(%rsp), %rdi
	movq 8*8(%rsp), %r8
	movq 9*8(%rsp), %r9
	movq 10*8(%rsp), %r10
	leaq 136(%rsp), %rsp
	.cfi_def_cfa_offset 8
	jne chord_rt_gate_open
	ret
	.cfi_endproc

# chord_rt_call_on(top, f, a, b, c): calls f(a, b, c) on the stack that ends at top.
	.globl chord_rt_call_on
	.hidden chord_rt_call_on
	.type chord_rt_call_on, @function
chord_rt_call_on:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register 6
	movq %rdi, %rsp
	movq %rsi, %rax
	movq %rdx, %rdi
	movq %rcx, %rsi
	movq %r8, %rdx
	call *%rax
	movq %rbp, %rsp
	popq %rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc

# For timers.s.
	.globl __chord_timer_set
	.hidden __chord_timer_set
	.type __chord_timer_set, @function
__chord_timer_set:
	.cfi_startproc
	jmp chord_rt_timer_set
	.cfi_endproc
	.globl __chord_timer_due
	.hidden __chord_timer_due
	.type __chord_timer_due, @function
__chord_timer_due:
	.cfi_startproc
	jmp chord_rt_timer_due
	.cfi_endproc

# The handler of CHORD_SIGNAL, and other handlers of the runtime, return to this.
	nop
chord_rt_entry_restore:
	movl $15, %eax
	syscall

# Fills the struct chord_rt_regs that is just above this routine's return address and just below that of its caller. The registers
# are as they are now, except that rsp and rip are as they will be after the caller returns. Changes r11 only.
chord_rt_save:
	.cfi_startproc
	movq %rax, 8(%rsp)
	movq %rdx, 8+1*8(%rsp)
	movq %rcx, 8+2*8(%rsp)
	movq %rbx, 8+3*8(%rsp)
	movq %rsi, 8+4*8(%rsp)
	movq %rdi, 8+5*8(%rsp)
	movq %rbp, 8+6*8(%rsp)
	leaq 8+136+8(%rsp), %r11
	movq %r11, 8+7*8(%rsp)
	movq %r8, 8+8*8(%rsp)
	movq %r9, 8+9*8(%rsp)
	movq %r12, 8+12*8(%rsp)
	movq %r13, 8+13*8(%rsp)
	movq %r14, 8+14*8(%rsp)
	movq %r15, 8+15*8(%rsp)
	movq 8+136(%rsp), %r11
	movq %r11, 8+16*8(%rsp)
	ret
	.cfi_endproc
	.purgem chord_rt_keep
	.purgem chord_rt_restore
