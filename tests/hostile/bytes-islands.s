# SPDX-License-Identifier: MIT
# Procedures by hand with bytes among their instructions: data, code, and what only control can tell. Each takes and returns a
# long. Names: ok_ must be measured, no_ must be refused, may_ either.
	.macro	begin name
	.p2align 4
	.globl	\name
	.type	\name, @function
	.endm
	.macro	numbers
	.quad	0x9090909090909090, 3, 5
	.endm
	.text

# Reached by a jump only; more bytes behind instructions; several instructions in one directive; text as code.
	begin ok_reached
ok_reached:
	movq	%rdi, %rax
	testq	%rdi, %rdi
	jnz	.Lreached
	ret
.Lreached:
	.byte	0x48, 0xff, 0xc0	# incq %rax
	addq	$1, %rax
	.byte	0x48, 0xff, 0xc0, 0x48, 0xff, 0xc8
	addq	$1, %rax
	.ascii	"\220\110\377\300"
	.word	0x9066
	.long	0x001f0f90
	.byte	0xf3, 0xc3
	.size	ok_reached, .-ok_reached

# Prefixes on lines of their own; an instruction that the next line completes.
	begin ok_completed
ok_completed:
	xorl	%eax, %eax
	.byte	0x48
	.byte	0x83, 0xc0
	.byte	7
	jmp	2f
1:	.byte	0x48
	addl	%edi, %eax
	rep
	ret
2:	.byte	0x2e
	jmp	1b
	.size	ok_completed, .-ok_completed

# Data behind returns and jumps: text, numbers that could be code, tables that nothing jumps to.
	begin ok_data
ok_data:
	leaq	.Ltable(%rip), %rax
	movq	8(%rax), %rax
	jmp	1f
	.byte	0x90, 0x90, 0x06
1:	addq	.Lnumber(%rip), %rax
	ret
.Lnumber:
	.byte	0x90, 0x90, 0xc3, 0, 0, 0, 0, 0
	.p2align 3
.Ltable:
	.quad	0x9090909090909090, 0xc3c3c3c3
	.asciz	"PPPP"
	.size	ok_data, .-ok_data

# Data that .rept and macros make, with the address taken: nothing may be put into it.
	begin ok_read
ok_read:
	movq	.Lrepeated(%rip), %rax
	addq	.Lmade+8(%rip), %rax
	cmpq	$0, .Lmade(%rip)
	ret
.Lrepeated:
	.rept	3
	.quad	0x90909090
	.endr
.Lmade:
	numbers
	.size	ok_read, .-ok_read

	begin may_read
may_read:
	leaq	.Lagain(%rip), %rax
	movq	8(%rax), %rax
	ret
.Lagain:
	numbers
	.size	may_read, .-may_read

	begin may_repeat
may_repeat:
	leaq	.Lzeros(%rip), %rax
	movq	8(%rax,%rdi), %rax
	ret
.Lzeros:
	.rept	32
	.byte	0
	.endr
	.size	may_repeat, .-may_repeat

# Code behind data, found by jumps backwards only, and each of them by the next.
	begin ok_backwards
ok_backwards:
	movl	$10, %ecx
	xorl	%eax, %eax
	jmp	3f
	.byte	0x06, 0x07
1:	.byte	0x48, 0xff, 0xc0
	.byte	0xf3, 0xc3
	.byte	0x16
2:	.byte	0x48, 0xff, 0xc0
	loop	2b
	jmp	1b
	.byte	0x17
3:	.byte	0x48, 0x01, 0xf8
	jmp	2b
	.size	ok_backwards, .-ok_backwards

# A jump by bytes, forwards and backwards, and by an expression; a call so.
	begin no_jump
no_jump:
	movq	%rdi, %rax
	.byte	0xeb, 0x04
	addq	$1, %rax
	leaq	1(%rax), %rax
	ret
	.size	no_jump, .-no_jump

	begin no_jump_back
no_jump_back:
	movl	$3, %eax
	movl	$5, %ecx
	addq	$2, %rax
	decl	%ecx
	.byte	0x75, 0xf8
	ret
	.size	no_jump_back, .-no_jump_back

	begin may_jump_by_name
may_jump_by_name:
	movl	$3, %eax
	.byte	0xe9
	.long	1f-.-4
	addq	$1, %rax
1:	addq	$1, %rax
	ret
	.size	may_jump_by_name, .-may_jump_by_name

	begin no_call
no_call:
	movl	$3, %eax
	.byte	0xe8, 3, 0, 0, 0
	addl	$1, %eax
	addl	$1, %eax
	ret
	.size	no_call, .-no_call

# The same in a block that only a jump reaches and that bytes begin.
	begin no_jump_there
no_jump_there:
	movq	%rdi, %rax
	testq	%rdi, %rdi
	jz	1f
	ret
