/* SPDX-License-Identifier: MIT */
/* The place to which marked code records: a ring of 2^24 bytes in the file that RECORD names. Not measured. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 24 };

static char before[1 << 16] __attribute__((aligned(1 << 17)));
uint64_t *record_at = (uint64_t *)before; /* what comes before the constructor is lost */

static __attribute__((constructor(101))) void
record(void)
{
	const char *name = getenv("RECORD");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	char *room = mmap(NULL, 3 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Bit 24 of all its addresses is 0. */
	char *at = room + (2 * SIZE - (uintptr_t)room % (2 * SIZE)) % (2 * SIZE);

	if (fd >= 0 && !ftruncate(fd, SIZE) && room != MAP_FAILED &&
	    mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		record_at = (uint64_t *)at;
	close(fd);
}
