/* SPDX-License-Identifier: MIT */
/* Not even the runtime gets memory. The core file has what the program counted all the same. */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* build: $PLAIN -DLIMIT -shared -fPIC -o limit.so $SRC; $CC $SRC -Wl,--no-as-needed ./limit.so -o program */
/* run: ulimit -c unlimited; ./program */
/* says: chord: counters: there is no room at the addresses kept for them; counts of this process are lost */
/* profiles: 0 */
/* report: --core core* ./program */
/* status: 139 */
/* without: paths because their code cannot go on without memory for the shadow of its stack */
/* notes: the process had no profile */
/* expect: main 1 */
/* expect: deep 5 */
/* expect: work 50 */
/* expect: many 52 */
/* line: returned 0 */
/* without: trace because what ran is in the trace, not in memory */
#ifdef LIMIT
#include <sys/resource.h>

/* From now on nothing can be mapped. */
__attribute__((constructor)) static void
limit(void)
{
	setrlimit(RLIMIT_AS, &(struct rlimit){4096, 4096});
}
#else
#include "situation.h"
#include <stddef.h>

static volatile unsigned seen;

#define TWO(bit) if (x & 1u << (bit)) seen += x; else seen ^= x + (bit);

/* With more paths than a dense table has room for. */
FUNC static void
many(unsigned x)
{
	TWO(1) TWO(2) TWO(3) TWO(4) TWO(5) TWO(6) TWO(7) TWO(8) TWO(9) TWO(10) TWO(11) TWO(12) TWO(13) TWO(14)
}

FUNC static void
many_times(unsigned n)
{
	for (unsigned x = 0; x < n; x++)
		many(x / 2 * 1001);
}

FUNC static void
deep(int n, volatile int *p)
{
	if (n > 0)
		deep(n - 1, p);
	else
		*p = 1;
	STEP; /* @returned */
}

int
main(void)
{
	work_times(50);
	many_times(52);
	deep(4, NULL);
	return 0;
}
#endif
