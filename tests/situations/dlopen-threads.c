/* SPDX-License-Identifier: MIT */
/* An object is opened while eight threads live. They count in it from then on, and so do later threads. */
/* options: -pthread */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $CC $SRC -o program */
/* expect: main 1 */
/* expect: thread 16 */
/* expect: plug 160000 */
/* expect: work 160016 */
#include "situation.h"
#ifdef LIB
void
plug(void)
{
	work();
}
#else
#include <dlfcn.h>
#include <pthread.h>

static pthread_barrier_t before, behind;
static void (*volatile plug)(void);

FUNC static void *
thread(void *arg)
{
	work();
	if (arg) {
		pthread_barrier_wait(&before);
		pthread_barrier_wait(&behind);
	}
	for (int i = 0; i < 10000; i++)
		plug();
	return arg;
}

int
main(void)
{
	pthread_t t[16];
	pthread_barrier_init(&before, NULL, 9);
	pthread_barrier_init(&behind, NULL, 9);
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, t);
	pthread_barrier_wait(&before);
	plug = (void (*)(void))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
	pthread_barrier_wait(&behind);
	for (int i = 8; i < 16; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 16; i++)
		pthread_join(t[i], NULL);
	return 0;
}
#endif
