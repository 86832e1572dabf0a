/* SPDX-License-Identifier: MIT */
/* A procedure whose convention keeps rsi and rdi. It saves neither, because those that it calls keep them, too. */
__attribute__((CONVENTION)) void another(void);
volatile int left = 20;

__attribute__((CONVENTION)) void
passes(void)
{
	while (left-- > 0) {
		another();
		if (left & 1)
			another();
	}
	for (left = 5; left > 0; left--)
		if (left == 3)
			left--;
	if (left == 7)
		another();
}
