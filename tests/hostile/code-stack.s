# SPDX-License-Identifier: MIT
# unsigned long streaming(unsigned long *a, long n): reads n words by pop: for that time the stack pointer points to them.
	.text
	.globl streaming
	.type streaming,@function
streaming:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	movq %rsp, %xmm0
	mov %rdi, %rsp
	mov %rsi, %rdi
	xor %eax,%eax
	xor %ebx,%ebx
	xor %ecx,%ecx
	xor %edx,%edx
	xor %ebp,%ebp
	mov $1,%r8
	mov $2,%r9
	mov $3,%r10
	mov $4,%r11
	mov $5,%r12
	mov $6,%r13
	mov $7,%r14
	mov $8,%r15
	mov $9,%rsi
1:	pop %rax
	xchg %rax,%rbx
	add %rax,%rbx
	jo 3f
2:	js 4f
	jz 4f
	jp 7f
8:	adc %rbx,%rcx
	adc %rcx,%rdx
5:	lea 1(%r8,%r9),%r8
	lea 1(%r10,%r11),%r10
	lea 1(%r12,%r13),%r12
	lea 1(%r14,%r15),%r14
	lea (%rbp,%rsi),%rbp
	lea (%rbp,%rax),%rbp
	dec %rdi
	jnz 1b
	jmp 6f
3:	lea (%rdx,%rax),%rdx
	jmp 2b
7:	lea 3(%rdx,%rax),%rdx
	jmp 8b
4:	lea 9(%rdx,%r8),%rdx
	jc 5b
	jmp 8b
6:	movq %xmm0,%rsp
	add %rdx,%rbx
	add %rbx,%rcx
	add %rcx,%rax
	add %r8,%rax
	add %r9,%rax
	add %r10,%rax
	add %r11,%rax
	add %r12,%rax
	add %r13,%rax
	add %r14,%rax
	add %r15,%rax
	add %rbp,%rax
	add %rsi,%rax
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size streaming,.-streaming

# unsigned long summed(unsigned long *a, long n): likewise, with registers to spare; it loops and branches.
	.globl summed
	.type summed,@function
summed:
	mov %rsp, -8(%rsp)
	lea -8(%rsp), %r8
	mov %rsp, %r9
	mov %rdi, %rsp
	xor %eax, %eax
1:	pop %rcx
	test $1, %cl
	jz 2f
	add %rcx, %rax
	jmp 3f
2:	sub %rcx, %rax
3:	dec %rsi
	jnz 1b
	mov %r9, %rsp
	xor %ecx, %ecx
	ret
	.size summed,.-summed

# unsigned long lent(long n): its loop is lent to borrower(), which comes into it with data in the stack pointer. It sets
# that nowhere itself.
	.globl lent
	.type lent,@function
lent:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	push $7
	movb $0, borrowed(%rip)
	xor %ebx,%ebx
	xor %ecx,%ecx
	xor %edx,%edx
	xor %ebp,%ebp
	mov $1,%r8
	mov $2,%r9
	mov $3,%r10
	mov $4,%r11
	mov $5,%r12
	mov $6,%r13
	mov $7,%r14
	mov $8,%r15
	mov $9,%rsi
.Lloop:
1:	mov (%rsp),%rax
	xchg %rax,%rbx
	add %rax,%rbx
	jo 3f
2:	js 4f
	jz 4f
	jp 7f
8:	adc %rbx,%rcx
	adc %rcx,%rdx
5:	lea 1(%r8,%r9),%r8
	lea 1(%r10,%r11),%r10
	lea 1(%r12,%r13),%r12
	lea 1(%r14,%r15),%r14
	lea (%rbp,%rsi),%rbp
	lea (%rbp,%rax),%rbp
	dec %rdi
	jnz 1b
	cmpb $0, borrowed(%rip)
	jne .Lback
	pop %rdi
	jmp 6f
3:	lea (%rdx,%rax),%rdx
	jmp 2b
7:	lea 3(%rdx,%rax),%rdx
	jmp 8b
