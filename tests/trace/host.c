/* SPDX-License-Identifier: MIT */
/* host LIBRARY...: opens and closes traced libraries. The first thread writes 51,000 tokens, a thread that is older than the
 * library 50,000, and a thread that is made later as many. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static void (*lib_write)(long);
static int ready;

static void *
write_late(void *arg)
{
	lib_write(50000);
	return arg;
}

static void *
write_early(void *arg)
{
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		usleep(100);
	return write_late(arg);
}

static void *
use(const char *path)
{
	void *h = dlopen(path, RTLD_NOW);

	if (!h)
		_exit(puts(dlerror()) < 0 ? 2 : 1);
	lib_write = (void (*)(long))(uintptr_t)dlsym(h, "lib_write");
	lib_write(1000);
	return h;
}

int
main(int argc, char **argv)
{
	pthread_t early, late;
	void *h;

	pthread_create(&early, NULL, write_early, NULL);
	h = use(argv[1]);
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	pthread_create(&late, NULL, write_late, NULL);
	pthread_join(early, NULL);
	pthread_join(late, NULL);
	for (int i = 0; i < 50; i++) {
		dlclose(h);
		h = use(argv[1 + i % (argc - 1)]);
	}
	return 0;
}
