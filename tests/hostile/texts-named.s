# SPDX-License-Identifier: MIT
# A macro has the length of code between names of others as a number, or a number that only looks like one.
	.equ FRAME, 32
	.set spare, 8
	.macro named
	addq $tail-head, %rax
	.endm
	.macro outer
	nop
	named
	.endm
	.macro indirect
	.set inside, tail-head
	addq $inside, %rax
	.endm
	.macro sets
	.set inside, tail - head
	.endm
	.macro constant
	addq $fixed, %rax
	.endm
	.macro built of
	addq $\of\()_end-\of\()_start, %rax
	.endm
	.macro inner
	addq $own\@-head, %rax
own\@:
	.endm
	.macro behind
	addq $head-here\@, %rax
here\@:
	.endm
	.macro defaults from=head, to=tail
	addq $\to-\from, %rax
	.endm
	.macro more what
	addq $\what, %rax
	.endm
	.macro foreign
	add rax, tail-head
	.endm
	.macro address
	leaq tail-head(%rax), %rax
	.endm
	.macro marks
mark:
	.endm
	.macro both
	addq $twofold, %rax
	.endm
	.macro never
	addq $tail-head, %rax
	.endm
	.macro room
	leaq -FRAME(%rsp), %rdx
	leaq FRAME-spare(%rax), %rax
	subq %rsp, %rdx
	addq %rdx, %rax
	.endm
	.macro closed
begin\@:
	incq %rax
	addq $end\@-begin\@, %rax
end\@:
	.endm
	.macro strings
	addq $text_end-text, %rax
	.endm
	.section .rodata
text:	.string "text"
text_end:
	.text
	.globl f
	.type f, @function
f:	movl $3, %ecx
	xorl %eax, %eax
head:
loop_start:
1:	addq %rdi, %rax
	decl %ecx
	jne 1b
tail:
loop_end:
	.set fixed, tail-head
	@
	ret
	.size f, .-f
	.section .note.GNU-stack,"",@progbits
