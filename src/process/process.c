/* SPDX-License-Identifier: MIT */
/* Information about a process in /proc: mappings, memory, files, threads. */
#include "process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PF_KTHREAD = 0x200000 };   /* flag of a kernel thread in /proc/PID/stat */

/* ---- mappings ---- */

static bool
is_file(const char *path, struct stat *st)
{
	return !stat(path, st) && S_ISREG(st->st_mode);
}

static bool
is_that(const char *path, const struct mapping *m, bool (*is)(const char *))
{
	struct stat st;

	return is_file(path, &st) && st.st_ino == m->ino && (!is || is(path));
}

/* The kernel writes a line's end in a path as \012, and a backslash as it is: if there is no file of the written name, the path has
 * line ends. */
static const char *
path_meant(struct process *p, const struct mapping *m, const char *written)
{
	char *path = pool_strdup(p->pool, written), *at = path;

	if (!strstr(path, "\\012") || is_that(pool_printf(p->pool, "/proc/%d/root%s", p->alive, path), m, NULL))
		return path;
	while ((at = strstr(at, "\\012"))) {
		*at++ = '\n';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
	return path;
}

static void
read_mapping(struct process *p, char *line)
{
	struct mapping m;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %ju %n", &m.start, &m.end, m.how, &m.offset, &m.ino,
	           &at) != 5)
		return;
	m.path = path_meant(p, &m, line + at);
	VEC_PUSH(p->mapping, m);
}

