/* SPDX-License-Identifier: MIT */
/* -fnon-call-exceptions: a signal handler throws out of a faulting load. */
/* options: -fnon-call-exceptions */
/* without: trace because the paths of activations that ended between calls are not known */
/* only: gcc because clang has no such exceptions */
/* expect: main 1 */
/* expect: handler 10 */
/* expect: load 20 */
/* expect: work 30 */
/* line: caught 10 */
#include "situation.h"
#include <csignal>
#include <cstddef>

extern "C" {

FUNC static void
handler(int)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	throw 1;
}

FUNC static int
load(volatile int *p)
{
	work();
	return *p;
}

int
main()
{
	int fine = 0;
	signal(SIGSEGV, handler);
	for (int i = 0; i < 20; i++) {
		try {
			load(i % 2 ? &fine : NULL);
			work();
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
}
