/* SPDX-License-Identifier: MIT */
/* steps PROGRAM [ARGUMENT...]: runs a program one instruction at a time, in all its threads. For thread N it writes to steps.N
 * the address of each original instruction of measured code that is executed, from main on. The program must not be a PIE.
 * Woven code and padding are passed over: the map says which addresses are the original's. STRIKE=SEED[:SWEEPS]: signals are
 * sent (tests/strikes.h). STACK=1: after each address the stack pointer, in decimal. BREAKS=1: as long as
 * there is one thread only measured code is stepped through; all other code runs up to breakpoints. Not for programs that fork. */
#include "run/run.h"
#include "tests/stepping.h"
#include "tests/strikes.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64 };

struct thread {
	pid_t tid;
	FILE *out;
	uint64_t before;
	int signal;              /* to be given to it */
};

struct stepper {
	struct binary binary;
	uint8_t *original;       /* by address from low on: 1 an instruction begins there, 2 a repeated one */
	uint64_t low, high;
	struct thread thread[THREADS];
	int n;
	struct strikes strikes;
	bool stack;              /* the stack pointer is written, too */
	struct steps code;       /* with breakpoints: what is stepped through */
};

static void
mark(struct stepper *s, const struct walk *w)
{
	if (w->kind != CHORD_INSN_PAD && w->addr && w->addr >= s->low && w->addr < s->high)
		s->original[w->addr - s->low] = w->kind == CHORD_INSN_REP ? 2 : 1;
}

static void
find_originals(struct stepper *s)
{
	const struct parts *parts = &s->binary.parts;

	s->low = parts->at[0].addr;
	s->high = parts->at[parts->n - 1].addr + parts->at[parts->n - 1].size;
	s->original = xcalloc(s->high - s->low, 1);
	for (uint32_t i = 0; i < s->binary.map.nproc; i++) {
		const struct proc *p = &s->binary.map.proc[i];
		struct walk w;

		for (uint32_t b = 0; !p->refused && b < p->nblock; b++)
			for (walk_start(&w, p, NULL, b); walk_next(&w);)
				mark(s, &w);
	}
	steps_begin(&s->code, s->low, s->high);
	for (uint64_t at = s->low; at < s->high; at++)
		steps_mark(&s->code, at, s->original[at - s->low] ? ENTERED : 0);
	for (size_t i = 0; i < parts->n; i++) {
		const struct part_at *part = &parts->at[i];

		for (uint64_t at = part->addr; !part->proc->refused && at < part->addr + part->size; at++)
			steps_mark(&s->code, at, STEPPED);
	}
}

static void
look(struct stepper *s, struct thread *t, const struct user_regs_struct *regs)
{
	uint8_t what = regs->rip >= s->low && regs->rip < s->high ? s->original[regs->rip - s->low] : 0;

	if (what && !(what == 2 && t->before == regs->rip)) {
		fprintf(t->out, "%" PRIx64, (uint64_t)regs->rip);
		if (s->stack)
			fprintf(t->out, " %" PRIu64, (uint64_t)regs->rsp);
		putc('\n', t->out);
	}
	t->before = regs->rip;
}

static struct thread *
thread_of(struct stepper *s, pid_t tid)
{
	char name[32];

	for (int i = 0; i < s->n; i++)
		if (s->thread[i].tid == tid)
			return &s->thread[i];
	if (s->n == THREADS)
		die("steps", "too many threads");
	snprintf(name, sizeof name, "steps.%d", s->n + 1);
	s->thread[s->n] = (struct thread){.tid = tid, .out = fopen(name, "we")};
	if (!s->thread[s->n].out)
		die(name, "%s", strerror(errno));
	return &s->thread[s->n++];
}

static void
go_to_main(struct stepper *s, pid_t pid)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < s->binary.map.nproc; i++)
		if (!strcmp(s->binary.map.proc[i].name, "main"))
			at = s->binary.map.proc[i].part[0].addr;
	if (!run_up_to(pid, at))
		die("steps", "main is not come to");
}

/* Runs the program until it ends or has a second thread. */
static void
run_by_breakpoints(struct stepper *s, pid_t pid)
{
	struct user_regs_struct regs;
	int status = 0, sig = 0;

	while (!ptrace(PTRACE_GETREGS, pid, 0, &regs)) {
		if (!sig && status >> 8 == SIGTRAP)
			look(s, thread_of(s, pid), &regs);
		if (!steps_go(&s->code, pid, regs.rip, sig, &status) || status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8))
			break;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	steps_set(&s->code, pid, false);
}

/* A thread has stopped: it is looked at, and goes on by one instruction. */
static void
stopped(struct stepper *s, pid_t tid, int status)
{
	bool known = false, sent;
	struct user_regs_struct regs;
	struct thread *t;
	int sig = WSTOPSIG(status), before;

	for (int i = 0; i < s->n; i++)
		known |= s->thread[i].tid == tid;
	t = thread_of(s, tid);
	before = t->signal;
	t->signal = sig == SIGTRAP || (sig == SIGSTOP && !known) ? 0 : sig;
	/* After a handler it comes back here. */
	if (sig == SIGTRAP && !(status >> 16) && !ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		t->signal = strike_now(&s->strikes, tid, before, regs.rsp, &sent);
		if (!t->signal && !sent)
			look(s, t, &regs);
	}
	ptrace(PTRACE_SINGLESTEP, tid, 0, t->signal);
}

static pid_t
start(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	return pid;
}

int
main(int argc, char **argv)
{
	struct stepper s = {.stack = getenv("STACK")};
	struct user_regs_struct regs;
	const char *why = "usage: steps PROGRAM [ARGUMENT...]";
	struct pool *pool = pool_new();
	int status;
	pid_t pid, tid;

	if (argc < 2 || !binary_open(pool, argv[1], &s.binary, &why))
		die(argc < 2 ? "steps" : argv[1], "%s", why);
	strikes_begin(&s.strikes);
	find_originals(&s);
	stay_here();
	pid = start(argv + 1);
	go_to_main(&s, pid);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	look(&s, thread_of(&s, pid), &regs);
	if (getenv("BREAKS"))
		run_by_breakpoints(&s, pid);
	ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			stopped(&s, tid, status);
	for (int i = 0; i < s.n; i++)
		fclose(s.thread[i].out);
	strikes_say(&s.strikes);
	binary_close(&s.binary);
	pool_free(pool);
	free(s.original);
	steps_end(&s.code);
	return 0;
}