bool
process_mappings(struct process *p)
{
	struct buf b = {0};
	bool ok = file_read(pool_printf(p->pool, "/proc/%d/maps", p->alive), &b);
	char *rest, *line;

	p->mapping.n = 0;
	buf_char(&b, 0);
	for (line = ok ? strtok_r(b.at, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		read_mapping(p, line);
	buf_free(&b);
	return ok;
}

const struct mapping *
process_mapping(const struct process *p, uint64_t addr)
{
	size_t lo = 0, hi = p->mapping.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->mapping.at[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->mapping.n && p->mapping.at[lo].start <= addr ? &p->mapping.at[lo] : NULL;
}

/* The file may still be open, with any descriptor. */
static const char *
among_descriptors(struct process *p, const struct mapping *m, bool (*is)(const char *))
{
	DIR *dir = opendir(pool_printf(p->pool, "/proc/%d/fd", p->alive));
	const char *found = NULL, *path;

	for (struct dirent *d; dir && !found && (d = readdir(dir));) {
		path = pool_printf(p->pool, "/proc/%d/fd/%s", p->alive, d->d_name);
		if (is_that(path, m, is))
			found = path;
	}
	if (dir)
		closedir(dir);
	return found;
}

const char *
process_file(struct process *p, const struct mapping *m, bool (*is)(const char *))
{
	const char *path = pool_printf(p->pool, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, p->alive, m->start, m->end);
	struct stat st;

	/* For root, this path is the file itself. */
	if (is_file(path, &st) && (!is || is(path)))
		return path;
	path = pool_printf(p->pool, "/proc/%d/root%s", p->alive, m->path);
	return is_that(path, m, is) ? path : among_descriptors(p, m, is);
}

bool
process_read(const struct process *p, uint64_t addr, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)addr, n};

	return process_vm_readv(p->alive, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* ---- states of the process and its threads ---- */

enum { STATE_ROOM = 8192 }; /* for a file that describes a process or thread */

/* What cannot be read for want of descriptors or memory is not gone: Chord ends, which lets threads go on that it has stopped. */
static void
end_if_short(const char *path, int error)
{
	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		die(path, "%s", strerror(error));
}

/* Reads such a file as a text; an empty one: it is gone, or not permitted. */
static void
read_state(const char *path, char text[STATE_ROOM])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = errno;
	ssize_t n = 0;

	if (fd < 0) {
		end_if_short(path, error);
	} else {
		n = read(fd, text, STATE_ROOM - 1);
		if (n < 0)
			end_if_short(path, errno);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
}

/* The last number in the line of a status file that begins with a word; 0: there is none. */
static uint64_t
status_of(const char *path, const char *word, int base)
{
	char text[STATE_ROOM], *end;
	size_t n = strlen(word);
	uint64_t value = 0, v;

	read_state(path, text);
	for (char *line = strtok_r(text, "\n", &end), *rest; line; line = strtok_r(NULL, "\n", &end)) {
		if (strncmp(line, word, n))
			continue;
		for (line += n; v = strtoull(line, &rest, base), rest != line; line = rest)
			value = v;
	}
	return value;
}

pid_t
process_tracer(const struct process *p)
{
	return (pid_t)status_of(pool_printf(p->pool, "/proc/%s/status", p->pid), "TracerPid:", 10);
}

static const char *
task_file(const struct process *p, pid_t tid, const char *name)
{
	return pool_printf(p->pool, "/proc/%s/task/%d/%s", p->pid, tid, name);
}

/* The state, as ps shows it; 0: the process no longer exists. */
static char
state_and_flags(const struct process *p, pid_t tid, unsigned *flags)
{
	char text[STATE_ROOM], *end, state = 0;

	read_state(task_file(p, tid, "stat"), text);
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, flags) == 2 ? state : 0;
}

static char
state_of(const struct process *p, pid_t tid)
{
	unsigned flags;

	return state_and_flags(p, tid, &flags);
}

/* A process that has ended is still listed until its status is read. */
static bool
is_dead(const struct process *p, pid_t tid)
{
	char state = state_of(p, tid);

	return !state || state == 'Z' || state == 'X';
}

pid_t
process_inner(const struct process *p, pid_t tid)
{
	return (pid_t)status_of(tid ? task_file(p, tid, "status") : pool_printf(p->pool, "/proc/%s/status", p->pid), "NSpid:", 10);
}

static uint64_t
switches_of(const struct process *p, pid_t tid)
{
	const char *path = task_file(p, tid, "status");

	return status_of(path, "voluntary_ctxt_switches:", 10) + status_of(path, "nonvoluntary_ctxt_switches:", 10);
}

/* ---- opening ---- */

/* The list of threads; NULL: the process is gone. */
static DIR *
open_threads(const struct process *p)
{
	const char *path = pool_printf(p->pool, "/proc/%s/task", p->pid);
	DIR *dir = opendir(path);

	if (!dir)
		end_if_short(path, errno);
	return dir;
}

/* A thread that has not ended; 0: there is none. */
static pid_t
one_alive(const struct process *p)
{
	DIR *dir = open_threads(p);
	pid_t tid, alive = 0;

	for (struct dirent *d; dir && !alive && (d = readdir(dir));)
		if ((tid = (pid_t)atoi(d->d_name)) > 0 && !is_dead(p, tid))
			alive = tid;
	if (dir)
		closedir(dir);
	return alive;
}

/* A process that is ending is listed as running, but has no program any more. Kernel threads never have one. */
bool
process_ended(const struct process *p)
{
	struct stat st;
	unsigned flags;

	if (!one_alive(p))
		return true;
	if (!stat(pool_printf(p->pool, "/proc/%s/exe", p->pid), &st) || errno != ENOENT)
		return false;
	return !state_and_flags(p, (pid_t)atoi(p->pid), &flags) || !(flags & PF_KTHREAD);
}

bool
process_open(struct process *p, struct pool *pool, const char *pid)
{
	struct stat st;

	*p = (struct process){.pool = pool, .machine = machine_of_host(), .pid = pid};
	if (!p->machine)
		say_error(pid, "processes of this machine cannot be inspected");
	else if (stat(pool_printf(pool, "/proc/%s", pid), &st))
		say_error(pid, "no such process");
	else if (!(p->alive = one_alive(p)))
		say_error(pid, "it has ended");
	return p->alive;
}

void
process_close(struct process *p)
{
	free(p->mapping.at);
	free(p->thread.at);
	free(p->restless.at);
	free(p->late.at);
}

/* ---- system calls ---- */

/* Is the thread in a system call that an interruption would end? Then its PC and stack pointer are in *t, and it need not be
 * stopped. A thread that a signal has stopped is not: its call was interrupted already. */
static bool
waits(struct process *p, struct thread *t)
{
	char text[STATE_ROOM];
	int n;

	t->switches = switches_of(p, t->tid);
	read_state(task_file(p, t->tid, "syscall"), text);
	n = sscanf(text, "%" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNx64 " %" SCNx64, &t->call, &t->sp, &t->pc);
	return n == 3 && p->machine->thread->call_kind(t->call) != CALL_RESTARTS && state_of(p, t->tid) != 'T';
}

/* The thread had just begun to wait when it was interrupted, so its system call ended. The call is made again, with those signals
 * blocked that the call itself lets through, so that they arrive inside the call. */
static void
call_again(const struct process *p, pid_t tid)
{
	const char *status = task_file(p, tid, "status");
	const struct machine_thread *m = p->machine->thread;
	uint64_t mask, number;

	if (!m->call_ended(tid, &number) || m->call_kind(number) != CALL_AGAIN)
		return;
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) || ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask))
		return;
	/* If a signal has come as well, the call would have been interrupted without us. */
	if ((status_of(status, "SigPnd:", 16) | status_of(status, "ShdPnd:", 16)) & ~status_of(status, "SigBlk:", 16))
		return;
	m->call_again(tid, number);
}

/* ---- stopping ---- */

