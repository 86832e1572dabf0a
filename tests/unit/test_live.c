/* SPDX-License-Identifier: MIT */
/* Which flags and registers are live before each instruction of small x86-64 texts. A person found the answers by reading them. */
#include "tests/unit/assembled.h"

enum { CF = 1, PF = 2, AF = 4, ZF = 8, SF = 16, OF = 32, ALL_FLAGS = 63 };
enum { RAX = 1 << 0, RCX = 1 << 1, RDX = 1 << 2, RBX = 1 << 3, RSP = 1 << 4, RBP = 1 << 5, RSI = 1 << 6, RDI = 1 << 7, R8 = 1 << 8,
       R9 = 1 << 9, R10 = 1 << 10, R11 = 1 << 11, ALL_REGS = 0xffff };

static struct liveness
before(const struct known *k, const struct proc_text *p, const char *begin)
{
	uint32_t b, i;

	insn_at(k, p, begin, &b, &i);
	return live_before(p, p->blocks.at[b].part, i);
}

static void
flags_are(struct known *k, const char *proc, const char *begin, unsigned flags)
{
	struct liveness found = before(k, proc_called(k, proc), begin);

	if (found.flags_live != flags)
		fail_msg("%s: flags %x, not %x", begin, found.flags_live, flags);
}

static void
live_is(struct known *k, const char *proc, const char *begin, unsigned live, unsigned dead)
{
	struct liveness found = before(k, proc_called(k, proc), begin);

	if ((found.regs_live & live) != live || found.regs_live & dead)
		fail_msg("%s: registers %x, want %x and not %x", begin, found.regs_live, live, dead);
}

static void
flags(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(FUNCTION("f",
		"\tcmpl $1, %edi\n\tleal 1(%rdi), %eax\n\tjl 1f\n\taddl %esi, %eax\n\tadcl $0, %edx\n\tmovl %edx, %ecx\n"
			"1:\tret\n")));
	flags_are(&k, "f", "cmpl", 0);
	flags_are(&k, "f", "leal", SF | OF);
	flags_are(&k, "f", "jl", SF | OF);
	flags_are(&k, "f", "addl", 0);
	flags_are(&k, "f", "adcl", CF);
	flags_are(&k, "f", "movl", 0);
	flags_are(&k, "f", "ret", 0);
	known_free(&k);
}

/* One way reads them, the other does not. A shift by a count that may be 0 keeps what there was. */
static void
flags_on_one_way(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(FUNCTION("f",
		"\ttestl %edi, %edi\n\tmovl %esi, %ecx\n\tjs 1f\n\tmovl $2, %eax\n\tsete %al\n\tret\n1:\tshll %cl, %edi\n"
		"\tsetc %al\n\tret\n")));
	flags_are(&k, "f", "movl %esi", SF | ZF | CF);
	flags_are(&k, "f", "movl $2", ZF);
	flags_are(&k, "f", "shll", CF);
	known_free(&k);
}

/* Compilers pass no flags to callers and callees; a hand may. */
static void
flags_by_hand(void **state)
{
	static const char body[] = "\t.text\nf:\n\tmovl $1, %eax\n\tcall g\n\tmovl $2, %eax\n\tret\n";
	struct known k;
	char text[200];

	(void)state;
	known_new(&k, body);
	flags_are(&k, "f", "movl $1", ALL_FLAGS);
	flags_are(&k, "f", "movl $2", ALL_FLAGS);
	flags_are(&k, "f", "ret", ALL_FLAGS);
	known_free(&k);
	snprintf(text, sizeof text, "%s\t.ident \"GCC: (x)\"\n", body);
	known_new(&k, text);
	flags_are(&k, "f", "movl $1", 0);
	flags_are(&k, "f", "ret", 0);
	known_free(&k);
}

/* The kernel gives the flags back, so what is compared before a system call can be asked for behind it. */
static void
flags_across_system_calls(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, "\t.text\nf:\n\tcmpq $5, %rdi\n\tmovl $39, %eax\n\tsyscall\n\tsetl %al\n\ttestl %esi, %esi\n\tret\n");
	flags_are(&k, "f", "movl $39", SF | OF);
	flags_are(&k, "f", "syscall", SF | OF);
	known_free(&k);
}

/* A register that the compiler was told to leave alone is live everywhere, although nothing here reads it. */
static void
reserved(void **state)
{
	static const char body[] = COMPILED(FUNCTION("f",
		"\tmovl $5, %ecx\n1:\taddl %ecx, %eax\n\tdecl %ecx\n\tjne 1b\n\tcall g\n\tmovl $7, %r10d\n\tret\n"));
	struct known k;

	(void)state;
	known_new(&k, body);
	live_is(&k, "f", "addl", RCX, R11);
	live_is(&k, "f", "ret", RAX, R10 | R11);
	known_free(&k);
	known_new_reserving(&k, body, R10 | R11);
	live_is(&k, "f", "addl", RCX | R10 | R11, 0);
	live_is(&k, "f", "call", R10 | R11, 0);
	live_is(&k, "f", "movl $7", R10 | R11, 0);
	live_is(&k, "f", "ret", R10 | R11, 0);
	known_free(&k);
}

