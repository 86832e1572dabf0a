/* SPDX-License-Identifier: MIT */
/* No profile can be written, and there are more paths than a dense table has room for: the core file has the table, by thread.
 * It does not have the paths that found no room in the table, which matters for crowd only. */
/* without: trace because what ran is in the trace, not in memory */
/* options: -pthread */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* run: ulimit -c unlimited; CHORD_FILE=/proc/none/%p ./program */
/* says: chord: /proc/none/.*: No such file or directory; counts of this process are lost */
/* profiles: 0 */
/* report: --core core* ./program */
/* status: 134 */
/* expect: main 1 */
/* expect: thread 3 */
/* expect: many 15 */
/* expect: crowd 20000 */
/* line: odd 6 */
/* unknown crowd: allowed because its table was full in places */
#include "situation.h"
#include <pthread.h>
#include <stdlib.h>

static volatile unsigned seen;

#define TWO(bit) if (x & 1u << (bit)) seen += x; else seen ^= x + (bit);
#define MOST TWO(1) TWO(2) TWO(3) TWO(4) TWO(5) TWO(6) TWO(7) TWO(8) TWO(9) TWO(10) TWO(11) TWO(12) TWO(13) TWO(14)

FUNC static void
many(unsigned x)
{
	if (x & 1) {
		STEP; /* @odd */
		seen++;
	}
	MOST
}

FUNC static void
crowd(unsigned x)
{
	MOST TWO(15) TWO(16)
}

FUNC static void *
thread(void *arg)
{
	for (unsigned x = 0; x < 5; x++)
		many(x * 1001);
	return arg;
}

int
main(void)
{
	pthread_t t;

	for (unsigned x = 0; x < 20000; x++)
		crowd(x * 7);
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	thread(NULL);
	abort();
}
