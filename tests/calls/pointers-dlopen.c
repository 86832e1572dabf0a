/* SPDX-License-Identifier: MIT */
/* Two objects that are opened one after the other, the second perhaps at the addresses of the first. */
/* callees: main plug_a 200 */
/* callees: main plug_b 200 */
#ifdef LIB
static volatile int n;
void LIB(void) { n++; }
#else
#include <dlfcn.h>
#include <stdlib.h>

int
main(void)
{
	for (int i = 0; i < 40; i++) {
		void *lib = dlopen(i % 2 ? "./b.so" : "./a.so", RTLD_NOW);
		void (*plug)(void) = lib ? (void (*)(void))dlsym(lib, i % 2 ? "plug_b" : "plug_a") : abort;

		for (int k = 0; k < 10; k++)
			plug();
		dlclose(lib);
	}
	return 0;
}
#endif
