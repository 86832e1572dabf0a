/* SPDX-License-Identifier: MIT */
/* A traced process: its beginning, stops, memory, registers. */
#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

uint64_t
bytes_sum(const void *at, size_t n)
{
	return XXH3_64bits(at, n);
}

void
tracer_catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
	sigset_t one;

	sigaction(sig, &act, NULL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* ---- beginning ---- */

enum { CANNOT_FIX = 1, CANNOT_HIDE, CANNOT_ENTER, CANNOT_LIMIT, CANNOT_RUN };

struct failure {
	int what, error;
};

/* Executes the program. The kernel puts the file's name onto the stack, above what the program sees, so a name that replaces it has
 * as many bytes. */
static void
execute(const struct tracee_start *s)
{
	size_t n = strlen(s->file);
	char name[PATH_MAX], number[16];
	int fd;

	if (!s->real) {
		execve(s->file, s->argv, s->env);
		return;
	}
	if (n >= sizeof name) {
		errno = ENAMETOOLONG;
		return;
	}
	fd = open(s->real, O_PATH | O_CLOEXEC);
	if (fd < 0 || chdir("/proc/self/fd"))
		return;
	memset(name, '/', n);
	name[0] = '.';
	snprintf(number, sizeof number, "%d", fd);
	memcpy(name + n - strlen(number), number, strlen(number) + 1);
	execve(name, s->argv, s->env);
}

/* Runs in the child. The pipe closes when the program runs. */
static _Noreturn void
begin(const struct tracee_start *s, const struct machine_traced *machine, int go, int tell)
{
	struct failure f = {0};
	struct rlimit stack;
	char c;

	if (read(go, &c, 1) != 1)
		_exit(1);
	if (personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE) < 0)
		f = (struct failure){CANNOT_FIX, errno};
	if (!f.what && s->stack_limit && !getrlimit(RLIMIT_STACK, &stack)) {
		stack.rlim_cur = s->stack_limit;
		if (setrlimit(RLIMIT_STACK, &stack))
			f = (struct failure){CANNOT_LIMIT, errno};
	}
	if (!f.what && s->cwd && chdir(s->cwd))
		f = (struct failure){CANNOT_ENTER, errno};
	if (!f.what && !machine->hide_time())
		f = (struct failure){CANNOT_HIDE, errno};
	if (!f.what) {
		execute(s);
		f = (struct failure){CANNOT_RUN, errno};
	}
	if (write(tell, &f, sizeof f) != sizeof f)
		_exit(2);
	_exit(1);
}

/* The program's name; there may be none among its arguments. */
static const char *
name_of(const struct tracee_start *s)
{
	return s->argv[0] ? s->argv[0] : s->file;
}

static void
say_failure(const struct tracee_start *s, const struct failure *f)
{
	const char *why = strerror(f->error);

	switch (f->what) {
	case CANNOT_FIX: say_error(name_of(s), "its addresses cannot be fixed: %s", why); break;
	case CANNOT_HIDE: say_error(name_of(s), "reading the processor's time cannot be made to trap: %s", why); break;
	case CANNOT_ENTER: say_error(s->cwd, "the folder in which the program ran: %s", why); break;
	case CANNOT_LIMIT: say_error(name_of(s), "the size of its stack cannot be set as it was: %s", why); break;
	default: say_error(s->file, "%s", why);
	}
}

bool
tracee_open_memory(struct tracee *t)
{
	char name[64];

	if (t->mem >= 0)
		close(t->mem);
	snprintf(name, sizeof name, "/proc/%d/mem", t->pid);
	t->mem = open(name, O_RDWR | O_CLOEXEC);
	if (t->mem < 0)
		say_error("the program's memory", "%s",
		          errno == EACCES ? "it is hidden, for its file may not be read" : strerror(errno));
	return t->mem >= 0;
}

bool
tracee_has_room(int descriptor)
{
	enum { ROOM = 24 };
	struct rlimit limit;

	return descriptor < 0 || getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)descriptor + ROOM < limit.rlim_cur;
}

bool
tracee_own_call(const struct tracee *t)
{
	struct __ptrace_syscall_info info = {0};

	return ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof info, &info) > 0 && info.arch == t->machine->kind;
}

/* At the end of execve(): is it a program of this machine? Reported if not. */
static bool
is_own(const struct tracee *t, const char *file)
{
	if (!tracee_own_call(t))
		say_error(file, "a program of 32 bits cannot be recorded");
	return tracee_own_call(t);
}

enum {
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK,
};

