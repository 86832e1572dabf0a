/* SPDX-License-Identifier: MIT */
/* stderr MODE: makes descriptor 2 what MODE says, takes away what a child needs to have a profile, makes a child that exits
 * with 7, and prints on standard output how the child ended. The runtime has a message to write then. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The child of a child's parent cannot write a profile: another user's folder; for a user, a file limit of 0. */
static void
no_more_profiles(void)
{
	struct rlimit none = {0, 0};

	if (geteuid() == 0) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			exit(3);
	} else {
		setrlimit(RLIMIT_FSIZE, &none);
	}
}

static void
child(void)
{
	int status = 0;
	pid_t p = fork();
	sigset_t pending;

	if (!p) {
		sigpending(&pending);
		_exit(sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ) ? 9 : 7);
	}
	for (int i = 0; i < 500 && waitpid(p, &status, WNOHANG) == 0; i++)
		usleep(10000);
	if (waitpid(p, &status, WNOHANG) == 0) {
		kill(p, SIGKILL);
		printf("child hangs\n");
	} else if (WIFSIGNALED(status)) {
		printf("child killed by %d\n", WTERMSIG(status));
	} else {
		printf("child exit %d\n", WEXITSTATUS(status));
	}
}

static void
fill(int fd)
{
	char b[4096] = {0};

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, b, sizeof b) > 0)
		;
	while (write(fd, b, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

/* Descriptors of this kind are what they were at the start if the program runs itself again. */
static void
again(char **argv)
{
	setenv("STDERR_AGAIN", "1", 1);
	execl("/proc/self/exe", argv[0], argv[1], (char *)NULL);
	exit(4);
}

static void
make(const char *mode)
{
	int p[2] = {-1, -1};

	if (!strcmp(mode, "replaced")) {
		close(2);
		open("data.out", O_RDWR | O_CREAT | O_TRUNC, 0666);
	} else if (!strncmp(mode, "pipe", 4)) {
		if (pipe(p))
			exit(5);
		if (!strcmp(mode, "pipe-full"))
			fill(p[1]);
		if (!strcmp(mode, "pipe-unread"))
			close(p[0]);
		dup2(p[1], 2);
		close(p[1]);
	} else if (!strncmp(mode, "socket", 6)) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, p))
			exit(5);
		if (!strcmp(mode, "socket-full"))
			fill(p[1]);
		if (!strcmp(mode, "socket-unread"))
			close(p[0]);
		dup2(p[1], 2);
		close(p[1]);
	} else if (!strcmp(mode, "terminal-stopped")) {
		p[0] = posix_openpt(O_RDWR | O_NOCTTY);
		if (p[0] < 0 || grantpt(p[0]) || unlockpt(p[0]) || (p[1] = open(ptsname(p[0]), O_RDWR | O_NOCTTY)) < 0)
			exit(77);
		tcflow(p[1], TCOOFF);
		fchmod(p[1], 0666);
		dup2(p[1], 2);
		close(p[1]);
	}
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	struct rlimit none = {0, 0};

	if (!getenv("STDERR_AGAIN")) {
		make(mode);
		if (strcmp(mode, "replaced"))
			again(argv);
	}
	if (!strcmp(mode, "limit"))
		setrlimit(RLIMIT_FSIZE, &none);
	else
		no_more_profiles();
	child();
	return 0;
}
