/* SPDX-License-Identifier: MIT */
/* A measured plug-in in a host that was built without Chord. */
/* options: -pthread */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $PLAIN $SRC -o program */
/* report: ./plug.so program.*.chord */
/* expect: plug 4000 */
/* expect: leave 4000 */
/* expect: work 4000 */
/* line: before 4000 */
/* line: after 0 */
#include "situation.h"
#include <setjmp.h>
#ifdef LIB
FUNC static void
leave(jmp_buf *env)
{
	work();
	longjmp(*env, 1);
}

void
plug(jmp_buf *env)
{
	STEP; /* @before */
	leave(env);
	STEP; /* @after */
}
#else
#include <dlfcn.h>
#include <pthread.h>

static void (*plug)(jmp_buf *);

static void *
thread(void *arg)
{
	jmp_buf env;
	for (volatile int i = 0; i < 1000; i++)
		if (setjmp(env) == 0)
			plug(&env);
	return arg;
}

int
main(void)
{
	pthread_t t[4];
	plug = (void (*)(jmp_buf *))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
#endif