/* Follows the child to its first instruction. */
static bool
attach(struct tracee *t, const struct tracee_start *s, int go, int tell)
{
	struct failure f;
	enum stop stop;

	if (ptrace(PTRACE_SEIZE, t->pid, 0, (unsigned long)OPTIONS)) {
		say_error(name_of(s), "it cannot be traced: %s", strerror(errno));
		return false;
	}
	if (write(go, "", 1) != 1)
		die("pipe", "%s", strerror(errno));
	while (waitpid(t->pid, &t->status, __WALL) < 0 && errno == EINTR)
		;
	for (stop = WIFSTOPPED(t->status) ? STOP_SIGNAL : STOP_ENDED; stop != STOP_ENDED; stop = tracee_go(t, PTRACE_CONT, 0))
		if (WIFSTOPPED(t->status) && tracee_event(t) == PTRACE_EVENT_EXEC) {
			/* The end of the call comes next. */
			return tracee_open_memory(t) && tracee_go(t, PTRACE_SYSCALL, 0) == STOP_CALL && is_own(t, s->file);
		}
	if (read(tell, &f, sizeof f) == sizeof f)
		say_failure(s, &f);
	else
		say_error(name_of(s), "it ended before it began");
	return false;
}

bool
tracee_start(struct tracee *t, const struct tracee_start *s)
{
	const struct machine *host = machine_of_host();
	int go[2], tell[2];
	bool ok;

	*t = (struct tracee){.mem = -1};
	if (!host) {
		say_error(name_of(s), "programs of this machine cannot be recorded");
		return false;
	}
	t->machine = host->traced;
	if (pipe2(go, O_CLOEXEC) || pipe2(tell, O_CLOEXEC))
		die("pipe", "%s", strerror(errno));
	t->pid = fork();
	if (t->pid < 0)
		die("fork", "%s", strerror(errno));
	if (!t->pid)
		begin(s, t->machine, go[0], tell[1]);
	close(go[0]);
	close(tell[1]);
	ok = attach(t, s, go[1], tell[0]);
	close(go[1]);
	close(tell[0]);
	if (!ok)
		tracee_kill(t);
	return ok;
}

void
tracee_close(struct tracee *t)
{
	tracee_kill(t);
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
}

/* ---- stops ---- */

/* What waitpid() has reported of others meanwhile, if nobody hears it. This can only be that somebody has killed them. */
static VEC(struct told {
	pid_t pid;
	int status;
}) told;

static bool
was_told(pid_t pid, int *status)
{
	for (size_t i = 0; i < told.n; i++)
		if (told.at[i].pid == pid) {
			*status = told.at[i].status;
			told.at[i] = told.at[--told.n];
			return true;
		}
	return false;
}

int
tracee_signal(const struct tracee *t)
{
	return WSTOPSIG(t->status);
}

int
tracee_event(const struct tracee *t)
{
	return t->status >> 16;
}

enum stop
tracee_stop(const struct tracee *t)
{
	if (!WIFSTOPPED(t->status))
		return STOP_ENDED;
	if (WSTOPSIG(t->status) == (SIGTRAP | 0x80))
		return STOP_CALL;
	if (tracee_event(t) == PTRACE_EVENT_STOP)
		return STOP_GROUP;
	return tracee_event(t) ? STOP_EVENT : STOP_SIGNAL;
}

enum stop
tracee_stopped(struct tracee *t, int status)
{
	enum stop stop;

	t->status = status;
	if (!WIFSTOPPED(status))
		t->pid = 0;
	else
		t->machine->get(t->pid, &t->regs);
	stop = tracee_stop(t);
	if (stop == STOP_CALL && t->steps && t->machine->stepped_call(&t->regs))
		tracee_set(t, &t->regs);
	return stop;
}

/* The kernel does not report the end of a first thread before the ends of the other threads of its process have been taken. */
enum stop
tracee_await(struct tracee *t)
{
	pid_t got = t->pid;
	int status;

	if (t->pid <= 0)
		return STOP_ENDED;
	while (t->heard || !was_told(t->pid, &status)) {
		got = waitpid(t->heard || t->leads ? -1 : t->pid, &status, __WALL);
		if (got > 0 && got != t->pid && t->heard)
			t->heard(t->whom, got, status);
		else if (got > 0 && got != t->pid)
			VEC_PUSH(told, (struct told){got, status});
		else if (got > 0 || errno != EINTR)
			break;
	}
	return tracee_stopped(t, got < 0 ? SIGKILL : status);
}

void
tracee_kill(struct tracee *t)
{
	int status;

	if (t->pid > 0 && !kill(t->pid, SIGKILL))
		while (tracee_await(t) != STOP_ENDED)
			;
	else if (t->pid > 0)
		was_told(t->pid, &status);
	t->pid = 0;
}