4:	lea 9(%rdx,%r8),%rdx
	jc 5b
	jmp 8b
6:
	add %rdx,%rbx
	add %rbx,%rcx
	add %rcx,%rax
	add %r8,%rax
	add %r9,%rax
	add %r10,%rax
	add %r11,%rax
	add %r12,%rax
	add %r13,%rax
	add %r14,%rax
	add %r15,%rax
	add %rbp,%rax
	add %rsi,%rax
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size lent,.-lent

# unsigned long borrower(long n, unsigned long *a)
	.globl borrower
	.type borrower,@function
borrower:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	movq %rsp, %xmm0
	mov %rsi, %rsp
	movb $1, borrowed(%rip)
	xor %ebx,%ebx
	xor %ecx,%ecx
	xor %edx,%edx
	xor %ebp,%ebp
	mov $1,%r8
	mov $2,%r9
	mov $3,%r10
	mov $4,%r11
	mov $5,%r12
	mov $6,%r13
	mov $7,%r14
	mov $8,%r15
	mov $9,%rsi
	jmp .Lloop
.Lback:
	movq %xmm0, %rsp
	add %rdx,%rbx
	add %rbx,%rcx
	add %rcx,%rax
	add %r8,%rax
	add %r9,%rax
	add %r10,%rax
	add %r11,%rax
	add %r12,%rax
	add %r13,%rax
	add %r14,%rax
	add %r15,%rax
	add %rbp,%rax
	add %rsi,%rax
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size borrower,.-borrower

# unsigned long framed(long n), unsigned long framed_too(long n): both keep the stack pointer in rsi and move it, and share a loop and
# its end, which takes it from there: that is a stack everywhere.
	.globl framed
	.type framed,@function
framed:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	xor %ebx,%ebx
	xor %ecx,%ecx
	xor %edx,%edx
	xor %ebp,%ebp
	mov $1,%r8
	mov $2,%r9
	mov $3,%r10
	mov $4,%r11
	mov $5,%r12
	mov $6,%r13
	mov $7,%r14
	mov $8,%r15
	mov %rsp, %rsi
	sub $72, %rsp
	movq $11, (%rsp)
.Lframed:
1:	mov (%rsp),%rax
	xchg %rax,%rbx
	add %rax,%rbx
	jo 3f
2:	js 4f
	jz 4f
	jp 7f
8:	adc %rbx,%rcx
	adc %rcx,%rdx
5:	lea 1(%r8,%r9),%r8
	lea 1(%r10,%r11),%r10
	lea 1(%r12,%r13),%r12
	lea 1(%r14,%r15),%r14
	lea (%rbp,%r15),%rbp
	lea (%rbp,%rax),%rbp
	dec %rdi
	jnz 1b
	jmp 6f
3:	lea (%rdx,%rax),%rdx
	jmp 2b
7:	lea 3(%rdx,%rax),%rdx
	jmp 8b
4:	lea 9(%rdx,%r8),%rdx
	jc 5b
	jmp 8b
6:	lea (%rsi), %rsp
	mov $9, %esi
	add %rdx,%rbx
	add %rbx,%rcx
	add %rcx,%rax
	add %r8,%rax
	add %r9,%rax
	add %r10,%rax
	add %r11,%rax
	add %r12,%rax
	add %r13,%rax
	add %r14,%rax
	add %r15,%rax
	add %rbp,%rax
	add %rsi,%rax
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size framed,.-framed

	.globl framed_too
	.type framed_too,@function
framed_too:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	xor %ebx,%ebx
	xor %ecx,%ecx
	xor %edx,%edx
	xor %ebp,%ebp
	mov $1,%r8
	mov $2,%r9
	mov $3,%r10
	mov $4,%r11
	mov $5,%r12
	mov $6,%r13
	mov $7,%r14
	mov $8,%r15
	mov %rsp, %rsi
	lea -96(%rsp), %rsp
	movq $13, (%rsp)
	jmp .Lframed
	.size framed_too,.-framed_too
	.local borrowed
	.comm borrowed,1
	.section .note.GNU-stack,"",@progbits
