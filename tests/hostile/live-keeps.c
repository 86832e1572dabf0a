/* SPDX-License-Identifier: MIT */
/* A procedure that keeps all registers for its callers. */
volatile unsigned left = 1000;

__attribute__((no_caller_saved_registers)) void
keeps(void)
{
	while (left) {
		left--;
		if (left & 64)
			left--;
	}
}
