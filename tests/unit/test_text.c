/* SPDX-License-Identifier: MIT */
/* Statements of assembler text: where each begins and ends, its line, kind and flags. A person found the answers by reading
 * the text. */
#include "tests/unit/assembled.h"

static struct text
read_text(struct pool *pool, const char *at, size_t n)
{
	const char *why = "";
	struct text t;

	if (!text_read(&t, pool, machine_of_host()->text, at, n, "test.s", &why))
		fail_msg("%s: %s", at, why);
	return t;
}

/* Each statement as KIND LINE TEXT, where K is L(abel), A(ssignment), D(irective), C(ode) or O(paque), in brackets. */
static void
statements(const char *text, const char *expected)
{
	struct pool *pool = pool_new();
	struct text t = read_text(pool, text, strlen(text));
	struct buf b = {0};

	for (size_t i = 0; i < t.stmts.n; i++) {
		struct str s = stmt_str(&t, &t.stmts.at[i]);

		buf_printf(&b, "[%c%u %.*s]", "LADCO"[t.stmts.at[i].kind], t.stmts.at[i].line, (int)s.n, s.at);
	}
	buf_char(&b, '\0');
	assert_string_equal(b.at, expected);
	buf_free(&b);
	text_free(&t);
	pool_free(pool);
}

static void
kinds_and_lines(void **state)
{
	(void)state;
	statements("", "");
	statements("\n\n \t\n", "");
	statements("f:\n\tnop\n\tret", "[L1 f:][C2 nop][C3 ret]");
	statements("a: b: nop; ret # end; nop\n", "[L1 a:][L1 b:][C1 nop][C1 ret]");
	statements("x = 5\n\t.set y, 6\n1:\tjmp 1b\n", "[A1 x = 5][D2 .set y, 6][L3 1:][C3 jmp 1b]");
	statements("\tmovq  %rax , %rbx \t\r\n", "[C1 movq  %rax , %rbx]");
	statements("\"odd name\": ret\n", "[L1 \"odd name\":][C1 ret]");
	statements("lock\n\tincl (%rax)\n", "[C1 lock][C2 incl (%rax)]");
}

static void
comments_and_strings(void **state)
{
	(void)state;
	statements("/ a comment\n\tnop / 2\n", "[C2 nop / 2]");
	statements("/* one\n two ; nop */ nop /* three\n */\nret\n", "[C2 nop /* three\n */][C4 ret]");
	statements("\t.string \"a;b#c\\\"d\"; nop\n", "[D1 .string \"a;b#c\\\"d\"][C1 nop]");
	statements("\tmovb $';, %al\n\tmovb $'#', %al; ret\n", "[C1 movb $';, %al][C2 movb $'#', %al][C2 ret]");
	statements("\tmovb $'\\;, %al; nop\n", "[C1 movb $'\\;, %al][C1 nop]");
	statements("\t.ascii \"line\nbreak\"\n\tret\n", "[D1 .ascii \"line\nbreak\"][C3 ret]");
	statements("#APP\n nop # x\n#NO_APP\n", "[C2 nop]");
	statements("\tnop\n\t.end\n\tret\n\t.macro m\n", "[C1 nop]");
	statements("\t.if 0\n\t.end\n\t.endif\n\tret\n", "[D1 .if 0][D2 .end][D3 .endif][C4 ret]");
	statements("\t.ifdef x\n\tnop\n\t.endif\n\t.END; ret\n", "[D1 .ifdef x][C2 nop][D3 .endif]");
}

static void
macros(void **state)
{
	(void)state;
	/* A definition is one statement, and so is each use. */
	statements("\t.macro twice op\n\t\\op\n\t\\op\n\t.endm\n\ttwice nop\n\tret\n",
	           "[D1 .macro twice op\n\t\\op\n\t\\op\n\t.endm][O5 twice nop][C6 ret]");
	statements("\t.rept 3\n\tnop\n\t.rept 2\n\tret\n\t.endr\n\t.endr\n\tnop\n",
	           "[O1 .rept 3\n\tnop\n\t.rept 2\n\tret\n\t.endr\n\t.endr][C7 nop]");
	/* Names of macros have no case. */
	statements(".MACRO Two\n nop; nop\n.ENDM\n tWO\n", "[D1 .MACRO Two\n nop; nop\n.ENDM][O4 tWO]");
}

static void
what_cannot_be_taken_apart(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{"\tnop\n\t.macro m\n\tnop\n", "line 2: a macro or .rept that does not end"},
		{"\tnop\n\t.rept 2\n\t.rept 2\n\t.endr\n", "line 2: a macro or .rept that does not end"},
		{"\t.macro m\n\t.end\n\t.endm\n", "line 2: an .end in a macro or .rept"},
	};
	struct pool *pool = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t;
		const char *why = "";

		assert_false(text_read(&t, pool, machine_of_host()->text, cases[i].text, strlen(cases[i].text), "f", &why));
		assert_string_equal(why, cases[i].why);
		text_free(&t);
	}
	pool_free(pool);
}

