/* SPDX-License-Identifier: MIT */
/* Calls each procedure of bytes-islands.s, and prints what they return. */
#include <stdio.h>

#define ALL(X) \
	X(ok_reached) X(ok_completed) X(ok_data) X(ok_read) X(may_read) X(may_repeat) X(ok_backwards) X(no_jump) X(no_jump_back) \
	X(may_jump_by_name) X(no_call) X(no_jump_there) X(no_macro_jump) X(no_prefix) X(no_middle) X(may_table) X(ok_table) \
	X(ok_behind) X(may_behind) X(may_text) X(may_argument) X(may_twice) X(ok_dead) X(may_dead) X(ok_whole) X(ok_calls)

#define DECLARE(name) long name(long);
ALL(DECLARE)

int
main(void)
{
	for (long i = 0; i < 7; i++) {
#define CALL(name) printf(#name " %ld: %ld\n", i, name(i));
		ALL(CALL)
	}
	return 0;
}
