/* SPDX-License-Identifier: MIT */
/* may WHAT...: status 0 if the machine (mostly a container) permits all of these: `trace`: look into other
 * processes and step them; `fixed`: have addresses that are not randomised; `watch`: have the processor watch
 * memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int something = 1;

/* A child looks on while this process takes hold of it. */
static bool
trace(void)
{
	int seen = 0;
	struct iovec to = {&seen, sizeof seen}, from = {&something, sizeof something};
	pid_t child = fork();
	bool may;

	if (!child)
		for (;;)
			pause();
	may = child > 0 && !ptrace(PTRACE_SEIZE, child, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, child, NULL, NULL) &&
		waitpid(child, NULL, __WALL) == child && process_vm_readv(child, &to, 1, &from, 1, 0) == sizeof seen && seen == 1;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, __WALL);
	}
	return may;
}

static bool
fixed(void)
{
	return personality(ADDR_NO_RANDOMIZE) != -1;
}

#ifdef __x86_64__
/* A child writes what its debug registers watch. Some virtual machines take them, and never stop it. */
static bool
watch(void)
{
	static volatile int watched;
	const unsigned long local = 1, writes = 1, four_bytes = 3;
	pid_t child = fork();
	int status = 0;
	bool stopped;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		watched = 1;
		_exit(0);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), &watched);
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), local | writes << 16 | four_bytes << 18);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	waitpid(child, &status, 0);
	stopped = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return stopped;
}
#else
static bool
watch(void)
{
	return false;
}
#endif

static const struct {
	const char *name, *what;
	bool (*is)(void);
} all[] = {
	{"trace", "tracing processes", trace}, {"fixed", "fixing addresses", fixed},
	{"watch", "watching memory by the processor", watch},
};

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		while (k < sizeof all / sizeof *all && strcmp(argv[i], all[k].name) != 0)
			k++;
		if (k == sizeof all / sizeof *all) {
			fprintf(stderr, "may: what is %s?\n", argv[i]);
			return 2;
		}
		if (!all[k].is()) {
			printf("%s is not possible here\n", all[k].what);
			return 1;
		}
	}
	return 0;
}
