/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* Four threads count in memory that a file keeps, after each execution. */
/* run: ./program told & until [ -e go ]; do sleep 0.01; done; sleep 0.0$((RANDOM % 60 + 15)); kill -9 $!; wait $! 2>>/dev/null */
/* notes: where (it|these) stood is not known, so counts are bounds|where they stood is not known, so counts are bounds */
/* expect: work $(od -An -v -tu8 -w8 told | paste -sd+ | bc) $(($(od -An -v -tu8 -w8 told | paste -sd+ | bc) + 4)) */
/* need: bc */
/* status: 137 */
/* paths thread work: differ because it is killed at any time */
#include "situation.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

FUNC static void *
thread(void *arg)
{
	for (volatile long *told = arg;; ++*told)
		work();
	return arg;
}

int
main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0666);
	long *told = ftruncate(fd, 32) == 0 ? mmap(NULL, 32, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
	pthread_t t;
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, thread, told + i);
	close(open("go", O_CREAT, 0666));
	pthread_join(t, NULL);
	return 0;
}
