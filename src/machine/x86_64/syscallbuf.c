/* SPDX-License-Identifier: MIT */
/* Code that stands in a traced process while it is recorded. It makes system calls that wait for nothing, without a stop, and
 * writes down their results. In a replay other code in its place gives these results. The place of a call in the program jumps to a
 * stub of its own, and the stub jumps here. The code uses neither the stack nor vector registers. It may use rcx and r11, because
 * the instruction syscall overwrites them. If anything is not certain, the stub makes the call, where the recorder sees it. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <string.h>

/* A variable of struct syscallbuf_data. The text has its offset as a number, which is checked below. */
#define DATA(code, off)  code "+0x10000+" #off "(%rip)"
#define RING(code)       code "+0x12000(%rip)"

enum {
	CLOSED = 1, FILL = 8, READ = 16, NUMBER = 24, FLAGS = 32, RBX = 40, BACK = 48, WHERE = 56, STATE = 64, REGULAR = 208,
	CALLS = 336, OUTPUT = 4432, PIPE_FROM = 4560, PIPE_TO = 4688,
};
_Static_assert(SBUF_CODE == 0x10000 && SBUF_DATA == 0x2000 && SBUF_RING == 0x100000 && SBUF_FILES == 1024 && SBUF_CALLS == 512 &&
               offsetof(struct syscallbuf_data, closed) == CLOSED && offsetof(struct syscallbuf_data, fill) == FILL &&
               offsetof(struct syscallbuf_data, read) == READ && offsetof(struct syscallbuf_data, saved) == NUMBER &&
               offsetof(struct syscallbuf_data, ring) == WHERE && offsetof(struct syscallbuf_data, state) == STATE &&
               offsetof(struct syscallbuf_data, regular) == REGULAR &&
               offsetof(struct syscallbuf_data, call) == CALLS && offsetof(struct syscallbuf_data, output) == OUTPUT &&
               offsetof(struct syscallbuf_data, pipe_from) == PIPE_FROM && offsetof(struct syscallbuf_data, pipe_to) == PIPE_TO &&
               SBUF_OUTPUT == 1 << 24 && SBUF_TERMINAL == 1 << 25 && SBUF_HANDLES == 1 << 26 &&
               sizeof(struct syscallbuf_data) <= SBUF_DATA, "as below");
_Static_assert(offsetof(struct syscallbuf_entry, number) == 8 && offsetof(struct syscallbuf_entry, at) == 16 &&
               offsetof(struct syscallbuf_entry, arg) == 24 && offsetof(struct syscallbuf_entry, result) == 72 &&
               offsetof(struct syscallbuf_entry, to) == 80 && offsetof(struct syscallbuf_entry, n) == 88 &&
               sizeof(struct syscallbuf_entry) == 96, "as below");

/* Begins. r11 has the address of the stub's own call. If the code is closed, it jumps there and changes no flag. Otherwise rbx then
 * has FIELD's number, where the entry begins. */
#define BEGIN(code, field) \
	"	movzbl " DATA(code, 1) ", %ecx\n" \
	"	jrcxz 1f\n" \
	"	jmp *%r11\n" \
	"1:	mov %rax, " DATA(code, 24) "\n" \
	"	lahf\n" \
	"	seto %al\n" \
	"	mov %rax, " DATA(code, 32) "\n" \
	"	mov %rbx, " DATA(code, 40) "\n" \
	"	mov %r11, " DATA(code, 48) "\n" \
	"	mov " DATA(code, field) ", %rbx\n"

/* Goes from there to the instruction after the stub's call, with the result. Flags are as before, and also in r11, as syscall
 * leaves them. */
#define LEAVE(code) \
	"	mov 24(%rbx), %rdi\n" \
	"	mov 32(%rbx), %rsi\n" \
	"	mov 40(%rbx), %rdx\n" \
	"	mov 48(%rbx), %r10\n" \
	"	addq $2, " DATA(code, 48) "\n" \
	"	mov 72(%rbx), %rcx\n" \
	"	mov %rcx, " DATA(code, 24) "\n" \
	"	mov " DATA(code, 40) ", %rbx\n" \
	"	mov " DATA(code, 32) ", %rax\n" \
	"	movzbl %ah, %ecx\n" \
	"	movzbl %al, %r11d\n" \
	"	shl $11, %r11d\n" \
	"	or %ecx, %r11d\n" \
	"	or $0x202, %r11d\n" \
	"	add $0x7f, %al\n" \
	"	sahf\n" \
	"	mov " DATA(code, 24) ", %rax\n" \
	"	jmp *" DATA(code, 48) "\n"

