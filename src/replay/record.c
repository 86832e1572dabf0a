/* SPDX-License-Identifier: MIT */
/* Recording: the program stops at the beginning and the end of each system call, at signals, and where it reads the processor's
 * time. What cannot be recorded is refused by name at that moment: the program then runs on without being recorded. */
#include "replay/internal.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATIENCE = 2 };           /* seconds after which a signal has waited for too long */

/* A signal that waits, and whether it has been sent again since. */
struct held {
	siginfo_t info;
	bool sent;
};

struct recorder {
	struct log *log;
	struct tracee t;
	struct pool *pool;       /* of the event */
	struct mapped mapped;
	struct clock *clock;
	bool in_call;            /* between the two stops of one */
	struct system_call call;        /* that one */
	uint64_t number, arg[6]; /* of it, as the program made it */
	struct system_call interrupted; /* what restart_syscall() goes on with */
	uint64_t entry;          /* the registers' check sum at its beginning */
	uint64_t known;          /* the registers' check sum at the last state that the log names */
	struct breakpoint back;  /* where control comes back to code that counts, while some wait */
	VEC(struct held) held;   /* signals that wait for such a state */
	bool refused;            /* it cannot be recorded: reported */
	char *file;              /* the program, for messages */
};

/* ---- refusing ---- */

static void
refuse(struct recorder *r, const char *what, const char *why)
{
	if (r->refused)
		return;
	r->refused = true;
	say_error(what, "%s; %s runs on without being recorded", why, r->file);
}

/* ---- system calls ---- */

static void
begin_call(struct recorder *r)
{
	const struct machine_traced *machine = r->t.machine;
	uint64_t number = tracee_word(&r->t, machine->number);

	for (int i = 0; i < 6; i++)
		r->arg[i] = tracee_arg(&r->t, i);
	r->in_call = true;
	r->number = number;
	r->entry = tracee_sum(&r->t);
	r->call = call_of(r->pool, number, r->arg);
	if (!tracee_own_call(&r->t))
		refuse(r, "system call as of 32 bits", "it has other numbers");
	else if (r->call.class == CALL_REFUSED)
		refuse(r, r->call.name, r->call.why);
	else if (r->call.class == CALL_UNKNOWN && number != SYS_ioctl && number != SYS_execve)
		refuse(r, pool_printf(r->pool, "system call %s", r->call.name), "what it does is not known");
	else if (r->call.class == CALL_ABSENT) {
		r->t.regs.word[machine->number] = (uint64_t)-1;
		tracee_set(&r->t, &r->t.regs);
	} else if (r->call.class == CALL_ADVISE && r->arg[2] == MADV_FREE) {
		/* When the kernel takes such pages is not known: it may as well be at once. */
		r->t.regs.word[machine->arg[2]] = MADV_DONTNEED;
		tracee_set(&r->t, &r->t.regs);
	}
}

static void
put_piece(struct recorder *r, const struct piece *p)
{
	char *bytes = xmalloc(p->n);
	size_t n = tracee_read_some(&r->t, p->addr, bytes, p->n);

	log_put(r->log, p->addr);
	log_put_bytes(r->log, bytes, n);
	free(bytes);
}

/* What an output call has read, as a check sum; and which stream got it. */
static void
put_output(struct recorder *r, int64_t result)
{
	pieces read = {0};
	struct buf b = {0};

	if (result > 0)
		pieces_read(&r->t, r->number, r->arg, (uint64_t)result, &read);
	for (size_t i = 0; i < read.n; i++) {
		buf_reserve(&b, read.at[i].n);
		b.n += tracee_read_some(&r->t, read.at[i].addr, b.at + b.n, read.at[i].n);
	}
	log_put(r->log, result > 0 ? (uint64_t)stream_of(&r->t, (int)r->arg[0]) : 0);
	log_put(r->log, bytes_sum(b.at, b.n));
	buf_free(&b);
	free(read.at);
}

/* Bytes that reach a standard stream without having been in the program's memory. */
static void
put_passed(struct recorder *r, int64_t result)
{
	int stream = result > 0 ? stream_of(&r->t, (int)passed_to(&r->call, r->arg)) : 0;

	log_put(r->log, (uint64_t)stream);
	if (!stream)
		log_put_bytes(r->log, "", 0);
	else if (!passed_bytes(r->log, &r->t, &r->call, r->arg, (uint64_t)result))
		refuse(r, r->call.name, "what it writes to the standard output is in no memory and no file");
}

