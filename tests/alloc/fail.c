/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: the request for memory with the number FAIL_AT fails, counted from 1. At the end the number of requests is
 * written to the descriptor FAIL_FD, if that is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long requests, fail_at;

static int
fails(void)
{
	if (++requests != fail_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

static __attribute__((constructor)) void
start(void)
{
	const char *at = getenv("FAIL_AT");

	unsetenv("LD_PRELOAD"); /* not for the assembler */
	requests = 0;
	fail_at = at ? strtoul(at, NULL, 10) : 0;
}

static __attribute__((destructor)) void
end(void)
{
	if (getenv("FAIL_FD"))
		dprintf(atoi(getenv("FAIL_FD")), "%lu\n", requests);
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *
malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
