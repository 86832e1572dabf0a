/* SPDX-License-Identifier: MIT */
/* Weaving small texts: there are as many counters as the theory says, the rest of the text is unchanged, and other input is
 * refused. */
#include "tests/unit/assembled.h"
#include "weave/weave.h"

static struct pool *pool;

static bool
assemble(void *ctx, const struct buf *text, struct buf *object)
{
	(void)ctx;
	return assemble_bytes(pool, text, object);
}

struct woven_text {
	struct buf out;
	struct weave_stats stats;
	enum weave_result result;
	char *why;
};

static struct woven_text
woven(const char *text, uint32_t measures, const struct weave_options *more)
{
	struct weave_options o = more ? *more : (struct weave_options){0};
	struct woven_text w = {0};

	o.machine = machine_of_host();
	o.measures = measures;
	o.assemble = assemble;
	w.result = weave(text, strlen(text), "test.s", &o, &w.out, &w.stats, &w.why);
	buf_char(&w.out, '\0');
	return w;
}

static void
drop(struct woven_text *w)
{
	buf_free(&w->out);
	free(w->why);
}

/* The line of the woven text that has the statement, without its newline. */
static const char *
line_with(const struct woven_text *w, const char *stmt)
{
	const char *at = strstr(w->out.at, stmt), *begin = at, *end;

	if (!at)
		fail_msg("'%s' is gone", stmt);
	while (begin > w->out.at && begin[-1] != '\n')
		begin--;
	end = strchr(at, '\n');
	return pool_strndup(pool, begin, (size_t)(end - begin));
}

/* Is something added to a counter between the line's begin and the statement? */
static bool
counts_before(const struct woven_text *w, const char *stmt)
{
	const char *line = line_with(w, stmt), *add = strstr(line, "%gs:");

	return add && add < strstr(line, stmt);
}

static unsigned
additions(const struct woven_text *w)
{
	unsigned n = 0;

	for (const char *p = w->out.at; (p = strstr(p, "%gs:")); p++)
		n++;
	return n;
}