static unsigned
flags_of(const struct text *t, const char *begin)
{
	return t->stmts.at[stmt_at(t, begin)].flags;
}

static void
flags(void **state)
{
	static const char text[] =
		"\t.file \"dir/a.c\"\n\t.text\n"
		"\tmovl $1, %eax\n#APP\n\tmovl $2, %eax\n#NO_APP\n\tmovl $3, %eax\n"
		"\t.intel_syntax noprefix\n\tmov eax, 4\n\t.att_syntax prefix\n\tmovl $5, %eax\n"
		"\t.code32\n\tmovl $6, %eax\n\t.code64\n\tmovl $7, %eax\n"
		"\t.byte 0x90\n\t.p2align 4\n\t.zero 3\n"
		"\t.section .rodata.str1.1,\"aMS\",@progbits,1\n\t.string \"x\"\n"
		"\t.pushsection .debug_info,\"\",@progbits\n\t.long 1\n\t.popsection\n\t.quad 2\n"
		"\t.previous\n\tmovl $8, %eax\n\t.ident \"clang version 14\"\n";
	struct pool *pool = pool_new();
	struct text t = read_text(pool, text, sizeof text - 1);

	(void)state;
	assert_int_equal(flags_of(&t, "movl $1"), 0);
	assert_int_equal(flags_of(&t, "movl $2"), STMT_INLINE);
	assert_int_equal(flags_of(&t, "movl $3"), 0);
	assert_int_equal(flags_of(&t, "mov eax, 4"), STMT_FOREIGN);
	assert_int_equal(flags_of(&t, "movl $5"), 0);
	assert_int_equal(flags_of(&t, "movl $6"), STMT_ALIEN);
	assert_int_equal(flags_of(&t, "movl $7"), 0);
	assert_int_equal(flags_of(&t, ".byte 0x90"), STMT_BYTES);
	assert_int_equal(flags_of(&t, ".p2align"), STMT_BYTES | STMT_PAD);
	assert_int_equal(flags_of(&t, ".zero"), STMT_BYTES | STMT_PAD);
	assert_int_equal(flags_of(&t, ".string"), STMT_BYTES | STMT_OTHER);
	assert_int_equal(flags_of(&t, ".long 1"), STMT_BYTES | STMT_OTHER | STMT_META);
	assert_int_equal(flags_of(&t, ".quad 2"), STMT_BYTES | STMT_OTHER);
	assert_int_equal(flags_of(&t, "movl $8"), 0);
	assert_true(t.compiler && t.code);
	assert_string_equal(t.source, "dir/a.c");
	text_free(&t);
	pool_free(pool);
}

/* A condition may leave directives out, and macros may have any. */
static void
sections_that_are_not_known(void **state)
{
	static const char text[] =
		"\t.macro code\n\t.text\n\t.endm\n\t.macro outer x\n\t.macro \\x\n\t.byte 1\n\t.endm\n\t.endm\n"
		"\t.data\n\t.byte 2\n\t.if 0\n\t.text\n\t.else\n\t.byte 3\n\t.data\n\t.byte 4\n\t.endif\n\t.byte 5\n"
		"\t.data\n\t.pushsection .bss\n\tcode\n\t.byte 6\n\t.popsection\n\t.byte 7\n"
		"\t.data\n\t.byte 8\n\touter inner\n\tinner\n\t.data\n\t.byte 9\n";
	struct pool *pool = pool_new();
	struct text t = read_text(pool, text, sizeof text - 1);

	(void)state;
	assert_int_equal(flags_of(&t, ".byte 2"), STMT_BYTES | STMT_OTHER);
	assert_int_equal(flags_of(&t, ".byte 3"), STMT_BYTES);
	assert_int_equal(flags_of(&t, ".byte 4"), STMT_BYTES | STMT_OTHER);
	assert_int_equal(flags_of(&t, ".byte 5"), STMT_BYTES);
	assert_int_equal(flags_of(&t, ".byte 6"), STMT_BYTES);
	assert_int_equal(flags_of(&t, ".byte 7"), STMT_BYTES);
	assert_int_equal(flags_of(&t, ".byte 8"), STMT_BYTES | STMT_OTHER);
	assert_int_equal(flags_of(&t, ".byte 9"), STMT_BYTES);
	assert_true(t.unseen);
	text_free(&t);
	pool_free(pool);
}

