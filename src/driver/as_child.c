/* SPDX-License-Identifier: MIT */
/* Processes. No child outlives the function with which the caller waits for it. */
#include "driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { FEEDER_STACK = 1 << 16 }; /* also where memory is limited */

static int
give_files(posix_spawn_file_actions_t *actions, const struct child_fds *fds)
{
	int err = 0;

	if (fds->in >= 0)
		err = posix_spawn_file_actions_adddup2(actions, fds->in, 0);
	if (!err && fds->out >= 0)
		err = posix_spawn_file_actions_adddup2(actions, fds->out, 1);
	if (!err && fds->err >= 0)
		err = posix_spawn_file_actions_adddup2(actions, fds->err, 2);
	if (!err && fds->keep >= 0)
		err = posix_spawn_file_actions_adddup2(actions, fds->keep, fds->keep);
	return err;
}

static int
spawn(pid_t *pid, char *const *argv, const struct child_fds *fds, const sigset_t *mask)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	err = fds ? give_files(&actions, fds) : 0;
	if (mask) {
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
		posix_spawnattr_setsigmask(&attr, mask);
	}
	if (!err)
		err = posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return err;
}

bool
child_start(pid_t *pid, char *const *argv, const struct child_fds *fds)
{
	errno = spawn(pid, argv, fds, NULL);
	return !errno;
}

int
child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

void
child_drain(int fd, struct buf *b)
{
	for (;;) {
		ssize_t n;

		buf_reserve(b, 4096);
		n = read(fd, b->at + b->n, b->cap - b->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		b->n += (size_t)n;
	}
}

/* Without memory it hears the child to its end all the same, and then ends the program: the child may be writing a file. */
static void
hear(int fd, pid_t pid, struct buf *says)
{
	char part[4096];
	bool lost = false;
	ssize_t n;

	while ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
		lost |= n > 0 && !buf_try_add(says, part, (size_t)n);
	if (!lost)
		return;
	child_wait(pid);
	die("memory", "out of memory");
}

int
child_hear(char *const *argv, struct child_fds *fds, int *end, struct buf *says)
{
	int ends[2] = {-1, -1};
	pid_t pid;
	bool started;

	if (says && pipe2(ends, O_CLOEXEC))
		die("pipe", "%s", strerror(errno));
	*end = ends[1];
	started = child_start(&pid, argv, fds);
	if (says) {
		int saved = errno;

		close(ends[1]);
		if (started)
			hear(ends[0], pid, says);
		close(ends[0]);
		errno = saved;
	}
	return started ? child_wait(pid) : -1;
}

/* If the reader ends early, so does the thread, by the error. */
static void *
feed(void *arg)
{
	struct feeder *f = arg;

	write_all(f->to, f->text->at, f->text->n);
	close(f->to);
	return NULL;
}

/* A thread, not a process: to copy this process takes longer than what the assembler reads. */
bool
child_feed(struct feeder *f, const struct buf *text, int *end)
{
	pthread_attr_t attr;
	sigset_t pipes, old;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	*f = (struct feeder){.text = text, .to = ends[1]};
	*end = ends[0];
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, FEEDER_STACK);
	errno = pthread_create(&f->thread, &attr, feed, f);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !errno;
}

void
child_fed(struct feeder *f, int end)
{
	close(end);
	pthread_join(f->thread, NULL);
}

/* Forwards signals to the child until the child has ended. Signals of a terminal are not forwarded, because the child gets them,
 * too. */
static int
wait_and_forward(pid_t pid, const sigset_t *set)
{
	for (;;) {
		int status, signal;
		siginfo_t info;
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			return status;
		if (ended < 0 && errno != EINTR)
			return -1;
		signal = sigwaitinfo(set, &info);
		if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, signal);
	}
}

int
child_run(char *const *argv)
{
	struct sigaction chld = {.sa_handler = SIG_DFL};
	sigset_t set, old;
	pid_t pid;
	int status = -1, err;

	/* If a parent has left SIGCHLD ignored, there would be no status to wait for. */
	sigaction(SIGCHLD, &chld, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &old);
	err = spawn(&pid, argv, NULL, &old);
	if (!err)
		status = wait_and_forward(pid, &set);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		errno = err;
	return status;
}

int
child_status(int wait_status)
{
	sigset_t one;

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(wait_status));
	signal(WTERMSIG(wait_status), SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(WTERMSIG(wait_status));
	return 128 + WTERMSIG(wait_status);
}
