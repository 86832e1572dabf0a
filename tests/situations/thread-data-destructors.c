/* SPDX-License-Identifier: MIT */
/* A destructor sets its value again, and so is called four times for each thread. */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: destroy 40 */
/* expect: work 40 */
#include "situation.h"
#include <pthread.h>

static pthread_key_t key;

FUNC static void
destroy(void *value)
{
	work();
	pthread_setspecific(key, value);
}

FUNC static void *
thread(void *arg)
{
	pthread_setspecific(key, &key);
	return arg;
}

int
main(void)
{
	pthread_t t[10];
	pthread_key_create(&key, destroy);
	for (int i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 10; i++)
		pthread_join(t[i], NULL);
	return 0;
}