/* Names as in options of compilers. */
static void
named(void **state)
{
	const struct machine_text *text = machine_of_host()->text;

	(void)state;
	assert_int_equal(text->named(str_of("r11")), R11);
	assert_int_equal(text->named(str_of("%r10d")), R10);
	assert_int_equal(text->named(str_of("cx")), RCX);
	assert_int_equal(text->named(str_of("eax")), RAX);
	assert_int_equal(text->named(str_of("dil")), RDI);
	assert_int_equal(text->named(str_of("xmm11")), 0);
	assert_int_equal(text->named(str_of("")), 0);
}

/* In a loop what the next round reads is live all around. */
static void
loops(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(FUNCTION("f",
		"\txorl %eax, %eax\n\tmovl $5, %ecx\n1:\taddl %esi, %eax\n\tmovl %eax, %edx\n\tdecl %ecx\n\tjne 1b\n\tret\n")));
	live_is(&k, "f", "xorl", RSI | RSP, RAX | RCX | RDX);
	live_is(&k, "f", "movl $5", RAX | RSI, RCX | RDX);
	live_is(&k, "f", "addl", RAX | RCX | RSI, RDX);
	live_is(&k, "f", "movl %eax", RAX | RCX | RSI, RDX);
	live_is(&k, "f", "decl", RAX | RCX | RDX | RSI, 0);
	/* rcx is written here, so no caller counts on it; rdx is a register of results. rsi is left alone: gcc's callers may. */
	live_is(&k, "f", "ret", RAX | RDX | RSI | RBX | RBP | RSP, R11);
	known_free(&k);
}

/* Writing a part of a register keeps the rest; 32 bits are the whole of it. */
static void
parts_of_registers(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(FUNCTION("f",
		"\tmovl $2, %eax\n\tmovw $3, %dx\n\tmovl %edx, %eax\n\tmovb $1, %al\n\tcmove %edi, %edx\n\tret\n")));
	live_is(&k, "f", "movw", RDX, RAX);
	live_is(&k, "f", "movl %edx", RDX | RDI, RAX);
	live_is(&k, "f", "movb", RAX, 0);
	live_is(&k, "f", "cmove", RAX | RDX | RDI, 0);
	known_free(&k);
}

/* Behind a call of something outside, what the ABI lets it clobber is lost, but the caller may leave it alone before: arguments are
 * live there, r11 is not read by any. */
static void
calls(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(FUNCTION("f",
		"\tpushq %rbx\n\tmovq %rdi, %rbx\n\tcall g@PLT\n\taddq %rbx, %rax\n\tpopq %rbx\n\tret\n")));
	live_is(&k, "f", "call", RBX | RDI | RSI | RDX | RCX | R8 | R9 | RAX | R10, R11);
	/* It changes none of them itself: it may be of a convention that keeps them, and so may what it calls (preserve_most). */
	live_is(&k, "f", "addq", RAX | RBX | RSI | RDI | RCX, R11);
	known_free(&k);
	known_new(&k, COMPILED(FUNCTION("f",
		"\tpushq %rbx\n\tmovq %rdi, %rbx\n\tmovl $1, %edi\n\tcall g@PLT\n\taddq %rbx, %rax\n\tpopq %rbx\n\tret\n")));
	live_is(&k, "f", "addq", RAX | RBX, R11 | RSI | RDI);
	live_is(&k, "f", "ret", RAX | RDX | RBX, R11 | RSI | RDI);
	known_free(&k);
	/* Microsoft's convention keeps rsi and rdi. */
	known_new(&k, COMPILED(FUNCTION("f",
		"\tpushq %rbx\n\tmovq %rcx, %rbx\n\tmovl $1, %r9d\n\tcall g@PLT\n\taddq %rbx, %rax\n\tpopq %rbx\n\tret\n")));
	live_is(&k, "f", "addq", RAX | RBX | RSI | RDI, R11 | R10 | R9);
	known_free(&k);
	/* What is in rcx and r8 may be a result. */
	known_new(&k, COMPILED(FUNCTION("f",
		"\tpushq %rbx\n\tmovq %rcx, %rbx\n\tmovl $1, %ecx\n\tcall g@PLT\n\taddq %rbx, %rax\n\tpopq %rbx\n\tret\n")));
	live_is(&k, "f", "addq", RAX | RBX | RSI | RDI | R9 | R10, R11);
	known_free(&k);
	/* The same if it calls nothing. */
	known_new(&k, COMPILED(FUNCTION("f", "\tmovq %rdx, %rcx\n\tmovl $1, %edi\n\taddq %rcx, %rax\n\tret\n")));
	live_is(&k, "f", "addq", RAX | RCX, R11 | R10 | R9 | RSI | RDI);
	known_free(&k);
	known_new(&k, COMPILED(FUNCTION("f", "\tmovq %rdx, %rcx\n\taddq %rcx, %rax\n\tret\n")));
	live_is(&k, "f", "addq", RAX | RCX | R10 | R9 | RSI | RDI, R11);
	known_free(&k);
}

