/* SPDX-License-Identifier: MIT */
/* may WHAT...: status 0 if the machine (a container, mostly) permits all of them: `trace`: to look into other
 * processes and step them; `fixed`: to have addresses that are not randomised. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
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

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		bool is_trace = !strcmp(argv[i], "trace");

		if (!is_trace && strcmp(argv[i], "fixed")) {
			fprintf(stderr, "may: what is %s?\n", argv[i]);
			return 2;
		}
		if (is_trace ? !trace() : !fixed()) {
			printf("%s is not permitted here\n", is_trace ? "tracing processes" : "fixing addresses");
			return 1;
		}
	}
	return 0;
}
