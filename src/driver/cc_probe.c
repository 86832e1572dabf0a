/* SPDX-License-Identifier: MIT */
/* Recognises programs that a build system compiles only to learn about the compiler. It runs them in the user's folders, where
 * their profiles would stay. What it learns is the same without counters. */
#include "driver/driver.h"

#include <string.h>

static bool
is_probe_part(struct str part)
{
	return str_is(part, "conftest") || str_starts(part, "conftest.") ||      /* Autoconf */
	       str_starts(part, "cmTC_") ||                                      /* CMake */
	       str_is(part, "meson-private") || str_starts(part, "sanitycheck"); /* Meson */
}

bool
cc_is_probe(const char *file)
{
	for (const char *p = file; *p;) {
		size_t n = strcspn(p, "/");

		if (is_probe_part((struct str){p, n}))
			return true;
		p += n + (p[n] == '/');
	}
	return false;
}
