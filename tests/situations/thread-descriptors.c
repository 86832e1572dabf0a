/* SPDX-License-Identifier: MIT */
/* Thread-local variables are reached by descriptors: calls that keep all registers but rax. In the program the linker makes moves
 * of them, in a library that is opened they are made. */
/* build: $CC -DLIBRARY -fPIC -shared -mtls-dialect=gnu2 $SRC -o library.so */
/* build: $CC -rdynamic -fPIC -mtls-dialect=gnu2 $SRC -o program -pthread -ldl */
/* only: gcc because clang 14 has no such option for x86-64 */
/* expect: add 400 */
/* expect: run 4 */
#ifdef LIBRARY
extern __thread int outer;
__thread int inner;
static __thread long own[8];

int
add(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		inner += i;
		own[i & 7] += inner;
		sum += own[(i + 3) & 7] + outer++;
	}
	return sum;
}
#else
#include <dlfcn.h>
#include <pthread.h>

__thread int outer = 4;
static __thread int rounds;
static int (*add)(int);
static int sum[4];

static void *
run(void *to)
{
	for (rounds = 0; rounds < 100; rounds++)
		*(int *)to += add(rounds);
	return NULL;
}

int
main(void)
{
	void *library = dlopen("./library.so", RTLD_NOW);
	pthread_t thread[3];

	add = library ? (int (*)(int))dlsym(library, "add") : NULL;
	if (!add)
		return 2;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, run, &sum[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	run(&sum[3]);
	return sum[0] != sum[1] || sum[0] != sum[2] || sum[0] != sum[3];
}
#endif
