/* SPDX-License-Identifier: MIT */
/* files MODE [ARGUMENT]: calls work() a known number of times, in one process or in several, in surroundings that it makes
 * itself. Each child calls it 3 times, the first process once; the other modes say how often they call it. */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void
work(void)
{
	sink++;
}

static void
child(void)
{
	if (!fork()) {
		work();
		work();
		work();
		_exit(0);
	}
}

static void
leave_root(void)
{
	if (geteuid() == 0 && (setgroups(0, 0) || setgid(65534) || setuid(65534)))
		exit(3);
}

/* As many descriptors as there may be. */
static void
use_up(void)
{
	struct rlimit r = {64, 64};

	setrlimit(RLIMIT_NOFILE, &r);
	while (dup(1) >= 0)
		;
}

/* 4 calls, the file ARGUMENT.ready, and once ARGUMENT is there 4 more. */
static void
wait_for(const char *name)
{
	char ready[4096];

	for (int i = 0; i < 4; i++)
		work();
	snprintf(ready, sizeof ready, "%s.ready", name);
	close(open(ready, O_WRONLY | O_CREAT, 0666));
	for (int i = 0; i < 3000 && access(name, F_OK); i++)
		usleep(10000);
	for (int i = 0; i < 4; i++)
		work();
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "run";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	work();
	if (!strcmp(mode, "fork"))
		for (int i = 0; i < n; i++, wait(NULL))
			child();
	else if (!strcmp(mode, "parallel"))
		for (int i = 0; i < n; i++)
			child();
	else if (!strcmp(mode, "user"))
		leave_root(), child();
	else if (!strcmp(mode, "chroot") && (chroot(argv[2]) || chdir("/")))
		return 77;
	else if (!strcmp(mode, "descriptors"))
		use_up(), child();
	else if (!strcmp(mode, "wait"))
		wait_for(argv[2]);
	else if (!strcmp(mode, "exec"))
		execl("/proc/self/exe", argv[0], "run", (char *)NULL);
	if (!strcmp(mode, "chroot"))
		child();
	while (wait(NULL) > 0)
		;
	return 0;
}
