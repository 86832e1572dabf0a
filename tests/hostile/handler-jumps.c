/* SPDX-License-Identifier: MIT */
/* A handler of a fault ends with a jump to a function: one that ends the process, one that returns, or one of the C library. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char *page;

__attribute__((noinline)) void
ends(int sig)
{
	signal(sig, SIG_DFL);
	_exit(7);
}

__attribute__((noinline)) int
returns(int sig)
{
	int status = mprotect(page, 4096, PROT_READ | PROT_WRITE);

	return status ? -1 : sig;
}

static void
to_end(int sig)
{
	ends(sig);
}

static void
to_return(int sig)
{
	returns(sig);
}

static void
to_library(int sig)
{
	(void)sig;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int
main(int argc, char **argv)
{
	void (*const handler[])(int) = {to_end, to_return, to_library};

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler[argc > 1 ? atoi(argv[1]) : 0]);
	*(volatile char *)page = 1;
	return 0;
}
