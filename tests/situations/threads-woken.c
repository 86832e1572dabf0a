/* SPDX-License-Identifier: MIT */
/* A thread waits when the program ends. After the program's destructors, a library's destructor wakes it, and it goes on. So at
 * the end it is not in the activations in which it waited. */
/* options: -pthread -fomit-frame-pointer */
/* build: $PLAIN -DLIB -fPIC -shared $SRC -o libwake.so */
/* build: $CC $SRC -L. -lwake -Wl,-rpath,'$ORIGIN' -o program */
/* bounds: allowed because the thread goes on after the program has ended */
/* expect: main 1 */
/* expect: thread 1 */
/* expect: work 30 */
/* expect: behind 10 */
/* line: LAST 1 */
#include "situation.h"
#include <pthread.h>
#include <unistd.h>

#ifdef LIB
int wake[2], woken[2];

static __attribute__((constructor)) void
begin(void)
{
	if (pipe(wake) != 0 || pipe(woken) != 0)
		_exit(3);
}

/* Runs behind the destructors of the program, which needs this library. */
static __attribute__((destructor)) void
end(void)
{
	char c = 0;

	for (int i = 0; i < 10; i++)
		if (write(wake[1], &c, 1) != 1 || read(woken[0], &c, 1) != 1)
			_exit(4);
}
#else
extern int wake[2], woken[2];

FUNC static void
behind(void)
{
	STEP;
}

FUNC static void *
thread(void *arg)
{
	char c;

	work_times(20);
	for (int i = 0; i < 10 && read(wake[0], &c, 1) == 1; i++) {
		work();
		behind();
		if (i < 9 && write(woken[1], &c, 1) != 1)
			return arg;
	}
	STEP; /* @LAST */
	if (write(woken[1], &c, 1) == 1)
		pause();
	return arg;
}

int
main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	usleep(100000);
	return 0;
}
#endif