/* Restores everything and goes to the stub's call. 9: only rax, rbx and flags have changed. */
#define REFUSE(code) \
	"8:	mov 24(%rbx), %rdi\n" \
	"	mov 32(%rbx), %rsi\n" \
	"	mov 40(%rbx), %rdx\n" \
	"	mov 48(%rbx), %r10\n" \
	"9:	mov " DATA(code, 40) ", %rbx\n" \
	"	mov " DATA(code, 32) ", %rax\n" \
	"	add $0x7f, %al\n" \
	"	sahf\n" \
	"	mov " DATA(code, 24) ", %rax\n" \
	"	jmp *" DATA(code, 48) "\n"

/* Copies rcx bytes from one address to the other; rdx and rdi are overwritten. */
#define COPY(from, to) \
	"	mov %rcx, %rdx\n" \
	"	shr $3, %rdx\n" \
	"	jz 6f\n" \
	"5:	mov (" from "), %rdi\n" \
	"	mov %rdi, (" to ")\n" \
	"	add $8, " from "\n" \
	"	add $8, " to "\n" \
	"	dec %rdx\n" \
	"	jnz 5b\n" \
	"6:	and $7, %ecx\n" \
	"	jz 7f\n" \
	"5:	mov (" from "), %dil\n" \
	"	mov %dil, (" to ")\n" \
	"	inc " from "\n" \
	"	inc " to "\n" \
	"	dec %ecx\n" \
	"	jnz 5b\n" \
	"7:\n"

/* Puts the mode of the file that fstat() or newfstatat() has described into eax. */
#define MODE "	mov " DATA("x86_door_record", 64+24) ", %eax\n	and $0xf000, %eax\n"
/* Goes on, with the mode in eax, only if the file is a device that waits for nothing: the numbers 3, 5 and 9 of the memory devices
 * (1). */
#define PLAIN_DEVICE \
	"	cmp $0x2000, %eax\n" \
	"	jne 8f\n" \
	"	mov " DATA("x86_door_record", 64+40) ", %rax\n" \
	"	sub $0x100, %rax\n" \
	"	cmp $9, %rax\n" \
	"	ja 8f\n" \
	"	mov $0x228, %ecx\n" \
	"	bt %eax, %ecx\n" \
	"	jnc 8f\n"

