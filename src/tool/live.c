/* SPDX-License-Identifier: MIT */
/* The profile of a process that runs: the file that it has mapped, wherever its name
 * leads by now. The process is stopped while it is read, if that is permitted. */
#include "tool/report.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A mapping of the first page of a file that is shared and written to. */
struct mapping {
	char range[64];
	uintmax_t ino;
	const char *path;        /* as the process sees it */
};

struct thread {
	pid_t tid;
	int signal;              /* it was about to get that one; 0: none */
};

struct live {
	struct pool *pool;
	const char *pid;
	VEC(struct mapping) mapping;
	VEC(struct thread) stopped;
};

static bool
parse_mapping(struct live *l, char *line)
{
	struct mapping m;
	unsigned long offset;
	char how[8];
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%63s %7s %lx %*s %ju %n", m.range, how, &offset, &m.ino, &at) != 4)
		return false;
	if (strcmp(how, "rw-s") || offset || !m.ino)
		return false;
	m.path = pool_strdup(l->pool, line + at);
	VEC_PUSH(l->mapping, m);
	return true;
}

static bool
read_mappings(struct live *l)
{
	struct buf b = {0};
	char *rest, *line;

	if (!file_read(pool_printf(l->pool, "/proc/%s/maps", l->pid), &b)) {
		buf_free(&b);
		return false;
	}
	buf_char(&b, 0);
	for (line = strtok_r(b.at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		parse_mapping(l, line);
	buf_free(&b);
	return true;
}

/* Is the file that one, and a profile? */
static bool
is_profile(const char *path, const struct mapping *m)
{
	uint64_t magic = 0;
	struct stat st;
	FILE *f;

	if (stat(path, &st) || st.st_ino != m->ino || !S_ISREG(st.st_mode) || !(f = fopen(path, "re")))
		return false;
	if (fread(&magic, sizeof magic, 1, f) != 1)
		magic = 0;
	fclose(f);
	return magic == CHORD_PROFILE_MAGIC;
}

/* The file may be open, under whatever number. */
static const char *
among_descriptors(struct live *l, const struct mapping *m)
{
	DIR *dir = opendir(pool_printf(l->pool, "/proc/%s/fd", l->pid));
	const char *found = NULL, *path;

	for (struct dirent *d; dir && !found && (d = readdir(dir));) {
		path = pool_printf(l->pool, "/proc/%s/fd/%s", l->pid, d->d_name);
		if (is_profile(path, m))
			found = path;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A path by which the file can be opened here; NULL: none. */
static const char *
reach(struct live *l, const struct mapping *m)
{
	const char *path = pool_printf(l->pool, "/proc/%s/map_files/%s", l->pid, m->range);

	if (is_profile(path, m))
		return path;
	path = pool_printf(l->pool, "/proc/%s/root%s", l->pid, m->path);
	return is_profile(path, m) ? path : among_descriptors(l, m);
}

/* ---- stopping ---- */

static bool
is_stopped(const struct live *l, pid_t tid)
{
	for (size_t i = 0; i < l->stopped.n; i++)
		if (l->stopped.at[i].tid == tid)
			return true;
	return false;
}

/* Waits for a thread to stop, but not for ever: one that has called vfork waits for its child first. A signal
 * that stops it on its way is given to it when it goes on. */
static void
wait_for(struct live *l, pid_t tid)
{
	struct thread t = {.tid = tid};
	int status;

	for (int i = 0; i < 500; i++) {
		if (waitpid(tid, &status, __WALL | WNOHANG) == tid) {
			if (WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_STOP)
				t.signal = WSTOPSIG(status);
			break;
		}
		usleep(i < 20 ? 50 : 1000);
	}
	VEC_PUSH(l->stopped, t);
}

/* Stops the threads that are not yet. Gives how many there were, -1 if it is not permitted. */
static int
stop_more(struct live *l)
{
	DIR *dir = opendir(pool_printf(l->pool, "/proc/%s/task", l->pid));
	int n = 0;

	for (struct dirent *d; dir && n >= 0 && (d = readdir(dir));) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid <= 0 || is_stopped(l, tid))
			continue;
		if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
			n = errno == ESRCH ? n : -1;
			continue;
		}
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		wait_for(l, tid);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* A thread that makes others may make one while its fellows are being stopped. */
static bool
stop(struct live *l)
{
	int n;

	do
		n = stop_more(l);
	while (n > 0);
	return n == 0 && l->stopped.n;
}

static void
go_on(struct live *l)
{
	for (size_t i = 0; i < l->stopped.n; i++)
		ptrace(PTRACE_DETACH, l->stopped.at[i].tid, 0, (long)l->stopped.at[i].signal);
	free(l->stopped.at);
}

/* ---- all of it ---- */

static struct profile *
read_profile(struct live *l, bool *stood_still)
{
	const char *path = NULL;
	struct profile *p = NULL;

	for (size_t i = 0; i < l->mapping.n && !path; i++)
		path = reach(l, &l->mapping.at[i]);
	if (!path) {
		say_error(l->pid, "the process has no profile: it is not measured, has only just begun, or its profile cannot be "
		          "opened from here");
		return NULL;
	}
	*stood_still = stop(l);
	p = load_profile(l->pool, path);
	go_on(l);
	return p;
}

struct profile *
live_profile(struct pool *pool, const char *pid, bool *stood_still)
{
	struct live l = {.pool = pool, .pid = pid};
	struct profile *p = NULL;
	struct stat st;

	if (stat(pool_printf(pool, "/proc/%s", pid), &st))
		say_error(pid, "no such process");
	else if (read_mappings(&l))
		p = read_profile(&l, stood_still);
	else if (errno == EACCES || errno == EPERM)
		say_error(pid, "not permitted: only root and its owner can look into a process");
	else
		say_error(pid, "%s", strerror(errno));
	free(l.mapping.at);
	return p;
}
