/* SPDX-License-Identifier: MIT */
/* std::thread makes its threads inside libstdc++, which was not built with Chord. */
/* options: -pthread */
/* expect: main 1 */
/* expect: body 16 */
/* expect: work 160000 */
#include "situation.h"
#include <thread>

extern "C" {

FUNC static void
body()
{
	work_times(10000);
}

int
main()
{
	for (int i = 0; i < 4; i++) {
		std::thread a(body), b(body), c(body), d(body);
		a.join();
		b.join();
		c.join();
		d.join();
	}
	return 0;
}
}
