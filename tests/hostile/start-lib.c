/* SPDX-License-Identifier: MIT */
/* Measured code that runs before the constructor of its object. EARLY: init (DT_INIT), ifunc (called by a resolver), back
 * (called by the constructor of a library that this one needs), nested (opened by a constructor), apart (called by a resolver in
 * another text). */
#define INIT 1
#define IFUNC 2
#define BACK 3
#define NESTED 4
#define APART 5

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
#elif EARLY == IFUNC || EARLY == APART
#if EARLY == IFUNC
#define LOCAL static
#else
#define LOCAL __attribute__((visibility("hidden")))
#endif
LOCAL volatile int seven = 7; /* no compiler knows it */

LOCAL __attribute__((noinline)) int
detect(int k)
{
	int s = 0;

	for (int i = 0; i < k; i++) {
		s += i;
		__asm__ volatile("" : "+r"(s));
	}
	return s > 3;
}

LOCAL int
one(void)
{
	return 1;
}

LOCAL int
two(void)
{
	return 2;
}

#if EARLY == IFUNC
__attribute__((used)) static int (*
resolve(void))(void)
{
	return detect(seven) ? two : one;
}

int chosen(void) __attribute__((ifunc("resolve")));
#else
int chosen(void);
#endif
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
#if EARLY == IFUNC || EARLY == APART
	return chosen();
#else
	return n;
#endif
}