void
tracee_stop_at_end(struct tracee *t, bool wanted)
{
	ptrace(PTRACE_SETOPTIONS, t->pid, 0, (unsigned long)OPTIONS | (wanted ? PTRACE_O_TRACEEXIT : 0));
}

void
tracee_resume(struct tracee *t, int request, int sig)
{
	bind_follow(t);
	t->steps = request == PTRACE_SINGLESTEP || request == PTRACE_SYSEMU_SINGLESTEP;
	/* If the task has been killed meanwhile, waitpid() reports it. */
	ptrace((enum __ptrace_request)request, t->pid, 0, sig);
}

enum stop
tracee_go(struct tracee *t, int request, int sig)
{
	tracee_resume(t, request, sig);
	return tracee_await(t);
}

bool
tracee_join(struct tracee *t, pid_t pid, const struct machine_traced *machine, const int *status)
{
	*t = (struct tracee){.pid = pid, .machine = machine, .mem = -1};
	return (status ? tracee_stopped(t, *status) : tracee_await(t)) != STOP_ENDED && tracee_open_memory(t);
}

char
tracee_doing(const struct tracee *t)
{
	char name[64], text[256], *at;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/stat", t->pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	/* The state comes after the program's name, which may contain anything. */
	at = strrchr(text, ')');
	return at && at[1] == ' ' ? at[2] : 0;
}

enum stop
tracee_go_for(struct tracee *t, int request, uint64_t ns)
{
	struct timespec nap = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	ptrace((enum __ptrace_request)request, t->pid, 0, 0);
	nanosleep(&nap, NULL);
	ptrace(PTRACE_INTERRUPT, t->pid, 0, 0);
	return tracee_await(t);
}

/* ---- memory and registers ---- */

bool
tracee_read(const void *of, uint64_t addr, void *to, size_t n)
{
	const struct tracee *t = of;

	return tracee_read_some(t, addr, to, n) == n;
}

