/* SPDX-License-Identifier: MIT */
/* start-room LIB OTHER: opens LIB, and closes it while there is no room for anything large. Then it opens OTHER, and prints
 * what get() of OTHER returns. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/resource.h>

static int
get(void *library)
{
	int (*f)(void) = library ? (int (*)(void))dlsym(library, "get") : NULL;

	return f ? f() : -1;
}

/* Bytes of addresses that are in use. */
static rlim_t
used(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return RLIM_INFINITY;
	fclose(file);
	return (rlim_t)pages * 4096;
}

int
main(int argc, char **argv)
{
	struct rlimit all, little;
	void *library;

	if (argc < 3 || getrlimit(RLIMIT_AS, &all))
		return 2;
	library = dlopen(argv[1], RTLD_NOW);
	printf("%d\n", get(library));
	little = all;
	little.rlim_cur = used() + 100000;
	setrlimit(RLIMIT_AS, &little);
	dlclose(library);
	setrlimit(RLIMIT_AS, &all);
	printf("%d\n", get(dlopen(argv[2], RTLD_NOW)));
	return 0;
}
