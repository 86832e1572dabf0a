/* SPDX-License-Identifier: MIT */
/* A library that writes tokens; not to be woven. */
#include "token.h"

void lib_write(long n);

void
lib_write(long n)
{
	while (n-- > 0)
		token(5);
}
