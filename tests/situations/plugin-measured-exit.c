/* SPDX-License-Identifier: MIT */
/* A host that was built without Chord calls exit deep in a measured plug-in. */
/* status: 3 */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $PLAIN $SRC -o program */
/* report: ./plug.so program.*.chord */
/* expect: plug 10 */
/* expect: inner 10 */
/* line: before 10 */
/* line: after 9 */
#include "situation.h"
#ifdef LIB
FUNC static void
inner(void (*f)(int), int n)
{
	STEP; /* @before */
	f(n);
	STEP; /* @after */
}

void
plug(void (*f)(int), int n)
{
	inner(f, n);
	STEP;
}
#else
#include <dlfcn.h>
#include <stdlib.h>

static void
leave(int n)
{
	if (n == 9)
		exit(3);
}

int
main(void)
{
	void (*plug)(void (*)(int), int) = (void (*)(void (*)(int), int))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
	for (int i = 0;; i++)
		plug(leave, i);
}
#endif