static unsigned
lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Chords of a connected graph with V vertices and E edges, EXIT -> ENTRY among them: E - V + 1. */
static void
numbers_of_counters(void **state)
{
	static const struct { const char *what, *body; unsigned edges, every_block; } cases[] = {
		/* ENTRY 0 EXIT: 3 edges, 3 vertices. */
		{"straight", "\tmovl %edi, %eax\n\tret\n", 1, 1},
		/* 0 -> 1, 2 -> 3: 7 edges, 6 vertices. */
		{"diamond", "\ttestl %edi, %edi\n\tje 1f\n\tmovl $1, %eax\n\tjmp 2f\n1:\tmovl $2, %eax\n2:\tret\n", 2, 4},
		/* 0, then 1 around itself, then 2: 6 edges, 5 vertices. */
		{"loop", "\txorl %eax, %eax\n1:\taddl %edi, %eax\n\tdecl %edi\n\tjne 1b\n\tret\n", 2, 3},
		/* Two returns: 0 -> 1, 2; 1 and 2 to EXIT: 6 edges, 5 vertices. */
		{"two returns", "\ttestl %edi, %edi\n\tje 1f\n\tret\n1:\tmovl $2, %eax\n\tret\n", 2, 3},
		/* Two diamonds: 11 edges, 9 vertices; no more for the second one than for the first. */
		{"two diamonds", "\ttestl %edi, %edi\n\tje 1f\n\tincl %eax\n1:\ttestl %esi, %esi\n\tje 2f\n\tdecl %eax\n"
			"2:\tret\n", 3, 5},
		/* A call that does not come back is an end: 0 -> 1, 2. */
		{"trap", "\ttestl %edi, %edi\n\tje 1f\n\tret\n1:\tud2\n", 2, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = pool_printf(pool, "\t.text\n\t.globl f\n\t.type f, @function\nf:\n%s\t.size f, .-f\n"
		                               "\t.ident \"GCC: (x)\"\n", cases[i].body);
		struct woven_text edges = woven(text, CHORD_SET(EDGES), NULL), block = woven(text, CHORD_SET(EVERY_BLOCK), NULL);

		assert_true(edges.result == WEAVE_DONE && block.result == WEAVE_DONE);
		assert_true(edges.stats.procs == 1 && !edges.stats.refused && !block.stats.refused);
		if (edges.stats.counters != cases[i].edges || additions(&edges) != cases[i].edges)
			fail_msg("%s: %u counters, %u additions", cases[i].what, edges.stats.counters, additions(&edges));
		if (block.stats.counters != cases[i].every_block || additions(&block) != cases[i].every_block)
			fail_msg("%s: %u counters of blocks", cases[i].what, block.stats.counters);
		drop(&edges);
		drop(&block);
	}
}

/* The two arms of a diamond run less than what is before and behind it; a loop is taken to run ten times. */
static void
counters_are_where_it_is_cold(void **state)
{
	struct woven_text w;

	(void)state;
	w = woven(COMPILED(FUNCTION("f",
		"\ttestl %edi, %edi\n\tje 1f\n\tmovl $1, %eax\n\tjmp 2f\n1:\tmovl $2, %eax\n2:\tret\n")), CHORD_SET(EDGES), NULL);
	assert_true(counts_before(&w, "movl $1") && counts_before(&w, "movl $2"));
	assert_false(counts_before(&w, "testl") || counts_before(&w, "ret"));
	drop(&w);
	/* A branch in a loop: one counter on its colder side, one outside of the loop, none at the loop's head. */
	w = woven(COMPILED(FUNCTION("f",
		"\txorl %eax, %eax\n1:\ttestl %edi, %esi\n\tje 2f\n\taddl %edi, %eax\n\tjmp 3f\n2:\taddl %esi, %eax\n"
		"3:\tdecl %edi\n\tjne 1b\n\tret\n")), CHORD_SET(EDGES), NULL);
	assert_int_equal(w.stats.counters, 3);
	assert_true(counts_before(&w, "addl %esi"));
	assert_false(counts_before(&w, "testl"));
	drop(&w);
}

/* Flags that are live are never changed where the counter goes: it stands before what sets them, or behind what reads them. */
static void
flags_are_left_alone(void **state)
{
	struct woven_text w = woven(COMPILED(FUNCTION("f", "\tcmpl $1, %edi\n\tleal 1(%rdi), %eax\n\tje 1f\n\tret\n"
		"1:\tsete %al\n\tret\n")),
	                            CHORD_SET(EVERY_BLOCK), NULL);

	(void)state;
	assert_int_equal(w.stats.counters, 3);
	assert_true(counts_before(&w, "cmpl"));
	assert_false(counts_before(&w, "leal") || counts_before(&w, "je 1f"));
	assert_non_null(strstr(w.out.at, "sete"));
	if (counts_before(&w, "sete"))
		assert_non_null(strstr(line_with(&w, "sete"), "lahf"));
	drop(&w);
}

/* Every line stays where it was, and nothing of it is gone. */
static void
lines_stay(void **state)
{
	static const char text[] = COMPILED(FUNCTION("f", "\ttestl %edi, %edi # a comment\n\n\tje 1f; nop\n\tret\n"
		"1:\tud2\n")) "\t.data\nx:\t.long 5\n";
	struct woven_text w = woven(text, CHORD_SET(EDGES), NULL);

	(void)state;
	assert_int_equal(lines(w.out.at), lines(text));
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		const char *tail = end;

		while (tail > line && tail[-1] != ';' && tail[-1] != '\t' && tail[-1] != ' ')
			tail--;
		if (tail < end && !strstr(w.out.at, pool_strndup(pool, tail, (size_t)(end - tail))))
			fail_msg("'%.*s' is gone", (int)(end - tail), tail);
		line = end + 1;
	}
	assert_non_null(strstr(w.out.at, "# a comment\n\n"));
	drop(&w);
}

/* A refused procedure passes through untouched, the others are measured. */
static void
refused(void **state)
{
	static const char bad[] = "\t.globl g\n\t.type g, @function\ng:\n\tje 1f+1\n1:\tmovl $0xc3, %eax\n\tret\n\t.size g, .-g\n";
	const char *text = pool_printf(pool, "\t.text\n%s%s", FUNCTION("f", "\tmovl %edi, %eax\n\tret\n"), bad);
	struct woven_text w = woven(text, CHORD_SET(EDGES), NULL);

	(void)state;
	assert_int_equal(w.result, WEAVE_DONE);
	assert_true(w.stats.procs == 2 && w.stats.refused == 1 && w.stats.counters == 1);
	assert_true(counts_before(&w, "movl %edi"));
	assert_false(counts_before(&w, "je 1f+1") || counts_before(&w, "movl $0xc3"));
	assert_non_null(strstr(w.out.at, "g:\n"));
	drop(&w);
	/* What the assembler did not take is refused, too: here its line 6. */
	w = woven(text, CHORD_SET(EDGES), &(struct weave_options){.bad_line = (const uint32_t[]){6}, .nbad_line = 1});
	assert_true(w.result == WEAVE_DONE && w.stats.refused == 2 && w.stats.counters == 0);
	assert_int_equal(additions(&w), 0);
	drop(&w);
}

