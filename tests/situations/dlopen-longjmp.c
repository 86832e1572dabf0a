/* SPDX-License-Identifier: MIT */
/* An object that was opened jumps out of itself, and is closed after that. */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $CC $SRC -o program */
/* expect: main 1 */
/* expect: plug 10 */
/* expect: leave 10 */
/* line: before 10 */
/* line: after 0 */
/* line: back 10 */
#include "situation.h"
#include <setjmp.h>
#ifdef LIB
FUNC static void
leave(jmp_buf *env)
{
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

int
main(void)
{
	jmp_buf env;
	for (volatile int i = 0; i < 10; i++) {
		void *volatile lib = dlopen("./plug.so", RTLD_NOW);
		if (setjmp(env) == 0)
			((void (*)(jmp_buf *))dlsym(lib, "plug"))(&env);
		STEP; /* @back */
		dlclose(lib);
	}
	return 0;
}
#endif
