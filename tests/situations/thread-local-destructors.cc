/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: work 32 */
/* line: made 11 */
#include "situation.h"
#include <pthread.h>

extern "C" {

struct local {
	int n;
	local() : n(2)
	{
		STEP; /* @made */
		work();
	}
	~local() { work_times(n); }
};

static thread_local local here;

FUNC static void *
thread(void *arg)
{
	here.n += arg != nullptr;
	return nullptr;
}

int
main()
{
	pthread_t t;
	here.n = 1;
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, nullptr, thread, nullptr);
		pthread_join(t, nullptr);
	}
	return 0;
}
}
