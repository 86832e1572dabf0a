/* SPDX-License-Identifier: MIT */
/* Goes down to a depth, by frames of a KiB and by small ones in turn, says so, and waits there to be killed, or ends with a second
 * argument. Each activation of wide() calls narrow(), which calls wide() again. */
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) int narrow(int n);
static volatile char used;
static int ends;

static __attribute__((noinline)) int
wide(int n)
{
	volatile char room[1024];

	room[n & 1023] = (char)n;
	if (n <= 0 && write(1, "here", 4) == 4) {
		if (ends)
			_exit(0);
		pause();
	}
	n = narrow(n - 1);
	used = room[n & 1023];
	return n + 1;
}

static __attribute__((noinline)) int
narrow(int n)
{
	int sum = wide(n);

	used = (char)sum;
	return sum + 1;
}

int
main(int argc, char **argv)
{
	ends = argc > 2;
	return wide(argc > 1 ? atoi(argv[1]) : 0) & 1;
}
