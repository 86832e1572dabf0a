/* SPDX-License-Identifier: MIT */
#include "tool/as.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding things ---- */

static const char *
self_path(struct pool *pool)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	return n < 0 ? NULL : pool_strndup(pool, path, (size_t)n);
}

static bool
is_self(const char *path, const struct stat *self)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == self->st_dev && st.st_ino == self->st_ino;
}

const char *
as_find(struct pool *pool)
{
	const char *given = getenv("CHORD_AS"), *path = getenv("PATH"), *exe = self_path(pool);
	struct stat self = {0};

	if (given && *given)
		return given;
	if (exe && stat(exe, &self))
		self = (struct stat){0};
	for (const char *p = path ? path : "/usr/bin:/bin", *end; *p; p = *end ? end + 1 : end) {
		const char *name;

		end = p + strcspn(p, ":");
		name = pool_printf(pool, "%.*s/as", (int)(end - p), p);
		if (end > p && !access(name, X_OK) && !is_self(name, &self))
			return name;
	}
	return NULL;
}

const char *
libexec_dir(struct pool *pool)
{
	static const char *const places[] = {"%s", "%s/libexec/chord", "%s/../libexec/chord"};
	const char *exe = self_path(pool);

	if (!exe)
		return NULL;
	*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *dir = i == 0 ? exe : pool_printf(pool, i == 1 ? "%s/libexec/chord" : "%s/../libexec/chord", exe);

		if (!access(pool_printf(pool, "%s/runtime.s", dir), R_OK))
			return realpath(dir, NULL) ? pool_strdup(pool, dir) : dir;
	}
	return NULL;
}

/* ---- running ---- */

/* Reads all of a pipe; the writer's end has been closed here. */
static void
drain(int fd, struct buf *b)
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

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
as_run(const char *as, char *const *args, size_t nargs, struct buf *messages)
{
	posix_spawn_file_actions_t actions;
	char **argv = xcalloc(nargs + 2, sizeof *argv);
	int pipe_fd[2] = {-1, -1}, err, status;
	pid_t pid;

	argv[0] = xstrdup(as);
	for (size_t i = 0; i < nargs; i++)
		argv[i + 1] = args[i];
	posix_spawn_file_actions_init(&actions);
	if (messages) {
		if (pipe2(pipe_fd, O_CLOEXEC))
			die("pipe", "%s", strerror(errno));
		posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], 1);
		posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], 2);
	}
	err = posix_spawn(&pid, as, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(argv[0]);
	free(argv);
	if (messages) {
		close(pipe_fd[1]);
		if (!err)
			drain(pipe_fd[0], messages);
		close(pipe_fd[0]);
	}
	if (err) {
		errno = err;
		return -1;
	}
	status = wait_for(pid);
	return status;
}

const char *
temp_file(struct pool *pool, const char *suffix, const void *data, size_t n)
{
	const char *dir = getenv("TMPDIR");
	char *path = pool_printf(pool, "%s/chordXXXXXX%s", dir && *dir ? dir : "/tmp", suffix);
	int fd = mkostemps(path, (int)strlen(suffix), O_CLOEXEC);

	if (fd < 0)
		return NULL;
	close(fd);
	if (n && !file_write(path, data, n))
		return NULL;
	return path;
}
