/* SPDX-License-Identifier: MIT */
/* Call frame state by statement: the CFA as DWARF has it after the directives of small texts, and the directives that restate
 * it elsewhere. */
#include "tests/unit/assembled.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R10 = 10 };

static struct text text;
static struct cfi *cfi;
static struct pool *pool;

static void
take(const char *at)
{
	const char *why = "";

	pool = pool_new();
	assert_true(text_read(&text, pool, machine_of_host()->text, at, strlen(at), "test.s", &why));
	cfi = cfi_read(&text, machine_of_host()->unwind, pool);
}

static void
drop(void)
{
	text_free(&text);
	pool_free(pool);
}

/* Before the statement that begins so. */
static void
frame_is(const char *stmt, int reg, int64_t off)
{
	struct cfi_frame f;

	if (!cfi_frame_at(cfi, stmt_at(&text, stmt), &f))
		fail_msg("%s: the CFA is not known", stmt);
	if (f.reg != reg || f.off != off || f.loaded)
		fail_msg("%s: %u + %lld", stmt, f.reg, (long long)f.off);
}

static void
no_frame(const char *stmt)
{
	struct cfi_frame f;

	assert_false(cfi_frame_at(cfi, stmt_at(&text, stmt), &f));
}

/* Unwinders need these registers there; by_sp: they find the frame by the stack pointer. */
static const struct frame_rule *
needs(const char *stmt, unsigned regs, bool by_sp)
{
	struct liveness live = {0};

	cfi_need(cfi, stmt_at(&text, stmt), &live);
	assert_int_equal(live.frame_regs, regs);
	assert_int_equal(live.regs_live, regs);
	assert_int_equal(live.frame != NULL, by_sp);
	return live.frame;
}

/* Code before statement `to` can have the state before `from`. */
static void
moves(const char *to, const char *from, const char *there, const char *back)
{
	struct buf b[2] = {{0}, {0}};

	assert_true(cfi_move(cfi, stmt_at(&text, to), stmt_at(&text, from), &b[0], &b[1]));
	for (int i = 0; i < 2; i++) {
		buf_char(&b[i], 0);
		assert_string_equal(b[i].at, i ? back : there);
		buf_free(&b[i]);
	}
}

#define PROLOGUE \
	"f:\n\t.cfi_startproc\n\tpushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\tmovq %rsp, %rbp\n" \
	"\t.cfi_def_cfa_register 6\n\tsubq $32, %rsp\n"

static void
frames(void **state)
{
	(void)state;
	take("\tnop\n" PROLOGUE "\tleave\n\t.cfi_def_cfa 7, 8\n\tret\n\t.cfi_endproc\n\thlt\n");
	no_frame("nop");
	frame_is("pushq", RSP, 8);
	frame_is("movq", RSP, 16);
	frame_is("subq", RBP, 16);
	frame_is("ret", RSP, 8);
	no_frame("hlt");
	assert_false(cfi_frame_open(cfi, stmt_at(&text, "pushq")));
	assert_true(cfi_frame_open(cfi, stmt_at(&text, "movq")));
	assert_true(cfi_frame_open(cfi, stmt_at(&text, "subq")));
	assert_false(cfi_frame_open(cfi, stmt_at(&text, "ret")));
	needs("movq", 1 << RSP, true);
	needs("subq", 1 << RBP, false);
	assert_true(cfi_by_frame_pointer(cfi, stmt_at(&text, "subq")) && !cfi_by_frame_pointer(cfi, stmt_at(&text, "ret")));
	drop();
}

/* Names of registers, relative offsets, adjustments. */
static void
other_directives(void **state)
{
	uint32_t kept;

	(void)state;
	take("f:\n\t.cfi_startproc\n\tpushq %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rbx, 0\n\tsubq $24, %rsp\n"
	     "\t.cfi_adjust_cfa_offset 24\n\tnop\n\taddq $24, %rsp\n\t.cfi_adjust_cfa_offset -24\n\tpopq %rbx\n"
	     "\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore rbx\n\tret\n\t.cfi_endproc\n");
	frame_is("subq", RSP, 16);
	frame_is("nop", RSP, 40);
	frame_is("popq", RSP, 16);
	frame_is("ret", RSP, 8);
	assert_true(cfi_kept(cfi, stmt_at(&text, "nop"), stmt_at(&text, "nop"), &kept));
	assert_int_equal(kept, 1 << RBX);
	assert_true(cfi_kept(cfi, stmt_at(&text, "ret"), stmt_at(&text, "ret"), &kept));
	assert_int_equal(kept, 0);
	assert_true(cfi_kept(cfi, stmt_at(&text, "pushq"), stmt_at(&text, "ret"), &kept));
	assert_int_equal(kept, 1 << RBX);
	assert_false(cfi_kept(cfi, 0, 0, &kept));
	drop();
}

