/* SPDX-License-Identifier: MIT */
/* Calls latch.s a few times, or with an argument once with many bytes. */
unsigned latch(const char *bytes);

int
main(int argc, char **argv)
{
	static char bytes[200];

	(void)argv;
	for (int i = 0; i < 150; i++)
		bytes[i] = i % 3 ? 2 : 1;
	if (argc > 1)
		latch(bytes);
	else
		for (const char *const *p = (const char *const[]){"\1\2\3\4\1", "", "\4\4\2", 0}; *p; p++)
			latch(*p);
	return 0;
}
