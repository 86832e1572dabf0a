/* SPDX-License-Identifier: MIT */
/* First there is no room for a profile, then there is room for one that cannot grow: the program goes on. */
/* options: -pthread */
/* need: unshare -m mount -t tmpfs -o size=16k none /mnt */
/* run: unshare -m sh -c 'mount -t tmpfs -o size=16k none /mnt; p=$PWD/program; cd /mnt; $p; yes >full 2>&-; $p' */
/* says: chord: .* */
/* profiles: 0 */
#include "situation.h"
#include <pthread.h>
#include <stdio.h>

FUNC static void *
thread(void *arg)
{
	work_times(1000);
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
	puts("done");
	return 0;
}