static void
read_registers(const struct process *p, struct thread *t, bool by_us)
{
	const struct machine_thread *m = p->machine->thread;

	if (!m->read(t->tid, &t->regs)) {
		t->lost = true;
		return;
	}
	t->pc = t->regs.reg[m->pc];
	t->sp = t->regs.reg[m->sp];
	if (by_us)
		call_again(p, t->tid);
}

/* Waits for a thread to stop, but not forever. If a signal stops it first, the signal is delivered when the thread goes on. */
static void
wait_for(struct process *p, struct thread *t)
{
	bool stopped = false;
	int status;

	for (int i = 0; i < 500; i++) {
		if (waitpid(t->tid, &status, __WALL | WNOHANG) == t->tid) {
			stopped = WIFSTOPPED(status);
			if (stopped && status >> 16 != PTRACE_EVENT_STOP)
				t->signal = WSTOPSIG(status);
			break;
		}
		usleep(i < 20 ? 50 : 1000);
	}
	t->lost = !stopped;
	if (stopped)
		read_registers(p, t, status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP);
}

static bool
is_known(const struct process *p, pid_t tid)
{
	for (size_t i = 0; i < p->thread.n; i++)
		if (p->thread.at[i].tid == tid)
			return true;
	return false;
}

static bool
is_restless(const struct process *p, pid_t tid)
{
	for (size_t i = 0; i < p->restless.n; i++)
		if (p->restless.at[i] == tid)
			return true;
	return false;
}

/* Was the thread told to stop before, and not released since? Then it is only waited for again. */
static bool
take_late(struct process *p, pid_t tid)
{
	for (size_t i = 0; i < p->late.n; i++)
		if (p->late.at[i] == tid) {
			p->late.at[i] = p->late.at[--p->late.n];
			return true;
		}
	return false;
}

/* False: not permitted. */
static bool
stop_thread(struct process *p, pid_t tid)
{
	struct thread t = {.tid = tid};
	bool late = take_late(p, tid);

	if (!late && !is_restless(p, tid) && waits(p, &t)) {
		VEC_PUSH(p->thread, t);
		return true;
	}
	if (!late && ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH || is_dead(p, tid);
	t.stopped = true;
	if (!late)
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	wait_for(p, &t);
	VEC_PUSH(p->thread, t);
	return true;
}

/* Releases threads that did not stop in time, and have stopped since. */
static void
release_late(struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->late.n; i++) {
		pid_t tid = p->late.at[i];

		if (waitpid(tid, NULL, __WALL | WNOHANG) != tid)
			p->late.at[n++] = tid;
		else
			ptrace(PTRACE_DETACH, tid, 0, 0L);
	}
	p->late.n = n;
}

/* Stops the threads that are still running. Returns how many there were, or -1 if that is not permitted. */
static int
stop_more(struct process *p)
{
	DIR *dir = open_threads(p);
	int n = 0;

	for (struct dirent *d; dir && n >= 0 && (d = readdir(dir));) {
		pid_t tid = (pid_t)atoi(d->d_name);
		size_t before = p->thread.n;

		if (tid <= 0 || is_known(p, tid))
			continue;
		n = stop_thread(p, tid) ? n + (p->thread.n > before) : -1;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Drops threads that ended while they were being stopped. */
static void
forget_the_dead(struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->thread.n; i++)
		if (!p->thread.at[i].lost || !is_dead(p, p->thread.at[i].tid))
			p->thread.at[n++] = p->thread.at[i];
	p->thread.n = n;
}

enum process_state
process_stop(struct process *p)
{
	int n;

	release_late(p);
	/* A running thread may make a new one while the others are being stopped. */
	do
		n = stop_more(p);
	while (n > 0);
	if (n < 0) {
		process_go_on(p);
		return PROCESS_NOT_PERMITTED;
	}
	forget_the_dead(p);
	p->alive = p->thread.n ? p->thread.at[0].tid : 0;
	return p->thread.n ? PROCESS_STILL : PROCESS_GONE;
}

bool
process_was_still(struct process *p)
{
	size_t before = p->restless.n;

	for (size_t i = 0; i < p->thread.n; i++) {
		struct thread *t = &p->thread.at[i], now = *t;

		if (!t->stopped && (!waits(p, &now) || now.switches != t->switches))
			VEC_PUSH(p->restless, t->tid);
	}
	return p->restless.n == before;
}

void
process_go_on(struct process *p)
{
	for (size_t i = 0; i < p->thread.n; i++) {
		const struct thread *t = &p->thread.at[i];

		if (t->stopped && t->lost)
			VEC_PUSH(p->late, t->tid);
		else if (t->stopped && ptrace(PTRACE_DETACH, t->tid, 0, (long)t->signal))
			VEC_PUSH(p->late, t->tid); /* it was killed, and is about to end */
	}
	p->thread.n = 0;
	release_late(p);
}
