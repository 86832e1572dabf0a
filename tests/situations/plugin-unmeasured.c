/* SPDX-License-Identifier: MIT */
/* A plug-in built without Chord, in a measured host: it calls back, makes threads, jumps and exits. */
/* options: -pthread */
/* status: 6 */
/* build: $PLAIN -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $CC $SRC -o program */
/* expect: main 1 */
/* expect: back 1010 */
/* expect: thread 4 */
/* expect: jumped_over 5 */
/* expect: work 1010 */
/* line: after 0 */
/* line: landed 5 */
#include "situation.h"
#include <setjmp.h>
#ifdef LIB
#include <pthread.h>
#include <stdlib.h>

void
plug(int what, void *(*f)(void *), jmp_buf *env)
{
	pthread_t t[4];
	if (what == 1)
		longjmp(*env, 1);
	if (what == 2)
		exit(6);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}
#else
#include <dlfcn.h>

static void (*plug)(int, void *(*)(void *), jmp_buf *);

FUNC static void
back(void)
{
	work();
}

FUNC static void *
thread(void *arg)
{
	for (int i = 0; i < 250; i++)
		back();
	return arg;
}

FUNC static void
jumped_over(jmp_buf *env)
{
	back();
	back();
	plug(1, thread, env);
	STEP; /* @after */
}

int
main(void)
{
	jmp_buf env;
	plug = (void (*)(int, void *(*)(void *), jmp_buf *))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
	plug(0, thread, &env);
	for (volatile int i = 0; i < 5; i++)
		if (setjmp(env) == 0)
			jumped_over(&env);
		else
			STEP; /* @landed */
	plug(2, thread, &env);
	return 0;
}
#endif
