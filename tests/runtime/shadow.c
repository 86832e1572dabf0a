/* SPDX-License-Identifier: MIT */
/* What the weaver emits for paths, by hand: a procedure with its path register in the shadow of the stack, and the record of a
 * path in a hash table. Not to be woven. */
#include "format/format.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

__asm__(
    ".pushsection chord_cnt,\"aw\",@nobits\n"
    ".balign 16\n"
    ".globl dense, hashed\n.hidden dense, hashed\n"
    "dense: .zero 8 * 64\n"
    "hashed: .zero 16 << 6\n"
    ".popsection\n"
    ".pushsection chord_path,\"ao\",@progbits,hold\n"
    ".balign 4\n"
    "hashed_table: .long hashed-., 6\n"
    ".long 0, 0\n"
    ".popsection\n"

    ".pushsection .text.hold,\"ax\",@progbits\n"
    ".globl hold\n.hidden hold\n.type hold, @function\n"
    "hold: .cfi_startproc\n"
    "	movq %rsp, %rax; notq %rax; shrq $" STRING(CHORD_SHADOW_BITS) ", %rax\n"
    "	cmpq %gs:__chord_shadow+8(%rip), %rax; jne hold_guard\n"
    "hold_on:\n"
    "	movq %gs:__chord_shadow(%rip), %rax; xorq %rsp, %rax; movq %rdx, (%rax)\n"
    "	pushq %rbx\n	.cfi_def_cfa_offset 16\n	.cfi_offset rbx, -16\n"
    "	movq %rdx, %rbx; movq %rdi, %rax; movq %rsi, %rdi\n"
    "	call *%rax\n"
    "hold_behind:\n"
    "	movq %gs:__chord_shadow(%rip), %rcx; xorq %rsp, %rcx; movq 8(%rcx), %rdx\n"
    "	cmpq %rbx, %rdx; jne hold_wrong\n"
    "	incq %gs:(%rdx)\n"
    "	popq %rbx\n	.cfi_def_cfa_offset 8\n	.cfi_restore rbx\n"
    "	ret\n"
    "hold_guard:\n"
    "	movq %rsp, %rax; call __chord_stack\n"
    "	jmp hold_on\n"
    "hold_wrong: ud2\n"
    "	.cfi_endproc\n	.size hold, .-hold\n"

    ".globl path\n.hidden path\n.type path, @function\n"
    "path: .cfi_startproc\n"
    "	movq %rdi, %rax; imull $0x9e3779b1, %edi, %edx; shrl $32 - 6, %edx; shlq $4, %rdx\n"
    "	leaq hashed(%rip), %rcx; addq %rcx, %rdx; incq %rdi\n"
    "	cmpq %rdi, %gs:(%rdx); jne path_ask\n"
    "	incq %gs:8(%rdx)\n"
    "path_on: ret\n"
    "path_ask:\n"
    "	leaq hashed_table(%rip), %rcx\n"
    "	call __chord_path\n"
    "	jmp path_on\n"
    "	.cfi_endproc\n	.size path, .-path\n"
    ".popsection\n");
