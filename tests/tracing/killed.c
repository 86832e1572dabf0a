/* SPDX-License-Identifier: MIT */
/* The innermost activation of a recursion ends the process, in the middle of a path that has been written. After that path it
 * has a single instruction, of which the compiler does not know that it is the last. */
__attribute__((noinline)) static int
down(int n, const volatile int *p)
{
	return n <= 0 ? *p : down(n - 1, p) + 1;
}

int
main(int argc, char **argv)
{
	static const volatile int zero;

	(void)argv;
	return down(3, argc > 1 ? &zero : 0) - 3;
}
