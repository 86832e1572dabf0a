/* SPDX-License-Identifier: MIT */
/* An exception is caught in one thread and thrown again in another. */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 8 */
/* expect: thrower 8 */
/* line: first 8 */
/* line: second 8 */
#include "situation.h"
#include <exception>
#include <pthread.h>

extern "C" {

FUNC static void
thrower()
{
	throw 1;
}

FUNC static void *
thread(void *arg)
{
	try {
		thrower();
	} catch (...) {
		STEP; /* @first */
		*(std::exception_ptr *)arg = std::current_exception();
	}
	return nullptr;
}

int
main()
{
	for (int i = 0; i < 8; i++) {
		std::exception_ptr e;
		pthread_t t;
		pthread_create(&t, nullptr, thread, &e);
		pthread_join(t, nullptr);
		try {
			std::rethrow_exception(e);
		} catch (int) {
			STEP; /* @second */
		}
	}
	return 0;
}
}
