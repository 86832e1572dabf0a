/* SPDX-License-Identifier: MIT */
/* limits lock: mlockall by a user who may lock 8 MiB. limits N: malloc of N bytes, and writes to all of them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rlimit l = {8 << 20, 8 << 20};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *p;

	if (argc > 1 && !strcmp(argv[1], "lock")) {
		setrlimit(RLIMIT_MEMLOCK, &l);
		if (!geteuid() && setresuid(65534, 65534, 65534))
			return 2;
		printf("mlockall %d\n", mlockall(MCL_CURRENT));
		return 0;
	}
	p = malloc(n);
	if (p)
		memset(p, 1, n);
	printf("malloc %s\n", p ? "works" : "fails");
	return 0;
}