static void
what_is_not_woven(void **state)
{
	static const struct { const char *text; enum weave_result result; const char *why; } cases[] = {
		{"", WEAVE_NOTHING, NULL},
		{"\t.data\n\t.long 5\n", WEAVE_NOTHING, NULL},
		{"\t.text\nf:\tret\n" LABEL_PREFIX "x:\n", WEAVE_FAILED, "labels that begin with .Lchord"},
		{"\t.macro m\n", WEAVE_FAILED, "line 1: a macro or .rept that does not end"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct woven_text w = woven(cases[i].text, CHORD_SET(EDGES), NULL);

		assert_int_equal(w.result, cases[i].result);
		if (cases[i].why && (!w.why || !strstr(w.why, cases[i].why)))
			fail_msg("'%s', not '%s'", w.why ? w.why : "", cases[i].why);
		drop(&w);
	}
}

static bool
rejects(void *ctx, const struct buf *text, struct buf *object)
{
	(void)ctx;
	(void)text;
	(void)object;
	return false;
}

static void
rejected(void **state)
{
	const struct weave_options o = {.machine = machine_of_host(), .measures = CHORD_SET(EDGES), .assemble = rejects};
	struct weave_stats stats;
	struct buf out = {0};
	char *why;

	(void)state;
	assert_int_equal(weave("f:\tret\n", 7, "f", &o, &out, &stats, &why), WEAVE_REJECTED);
	assert_int_equal(out.n, 0);
	free(why);
	buf_free(&out);
}

/* Once behind text that counts, not at all behind text that does not. */
static void
runtime_is_added(void **state)
{
	static const char runtime[] = "# the runtime\n";
	const struct weave_options o = {.runtime = runtime, .runtime_size = sizeof runtime - 1};
	struct woven_text w = woven(COMPILED(FUNCTION("f", "\tret\n")), CHORD_SET(EDGES), &o);

	(void)state;
	assert_string_equal(w.out.at + w.out.n - sizeof runtime, runtime);
	drop(&w);
	w = woven("\t.text\n\t.globl g\n\t.type g, @function\ng:\n\tje 1f+1\n1:\tmovl $0xc3, %eax\n\tret\n\t.size g, .-g\n",
	          CHORD_SET(EDGES), &o);
	assert_null(strstr(w.out.at, runtime));
	drop(&w);
}

/* The same text gives the same bytes. */
static void
is_repeatable(void **state)
{
	static const char text[] = COMPILED(FUNCTION("f", "\ttestl %edi, %edi\n\tje 1f\n\tcall g@PLT\n1:\tret\n"));
	const uint32_t sets[] = {CHORD_SET(EDGES), CHORD_SET(EVERY_BLOCK), CHORD_SET(EVERY_EDGE), CHORD_SET(PATHS)};

	(void)state;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		struct woven_text a = woven(text, sets[i], NULL), b = woven(text, sets[i], NULL);

		assert_true(a.result == WEAVE_DONE && a.stats.counters > 0);
		assert_int_equal(a.out.n, b.out.n);
		assert_memory_equal(a.out.at, b.out.at, a.out.n);
		drop(&a);
		drop(&b);
	}
}

/* Two loops of as many instructions, in one block of which a register is dead. That is loaded with the counters' address at each
 * round only where rounds would wait for the counter, and not for the list that they go through. */
static void
addresses_are_loaded_where_rounds_wait(void **state)
{
#define LOOP(next) \
	COMPILED(FUNCTION("f", "1:\tleaq (%r8,%r9), %r11\n\taddq %r10, %r11\n\taddq %rdx, %r11\n\taddq %rcx, %r11\n" \
	                       "\tmovq %r11, (%rsi)\n\tjs 2f\n\taddq $1, %rax\n2:\t" next "\n\tjne 1b\n\tret\n"))
	static const struct { const char *text; bool loads; } cases[] = {
		{LOOP("negq %rdi\n\taddq $8, %rdi\n\ttestq %rdi, %rdi"), true},
		{LOOP("movq (%rdi), %rdi\n\taddq $8, %rdi\n\ttestq %rdi, %rdi"), false},
		{LOOP("imulq %rdi, %rdi\n\taddq $8, %rdi\n\ttestq %rdi, %rdi"), true},
		{LOOP("addq (%rdi), %rdi\n\taddq $8, %rdi\n\ttestq %rdi, %rdi"), true},
	};
#undef LOOP

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct woven_text w = woven(cases[i].text, CHORD_SET(EDGES), NULL);

		assert_int_equal(w.result, WEAVE_DONE);
		if (!strstr(w.out.at, "leaq\t.LchordC") == cases[i].loads)
			fail_msg("%s", w.out.at);
		drop(&w);
	}
}

static int
set_up(void **state)
{
	(void)state;
	pool = pool_new();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	pool_free(pool);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_counters),
		cmocka_unit_test(counters_are_where_it_is_cold),
		cmocka_unit_test(flags_are_left_alone),
		cmocka_unit_test(addresses_are_loaded_where_rounds_wait),
		cmocka_unit_test(lines_stay),
		cmocka_unit_test(refused),
		cmocka_unit_test(what_is_not_woven),
		cmocka_unit_test(rejected),
		cmocka_unit_test(runtime_is_added),
		cmocka_unit_test(is_repeatable),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
