/* SPDX-License-Identifier: MIT */
/* Names in a change that git has quoted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "view/coverage.h"

static void
quoted_names(void **state)
{
	static const struct { const char *quoted, *name; } known[] = {
		{"b/\\303\\244\\t\\\"", "b/\303\244\t\""}, {"b/\\1x2", "b/1x2"},
		{"b/\\18", "b/18"}, {"b/\\129", "b/129"}, {"b/\\477", "b/477"},
	};
	struct pool *pool = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const char *why, *text = pool_printf(pool, "--- /dev/null\n+++ \"%s\"\n@@ -0,0 +1 @@\n+x\n", known[i].quoted);
		struct changed ch = {0};

		assert_true(changed_read(&ch, pool, str_of(text), &why));
		assert_int_equal(ch.file.n, 1);
		assert_string_equal(ch.file.at[0].name, known[i].name);
		changed_free(&ch);
	}
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quoted_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
