/* SPDX-License-Identifier: MIT */
/* Reads a file again and again, in pieces of several sizes, and once changes a byte in the middle of the file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t
sum_of(const char *name, size_t piece)
{
	static unsigned char at[1 << 20];
	uint64_t sum = 14695981039346656037u;
	int fd = open(name, O_RDONLY);
	ssize_t n;

	while ((n = read(fd, at, piece)) > 0)
		for (ssize_t i = 0; i < n; i++)
			sum = (sum ^ at[i]) * 1099511628211u;
	close(fd);
	return sum;
}

int
main(int argc, char **argv)
{
	int rounds = atoi(argv[2]), fd;
	unsigned char byte;

	for (int i = 0; i < rounds; i++) {
		if (i == rounds / 2) {
			fd = open(argv[1], O_RDWR);
			if (fd < 0 || pread(fd, &byte, 1, 50000) != 1)
				return 1;
			byte ^= 1;
			if (pwrite(fd, &byte, 1, 50000) != 1)
				return 1;
			close(fd);
		}
		for (size_t piece = 1 << 15; piece < 1 << 20; piece *= 4)
			printf("%d %016llx\n", i < rounds / 2, (unsigned long long)sum_of(argv[1], piece));
	}
	return argc < 3;
}