static void
remembered(void **state)
{
	(void)state;
	take(PROLOGUE "\t.cfi_remember_state\n\tleave\n\t.cfi_def_cfa 7, 8\n\tret\n\t.cfi_restore_state\n\thlt\n\t.cfi_endproc\n");
	frame_is("leave", RBP, 16);
	frame_is("ret", RSP, 8);
	frame_is("hlt", RBP, 16);
	drop();
	/* Nothing was remembered. */
	take("f:\n\t.cfi_startproc\n\tnop\n\t.cfi_restore_state\n\thlt\n\t.cfi_endproc\n");
	frame_is("nop", RSP, 8);
	no_frame("hlt");
	drop();
}

/* What gcc writes where it realigns the stack: DW_CFA_def_cfa_expression, 3 bytes, DW_OP_breg6 (rbp) -8, DW_OP_deref; and
 * DW_CFA_expression for column 3. */
static void
expressions(void **state)
{
	struct cfi_frame f;
	uint32_t kept;

	(void)state;
	take(PROLOGUE "\t.cfi_escape 0xf,0x3,0x76,0x78,0x6\n\tnop\n\t.cfi_escape 0x10,0x3,0x2,0x76,0x70\n\thlt\n"
	     "\t.cfi_escape 0xf,0x2,0x70,0\n\tret\n\t.cfi_endproc\n");
	for (int i = 0; i < 2; i++) {
		assert_true(cfi_frame_at(cfi, stmt_at(&text, i ? "hlt" : "nop"), &f));
		assert_true(f.loaded && f.reg == RBP && f.off == -8);
	}
	needs("hlt", 1 << RBP, false);
	assert_true(cfi_kept(cfi, stmt_at(&text, "hlt"), stmt_at(&text, "hlt"), &kept));
	assert_int_equal(kept, 1 << RBP | 1 << RBX);
	moves("nop", "hlt", "\t.cfi_escape 0x10,0x3,0x2,0x76,0x70\n", "\t.cfi_restore 3\n");
	moves("subq", "nop", "\t.cfi_def_cfa 6, 16\n\t.cfi_escape 0xf,0x3,0x76,0x78,0x6\n", "\t.cfi_def_cfa 6, 16\n");
	no_frame("ret");
	needs("ret", 1 << RAX | 1 << RBP, false);
	assert_true(cfi_frame_open(cfi, stmt_at(&text, "ret")) && cfi_by_frame_pointer(cfi, stmt_at(&text, "ret")));
	drop();
	take("f:\n\t.cfi_startproc\n\tnop\n\t.cfi_made_up 5\n\thlt\n\t.cfi_endproc\n");
	no_frame("hlt");
	needs("hlt", 0, false);
	drop();
}

/* The sum at the beginning, of the stack pointer and a number, and what is behind it. */
static void
by_stack_pointer(void **state)
{
	static const uint8_t rest[] = {0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 0x08};
	const struct frame_rule *rule;

	(void)state;
	take("f:\n\t.cfi_startproc\n\tnop\n"
	     "\t.cfi_escape 0x0f, 0x0b, 0x77, 0x88, 0x7f, 0x79, 0x00, 0x38, 0x1e, 0x22, 0x06, 0x23, 0x08\n\thlt\n"
	     "\t.cfi_escape 0x0f,0x05,0x70,0,0x77,0,0x22\n\tret\n\t.cfi_def_cfa rsp,8\n\tpause\n"
	     "\t.cfi_escape 0x10,0x3,0x2,0x77,0x70\n\tcld\n\t.cfi_endproc\n");
	rule = needs("nop", 1 << RSP, true);
	assert_null(rule->rest);
	rule = needs("hlt", 1 << RSP | 1 << 9, true);
	assert_int_equal(rule->off, -120);
	assert_int_equal(rule->nrest, sizeof rest);
	assert_memory_equal(rule->rest, rest, sizeof rest);
	/* The stack pointer is not at the beginning, or a register is saved where it says. */
	needs("ret", 0, false);
	needs("pause", 1 << RSP, true);
	needs("cld", 0, false);
	drop();
}

