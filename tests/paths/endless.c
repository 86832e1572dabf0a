/* SPDX-License-Identifier: MIT */
/* A loop without end right after the prologue, so no code can stand where the procedure begins. gcc -O0 makes such texts. */
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local jmp_buf env;
static _Thread_local int n;

static void __attribute__((noinline))
work(void)
{
	if (++n % 5 == 0)
		longjmp(env, 1);
	if (n > 17)
		exit(0);
}

static void __attribute__((noinline))
spin(void)
{
	for (;;)
		work();
}

static void *
leave(void *arg)
{
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(env))
			spin();
	return arg;
}

int
main(void)
{
	pthread_t t;

	leave(NULL);
	if (pthread_create(&t, NULL, leave, NULL) || pthread_join(t, NULL))
		return 1;
	printf("%d\n", n);
	spin();
}