size_t
tracee_read_some(const struct tracee *t, uint64_t addr, void *to, size_t n)
{
	enum { MUCH = 4096 };
	size_t done = 0;

	if (n >= MUCH && n <= SSIZE_MAX && addr <= INT64_MAX) {
		/* This is quicker, but does not read all memory. */
		struct iovec mine = {to, n}, theirs = {(void *)(uintptr_t)addr, n};
		ssize_t got = process_vm_readv(t->pid, &mine, 1, &theirs, 1, 0);

		done = got > 0 ? (size_t)got : 0;
	}
	while (done < n && addr + done <= INT64_MAX) {
		ssize_t got = pread(t->mem, (char *)to + done, n - done, (off_t)(addr + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool
tracee_write(struct tracee *t, uint64_t addr, const void *from, size_t n)
{
	size_t done = 0;

	while (done < n && addr + done <= INT64_MAX) {
		ssize_t put = pwrite(t->mem, (const char *)from + done, n - done, (off_t)(addr + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return done == n;
}

bool
tracee_set(struct tracee *t, const struct traced_regs *r)
{
	if (r != &t->regs)
		t->regs = *r;
	return t->machine->set(t->pid, r);
}

/* Is it a stop at the beginning of a call? It is not at the end of a call that has been skipped. */
static bool
begins_call(const struct tracee *t, struct __ptrace_syscall_info *info)
{
	*info = (struct __ptrace_syscall_info){0};
	return ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof *info, info) > 0 && info->op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* Logs come from others, and so do the bytes at the PC: the instruction there has to be a system call. */
static bool
can_make(const struct tracee *t)
{
	uint8_t size = t->machine->call_size, code[16];

	return tracee_read(t, tracee_word(t, t->machine->pc), code, size) && !memcmp(code, t->machine->call, size);
}

bool
tracee_make(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	struct __ptrace_syscall_info info;
	bool begun = false;

	t->machine->make(&t->regs, number, arg);
	if (!can_make(t) || !tracee_set(t, &t->regs)) {
		tracee_kill(t);
		return false;
	}
	for (;;) {
		enum stop stop = tracee_go(t, PTRACE_SYSCALL, 0);

		if (stop == STOP_ENDED)
			return false;
		if (stop == STOP_CALL && begun)
			return true;
		if (stop != STOP_CALL || !begins_call(t, &info))
			continue;
		if (info.arch != t->machine->kind || info.entry.nr != number ||
		    memcmp(info.entry.args, arg, sizeof info.entry.args)) {
			tracee_kill(t);
			return false;
		}
		begun = true;
	}
}

static bool
is_fault(const struct tracee *t, enum stop stop)
{
	siginfo_t info;

	return stop == STOP_SIGNAL && tracee_signal(t) != SIGTRAP && !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) &&
	       tracee_caused(tracee_signal(t), &info);
}

/* Does the call leave the memory around t->makes as it is? */
static bool
spares_makes(const struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	enum { AROUND = 1 << 16 };

	switch (number) {
	case SYS_openat: case SYS_close: case SYS_brk: return true;
	case SYS_mmap: case SYS_munmap: case SYS_mprotect:
		return arg[1] <= INT64_MAX && arg[0] <= INT64_MAX &&
		       (arg[0] + arg[1] + AROUND < t->makes || arg[0] > t->makes + AROUND);
	default: return false;
	}
}

/* Makes the call in one stop, by an instruction that is followed by a breakpoint. The program is not held to one instruction there,
 * so both have to be there, and the call must leave them there, or remove both. */
static bool
make_before_breakpoint(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	const struct machine_traced *machine = t->machine;
	uint8_t code[32], call = machine->call_size;
	uint64_t behind = t->makes + call + machine->break_stop;
	enum stop stop;

	if (!t->makes || t->regs.word[machine->mode] != machine->own_mode || !spares_makes(t, number, arg) ||
	    !tracee_read(t, t->makes, code, call + machine->break_size) || memcmp(code, machine->call, call) ||
	    memcmp(code + call, machine->breakpoint, machine->break_size))
		return false;
	machine->make(&t->regs, number, arg);
	t->regs.word[machine->pc] = t->makes;
	if (!tracee_set(t, &t->regs))
		return false;
	do
		stop = tracee_go(t, PTRACE_CONT, 0);
	while (stop != STOP_ENDED && tracee_word(t, machine->pc) != behind && !is_fault(t, stop));
	if (stop != STOP_ENDED && tracee_word(t, machine->pc) != behind)
		tracee_kill(t);
	return true;
}

/* Makes the call by a single step, which takes half as many stops. Only that instruction is executed, whatever the call does to the
 * memory where it stands. What kind of call it makes depends only on registers, which are checked here. */
static bool
make_by_step(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	uint64_t pc = tracee_word(t, t->machine->pc);
	enum stop stop;

	if (t->regs.word[t->machine->mode] != t->machine->own_mode)
		return tracee_make(t, number, arg);
	if (make_before_breakpoint(t, number, arg))
		return t->pid;
	t->machine->make(&t->regs, number, arg);
	if (!can_make(t) || !tracee_set(t, &t->regs)) {
		tracee_kill(t);
		return false;
	}
	/* After a call that has been skipped, another stop comes first; other signals may come, too. */
	do
		stop = tracee_go(t, PTRACE_SINGLESTEP, 0);
	while (stop != STOP_ENDED && tracee_word(t, t->machine->pc) != pc && !is_fault(t, stop));
	if (stop != STOP_ENDED && tracee_word(t, t->machine->pc) != pc)
		tracee_kill(t);
	return t->pid;
}

static int64_t
call_by(struct tracee *t, bool (*make)(struct tracee *, uint64_t, const uint64_t [6]), uint64_t number, const uint64_t arg[6])
{
	struct traced_regs old = t->regs;
	int64_t result;

	if (!make(t, number, arg))
		return -ESRCH;
	result = (int64_t)tracee_word(t, t->machine->result);
	for (size_t i = 0; i < sizeof t->machine->base; i++)
		old.word[t->machine->base[i]] = t->regs.word[t->machine->base[i]];
	tracee_set(t, &old);
	return result;
}

int64_t
tracee_call(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	return call_by(t, tracee_make, number, arg);
}

int64_t
tracee_call_at_once(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	return call_by(t, make_by_step, number, arg);
}

int64_t
tracee_call_here(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	uint64_t pc = tracee_word(t, t->machine->pc);
	uint8_t size = t->machine->call_size, was[16];
	struct traced_regs old = t->regs;
	int64_t result;

	if (!tracee_read(t, pc, was, size) || !tracee_write(t, pc, t->machine->call, size))
		return -EFAULT;
	t->regs.word[t->machine->pc] += size;
	result = tracee_call(t, number, arg);
	if (result != -ESRCH) {
		tracee_write(t, pc, was, size);
		tracee_set(t, &old);
	}
	return result;
}

int64_t
tracee_call_here_at_once(struct tracee *t, uint64_t number, const uint64_t arg[6])
{
	struct traced_regs old = t->regs;
	int64_t result;

	if (!make_before_breakpoint(t, number, arg)) {
		t->regs = old;
		return tracee_call_here(t, number, arg);
	}
	if (!t->pid)
		return -ESRCH;
	result = (int64_t)tracee_word(t, t->machine->result);
	tracee_set(t, &old);
	return result;
}

void
tracee_hide_step(struct tracee *t, const uint8_t bytes[2])
{
	uint64_t sp = tracee_word(t, t->machine->sp), top = UINT64_MAX;

	t->machine->stepped(bytes, &top);
	if (top == UINT64_MAX || !tracee_read(t, sp, &top, sizeof top))
		return;
	t->machine->stepped(bytes, &top);
	tracee_write(t, sp, &top, sizeof top);
}

const char *
tracee_proc(const struct tracee *t, struct pool *pool, const char *name)
{
	struct buf b = {0};
	const char *text = NULL;

	if (file_read(pool_printf(pool, "/proc/%d/%s", t->pid, name), &b))
		text = pool_strndup(pool, b.at ? b.at : "", b.n);
	buf_free(&b);
	return text;
}

bool
tracee_signal_is(const struct tracee *t, const char *set, int sig)
{
	struct pool *pool = pool_new();
	const char *text = tracee_proc(t, pool, "status"), *line = text ? strstr(text, set) : NULL;
	bool is = line && strtoull(line + strlen(set), NULL, 16) >> (sig - 1) & 1;

	pool_free(pool);
	return is;
}

bool
tracee_signal_pends(const struct tracee *t)
{
	struct __ptrace_peeksiginfo_args which = {.nr = 1};
	siginfo_t info;

	for (; ptrace(PTRACE_PEEKSIGINFO, t->pid, &which, &info) > 0; which.off++)
		if (tracee_caused(info.si_signo, &info))
			return true;
	return false;
}

uint64_t
tracee_cpu(pid_t process)
{
	struct timespec time;
	clockid_t of;

	if (clock_getcpuclockid(process, &of) || clock_gettime(of, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t
tracee_sum(const struct tracee *t)
{
	struct traced_regs bare = t->machine->bare(&t->regs);

	return bytes_sum(&bare, sizeof bare);
}

bool
tracee_caused(int sig, const siginfo_t *info)
{
	switch (sig) {
	case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: case SIGTRAP: case SIGSYS: return info->si_code > 0;
	default: return false;
	}
}

enum stop
tracee_go_own(struct tracee *t, int request)
{
	siginfo_t info;

	if (t->own)
		return t->own(t, request);
	for (;;) {
		enum stop stop = tracee_go(t, request, 0);

		if (stop == STOP_CALL || stop == STOP_ENDED ||
		    (stop == STOP_SIGNAL && !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) && tracee_caused(tracee_signal(t), &info)))
			return stop;
	}
}

bool
tracee_can_fork(const struct tracee *t)
{
	int64_t result = (int64_t)tracee_word(t, t->machine->result);

	/* The kernel would take such a result for that of a call to be made again. */
	return (int64_t)tracee_word(t, t->machine->number) < 0 || result > -512 || result < -516;
}

bool
tracee_fork(struct tracee *t, struct tracee *child)
{
	const uint64_t arg[6] = {CLONE_PARENT | SIGCHLD};
	uint64_t pc = tracee_word(t, t->machine->pc);
	uint8_t was[16], size = t->machine->call_size;
	int64_t pid;

	*child = *t;
	child->pid = 0;
	child->mem = -1;
	child->armed = 0;
	child->leads = false;
	if (!tracee_can_fork(t) || !tracee_read(t, pc, was, size) || (pid = tracee_call_here(t, SYS_clone, arg)) <= 0)
		return false;
	child->pid = (pid_t)pid;
	if (tracee_await(child) == STOP_ENDED || !tracee_open_memory(child) || !tracee_write(child, pc, was, size) ||
	    !tracee_set(child, &t->regs)) {
		tracee_close(child);
		return false;
	}
	return true;
}

bool
tracee_clone(struct tracee *by, const struct tracee *of, uint64_t flags, struct tracee *to)
{
	char state[TRACED_STATE_MOST];
	size_t n = of->machine->get_state(of->pid, state);
	int64_t tid = n && tracee_can_fork(of) ? tracee_call_here(by, SYS_clone, (uint64_t [6]){flags}) : -1;

	if (tid <= 0)
		return false;
	if (tracee_join(to, (pid_t)tid, of->machine, NULL) && of->machine->set_state(to->pid, state, n) &&
	    tracee_set(to, &of->regs)) {
		to->own = of->own;
		to->admits = of->admits;
		to->of = of->of;
		to->store = by->store;
		return true;
	}
	tracee_close(to);
	return false;
}