/* Text without code is none of ours, text of nobody is by hand. */
static void
whose_it_is(void **state)
{
	struct pool *pool = pool_new();
	struct text t = read_text(pool, "\t.data\n\t.long 5\n", 15);

	(void)state;
	assert_true(!t.code && !t.compiler);
	text_free(&t);
	t = read_text(pool, "\tnop\n\t.ident \"my own\"\n", 22);
	assert_true(t.code && !t.compiler);
	assert_string_equal(t.source, "");
	text_free(&t);
	t = read_text(pool, "\t.section .data.fast, \"awx\"\n\tnop\n", 33);
	assert_true(t.code);
	text_free(&t);
	t = read_text(pool, "\t.section .data.x,\"aw\"\n\t.long 5\n", 32);
	assert_false(t.code);
	text_free(&t);
	pool_free(pool);
}

static void
parts_of_statements(void **state)
{
	static const char text[] = "\tmovq\t$5 , x(%rip)\n\tleaq 0x1f(%rip), %rax\n\tleaq x(%rip), %rax\n\tret\n";
	struct pool *pool = pool_new();
	struct text t = read_text(pool, text, sizeof text - 1);

	(void)state;
	assert_true(str_is(stmt_word(&t, &t.stmts.at[0]), "movq"));
	assert_true(str_is(stmt_rest(&t, &t.stmts.at[0]), "$5 , x(%rip)"));
	assert_true(str_is(stmt_rest(&t, &t.stmts.at[3]), ""));
	assert_int_equal(stmt_pc_number(&t, &t.stmts.at[0]), -1);
	assert_int_equal(stmt_pc_number(&t, &t.stmts.at[1]), 4);
	assert_int_equal(stmt_pc_number(&t, &t.stmts.at[2]), -1);
	assert_int_equal(text_number(STR("-12x")), 3);
	assert_int_equal(text_number(STR("0xfg")), 3);
	assert_int_equal(text_number(STR("abc")), 0);
	text_free(&t);
	pool_free(pool);
}

/* Labels change no line, and what the object says of them is where the assembler put each statement. */
static void
places(void **state)
{
	static const char text[] = "f:\tnop\n\t.byte 1, 2, 3\n1:\tmovl $1, %eax\n\t.data\n\t.long 5\n\t.text\n\tret\n";
	struct pool *pool = pool_new();
	struct text t = read_text(pool, text, sizeof text - 1);
	struct buf labelled = {0}, bytes = {0};
	struct object *o;
	struct place *place;

	(void)state;
	assert_true(label_text(&t, &labelled));
	buf_char(&labelled, '\0');
	assert_null(strstr(labelled.at, "\n\n"));
	o = assemble_object(pool, labelled.at, &bytes);
	place = label_places(&t, o, pool);
	assert_string_equal(o->sections[place[stmt_at(&t, "nop")].section].name, ".text");
	assert_int_equal(place[stmt_at(&t, "nop")].off, 0);
	assert_int_equal(place[stmt_at(&t, ".byte")].off, 1);
	assert_int_equal(place[stmt_at(&t, "movl")].off, 4);
	assert_int_equal(place[stmt_at(&t, "ret")].off, 9);
	assert_int_equal(place[stmt_at(&t, ".long")].section, 0);
	object_free(o);
	buf_free(&labelled);
	buf_free(&bytes);
	text_free(&t);
	t = read_text(pool, LABEL_PREFIX "S0:\n", sizeof LABEL_PREFIX + 3);
	assert_false(label_text(&t, &labelled));
	text_free(&t);
	buf_free(&labelled);
	pool_free(pool);
}

/* Whatever the bytes are: statements are in order and never overlap. */
static void
any_bytes(void **state)
{
	static const char some[] = "\n\n;#\"'/* */ab.:=\\ \t\0.macro m\n.endm\n.rept\n.endr";
	struct pool *pool = pool_new();

	(void)state;
	srandom(1);
	for (int round = 0; round < 5000; round++) {
		size_t n = (size_t)random() % 60;
		char *text = malloc(n + 1);
		uint32_t end = 0, line = 1;
		const char *why = "";
		struct text t;

		for (size_t i = 0; i < n; i++)
			text[i] = some[(size_t)random() % (sizeof some - 1)];
		if (text_read(&t, pool, machine_of_host()->text, text, n, "f", &why))
			for (size_t i = 0; i < t.stmts.n; i++) {
				const struct stmt *s = &t.stmts.at[i];

				assert_true(s->at >= end && s->len && s->at + s->len <= n && s->line >= line);
				end = s->at + s->len;
				line = s->line;
			}
		else
			assert_string_not_equal(why, "");
		text_free(&t);
		free(text);
	}
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_lines),
		cmocka_unit_test(comments_and_strings),
		cmocka_unit_test(macros),
		cmocka_unit_test(what_cannot_be_taken_apart),
		cmocka_unit_test(flags),
		cmocka_unit_test(sections_that_are_not_known),
		cmocka_unit_test(whose_it_is),
		cmocka_unit_test(parts_of_statements),
		cmocka_unit_test(places),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
