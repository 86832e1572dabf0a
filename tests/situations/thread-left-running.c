/* SPDX-License-Identifier: MIT */
/* The process ends while a thread still counts. All that the thread has told of is in the profile. */
/* options: -pthread */
/* run: ./program told */
/* notes: where (it|these) stood is not known, so counts are bounds|where they stood is not known, so counts are bounds */
/* expect: main 1 */
/* expect: work $(od -An -tu8 told) $(($(od -An -tu8 told) + 1)) */
/* paths thread work: differ because the process ends at any time */
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
	long *told = ftruncate(fd, 8) == 0 ? mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
	pthread_t t;
	pthread_create(&t, NULL, thread, told);
	usleep(50000);
	return 0;
}