1:	.byte	0x66, 0x90
	addq	$5, %rax
	.byte	0xeb, 0x04
	addq	$1, %rax
	leaq	1(%rax), %rax
	ret
	.size	no_jump_there, .-no_jump_there

# Jumps by bytes inside .rept and a macro.
	.macro	over
	.byte	0xeb, 0x04
	.endm
	begin no_macro_jump
no_macro_jump:
	movq	%rdi, %rax
	over
	addq	$1, %rax
1:	addq	$1, %rax
	cmpq	$100, %rax
	ja	1b
	ret
	.size	no_macro_jump, .-no_macro_jump

# Jumps into instructions, and over a prefix.
	begin no_prefix
no_prefix:
	xorl	%eax, %eax
	testq	%rdi, %rdi
	jz	1f
	lock
1:	addq	$1, counter(%rip)
	ret
	.size	no_prefix, .-no_prefix

	begin no_middle
no_middle:
	xorl	%eax, %eax
	testq	%rdi, %rdi
	jz	1f+1
1:	.byte	0xa9
	addl	$7, %eax
	nop
	nop
	ret
	.size	no_middle, .-no_middle

# A table of places that bytes begin, in another section and in this one; padding that has a name.
	begin may_table
may_table:
	leaq	table(%rip), %rdx
	andl	$3, %edi
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
.Lone:	.byte	0x31, 0xc0
	addl	$1, %eax
	ret
.Ltwo:	movl	$2, %eax
	ret
.Lthree:
	.p2align 4
.Lfour:	movl	$4, %eax
	ret
	.size	may_table, .-may_table

	begin ok_table
ok_table:
	leaq	.Llist(%rip), %rdx
	andl	$1, %edi
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
.Llist:	.long	.Lfive-.Llist, .Lsix-.Llist
.Lfive:	movl	$5, %eax
	ret
.Lsix:	movl	$6, %eax
	ret
	.size	ok_table, .-ok_table

# What stands behind calls: code without a name, and with one that nothing or only a jump uses; arguments; text.
	begin ok_behind
ok_behind:
	movl	$3, %ecx
	call	leaf
	.byte	0x48, 0xff, 0xc0
	call	leaf
1:	.byte	0x48, 0xff, 0xc0
	decl	%ecx
	jnz	1b
	ret
	.size	ok_behind, .-ok_behind

	begin may_behind
may_behind:
	call	leaf
.Lunused:
	.byte	0x48, 0xff, 0xc0
	.byte	0xf3, 0xc3
	.size	may_behind, .-may_behind

	begin may_text
may_text:
	call	1f
	.asciz	"PPP"
1:	popq	%rax
	movl	(%rax), %eax
	ret
	.size	may_text, .-may_text

	begin may_argument
may_argument:
	call	takes
	.quad	0x9090909090909090
	addq	$1, %rax
	ret
	.size	may_argument, .-may_argument

# A return as bytes that a call goes past.
	begin may_twice
may_twice:
	xorl	%eax, %eax
	call	1f
	.byte	0xc3
1:	addl	$1, %eax
	ret
	.size	may_twice, .-may_twice

# Behind a return, then data; what nobody jumps to.
	begin ok_dead
ok_dead:
	movq	%rdi, %rax
	ret
	int3
	.byte	0x90, 0x06, 0x07
	.size	ok_dead, .-ok_dead

	begin may_dead
may_dead:
	leaq	1f(%rip), %rax
	jmp	*%rax
	nop
1:	addq	$1, %rdi
	movq	%rdi, %rax
	ret
	addq	$1, %rdi
	.byte	0x90
	addq	$1, %rdi
	ret
	.size	may_dead, .-may_dead

# Whole procedures as bytes: called by name from here, from another section, from C.
	begin ok_whole
ok_whole:
	.byte	0x48, 0x8d, 0x47, 0x01, 0xc3
	.size	ok_whole, .-ok_whole

	begin ok_calls
ok_calls:
	call	.Lwhole
	call	far
	ret
.Lwhole:
	.byte	0x48, 0x8d, 0x47, 0x01
	.byte	0xc3
	.size	ok_calls, .-ok_calls

	.type	leaf, @function
leaf:	xorl	%eax, %eax
	ret
	.type	takes, @function
takes:	popq	%rdx
	movq	(%rdx), %rax
	addq	$8, %rdx
	jmp	*%rdx
	.size	takes, .-takes

	.section .text.other, "ax", @progbits
	.type	far, @function
far:	addq	$1, %rax
	jmp	.Lfar
	.byte	0x06
.Lfar:	.byte	0x48, 0xff, 0xc0
	ret
	.size	far, .-far

	.section .rodata
table:	.long	.Lone-table, .Ltwo-table, .Lthree-table, .Lfour-table
	.bss
counter:
	.quad	0
	.section .note.GNU-stack, "", @progbits
