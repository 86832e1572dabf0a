/* SPDX-License-Identifier: MIT */
/* Goes round a loop 41 times, and then round one that never ends, until it is killed. It tells in the file `told` how often. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long *told;

__attribute__((noinline)) static void
rounds(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		told[0] = i + 1;
		while (i == 40)
			told[1]++;
	}
}

int
main(void)
{
	int fd = open("told", O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (told == MAP_FAILED)
		return 1;
	rounds(1000);
	return 0;
}