/* Expressions that are not understood: an operation that is not known, too few bytes, too many, a register that does not exist. */
static void
other_escapes(void **state)
{
	static const char *const bytes[] = {"0xf,2,0x76", "0xf,3,0x76,0,0xf1", "0xf,2,0x76,0,6", "0xf,1,0x76", "0xf", "0xf,0",
		"0xf,2,0x80,0", "0xf,2,name,0", "0x10,0x21,2,0x76,0", "0x10,0x80", "0x16,3,2,0x76,0"};
	char at[200];

	(void)state;
	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		snprintf(at, sizeof at, "f:\n\t.cfi_startproc\n\tnop\n\t.cfi_escape %s\n\thlt\n\t.cfi_endproc\n", bytes[i]);
		take(at);
		needs("nop", 1 << RSP, true);
		needs("hlt", 0, false);
		assert_false(cfi_move(cfi, stmt_at(&text, "nop"), stmt_at(&text, "hlt"), &(struct buf){0}, &(struct buf){0}));
		drop();
	}
}

/* A part in another section has a frame of its own; that of the first goes on behind it. */
static void
sections(void **state)
{
	(void)state;
	take(PROLOGUE "\tnop\n\t.section .text.unlikely,\"ax\",@progbits\n\tclc\ng:\n\t.cfi_startproc\n\tstc\n\t.cfi_endproc\n"
	     "\t.text\n\thlt\n\t.cfi_endproc\n\t.pushsection .init,\"ax\"\n\tcld\n\t.popsection\n\tstd\n");
	frame_is("nop", RBP, 16);
	no_frame("clc");
	frame_is("stc", RSP, 8);
	frame_is("hlt", RBP, 16);
	no_frame("cld");
	no_frame("std");
	drop();
}

static void
moved_code(void **state)
{
	struct buf there = {0}, back = {0};

	(void)state;
	take(PROLOGUE "\tnop\n\tleave\n\t.cfi_def_cfa 7, 8\n\tret\n\t.cfi_endproc\n\thlt\n");
	/* From one place with a state to another with the same one: nothing. */
	assert_true(cfi_move(cfi, stmt_at(&text, "nop"), stmt_at(&text, "subq"), &there, &back));
	assert_true(!there.n && !back.n);
	/* Code of the body stands behind the return: rbp is kept at CFA - 16 still, as no directive says that it is not. */
	assert_true(cfi_move(cfi, stmt_at(&text, ".cfi_endproc"), stmt_at(&text, "nop"), &there, &back));
	assert_int_equal(there.n, strlen("\t.cfi_def_cfa 6, 16\n"));
	assert_memory_equal(there.at, "\t.cfi_def_cfa 6, 16\n", there.n);
	assert_int_equal(back.n, strlen("\t.cfi_def_cfa 7, 8\n"));
	assert_memory_equal(back.at, "\t.cfi_def_cfa 7, 8\n", back.n);
	there.n = back.n = 0;
	/* Code of the first line there: rbp is not kept yet. */
	assert_true(cfi_move(cfi, stmt_at(&text, "nop"), stmt_at(&text, "pushq"), &there, &back));
	buf_char(&there, '\0');
	buf_char(&back, '\0');
	assert_string_equal(there.at, "\t.cfi_def_cfa 7, 8\n\t.cfi_restore 6\n");
	assert_string_equal(back.at, "\t.cfi_def_cfa 6, 16\n\t.cfi_offset 6, -16\n");
	/* Out of the procedure: no. */
	assert_false(cfi_move(cfi, stmt_at(&text, "hlt"), stmt_at(&text, "nop"), &there, &back));
	buf_free(&there);
	buf_free(&back);
	drop();
}

static void
directives_behind(void **state)
{
	(void)state;
	take(PROLOGUE "\tret\n\t.cfi_endproc\n");
	assert_int_equal(stmt_behind(&text, stmt_at(&text, "pushq")), stmt_at(&text, ".cfi_offset"));
	assert_int_equal(stmt_behind(&text, stmt_at(&text, "subq")), stmt_at(&text, "subq"));
	assert_int_equal(stmt_behind(&text, stmt_at(&text, "ret")), stmt_at(&text, "ret"));
	drop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(other_directives),
		cmocka_unit_test(remembered),
		cmocka_unit_test(expressions),
		cmocka_unit_test(by_stack_pointer),
		cmocka_unit_test(other_escapes),
		cmocka_unit_test(sections),
		cmocka_unit_test(moved_code),
		cmocka_unit_test(directives_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