__asm__(
	".pushsection .rodata\n"
	"x86_door_record:\n"
	BEGIN("x86_door_record", 8)
	"	cmp $0x100000-96, %rbx\n"
	"	ja 9f\n"
	"	add " DATA("x86_door_record", 56) ", %rbx\n"
	"	mov %r11, 16(%rbx)\n"
	"	mov %rdi, 24(%rbx)\n"
	"	mov %rsi, 32(%rbx)\n"
	"	mov %rdx, 40(%rbx)\n"
	"	mov %r10, 48(%rbx)\n"
	"	mov %r8, 56(%rbx)\n"
	"	mov %r9, 64(%rbx)\n"
	"	mov " DATA("x86_door_record", 24) ", %rax\n"
	"	mov %rax, 8(%rbx)\n"
	"	cmp $512, %rax\n"
	"	jae 8f\n"
	"	lea " DATA("x86_door_record", 336) ", %rcx\n"
	"	mov (%rcx,%rax,8), %r11\n"
	"	test %r11b, %r11b\n"
	"	jz 8f\n"
	/* Is there room for what the call writes? */
	"	mov %r11, %rcx\n"
	"	shr $32, %rcx\n"
	"	test $32, %r11b\n"
	"	jz 2f\n"
	"	mov %r11, %rcx\n"
	"	shr $16, %rcx\n"
	"	movzbl %cl, %ecx\n"
	"	mov 24(%rbx,%rcx,8), %rcx\n"
	"	cmp $0x100000, %rcx\n"
	"	ja 8f\n"
	"2:	mov " DATA("x86_door_record", 8) ", %rax\n"
	"	lea 96+7(%rax,%rcx), %rax\n"
	"	cmp $0x100000, %rax\n"
	"	ja 8f\n"
	/* Can the call wait for nothing? */
	"	test $0x1000000, %r11d\n"
	"	jz 2f\n"
	"	mov 24(%rbx), %edi\n"
	"	cmp $1024, %edi\n"
	"	jae 8f\n"
	"	bt %edi, " DATA("x86_door_record", 4432) "\n"
	"	jc 4f\n"
	/* A write() of no more than a pipe takes as a whole or not at all. SIGPIPE is left to the stub's call. */
	"	bt %edi, " DATA("x86_door_record", 4688) "\n"
	"	jnc 8f\n"
	"	cmpq $1, 8(%rbx)\n"
	"	jne 8f\n"
	"	cmpq $4096, 40(%rbx)\n"
	"	ja 8f\n"
	"	mov $328, %eax\n"
	"	mov $0x108, %r9d\n"
	"	jmp x86_door_pipe\n"
	"2:	test $2, %r11b\n"
	"	jz 3f\n"
	"	mov 24(%rbx), %edi\n"
	"	cmp $1024, %edi\n"
	"	jae 8f\n"
	"	bt %edi, " DATA("x86_door_record", 208) "\n"
	"	jc 4f\n"
	"	bt %edi, " DATA("x86_door_record", 4560) "\n"
	"	jnc 2f\n"
	"	cmpq $0, 8(%rbx)\n"
	"	jne 8f\n"
	"	mov $327, %eax\n"
	"	mov $8, %r9d\n"
	"	jmp x86_door_pipe\n"
	"2:	lea " DATA("x86_door_record", 64) ", %rsi\n"
	"	mov $5, %eax\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jnz 8f\n"
	MODE
	"	cmp $0x8000, %eax\n"
	"	je 2f\n"
	PLAIN_DEVICE
	"	jmp 5f\n"
	"2:	cmpq $0, " DATA("x86_door_record", 64+48) "\n"
	"	jle 8f\n"
	"5:	mov 24(%rbx), %edi\n"
	"	bts %edi, " DATA("x86_door_record", 208) "\n"
	"	jmp 4f\n"
	"3:	test $4, %r11b\n"
	"	jz 3f\n"
	"	mov 24(%rbx), %edi\n"
	"	cmp $1024, %edi\n"
	"	jae 8f\n"
	"	btr %edi, " DATA("x86_door_record", 4432) "\n"
	"	btr %edi, " DATA("x86_door_record", 4560) "\n"
	"	btr %edi, " DATA("x86_door_record", 4688) "\n"
	"	btr %edi, " DATA("x86_door_record", 208) "\n"
	"	jc 4f\n"
	"	lea " DATA("x86_door_record", 64) ", %rsi\n"
	"	mov $5, %eax\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jnz 8f\n"
	"	jmp 2f\n"
	"3:	test $8, %r11b\n"
	"	jz 3f\n"
	/* With O_PATH or O_DIRECTORY the call waits for nothing. */
	"	testl $0x210000, 40(%rbx)\n"
	"	jnz 4f\n"
	"	lea " DATA("x86_door_record", 64) ", %rdx\n"
	"	mov 40(%rbx), %r10d\n"
	"	and $0x20000, %r10d\n"
	"	shr $9, %r10d\n"
	"	mov $262, %eax\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"	cmp $-14, %rax\n"
	"	je 8f\n"
	"	jmp 4f\n"
	/* An empty file may be one of /proc, which the recorder wants to see. */
	"2:" MODE
	"	cmp $0x4000, %eax\n"
	"	je 4f\n"
	"	cmp $0x8000, %eax\n"
	"	jne 2f\n"
	"	cmpq $0, " DATA("x86_door_record", 64+48) "\n"
	"	je 8f\n"
	/* A file that O_TRUNC cuts off may be mapped. */
	"	testl $0x200, 40(%rbx)\n"
	"	jz 4f\n"
	"	jmp 8f\n"
	"2:" PLAIN_DEVICE
	"	jmp 4f\n"
	"3:	test $16, %r11b\n"
	"	jz 3f\n"
	/* F_DUPFD, F_GETFD, F_SETFD, F_GETFL; F_DUPFD_CLOEXEC */
	"	mov 32(%rbx), %eax\n"
	"	cmp $3, %eax\n"
	"	jbe 3f\n"
	"	cmp $1030, %eax\n"
	"	jne 8f\n"
	"3:	test $64, %r11b\n"
	"	jz 3f\n"
	"	cmpq $0, 32(%rbx)\n"
	"	jne 8f\n"
	"3:	test $0x2000000, %r11d\n"
	"	jz 3f\n"
	"	cmpl $0x5401, 32(%rbx)\n"
	"	jne 8f\n"
	"3:	test $0x4000000, %r11d\n"
	"	jz 3f\n"
	"	cmpl $31, 24(%rbx)\n" /* SIGSYS */
	"	je 8f\n"
	"	cmpl $11, 24(%rbx)\n" /* SIGSEGV */
	"	je 8f\n"
	"	cmpl $5, 24(%rbx)\n" /* SIGTRAP */
	"	je 8f\n"
	/* Of MAP_HUGETLB, MAP_ANONYMOUS, MAP_PRIVATE and MAP_SHARED, only MAP_ANONYMOUS and MAP_PRIVATE are allowed. */
	"3:	test $128, %r11b\n"
	"	jz 4f\n"
	"	mov 48(%rbx), %eax\n"
	"	and $0x40023, %eax\n"
	"	cmp $0x22, %eax\n"
	"	jne 8f\n"
	"	jmp 4f\n"
	/* preadv2() or pwritev2() of a pipe, with RWF_NOWAIT (8; RWF_NOSIGNAL 0x100), at no position. A call that fails has done
	 * nothing, and is left to the stub. */
	"x86_door_pipe:\n"
	"	mov 32(%rbx), %rsi\n"
	"	mov %rsi, " DATA("x86_door_record", 64) "\n"
	"	mov 40(%rbx), %rsi\n"
	"	mov %rsi, " DATA("x86_door_record", 64+8) "\n"
	"	lea " DATA("x86_door_record", 64) ", %rsi\n"
	"	mov $1, %edx\n"
	"	mov $-1, %r10\n"
	"	jmp 2f\n"
	/* The call is made. One that has found bad addresses has done nothing else, and the stub makes it again. */
	"4:	mov 24(%rbx), %rdi\n"
	"	mov 32(%rbx), %rsi\n"
	"	mov 40(%rbx), %rdx\n"
	"	mov 48(%rbx), %r10\n"
	"	mov " DATA("x86_door_record", 24) ", %rax\n"
	"2:	syscall\n"
	"x86_door_made:\n"
	"	mov 64(%rbx), %r9\n"
	"	lea " DATA("x86_door_record", 64) ", %rcx\n"
	"	cmp %rcx, %rsi\n"
	"	jne 2f\n"
	"	test %rax, %rax\n"
	"	js 8f\n"
	"2:	cmp $-14, %rax\n"
	"	je 8f\n"
	"	mov %rax, 72(%rbx)\n"
	"x86_door_noted:\n"
	"	mov 8(%rbx), %rdx\n"
	"	lea " DATA("x86_door_record", 336) ", %rcx\n"
	"	mov (%rcx,%rdx,8), %r11\n"
	"	xor %ecx, %ecx\n"
	"	test %rax, %rax\n"
	"	js 3f\n"
	"	mov %rax, %rcx\n"
	"	test $32, %r11b\n"
	"	jnz 3f\n"
	"	mov %r11, %rcx\n"
	"	shr $32, %rcx\n"
	"3:	shr $8, %r11\n"
	"	movzbl %r11b, %r11d\n"
	"	mov 24(%rbx,%r11,8), %r11\n"
	"	test %r11, %r11\n"
	"	cmovz %r11, %rcx\n"
	"	mov %r11, 80(%rbx)\n"
	"	mov %rcx, 88(%rbx)\n"
	"	lea 96(%rbx), %rax\n"
	COPY("%r11", "%rax")
	"	mov 88(%rbx), %rcx\n"
	"	add $96+7, %rcx\n"
	"	and $-8, %rcx\n"
	"	mov %rcx, (%rbx)\n"
	"	add %rcx, " DATA("x86_door_record", 8) "\n"
	"x86_door_written:\n"
	LEAVE("x86_door_record")
	REFUSE("x86_door_record")
	"x86_door_record_end:\n"

	"x86_door_replay:\n"
	BEGIN("x86_door_replay", 16)
	"	cmp " DATA("x86_door_replay", 8) ", %rbx\n"
	"	jae 9f\n"
	"	lea " RING("x86_door_replay") ", %rcx\n"
	"	add %rcx, %rbx\n"
	"	mov " DATA("x86_door_replay", 24) ", %rax\n"
	"	cmp %rax, 8(%rbx)\n"
	"	jne 9f\n"
	"	cmp %r11, 16(%rbx)\n"
	"	jne 9f\n"
	"	cmp %rdi, 24(%rbx)\n"
	"	jne 9f\n"
	"	cmp %rsi, 32(%rbx)\n"
	"	jne 9f\n"
	"	cmp %rdx, 40(%rbx)\n"
	"	jne 9f\n"
	"	cmp %r10, 48(%rbx)\n"
	"	jne 9f\n"
	"	cmp %r8, 56(%rbx)\n"
	"	jne 9f\n"
	"	cmp %r9, 64(%rbx)\n"
	"	jne 9f\n"
	"	mov 80(%rbx), %r11\n"
	"	mov 88(%rbx), %rcx\n"
	"	lea 96(%rbx), %rax\n"
	COPY("%rax", "%r11")
	"	mov (%rbx), %rcx\n"
	"	add %rcx, " DATA("x86_door_replay", 16) "\n"
	LEAVE("x86_door_replay")
	REFUSE("x86_door_replay")
	"x86_door_makes:\n"
	"	syscall\n"
	"	int3\n"
	"x86_door_replay_end:\n"
	".popsection\n");

