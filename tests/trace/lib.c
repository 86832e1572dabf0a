/* SPDX-License-Identifier: MIT */
/* A library that writes tokens; not to be woven. With LATE it also writes some in its DT_INIT. */
#include "token.h"

#ifdef LATE
#define lib_write late_write
#endif

void lib_write(long n);

void
lib_write(long n)
{
	while (n-- > 0)
		token(5);
}

#ifdef LATE
void at_init(void);

void
at_init(void)
{
	lib_write(1000);
}
#endif
