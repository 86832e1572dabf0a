/* SPDX-License-Identifier: MIT */
/* Lines of /proc/PID/maps and smaps. */
#include "tracee/tracee.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
is(const char **at, uint64_t start, uint64_t end, const char *mode, uint64_t offset, uint64_t inode, const char *name)
{
	struct maps_line m;

	assert_true(maps_next(at, &m));
	assert_int_equal(m.start, start);
	assert_int_equal(m.end, end);
	assert_string_equal(m.mode, mode);
	assert_int_equal(m.offset, offset);
	assert_int_equal(m.inode, inode);
	assert_true(str_is(m.name, name));
}

static void
lines(void **state)
{
	const char *at =
		"00400000-00401000 r-xp 00002000 fe:00 1234                      /usr/bin/a program (deleted)\n"
		"7f0000000000-7f0000001000 rw-s 00000000 00:01 98                          /SYSV00000000 (deleted)\n"
		"7f0000001000-7f0000002000 ---p 00000000 00:00 0 \n"
		"7f0000002000-7f0000003000 ---p 00000000 00:00 0\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]";
	struct maps_line m;

	(void)state;
	is(&at, 0x400000, 0x401000, "r-xp", 0x2000, 1234, "/usr/bin/a program (deleted)");
	is(&at, 0x7f0000000000, 0x7f0000001000, "rw-s", 0, 98, "/SYSV00000000 (deleted)");
	is(&at, 0x7f0000001000, 0x7f0000002000, "---p", 0, 0, "");
	is(&at, 0x7f0000002000, 0x7f0000003000, "---p", 0, 0, "");
	is(&at, 0xffffffffff600000, 0xffffffffff601000, "--xp", 0, 0, "[vsyscall]");
	assert_false(maps_next(&at, &m));
	assert_false(maps_next(&at, &m));
}

/* Lines between those of mappings, and text that is cut off or not there. */
static void
others(void **state)
{
	const char *smaps = "1000-2000 rwxp 00000000 00:00 0 \nSize:                  4 kB\nVmFlags: rd wr gd\n"
		"3000-4000 r--p 10 0:0 7 [heap]\n";
	const char *cut[] = {
		"", "1000", "1000-", "1000-2000", "1000-2000 rw", "1000-2000 rw-p", "1000-2000 rw-p 0 00:00", "\n\n", "x-y\n",
	};
	const char *none = NULL;
	struct maps_line m;

	(void)state;
	is(&smaps, 0x1000, 0x2000, "rwxp", 0, 0, "");
	is(&smaps, 0x3000, 0x4000, "r--p", 0x10, 7, "[heap]");
	assert_false(maps_next(&smaps, &m));
	assert_false(maps_next(&none, &m));
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
		assert_false(maps_next(&cut[i], &m));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