extern const uint8_t x86_door_made[], x86_door_noted[], x86_door_written[], x86_door_makes[];
extern const uint8_t x86_door_record[], x86_door_record_end[], x86_door_replay[], x86_door_replay_end[];

/* Writes a distance of 32 bits, counted from the byte after it. */
static uint8_t *
put_distance(uint8_t *to, uint64_t at, uint64_t target)
{
	int32_t d = (int32_t)(target - (at + 4));

	memcpy(to, &d, sizeof d);
	return to + sizeof d;
}

enum { TRACED = 12, SYSCALL_SIZE = 2 };

/* lea TRACED, %r11; jmp syscallbuf; TRACED: syscall; mov $SITE + 2, %rcx; jmp SITE + 2 */
static void
stub(uint64_t at, uint64_t syscallbuf, uint64_t site, uint8_t to[SBUF_STUB])
{
	uint64_t next = site + SYSCALL_SIZE;
	uint8_t *p = to;

	memset(to, 0xcc, SBUF_STUB);
	p = put_distance(memcpy(p, "\x4c\x8d\x1d", 3) + 3, at + 3, at + TRACED);
	p = put_distance(memcpy(p, "\xe9", 1) + 1, at + 8, syscallbuf);
	memcpy(p, "\x0f\x05\x48\xb9", 4);
	memcpy(p + 4, &next, sizeof next);
	p[12] = 0xe9;
	put_distance(p + 13, at + TRACED + 13, next);
}

