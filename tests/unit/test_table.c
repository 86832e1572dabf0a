/* SPDX-License-Identifier: MIT */
/* The printer of tables: where cells stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tool/table.h"

static const struct column columns[] = {{"name", -6, 0}, {"n", 5, 0}, {"share", 7, 0}, {"place", 0, 0}, {NULL, 3, 0}};

struct printed {
	struct table t;
	char *text;
	size_t n;
};

static void
begin(struct printed *p)
{
	*p = (struct printed){.t = TABLE(columns)};
	p->t.to = open_memstream(&p->text, &p->n);
	assert_non_null(p->t.to);
}

static void
expect(struct printed *p, const char *text)
{
	fclose(p->t.to);
	assert_string_equal(p->text, text);
	free(p->text);
}

/* Two blanks before a text, one before a number; the titles end before the column that has none. */
static void
test_cells(void **state)
{
	struct printed p;

	(void)state;
	begin(&p);
	table_head(&p.t);
	table_text(&p.t, "a");
	table_number(&p.t, 1234);
	table_share(&p.t, 1, 8);
	table_text(&p.t, "here");
	table_end(&p.t);
	table_text(&p.t, "größe");
	table_text(&p.t, "é");
	table_end(&p.t);
	expect(&p, "name       n   share  place\n"
	           "a      1,234  12.50%  here\n"
	           "größe      é\n");
}

/* What is too long for its column moves the others, and stays apart from them. */
static void
test_long_cells(void **state)
{
	struct printed p;

	(void)state;
	begin(&p);
	table_text(&p.t, "longer than that");
	table_bounds(&p.t, &(struct bounds){5, 1000000}, true);
	table_bounds(&p.t, &(struct bounds){5, COUNT_NO_BOUND}, true);
	table_bounds(&p.t, &(struct bounds){0, 0}, false);
	table_end(&p.t);
	expect(&p, "longer than that 5 to 1,000,000 5 or more  not known\n");
}

static void
test_skip_mark_indent(void **state)
{
	struct printed p;

	(void)state;
	begin(&p);
	p.t.indent = 2;
	table_skip(&p.t, 1);
	p.t.mark = '?';
	table_number(&p.t, 7);
	table_skip(&p.t, 1);
	table_text(&p.t, "x");
	table_end(&p.t);
	expect(&p, "        ?    7          x\n");
}

static void
test_more(void **state)
{
	struct printed p;

	(void)state;
	begin(&p);
	table_more(&p.t, 3, 3, "rows");
	p.t.column = &columns[1];
	table_more(&p.t, 3, 5, "rows");
	table_more(&p.t, 3, 5, NULL);
	expect(&p, "      and 2 more rows (--top=0 shows all)\n"
	           "      and 2 more (--top=0 shows all)\n");
	assert_int_equal(table_rows(0, 9), 9);
	assert_int_equal(table_rows(4, 9), 4);
	assert_int_equal(table_rows(40, 9), 9);
}

/* The most saturates, the least must fit. */
static void
test_bounds(void **state)
{
	struct bounds b = {UINT64_MAX - 1, UINT64_MAX - 1};

	(void)state;
	assert_true(bounds_add(&b, &(struct bounds){1, 2}));
	assert_true(b.least == UINT64_MAX && b.most == COUNT_NO_BOUND);
	assert_false(bounds_add(&b, &(struct bounds){1, 1}));
	b = (struct bounds){3, 9};
	bounds_raise(&b, &(struct bounds){5, 7});
	assert_true(b.least == 5 && b.most == 9);
	assert_false(bounds_exact(&b));
}

/* A share that is not all, or not nothing, is not shown as that. */
static void
test_percent(void **state)
{
	(void)state;
	assert_true(percent_shown(9996, 10000, 0.1) < 99.95);
	assert_true(percent_shown(4, 10000, 0.1) >= 0.1);
	assert_true(percent_shown(10000, 10000, 0.1) == 100 && percent_shown(0, 10000, 0.1) == 0);
	assert_true(percent_shown(99999, 100000, 0.01) < 99.995);
	assert_true(percent_shown(1, 2, 0.01) == 50);
}

/* As text it is not shown as a step that it is not, either. */
static void
test_percent_text(void **state)
{
	char text[PERCENT];

	(void)state;
	assert_string_equal(percent_of(text, 1, 8, 2), "12.50");
	assert_string_equal(percent_of(text, 8, 8, 1), "100.0");
	assert_string_equal(percent_of(text, 0, 8, 1), "0.0");
	assert_string_equal(percent_of(text, 7, 25023219, 2), "<0.01");
	assert_string_equal(percent_of(text, 1, 10000, 2), "0.01");
	assert_string_equal(percent_of(text, 25023201, 25023219, 2), ">99.99");
	assert_string_equal(percent_of(text, 9999, 10000, 2), "99.99");
	assert_string_equal(percent_of(text, 100000, 100001, 1), ">99.9");
}

/* Columns of large numbers are as wide as the widest, the others as they were. */
static void
test_widen(void **state)
{
	static const struct column large[] = {{"count", 15, 0}, {"share", 7, 0}, {NULL, 0, 0}};
	struct printed p = {.t = TABLE(large)};

	(void)state;
	p.t.to = open_memstream(&p.text, &p.n);
	assert_non_null(p.t.to);
	table_widen_for(&p.t, 7);
	table_widen_for(&p.t, UINT64_C(1000000000000));
	table_head(&p.t);
	table_number(&p.t, UINT64_C(1000000000000));
	table_share(&p.t, 1, 8);
	table_end(&p.t);
	table_number(&p.t, 7);
	table_share(&p.t, 7, 8);
	table_end(&p.t);
	expect(&p, "            count   share\n"
	           "1,000,000,000,000  12.50%\n"
	           "                7  87.50%\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells), cmocka_unit_test(test_long_cells), cmocka_unit_test(test_skip_mark_indent),
		cmocka_unit_test(test_more), cmocka_unit_test(test_bounds), cmocka_unit_test(test_percent),
		cmocka_unit_test(test_percent_text), cmocka_unit_test(test_widen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
