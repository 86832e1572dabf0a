/* SPDX-License-Identifier: MIT */
/* start CALL LIB...: opens each library and prints what its get() returns. CALL: open, lazy, thread, space, again, twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *how;

static void *
get(void *path)
{
	void *h = strcmp(how, "space") ? dlopen(path, strcmp(how, "lazy") ? RTLD_NOW : RTLD_LAZY)
	                               : dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	int (*f)(void);

	if (!h) {
		puts(dlerror());
		return NULL;
	}
	f = (int (*)(void))dlsym(h, "get");
	printf("%d\n", f());
	if (!strcmp(how, "again"))
		dlclose(h);
	return h;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	how = argv[1];
	for (int round = 0; round < 3; round++)
		for (int i = 2; i < argc; i++) {
			if (strcmp(how, "thread")) {
				get(argv[i]);
			} else if (!pthread_create(&t, NULL, get, argv[i])) {
				pthread_join(t, NULL);
			}
		}
	return 0;
}
