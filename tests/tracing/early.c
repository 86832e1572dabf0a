/* SPDX-License-Identifier: MIT */
/* early N: N rounds of traced code before anything of the runtime runs: functions in .preinit_array are called first of all.
 * Prints what they computed, and how many bytes around the room of traces were written to. PAD moves that room. */
#include <stdio.h>

#ifndef PAD
#define PAD 1
#endif
char before[PAD];
/* Behind .bss, at whose end the room is. */
__attribute__((section(".late,\"aw\",@nobits#"))) char behind[300000];
static volatile unsigned x;

static void
early(int argc, char **argv)
{
	unsigned n = 0;

	for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
		n = n * 10 + (unsigned)(*p - '0');
	for (unsigned i = 0; i < n; i++)
		if (x++ & 1)
			x += 2;
		else
			x ^= 4;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **) = early;

int
main(void)
{
	unsigned long written = 0;

	for (unsigned long i = 0; i < sizeof before; i++)
		written += before[i] != 0;
	for (unsigned long i = 0; i < sizeof behind; i++)
		written += behind[i] != 0;
	printf("%u %lu\n", x, written);
	return 0;
}
