/* SPDX-License-Identifier: MIT */
/* chord trace --run: runs the program, and a process that receives the traces of the program's processes and starts a collector for
 * each. */
#include "collect/collect.h"
#include "driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct taker {
	int socket, end, say;    /* traces come through `socket`; `end` closes when the program has ended; `say` gets how many there
	                          * were */
	uint64_t taken;
	VEC(struct packer { pid_t pid; int process; }) packer;
};

/* ---- what comes through the socket ---- */

/* In place of a process's descriptor: the process has ended, and its zombie is gone, too. */
enum { GONE = -2 };

static int
open_process(pid_t pid)
{
	int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	return process < 0 && pid > 0 && errno == ESRCH ? GONE : process;
}

/* Takes a message. *file: the descriptor of the trace that came with it, and *process: the process that sent it. *file is -1 if the
 * message is not one that this version knows. False: there is no message. */
static bool
receive(int socket, int *file, int *process)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))]; } control;
	struct ucred who = {0};
	char version = 0;
	struct iovec text = {.iov_base = &version, .iov_len = 1};
	struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

	*file = -1;
	if (recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(file, CMSG_DATA(c), sizeof *file);
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(c), sizeof who);
	}
	*process = open_process(who.pid);
	if (*file >= 0 && version == CHORD_TRACE_VERSION)
		return true;
	if (*file >= 0)
		close(*file);
	if (*process >= 0)
		close(*process);
	*file = -1;
	return true;
}

/* No collector can be started: says so to the process, which otherwise would wait for one that does nothing. The file is not mapped
 * here, because somebody may truncate it. */
static void
refuse(int file)
{
	const uint32_t gone = CHORD_TRACE_OWNER_DIED;

	if (pwrite(file, &gone, sizeof gone, CHORD_TRACE_TALK + offsetof(struct chord_trace_talk, collector)) < 0)
		return; /* it waits */
}

/* Each trace has a process of its own, because that process dies if somebody truncates the file. */
static void
take(struct taker *t, int file, int process)
{
	pid_t pid = process >= 0 || process == GONE ? fork() : -1;

	if (!pid) {
		close(t->socket);
		close(t->end);
		close(t->say);
		collect_one(file, process);
		_exit(0);
	}
	if (pid < 0)
		refuse(file);
	close(file);
	t->taken++;
	if (pid > 0)
		VEC_PUSH(t->packer, (struct packer){pid, process});
	else if (process >= 0)
		close(process);
}

static void
take_all(struct taker *t)
{
	int process, file;

	while (receive(t->socket, &file, &process))
		if (file >= 0)
			take(t, file, process);
}

/* Forgets collectors that have ended. At the end it also waits for those whose traced processes have ended. */
static void
reap(struct taker *t, bool last)
{
	size_t n = 0;

	for (size_t i = 0; i < t->packer.n; i++) {
		struct packer *p = &t->packer.at[i];
		struct pollfd ended = {.fd = p->process, .events = POLLIN};
		int how = last && (p->process == GONE || poll(&ended, 1, 0) == 1) ? 0 : WNOHANG, status;

		if (waitpid(p->pid, &status, how) != p->pid)
			t->packer.at[n++] = *p;
		else if (p->process >= 0)
			close(p->process);
	}
	t->packer.n = n;
}

/* ---- the process that takes them ---- */

/* This process leaves the terminal, and keeps none of the program's streams open. */
static void
stand_aside(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	raise_descriptors(); /* each process that is traced needs one */
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (chdir("/"))
		return; /* the old folder then remains in use */
}

static _Noreturn void
take_until_end(struct taker *t)
{
	struct pollfd p[] = {{.fd = t->socket, .events = POLLIN}, {.fd = t->end, .events = POLLIN}};

	stand_aside();
	while (!p[1].revents) {
		poll(p, 2, t->packer.n ? 1000 : -1);
		take_all(t);
		reap(t, false);
	}
	take_all(t);
	reap(t, true);
	if (write(t->say, &t->taken, sizeof t->taken) < 0)
		_exit(1);
	_exit(0);
}

/* ---- the program ---- */

static bool
failed(const char *what)
{
	say_error(what, "%s", strerror(errno));
	return false;
}

/* Makes a socket in the folder, and tells programs where it is. */
static bool
listen_at(const char *folder, int *s, struct sockaddr_un *at)
{
	const int on = 1;
	const char *filtered = prctl(PR_GET_SECCOMP) > 0 ? CHORD_TRACE_FILTERED : "";
	char wish[sizeof CHORD_TRACE_COLLECT CHORD_TRACE_FILTERED + sizeof at->sun_path];

	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(at->sun_path, sizeof at->sun_path, "%s/traces", folder);
	snprintf(wish, sizeof wish, CHORD_TRACE_COLLECT "%s%s", filtered, at->sun_path);
	*s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*s < 0 || bind(*s, (struct sockaddr *)at, sizeof *at) || setsockopt(*s, SOL_SOCKET, SO_PASSCRED, &on, sizeof on))
		return failed(at->sun_path);
	return !setenv(CHORD_TRACE_VARIABLE, wish, 1) || failed(CHORD_TRACE_VARIABLE);
}

static bool
run_beside(struct taker *t, const int *end, const int *said, char *const *argv, int *status)
{
	pid_t pid = fork();
	int saved;

	if (pid < 0)
		return failed("chord trace --run");
	if (!pid) {
		close(end[1]);
		close(said[0]);
		t->say = said[1];
		take_until_end(t);
	}
	close(t->socket);
	close(t->end);
	close(said[1]);
	*status = child_run(argv);
	saved = errno;
	close(end[1]);
	if (read(said[0], &t->taken, sizeof t->taken) != sizeof t->taken)
		t->taken = UINT64_MAX; /* it was killed */
	waitpid(pid, NULL, 0);
	errno = saved;
	return *status != -1 || failed(argv[0]);
}

bool
collect_run(char *const *argv, int *status, uint64_t *traces)
{
	const char *tmp = getenv("TMPDIR");
	char folder[sizeof ((struct sockaddr_un *)0)->sun_path - sizeof CHORD_TRACE_FILTERED "/traces"];
	struct sockaddr_un at = {0};
	struct taker t = {.socket = -1};
	int end[2], said[2];
	bool ok;

	if (!tmp || !*tmp || snprintf(folder, sizeof folder, "%s/chord-trace-XXXXXX", tmp) >= (int)sizeof folder)
		snprintf(folder, sizeof folder, "/tmp/chord-trace-XXXXXX");
	if (!mkdtemp(folder))
		return failed(folder);
	ok = listen_at(folder, &t.socket, &at) &&
	     ((!pipe2(end, O_CLOEXEC) && !pipe2(said, O_CLOEXEC)) || failed("chord trace --run"));
	if (ok) {
		t.end = end[0];
		ok = run_beside(&t, end, said, argv, status);
	}
	unlink(at.sun_path);
	rmdir(folder);
	*traces = t.taken;
	return ok;
}
