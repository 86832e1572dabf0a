/* SPDX-License-Identifier: MIT */
/* step PROGRAM PROFILE: runs a measured program, one instruction at a time. After each instruction of measured code, from main
 * on, it supposes that the process ended there: the profile of that moment, with the activations on the stack as exits, has to
 * give exactly the instructions that were executed. It has its own view of the stack, from calls and returns, and none of how
 * counters are placed. Where registers count in loops, there may be bounds, which have to hold.
 *
 * Prints how many moments were compared, at how many of them some count was not known (these must all be in woven code), and at
 * how many there were bounds. */
#include "run/run.h"
#include "tests/stepping.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* An original instruction in the woven program. */
struct place {
	uint64_t addr, count;
	bool calls;
};

/* A call of measured code in progress. */
struct frame {
	uint64_t back, sp;       /* the return address, and the stack pointer just after the call */
};

struct stepper {
	struct pool *pool;
	struct binary binary;
	const char *file;
	VEC(struct place) place; /* by address */
	VEC(struct frame) frame;
	pid_t pid;
	uint64_t executed;
	unsigned compared, unknown, bounds;
};

static int
by_addr(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void
find_places(struct stepper *s, const struct proc *p)
{
	struct walk w;

	for (uint32_t b = 0; b < p->nblock; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);)
			if (w.kind != CHORD_INSN_PAD)
				VEC_PUSH(s->place,
				         (struct place){w.addr, 0, w.kind == CHORD_INSN_CALL || w.kind == CHORD_INSN_ICALL});
}

static struct place *
place_at(const struct stepper *s, uint64_t addr)
{
	struct place key = {.addr = addr};

	return bsearch(&key, s->place.at, s->place.n, sizeof key, by_addr);
}

/* ---- what Chord says ---- */

static void
add_exit(struct profile *p, uint32_t module, uint64_t addr)
{
	VEC_PUSH(p->exit, (struct exits){.module = module, .addr = addr, .count = 1});
}

static _Noreturn void
fail(const struct stepper *s, uint64_t pc, const char *why)
{
	printf("at 0x%lx after %lu instructions: %s\n", pc, s->executed, why);
	kill(s->pid, SIGKILL);
	exit(1);
}

static void
check_proc(struct stepper *s, struct pool *pool, uint32_t proc, const struct counts *c, uint64_t pc)
{
	struct walk w, most;

	for (uint32_t b = 0; b < s->binary.map.proc[proc].nblock; b++) {
		walk_start(&most, &s->binary.map.proc[proc], c->most ? c->most : c, b);
		for (walk_start(&w, &s->binary.map.proc[proc], c, b); walk_next(&w) && walk_next(&most);) {
			const struct place *p = place_at(s, w.addr);

			if (w.kind != CHORD_INSN_PAD && (p->count < w.count || p->count > most.count))
				fail(s, pc, pool_printf(pool, "%s block %u instruction %u: %lu, said %lu to %lu",
				                        s->binary.map.proc[proc].name, b, w.i, p->count, w.count, most.count));
		}
	}
}

/* Events are known at all moments but some of those in woven code; sum: what edges say. */
static bool
check_events(struct stepper *s, struct pool *pool, const struct profile *p, const struct module *m, const struct counts *c,
             uint64_t sum, uint64_t pc)
{
	struct event_totals t = profile_events(pool, &s->binary.map, p, m, c, &s->binary.woven);

	for (uint32_t i = 0; i < t.n && !t.why; i++)
		if (t.at[i].n != sum)
			fail(s, pc, pool_printf(pool, "%lu %s, edges say %lu", t.at[i].n, t.at[i].name, sum));
	return !t.why;
}

