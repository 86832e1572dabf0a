/* SPDX-License-Identifier: MIT */
/* A measured plug-in crashed in a host that is not measured, and was moved to another place since. */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $PLAIN $SRC -o program */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* run: exec 2>/dev/null; ulimit -c unlimited; ./program; s=$?; mv plug.so moved.so; exit $s */
/* report: --core core* ./moved.so */
/* status: 139 */
/* no notes: off by|short|not exact */
/* expect: plug 1 */
/* expect: inner 4 */
/* expect: work 4 */
/* line: after 0 */
/* without: trace because what ran is in the trace, not in memory */
#include "situation.h"
#ifdef LIB
FUNC static void
inner(int n)
{
	work();
	if (n > 0)
		inner(n - 1);
	else
		*(volatile int *)0 = 1;
	STEP; /* @after */
}

void
plug(void)
{
	inner(3);
	STEP;
}
#else
#include <dlfcn.h>

int
main(void)
{
	void *lib = dlopen("./plug.so", RTLD_NOW);
	((void (*)(void))dlsym(lib, "plug"))();
	return 0;
}
#endif
