/* SPDX-License-Identifier: MIT */
/* With AMID: an untraced library, whose constructor lets threads run code of the traced library that needs it. Otherwise:
 * opening FIRST LATER: opens FIRST, which makes the process a traced one, and then LATER, which needs the library of AMID. It
 * writes 1000 tokens of LATER in its DT_INIT, and before its constructor in each of three threads: the one that opens it, an
 * older one, and a new one. */
#ifdef AMID
void opening(void (*f)(long));
void late_write(long n);

__attribute__((constructor)) static void
begin(void)
{
	opening(late_write);
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

void opening(void (*f)(long));

static void (*late)(long);
static pthread_t older;

static void *
write_late(void *arg)
{
	late(1000);
	return arg;
}

static void *
write_when_told(void *arg)
{
	while (!__atomic_load_n(&late, __ATOMIC_ACQUIRE))
		usleep(100);
	return write_late(arg);
}

void
opening(void (*f)(long))
{
	pthread_t newer;

	__atomic_store_n(&late, f, __ATOMIC_RELEASE);
	late(1000);
	pthread_join(older, NULL);
	pthread_create(&newer, NULL, write_late, NULL);
	pthread_join(newer, NULL);
}

int
main(int argc, char **argv)
{
	void *h = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*first)(long) = h ? (void (*)(long))(uintptr_t)dlsym(h, "lib_write") : NULL;

	if (!first)
		return 2;
	first(1000);
	pthread_create(&older, NULL, write_when_told, NULL);
	if (!dlopen(argv[2], RTLD_NOW))
		return puts(dlerror()) < 0 ? 2 : 1;
	late(1000);
	return 0;
}
#endif
