/* SPDX-License-Identifier: MIT */
/* Tables of the runtime in a core file that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "process/core.c"
#include "process/core_active.c" /* how single counters are found, which no header has */

/* A module without counters has nothing to add. */
static void
empty_module(void **state)
{
	struct post s = {.p = profile_new()};

	(void)state;
	VEC_PUSH(s.p->module, (struct module){.base = 0x8000});
	assert_true(add_memory(&s, 0, 0x8000, 0x5000, 0));
	assert_false(add_memory(&s, 0, 0x8000, 0x5000, 8));
	assert_false(add_memory(&s, 0, UINT64_MAX - 7, 0x5000, 0x8008));
	assert_false(s.memory);
	profile_free(s.p);
}

/* Only counters of the module that the file has are read. */
static void
counters_outside(void **state)
{
	uint64_t number[4] = {11, 22, 33, 44}, filed = 8;
	struct post s = {.filed = &filed, .live = {.nregion = 1}, .bytes = {.at = (char *)number, .n = sizeof number}};

	(void)state;
	VEC_PUSH(s.module, (struct loaded){.live = {.first = 0x18000, .bias = 0x10000, .size = 16}});
	VEC_PUSH(s.region, (struct chord_live_region){.tid = 5});
	assert_int_equal(count_of(&s, s.module.at, 5, 0x8000), 22);
	assert_int_equal(count_of(&s, s.module.at, 5, 0x8008), 33);
	assert_int_equal(count_of(&s, s.module.at, 5, 0x8010), 0);
	assert_int_equal(count_of(&s, s.module.at, 5, 0x7ff8), 0);
	assert_int_equal(count_of(&s, s.module.at, 5, 1ull << 45), 0);
	s.module.at[0].live.size = 1 << 20;
	assert_int_equal(count_of(&s, s.module.at, 5, 0x8010), 44);
	assert_int_equal(count_of(&s, s.module.at, 5, 0x8018), 0);
	free(s.module.at);
	free(s.region.at);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_module),
		cmocka_unit_test(counters_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
