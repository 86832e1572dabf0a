/* SPDX-License-Identifier: MIT */
/* spaces LIB: opens the library in name spaces of its own, and in the program's. */
#define _GNU_SOURCE
#include "count.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void
count_in(void *h, int n)
{
	void (*f)(void);

	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	f = (void (*)(void))dlsym(h, "lib_count");
	while (n-- > 0)
		f();
}

int
main(int argc, char **argv)
{
	void *h;

	CHORD_COUNT(1);
	for (int i = 0; i < argc + 1; i++) {
		h = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
		count_in(h, 100);
		dlclose(h);
		h = dlopen(argv[1], RTLD_NOW);
		count_in(h, 10);
		dlclose(h);
	}
	return 0;
}
