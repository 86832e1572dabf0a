/* SPDX-License-Identifier: MIT */
/* Measured code that runs before the constructor of its object. EARLY: init (DT_INIT), ifunc (called by a resolver), back
 * (called by the constructor of a library that this one needs), nested (opened by a constructor). */
#define INIT 1
#define IFUNC 2
#define BACK 3
#define NESTED 4

static int n;

__attribute__((noinline)) void
early(int k)
{
	for (int i = 0; i < k; i++) {
		n += i;
		__asm__ volatile("");
	}
}

#if EARLY == INIT
void
at_init(void)
{
	early(5);
}
#elif EARLY == IFUNC
static volatile int seven = 7; /* no compiler knows it */

static __attribute__((noinline)) int
detect(int k)
{
	int s = 0;

	for (int i = 0; i < k; i++) {
		s += i;
		__asm__ volatile("" : "+r"(s));
	}
	return s > 3;
}

static int
one(void)
{
	return 1;
}

static int
two(void)
{
	return 2;
}

__attribute__((used)) static int (*
resolve(void))(void)
{
	return detect(seven) ? two : one;
}

int chosen(void) __attribute__((ifunc("resolve")));
#elif EARLY == NESTED
#include <dlfcn.h>

__attribute__((constructor(101))) static void
open_other(void)
{
	void *h = dlopen("./init.so", RTLD_NOW);
	int (*f)(void) = h ? (int (*)(void))dlsym(h, "get") : 0;

	n += f ? f() : 0;
}
#endif

int
get(void)
{
#if EARLY == IFUNC
	return chosen();
#else
	return n;
#endif
}