/* Registers and memory are as the program will see them. */
static void
put_call(struct recorder *r, int64_t result)
{
	pieces written = {0};

	log_put(r->log, LOG_CALL);
	log_put(r->log, r->number);
	for (int i = 0; i < 6; i++)
		log_put(r->log, r->arg[i]);
	log_put(r->log, r->entry);
	log_put(r->log, clock_sum(r->clock));
	log_put(r->log, (uint64_t)result);
	pieces_written(&r->t, r->call.class == CALL_RESUME ? &r->interrupted : &r->call, r->arg, result, &written);
	log_put(r->log, written.n);
	for (size_t i = 0; i < written.n; i++)
		put_piece(r, &written.at[i]);
	free(written.at);
	if (r->call.class == CALL_OUTPUT)
		put_output(r, result);
	if (r->call.class == CALL_PASS)
		put_passed(r, result);
}

/* Has the call, which is none of output, all the same written to a standard stream? */
static bool
slips_out(const struct recorder *r, int64_t result)
{
	return (r->number == SYS_sendmsg || r->number == SYS_sendmmsg || r->number == SYS_ioctl) && result >= 0 &&
	       (r->number != SYS_ioctl || r->call.command == FICLONE || r->call.command == FICLONERANGE) &&
	       stream_of(&r->t, (int)r->arg[0]);
}

