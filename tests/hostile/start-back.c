/* SPDX-License-Identifier: MIT */
/* Calls back, before whoever needs it has been begun. */
extern void early(int) __attribute__((weak));

__attribute__((constructor)) static void
up(void)
{
	if (early)
		early(3);
}
