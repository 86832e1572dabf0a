/* SPDX-License-Identifier: MIT */
/* The profile is in the folder where the program began. */
/* expect: main 1 */
/* expect: work 1000 */
/* profiles: 1 */
#include "situation.h"
#include <stdlib.h>
#include <unistd.h>

int
main(void)
{
	if (chdir("/") < 0)
		abort();
	work_times(1000);
	return 0;
}
