/* SPDX-License-Identifier: MIT */
/* A procedure that keeps all registers for its callers. */
volatile unsigned left = 1000;

__attribute__((no_caller_saved_registers)) void
keeps(void)
{
	unsigned x = left;

	while (x) {
		x--;
		__asm__ volatile("" : "+r"(x)); /* in a register, which it saves */
		if (x & 64)
			x--;
	}
	left = x;
}
