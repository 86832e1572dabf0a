/* SPDX-License-Identifier: MIT */
/* chamber: files and processes. */
#include "tests/torture/chamber.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- words and files ---- */

words
split(char *text, const char *at)
{
	words w = {0};

	for (char *word = strtok(text, at); word; word = strtok(NULL, at))
		VEC_PUSH(w, word);
	return w;
}

void
add_words(words *to, const words *from)
{
	for (size_t i = 0; i < from->n; i++)
		VEC_PUSH(*to, from->at[i]);
}

void
add_text(words *to, const char *text)
{
	words w = split(pool_strdup(pool, text), " ");

	add_words(to, &w);
	free(w.at);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void
remove_all(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		die(path, "%s", strerror(errno));
}

void
make_folder(const char *path)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		die(path, "%s", strerror(errno));
}

char *
text_of(const char *path, size_t *n)
{
	struct buf b = {0};

	if (!file_read(path, &b) && errno != ENOENT)
		die(path, "%s", strerror(errno));
	if (n)
		*n = b.n;
	buf_char(&b, '\0');
	return b.at;
}

bool
is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) || !st.st_size;
}

bool
same_file(const char *one, const char *other)
{
	size_t n, m;
	char *a = text_of(one, &n), *b = text_of(other, &m);
	bool same = n == m && !memcmp(a, b, n);

	free(a);
	free(b);
	return same;
}

/* ---- children ---- */

static _Noreturn void
become(char *const *argv, const char *in, const char *out, const char *err, bool fixed)
{
	int fd = open("/dev/null", O_RDONLY), to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int also = strcmp(err, out) ? open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666) : to;
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	if (fd < 0 || to < 0 || also < 0 || dup2(fd, 0) < 0 || dup2(to, 1) < 0 || dup2(also, 2) < 0 || (in && chdir(in)) ||
		(fixed && personality(ADDR_NO_RANDOMIZE) < 0))
		_exit(126);
	closefrom(3);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	_exit(127);
}

/* Waits for a child and kills what it leaves. Its status as a shell has it. */
static int
wait_for(pid_t child, unsigned seconds)
{
	struct timespec now, end;
	sigset_t set;
	int status;
	bool late = false;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (waitpid(child, &status, WNOHANG) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!late && now.tv_sec >= end.tv_sec) {
			late = true;
			kill(-child, SIGKILL);
			kill(child, SIGKILL);
		}
		sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 1});
	}
	kill(-child, SIGKILL);
	if (late)
		return TIMED_OUT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int
run(const words *command, const char *in, const char *out, const char *err, unsigned seconds, bool fixed)
{
	words w = {0};
	pid_t child;
	int status;

	add_words(&w, command);
	VEC_PUSH(w, NULL);
	child = fork();
	if (child < 0)
		die("fork", "%s", strerror(errno));
	if (!child)
		become(w.at, in, out, err, fixed);
	status = wait_for(child, seconds);
	free(w.at);
	return status;
}
