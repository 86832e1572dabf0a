/* SPDX-License-Identifier: MIT */
/* many make LIB N: makes copies of a library with build ids of their own. many N: opens all of them and calls work(10) in each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
make(const char *lib, int n)
{
	static char bytes[1 << 20], name[32];
	static const char id[] = "CHORD-MANY-LIBRARIES";
	FILE *f = fopen(lib, "r");
	size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	char *at = memmem(bytes, size, id, sizeof id - 1);

	for (int i = 0; at && i < n; i++) {
		snprintf(name, sizeof name, "many%d.so", i);
		snprintf(at, 20, "%019d", i);
		f = fopen(name, "w");
		if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
			return 1;
	}
	return !at;
}

int
main(int argc, char **argv)
{
	long sum = 0;
	char name[32];

	if (argc == 4)
		return make(argv[2], atoi(argv[3]));
	for (int i = 0; i < atoi(argv[1]); i++) {
		int (*f)(int);
		void *h;

		snprintf(name, sizeof name, "./many%d.so", i);
		h = dlopen(name, RTLD_NOW);
		f = h ? (int (*)(int))dlsym(h, "work") : NULL;
		if (!f) {
			puts(dlerror());
			return 1;
		}
		sum += f(10);
	}
	printf("%ld\n", sum);
	return 0;
}
