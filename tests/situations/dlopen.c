/* SPDX-License-Identifier: MIT */
/* An object is opened, closed and opened again, at any address, 20 times. */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $CC $SRC -o program */
/* expect: main 1 */
/* expect: plug 2000 */
/* expect: made 20 */
/* expect: gone 20 */
/* expect: work 2140 */
#include "situation.h"
#ifdef LIB
__attribute__((constructor)) FUNC static void
made(void)
{
	work_times(2);
}

__attribute__((destructor)) FUNC static void
gone(void)
{
	work_times(4);
}

void
plug(void)
{
	work();
}
#else
#include <dlfcn.h>
#include <stdlib.h>

int
main(void)
{
	for (int i = 0; i < 20; i++) {
		void *lib = dlopen("./plug.so", RTLD_NOW);
		void (*plug)(void) = lib ? (void (*)(void))dlsym(lib, "plug") : abort;
		for (int k = 0; k < 100; k++)
			plug();
		dlclose(lib);
		work();
	}
	return 0;
}
#endif
