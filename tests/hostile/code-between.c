/* SPDX-License-Identifier: MIT */
/* Calls each procedure of code-between.s, and prints what it returned. */
#include <stdio.h>

#define EACH(F) F(far) F(between) F(back) F(jumps) F(calls) F(addresses) F(reads) F(names) F(whole) F(measured) F(before) F(padded)

#define DECLARE(name) long name(void);
EACH(DECLARE)

#define SAY(name) printf("%s %ld\n", #name, name());

int
main(void)
{
	EACH(SAY)
	return 0;
}