static bool
check(struct stepper *s, struct pool *pool, const struct profile *p, const struct module *m, uint64_t pc)
{
	struct counts *c = profile_solve(pool, &s->binary.map, p, m, &s->binary.woven);
	bool known = true, lacks = false;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->binary.map.nproc; i++) {
		if (c[i].why) {
			known = false;
			continue;
		}
		check_proc(s, pool, i, &c[i], pc);
		if (c[i].most && (!c[i].lacks || c[i].unplaced))
			fail(s, pc, "bounds though no register has counted");
		lacks |= c[i].lacks;
		sum += c[i].insns;
	}
	s->bounds += lacks;
	return known && (lacks || check_events(s, pool, p, m, c, sum, pc));
}

static void
compare(struct stepper *s, uint64_t pc)
{
	struct pool *pool = pool_new();
	const char *why;
	struct profile *p = load_profile(pool, s->file, &why);
	struct module *m = p ? profile_module(p, image_build_id(s->binary.image)) : NULL;

	if (m && m->count) {     /* else the runtime has not begun yet */
		for (size_t i = 0; i < s->frame.n; i++)
			add_exit(p, (uint32_t)(m - p->module.at), s->frame.at[i].back);
		add_exit(p, (uint32_t)(m - p->module.at), pc + 1);
		p->standing = 0; /* all that was active is among the exits now */
		s->compared++;
		if (!check(s, pool, p, m, pc)) {
			s->unknown++;
			if (place_at(s, pc))
				fail(s, pc, "not known before an instruction of the program");
		}
	}
	profile_free(p);
	pool_free(pool);
}

/* ---- running ---- */

static uint64_t
word_at(pid_t pid, uint64_t addr)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, addr, 0);
}

/* One instruction, at regs, which are then those behind it. False: the program has ended. */
static bool
step(struct stepper *s, struct user_regs_struct *regs)
{
	struct place *p = place_at(s, regs->rip);
	int status;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0) || waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_GETREGS, s->pid, 0, regs);
	while (s->frame.n && regs->rsp > s->frame.at[s->frame.n - 1].sp)
		s->frame.n--;
	if (p) {
		p->count++;
		s->executed++;
	}
	if (p && p->calls)
		VEC_PUSH(s->frame, (struct frame){word_at(s->pid, regs->rsp), regs->rsp});
	return true;
}

static void
start(struct stepper *s, char *program)
{
	s->pid = fork();
	if (s->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		setenv("CHORD_FILE", s->file, 1);
		setenv("LD_BIND_NOW", "1", 1); /* what the loader does in between is nobody's concern here */
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	waitpid(s->pid, NULL, 0);
}

/* What is before main takes a hundred times as many steps. Had measured code run there, its counts would not agree. */
static void
go_to_main(struct stepper *s)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < s->binary.map.nproc; i++)
		if (!strcmp(s->binary.map.proc[i].name, "main"))
			at = s->binary.map.proc[i].part[0].addr;
	if (!run_up_to(s->pid, at))
		fail(s, at, "main is not come to");
}

int
main(int argc, char **argv)
{
	struct stepper s = {.pool = pool_new()};
	struct user_regs_struct regs;
	const char *why;

	if (argc != 3)
		return 2;
	s.file = argv[2];
	if (!binary_open(s.pool, argv[1], &s.binary, &why)) {
		say_error(argv[1], "%s", why);
		return 1;
	}
	for (uint32_t i = 0; i < s.binary.map.nproc; i++)
		find_places(&s, &s.binary.map.proc[i]);
	qsort(s.place.at, s.place.n, sizeof *s.place.at, by_addr);
	stay_here();
	start(&s, argv[1]);
	go_to_main(&s);
	ptrace(PTRACE_GETREGS, s.pid, 0, &regs);
	do {
		if (parts_find(&s.binary.parts, regs.rip) && access(s.file, R_OK) == 0)
			compare(&s, regs.rip);
	} while (step(&s, &regs));
	printf("%u moments, %u not known, %u with bounds, %lu instructions\n", s.compared, s.unknown, s.bounds, s.executed);
	binary_close(&s.binary);
	free(s.place.at);
	free(s.frame.at);
	pool_free(s.pool);
	return s.compared == 0;
}
