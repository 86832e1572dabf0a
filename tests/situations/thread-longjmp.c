/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: thread 8 */
/* expect: jump 800 */
/* expect: work 808 */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>

FUNC static void
jump(jmp_buf *env, int n)
{
	longjmp(*env, n);
}

FUNC static void *
thread(void *arg)
{
	jmp_buf env;
	int n = setjmp(env);
	work();
	if (n < 100)
		jump(&env, n + 1);
	return arg;
}

int
main(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return 0;
}