static void
hop(uint64_t at, uint64_t to, uint8_t *code)
{
	code[0] = 0xeb;
	code[1] = (uint8_t)(to - (at + 2));
}

static void
jump(uint64_t at, uint64_t to, uint8_t *code)
{
	code[0] = 0xe9;
	put_distance(code + 1, at + 1, to);
}

/* Makes it look as after a call elsewhere: rip has the address of the next instruction, and so may rcx. */
static void
as_call(struct traced_regs *r, uint64_t from, uint64_t to)
{
	enum { RCX_WORD = 11, RIP_WORD = 16 };

	if (r->word[RIP_WORD] != from)
		return;
	r->word[RIP_WORD] = to;
	if (r->word[RCX_WORD] == from)
		r->word[RCX_WORD] = to;
}

static bool
unfinished(const struct traced_regs *r, uint64_t syscallbuf, uint64_t *entry, int64_t *result)
{
	enum { RBX_WORD = 5, RAX_WORD = 10, RIP_WORD = 16 };
	uint64_t at = r->word[RIP_WORD] - syscallbuf;

	*entry = r->word[RBX_WORD];
	if (at >= (uint64_t)(x86_door_made - x86_door_record) && at < (uint64_t)(x86_door_noted - x86_door_record))
		*result = (int64_t)r->word[RAX_WORD];
	return at >= (uint64_t)(x86_door_made - x86_door_record) && at < (uint64_t)(x86_door_written - x86_door_record);
}

const struct machine_syscallbuf x86_syscallbuf = {
	.record = x86_door_record, .record_end = x86_door_record_end, .replay = x86_door_replay, .replay_end = x86_door_replay_end,
	.makes = x86_door_makes,
	.reach = 1 << 30, .traced = TRACED, .hop_size = 2, .jump_size = 5, .hop_most = 127, .nop = 0x90, .stub = stub, .hop = hop,
	.jump = jump, .as_call = as_call,
	.unfinished = unfinished,
};

#endif
