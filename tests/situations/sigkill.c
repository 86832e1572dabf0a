/* SPDX-License-Identifier: MIT */
/* Each line is written after one more execution. One execution may have been counted, and not yet written. Whether a process that
 * is killed before it begins has a trace is not asked here. */
/* run: for i in 1 2 3 4 5; do ./program >told.$i & until [ -s told.$i ]; do sleep 0.01; done */
/* run: sleep 0.0$((RANDOM % 60 + 15)); kill -9 $!; wait $! 2>>/dev/null; done */
/* notes: where (it|these) stood is not known, so counts are bounds|where they stood is not known, so counts are bounds */
/* expect: work $(cat told.* | wc -l) $(($(cat told.* | wc -l) + 5)) */
/* status: 137 */
/* paths main work: differ because it is killed at any time */
#include "situation.h"
#include <unistd.h>

int
main(void)
{
	do
		work();
	while (write(1, "\n", 1) == 1);
	return 1;
}
