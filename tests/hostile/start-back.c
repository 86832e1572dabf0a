/* SPDX-License-Identifier: MIT */
/* A constructor of a library calls back the object that needs the library, before that object's own constructor has run. */
extern void early(int) __attribute__((weak));

__attribute__((constructor)) static void
up(void)
{
	if (early)
		early(3);
}
