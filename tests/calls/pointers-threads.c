/* SPDX-License-Identifier: MIT */
/* Four threads call through one table, in turns that depend on chance. */
/* callees: thread red 200000 */
/* callees: thread green 400000 */
/* callees: thread blue 400000 */
#include <pthread.h>

typedef void fn(void);

static __thread volatile int n;

static __attribute__((noinline)) void red(void) { n += 1; }
static __attribute__((noinline)) void green(void) { n += 2; }
static __attribute__((noinline)) void blue(void) { n += 3; }

static fn *const volatile table[] = {red, green, blue, blue, green};

static void *
thread(void *arg)
{
	for (int i = 0; i < 250000; i++)
		table[i % 5]();
	return arg;
}

int
main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, thread, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
