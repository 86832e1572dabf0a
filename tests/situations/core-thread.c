/* SPDX-License-Identifier: MIT */
/* A plug-in's code ran in a thread that is older than the plug-in. Such a thread counts in the plug-in's own memory, which only
 * the core file has. There are more paths than a dense table has room for. */
/* without: trace because what ran is in the trace, not in memory */
/* build: $CC -DLIB -fPIC -shared $SRC -o plug.so */
/* build: $PLAIN $SRC -pthread -o program */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* run: exec 2>/dev/null; ulimit -c unlimited; ./program */
/* report: --core core* ./plug.so */
/* paths: none because there is no profile, and chord paths reads no core files */
/* status: 139 */
/* expect: plug 2 */
/* expect: many 14 */
/* line: odd 4 */
#include "situation.h"
#ifdef LIB
static volatile unsigned seen;

#define TWO(bit) if (x & 1u << (bit)) seen += x; else seen ^= x + (bit);

FUNC static void
many(unsigned x)
{
	if (x & 1) {
		STEP; /* @odd */
		seen++;
	}
	TWO(1) TWO(2) TWO(3) TWO(4) TWO(5) TWO(6) TWO(7) TWO(8) TWO(9) TWO(10) TWO(11) TWO(12) TWO(13) TWO(14)
}

void
plug(void)
{
	for (unsigned x = 0; x < 5; x++)
		many(x * 1001);
	many(0);
	many(0);
	STEP;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t begin, end;
static void (*plug)(void);

static void *
other(void *arg)
{
	sem_wait(&begin);
	plug();
	sem_post(&end);
	pause();
	return arg;
}

int
main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	plug = (void (*)(void))dlsym(dlopen("./plug.so", RTLD_NOW), "plug");
	plug();
	sem_post(&begin);
	sem_wait(&end);
	*(volatile int *)0 = 1;
	return 0;
}
#endif
