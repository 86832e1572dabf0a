/* SPDX-License-Identifier: MIT */
/* Where the frame is before instructions: as directives say, and as the instructions show where directives are silent or wrong. */
#include "tests/unit/assembled.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP };

static struct known k;
static struct frames *frames;

static void
take(const char *text)
{
	known_new(&k, text);
	assert_null(proc_called(&k, "f")->reason);
	frames = frames_find(&k.u, proc_called(&k, "f"));
}

static void
frame_is(const char *begin, int reg, int64_t off)
{
	struct cfi_frame f;
	uint32_t b, i;

	insn_at(&k, proc_called(&k, "f"), begin, &b, &i);
	if (!frame_before(frames, b, i, &f))
		fail_msg("%s: the frame is not known", begin);
	if (f.reg != reg || f.off != off || f.loaded)
		fail_msg("%s: %u + %lld", begin, f.reg, (long long)f.off);
}

#define BARE(body) "\t.text\n\t.globl f\n\t.type f, @function\nf:\n" body "\t.size f, .-f\n"

/* No directives at all. */
static void
by_instructions(void **state)
{
	(void)state;
	take(BARE("\tpushq %rbp\n\tmovq %rsp, %rbp\n\tsubq $32, %rsp\n\tcall g\n\tleaq 8(%rsp), %rax\n\tleave\n\tnop\n\tret\n"));
	frame_is("pushq", RSP, 8);
	frame_is("movq", RSP, 16);
	frame_is("subq", RSP, 16);
	frame_is("call", RSP, 48);
	frame_is("leaq", RSP, 48);
	frame_is("leave", RSP, 48);
	frame_is("nop", RSP, 8);
	frame_is("ret", RSP, 8);
	known_free(&k);
}

/* Two ways that come to the same place with the same frame. */
static void
on_two_ways(void **state)
{
	(void)state;
	take(BARE("\ttestl %edi, %edi\n\tje 1f\n\tsubq $24, %rsp\n\tcall g\n\taddq $16, %rsp\n\tjmp 2f\n1:\tpushq %rax\n2:\tnop\n"
	          "\tpopq %rdx\n\tret\n"));
	frame_is("call", RSP, 32);
	frame_is("jmp", RSP, 16);
	frame_is("nop", RSP, 16);
	frame_is("ret", RSP, 8);
	known_free(&k);
}

/* The stack pointer by an amount that is not known: the frame pointer still has it. */
static void
by_frame_pointer(void **state)
{
	(void)state;
	take(BARE("\tpushq %rbp\n\tmovq %rsp, %rbp\n\tsubq %rdi, %rsp\n\tnop\n\tmovq %rbp, %rsp\n\tpopq %rbp\n\tret\n"));
	frame_is("nop", RBP, 16);
	frame_is("popq", RSP, 16);
	frame_is("ret", RSP, 8);
	known_free(&k);
}

/* Directives and instructions agree; then a push that nobody stated. */
static void
against_directives(void **state)
{
	(void)state;
	take(COMPILED(FUNCTION("f", "\tsubq $8, %rsp\n\t.cfi_def_cfa_offset 16\n\tcall g@PLT\n\taddq $8, %rsp\n"
		"\t.cfi_def_cfa_offset 8\n\tret\n")));
	frame_is("call", RSP, 16);
	frame_is("ret", RSP, 8);
	assert_true(frames_as_stated(frames));
	known_free(&k);
	take(COMPILED(FUNCTION("f", "\tpushq %rax\n\tcall g@PLT\n\tpopq %rcx\n\tret\n")));
	frame_is("call", RSP, 16);
	frame_is("ret", RSP, 8);
	assert_false(frames_as_stated(frames));
	known_free(&k);
}

/* Different frames on two ways: unknown, unless a register has it. */
static void
not_known(void **state)
{
	struct cfi_frame f;
	uint32_t b, i;

	(void)state;
	take(BARE("\ttestl %edi, %edi\n\tje 1f\n\tpushq %rax\n1:\tnop\n\tmovq %rdx, %rsp\n\tret\n"));
	frame_is("pushq", RSP, 8);
	insn_at(&k, proc_called(&k, "f"), "nop", &b, &i);
	assert_false(frame_before(frames, b, i, &f));
	known_free(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_instructions),
		cmocka_unit_test(on_two_ways),
		cmocka_unit_test(by_frame_pointer),
		cmocka_unit_test(against_directives),
		cmocka_unit_test(not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