/* A call that was interrupted, and may be resumed. */
static bool
is_interrupted(int64_t result)
{
	enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

static void
end_call(struct recorder *r)
{
	const struct machine_traced *machine = r->t.machine;
	int64_t result = (int64_t)tracee_word(&r->t, machine->result);
	const char *why = NULL;

	r->in_call = false;
	if (r->call.class == CALL_ABSENT) {
		result = r->call.command ? -EINVAL : -ENOSYS;
		r->t.regs.word[machine->result] = (uint64_t)result;
		tracee_set(&r->t, &r->t.regs);
	} else if (r->call.class == CALL_ADVISE && r->arg[2] == MADV_FREE) {
		r->t.regs.word[machine->arg[2]] = r->arg[2];
		tracee_set(&r->t, &r->t.regs);
	} else if (r->call.class == CALL_UNKNOWN && (r->number == SYS_ioctl ? result != -ENOTTY : result >= 0)) {
		refuse(r, pool_printf(r->pool, "system call %s", r->call.name), "what it does is not known");
		return;
	}
	if (is_interrupted(result) && r->call.class != CALL_RESUME)
		r->interrupted = r->call;
	if (r->call.class == CALL_RETURN)
		result = 0;
	put_call(r, result);
	if (slips_out(r, result))
		why = "what it writes to the standard output is not known";
	if (r->call.class == CALL_MAP && (uint64_t)result < (uint64_t)-4095)
		why = mapped_record(&r->mapped, r->log, &r->t, r->arg);
	if (r->call.class == CALL_REMAP && (uint64_t)result < (uint64_t)-4095)
		why = mapped_grown(&r->mapped, r->log, &r->t, r->arg, (uint64_t)result);
	if (r->call.class == CALL_OUTPUT || r->call.class == CALL_RESIZE || r->call.class == CALL_PASS)
		why = mapped_changed(&r->mapped, r->log, &r->t, &r->call, r->arg, result);
	if (why)
		refuse(r, r->call.name, why);
	r->known = tracee_sum(&r->t);
}

/* ---- signals ---- */

/* Does a line of /proc/PID/status have the signal in its set? */
static bool
in_set(struct recorder *r, const char *set, int sig)
{
	const char *text = tracee_proc(&r->t, r->pool, "status"), *line = text ? strstr(text, set) : NULL;

	return line && strtoull(line + strlen(set), NULL, 16) >> (sig - 1) & 1;
}

/* The instruction that the program is to execute reads the time: it gets it. */
static bool
is_time(struct recorder *r)
{
	const struct machine_traced *machine = r->t.machine;
	uint8_t bytes[16];
	uint32_t processor;
	uint64_t now;
	enum traced_trap trap;

	if (tracee_signal(&r->t) != SIGSEGV)
		return false;
	trap = machine->trap(bytes, tracee_read_some(&r->t, tracee_word(&r->t, machine->pc), bytes, sizeof bytes));
	if (trap == TRAP_NONE)
		return false;
	now = machine->time(&processor);
	log_put(r->log, LOG_TIME);
	log_put(r->log, tracee_sum(&r->t));
	log_put(r->log, now);
	log_put(r->log, processor);
	machine->give_time(&r->t.regs, trap, now, processor);
	tracee_set(&r->t, &r->t.regs);
	r->known = tracee_sum(&r->t);
	return true;
}

/* The program is at the first instruction of the handler. */
static void
put_handler(struct recorder *r, int sig, const struct state *from)
{
	const struct machine_traced *machine = r->t.machine;
	char state[TRACED_STATE_MOST];
	uint64_t at, size;

	if (!machine->frame(&r->t.regs, tracee_read, &r->t, &at, &size)) {
		refuse(r, strsignal(sig), "what the kernel has written for its handler is not understood");
		return;
	}
	log_put(r->log, LOG_SIGNAL);
	log_put(r->log, (uint64_t)sig);
	log_put(r->log, from->sum);
	log_put(r->log, from->pc != 0);
	if (from->pc) {
		log_put(r->log, from->pc);
		log_put(r->log, from->count);
	}
	log_put_bytes(r->log, &r->t.regs, sizeof r->t.regs);
	log_put_bytes(r->log, state, machine->get_state(r->t.pid, state));
	put_piece(r, &(struct piece){at, size});
}

/* Names the state by the clock where there is one. Elsewhere the registers tell whether it is the last one that the log names: that
 * is behind what makes an event each time. In a loop with a clock registers may be the same again, and memory not. */
static struct state
state_of(struct recorder *r, bool caused)
{
	struct state s = {.sum = tracee_sum(&r->t)};
	uint64_t pc = tracee_word(&r->t, r->t.machine->pc);

	if (!caused && clock_at(r->clock, pc, &s.count))
		s.pc = pc;
	return s;
}

/* Delivers a signal that a handler waits for. The stop that follows is handled by who called. */
static enum stop
deliver(struct recorder *r, int sig, const struct state *from)
{
	enum stop stop = tracee_go(&r->t, PTRACE_SINGLESTEP, sig);

	if (stop != STOP_SIGNAL || tracee_signal(&r->t) != SIGTRAP)
		return stop;
	put_handler(r, sig, from);
	r->known = tracee_sum(&r->t);
	return r->refused ? STOP_SIGNAL : tracee_go(&r->t, PTRACE_SYSCALL, 0);
}

/* Has it just been sent for one that was held? It is delivered as that one. */
static bool
was_held(struct recorder *r, int sig)
{
	for (size_t i = 0; i < r->held.n; i++)
		if (r->held.at[i].sent && r->held.at[i].info.si_signo == sig) {
			ptrace(PTRACE_SETSIGINFO, r->t.pid, 0, &r->held.at[i].info);
			r->held.n--;
			memmove(&r->held.at[i], &r->held.at[i + 1], (r->held.n - i) * sizeof *r->held.at);
			return true;
		}
	return false;
}

/* Signals that are not queued are pending once at most. */
static void
hold(struct recorder *r, const siginfo_t *info)
{
	for (size_t i = 0; info->si_signo < SIGRTMIN && i < r->held.n; i++)
		if (r->held.at[i].info.si_signo == info->si_signo)
			return;
	VEC_PUSH(r->held, (struct held){*info, false});
}

/* Sends those that wait once more. */
static void
send_held(struct recorder *r)
{
	for (size_t i = 0; i < r->held.n; i++)
		if (!r->held.at[i].sent) {
			r->held.at[i].sent = true;
			syscall(SYS_tgkill, r->t.pid, r->t.pid, r->held.at[i].info.si_signo);
		}
}

static bool
some_wait(const struct recorder *r)
{
	for (size_t i = 0; i < r->held.n; i++)
		if (!r->held.at[i].sent)
			return true;
	return false;
}

/* A signal for which a handler waits is delivered at a state that the log can name: what the last instruction has caused, or at a
 * stop that the replay has, too, or where the code counts. Elsewhere it is held until control comes back to such code, or the
 * program makes a system call. */
static enum stop
take_signal(struct recorder *r)
{
	int sig = tracee_signal(&r->t);
	struct state from;
	siginfo_t info;
	bool caused;

	if (ptrace(PTRACE_GETSIGINFO, r->t.pid, 0, &info) || !in_set(r, "SigCgt:", sig))
		return tracee_go(&r->t, PTRACE_SYSCALL, sig);
	caused = tracee_caused(sig, &info);
	from = state_of(r, caused);
	if (was_held(r, sig) || caused || from.sum == r->known || from.pc)
		return deliver(r, sig, &from);
	if (!some_wait(r))
		alarm(PATIENCE);
	hold(r, &info);
	if (!r->back.at) {
		uint64_t at = clock_return(r->clock, tracee_word(&r->t, r->t.machine->sp));

		if (at)
			breakpoint_put(&r->t, &r->back, at);
	}
	return tracee_go(&r->t, PTRACE_SYSCALL, 0);
}

/* Control is back in code that counts. */
static enum stop
came_back(struct recorder *r)
{
	breakpoint_take(&r->t, &r->back);
	alarm(0);
	send_held(r);
	return tracee_go(&r->t, PTRACE_SYSCALL, 0);
}

/* At the beginning of a call, which is put off: those that wait are sent again, now that the state can be named. */
static enum stop
release(struct recorder *r)
{
	uint64_t arg[6], number = tracee_word(&r->t, r->t.machine->number);

	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(&r->t, i);
	r->t.regs.word[r->t.machine->number] = (uint64_t)-1;
	tracee_set(&r->t, &r->t.regs);
	if (tracee_go(&r->t, PTRACE_SYSCALL, 0) != STOP_CALL)
		return STOP_ENDED;
	r->t.machine->make(&r->t.regs, number, arg);
	tracee_set(&r->t, &r->t.regs);
	r->known = tracee_sum(&r->t);
	return came_back(r);
}

/* Lets the program run on alone. At the beginning of a call, that is made again. */
static void
let_go(struct recorder *r)
{
	const uint64_t *show = r->t.machine->show_time_arg;

	breakpoint_take(&r->t, &r->back);
	if (r->in_call) {
		bool own = tracee_own_call(&r->t);

		r->t.regs.word[r->t.machine->number] = (uint64_t)-1;
		tracee_set(&r->t, &r->t.regs);
		if (tracee_go(&r->t, PTRACE_SYSCALL, 0) == STOP_ENDED)
			return;
		if (own)
			tracee_call(&r->t, r->t.machine->show_time, (uint64_t [6]){show[0], show[1]});
		else
			tracee_call_here(&r->t, r->t.machine->show_time, (uint64_t [6]){show[0], show[1]});
		r->t.machine->make(&r->t.regs, r->number, r->arg);
		tracee_set(&r->t, &r->t.regs);
	} else {
		tracee_call_here(&r->t, r->t.machine->show_time, (uint64_t [6]){show[0], show[1]});
	}
	if (!r->t.pid)
		return;
	send_held(r);
	ptrace(PTRACE_DETACH, r->t.pid, 0, 0);
}

/* ---- all of it ---- */

static void
put_end(struct recorder *r)
{
	log_put(r->log, LOG_EXIT);
	log_put(r->log, (uint64_t)r->t.status);
}

static enum stop
handle(struct recorder *r, enum stop stop)
{
	switch (stop) {
	case STOP_CALL:
		if (r->in_call)
			end_call(r);
		else if (some_wait(r))
			return release(r);
		else
			begin_call(r);
		break;
	case STOP_SIGNAL:
		if (breakpoint_hit(&r->t, &r->back, stop))
			return came_back(r);
		if (!is_time(r))
			return take_signal(r);
		break;
	case STOP_GROUP:
		if (tracee_signal(&r->t) == SIGTRAP && some_wait(r)) {
			refuse(r, pool_printf(r->pool, "signal %d", r->held.at[0].info.si_signo),
			       "it has come in code that neither counts nor makes system calls");
			break;
		}
		/* A stopped process stays so until SIGCONT. */
		return tracee_go(&r->t, tracee_signal(&r->t) == SIGTRAP ? PTRACE_SYSCALL : PTRACE_LISTEN, 0);
	case STOP_EVENT:
		/* At the end of the call. */
		tracee_go(&r->t, PTRACE_SYSCALL, 0);
		tracee_open_memory(&r->t);
		r->in_call = false;
		refuse(r, "system call execve", "another program in the place of this one cannot be recorded");
		break;
	case STOP_ENDED: case STOP_HALT:
		break;
	}
	return r->refused ? stop : tracee_go(&r->t, PTRACE_SYSCALL, 0);
}

static void
run(struct recorder *r)
{
	enum stop stop = tracee_go(&r->t, PTRACE_SYSCALL, 0);

	while (stop != STOP_ENDED && !r->refused) {
		/* It lives until the end of a call, whose name may be there. */
		if (!r->pool)
			r->pool = pool_new();
		stop = handle(r, stop);
		if (!r->in_call) {
			pool_free(r->pool);
			r->pool = NULL;
		}
	}
}

/* The program by PATH, as execvp() would find it. */
static const char *
find_program(struct pool *pool, const char *name)
{
	const char *path = getenv("PATH"), *at, *end;
	struct stat st;

	if (strchr(name, '/'))
		return name;
	for (at = path ? path : "/bin:/usr/bin"; ; at = end + 1) {
		const char *file;

		end = at + strcspn(at, ":");
		file = pool_printf(pool, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "./", name);
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return file;
		if (!*end)
			break;
	}
	say_error(name, "no such program");
	return NULL;
}

/* The kernel gives a traced program none of the rights that its file has: it would be another run. */
static bool
has_its_rights(const char *file)
{
	struct stat st;

	if (!geteuid() || stat(file, &st) ||
	    (!(st.st_mode & S_ISUID && st.st_uid != geteuid()) &&
	     !((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid()) &&
	     getxattr(file, "security.capability", NULL, 0) < 0))
		return true;
	say_error(file, "it has a user's, a group's or other rights by its file, which it would lack while it is recorded");
	return false;
}

static volatile sig_atomic_t child;

static void
pass_on(int sig)
{
	if (child)
		kill(child, sig);
}

/* A signal has waited for too long. */
static void
look_up(int sig)
{
	(void)sig;
	if (child)
		ptrace(PTRACE_INTERRUPT, child, 0, 0);
}

/* What the terminal sends, the program gets, too; what is sent to this process is passed on. */
static void
leave_signals(pid_t pid)
{
	child = pid;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	signal(SIGALRM, look_up);
}

bool
replay_record(char **argv, const char *log, bool signals, bool *ended, int *status)
{
	struct pool *pool = pool_new();
	struct recorder r = {.mapped = {.pool = pool}, .file = argv[0]};
	struct tracee_start s = {.argv = argv, .env = environ, .file = find_program(pool, argv[0])};
	bool ok = false;

	*ended = false;
	r.log = s.file && has_its_rights(s.file) ? log_create(log, signals ? LOG_SIGNALS_ONLY : LOG_ALL) : NULL;
	if (r.log && tracee_start(&r.t, &s)) {
		leave_signals(r.t.pid);
		r.clock = clock_open(&r.t);
		if (start_record(r.log, pool, &r.t, &s)) {
			if (signals)
				r.refused = !signals_record(r.log, &r.t, r.file);
			else
				run(&r);
		}
		*ended = true;
		if (r.refused && r.t.pid) {
			pid_t pid = r.t.pid;

			let_go(&r);
			while (waitpid(pid, &r.t.status, 0) < 0 && errno == EINTR)
				;
			r.t.pid = 0;
		}
		*status = r.t.status;
		put_end(&r);
	}
	if (r.log && *ended && !r.refused)
		ok = log_finish(r.log);
	else if (r.log)
		log_abandon(r.log);
	clock_close(r.clock);
	mapped_close(&r.mapped);
	tracee_close(&r.t);
	free(r.held.at);
	pool_free(r.pool);
	pool_free(pool);
	return ok;
}