/* A local function on which a caller in this text relies to leave rcx alone, as gcc allocates registers (-fipa-ra). */
static void
allocated_across_procedures(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(
		"\t.type leaf, @function\nleaf:\n\t.cfi_startproc\n\tleal 1(%rdi), %eax\n\tnotl %eax\n\tret\n\t.cfi_endproc\n"
			"\t.size leaf, .-leaf\n"
		FUNCTION("f", "\tmovl $3, %ecx\n\tcall leaf\n\taddl %ecx, %eax\n\tmovl %eax, %r8d\n\tret\n")));
	/* Nobody else calls it. Behind the call r8 is written and not read; f's own callers may count on r9. */
	live_is(&k, "leaf", "notl", RCX | RAX | R9, R8 | R11);
	known_free(&k);
}

/* Any instruction of a procedure with landing pads may throw and lead there: what a pad reads is live before it. */
static void
landing_pads(void **state)
{
	struct known k;

	(void)state;
	known_new(&k, COMPILED(
		"\t.globl f\n\t.type f, @function\nf:\n.LFB0:\n\t.cfi_startproc\n"
			"\t.cfi_personality 0x9b,DW.ref.__gxx_personality_v0\n"
		"\t.cfi_lsda 0x1b,.LLSDA0\n\tpushq %rbx\n\tmovl $1, %ebx\n.LEHB0:\n\tcall g@PLT\n.LEHE0:\n\tmovl $2, %ebx\n"
			"\tpopq %rbx\n\tret\n"
		".L3:\n\tmovl %ebx, %edi\n\tcall h@PLT\n\tud2\n"
		"\t.section .gcc_except_table,\"a\",@progbits\n.LLSDA0:\n\t.byte 0xff,0xff,0x1\n\t.uleb128 .LE-.LB\n.LB:\n"
		"\t.uleb128 .LEHB0-.LFB0\n\t.uleb128 .LEHE0-.LEHB0\n\t.uleb128 .L3-.LFB0\n\t.uleb128 0\n.LE:\n\t.text\n"
		"\t.cfi_endproc\n\t.size f, .-f\n"));
	live_is(&k, "f", "call g", RBX, 0);
	live_is(&k, "f", "movl $2", RBX, 0);
	assert_null(proc_called(&k, "f")->reason);
	known_free(&k);
}

/* A call by a thread-local variable's descriptor keeps all registers but rax, in whichever text the variable is. */
static void
thread_local_descriptors(void **state)
{
	static const char *const name[] = {"own", "other"};

	(void)state;
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		struct pool *pool = pool_new();
		struct known k;

		known_new(&k, pool_printf(pool, COMPILED(FUNCTION("f",
			"\tmovq %%rdi, %%r11\n\tleaq %s@TLSDESC(%%rip), %%rax\n\tcall *%s@TLSCALL(%%rax)\n"
				"\tmovl %%fs:(%%rax), %%eax\n\tcltd\n\tidivl %%r11d\n\tret\n")
			"\t.section .tbss,\"awT\",@nobits\n\t.globl own\nown:\n\t.zero 4\n"), name[i], name[i]));
		live_is(&k, "f", "movq", RDI, R11);
		live_is(&k, "f", "leaq", R11, 0);
		live_is(&k, "f", "call", R11 | RAX, 0);
		live_is(&k, "f", "movl", R11 | RAX, RDX);
		known_free(&k);
		pool_free(pool);
	}
}

/* Where the stack pointer is moved to what is no stack, nothing may go below it. */
static void
stack_pointer_to_data(void **state)
{
	struct known k;
	struct proc_text *f;

	(void)state;
	known_new(&k, "\t.text\n\t.globl f\n\t.type f, @function\nf:\n\tmovq %rsp, %rdx\n\tmovq %rdi, %rsp\n\tpopq %rcx\n"
	          "\tmovq %rdx, %rsp\n\tret\n\t.size f, .-f\n");
	f = proc_called(&k, "f");
	assert_false(before(&k, f, "movq %rsp").no_stack);
	assert_true(before(&k, f, "popq").no_stack);
	assert_true(before(&k, f, "movq %rdx").no_stack);
	assert_false(before(&k, f, "ret").no_stack);
	assert_true(f->strays);
	known_free(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags),
		cmocka_unit_test(flags_on_one_way),
		cmocka_unit_test(flags_by_hand),
		cmocka_unit_test(flags_across_system_calls),
		cmocka_unit_test(reserved),
		cmocka_unit_test(named),
		cmocka_unit_test(loops),
		cmocka_unit_test(parts_of_registers),
		cmocka_unit_test(calls),
		cmocka_unit_test(allocated_across_procedures),
		cmocka_unit_test(thread_local_descriptors),
		cmocka_unit_test(landing_pads),
		cmocka_unit_test(stack_pointer_to_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
