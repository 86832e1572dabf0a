/* SPDX-License-Identifier: MIT */
/* Kills children of vfork at chosen instructions of the program's, before they run.
 *
 *	kills steps PLACES START PROGRAM...
 *	kills at PLACES N PROGRAM...
 *
 * `steps` adds to the file PLACES the addresses of the instructions that children run from START (hexadecimal) until it returns.
 * Every third child is killed at START. With `at` the first child is killed at the Nth place, from 0, the next one at the next,
 * and so on; a child that does not come to its place is killed somewhere.
 *
 * The program is not position-independent, and has one thread. Prints how many places there are, or how many children came to
 * theirs, and how many children there were. */
#include "../stepping.h"

#include <errno.h>
#include <sys/time.h>

/* steps: of the first child all of them, of others so many at most. patience: how long a child may take to come to its place. */
enum { STEPS_MOST = 60000, PLACES_MOST = 1 << 16, PATIENCE_US = 100000 };

static uint64_t place[PLACES_MOST];
static size_t nplace;
static pid_t child;

static void
die(const char *what)
{
	perror(what);
	exit(2);
}

static void
add_place(uint64_t pc)
{
	for (size_t i = 0; i < nplace; i++)
		if (place[i] == pc)
			return;
	if (nplace < PLACES_MOST)
		place[nplace++] = pc;
}

static void
read_places(const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned long pc;

	while (f && fscanf(f, "%lx", &pc) == 1)
		add_place(pc);
	if (f)
		fclose(f);
}

static void
write_places(const char *file)
{
	FILE *f = fopen(file, "w");

	for (size_t i = 0; f && i < nplace; i++)
		fprintf(f, "%lx\n", (unsigned long)place[i]);
	if (!f || fclose(f))
		die(file);
}

static void
stop_child(int sig)
{
	(void)sig;
	kill(child, SIGSTOP);
}

/* Lets the child run up to an instruction; no longer than it may take. False: it did not come there. */
static bool
reaches(uint64_t at)
{
	struct itimerval limit = {.it_value = {.tv_usec = PATIENCE_US}}, none = {0};
	long word = ptrace(PTRACE_PEEKTEXT, child, at, 0);
	struct user_regs_struct regs;
	bool there;
	int status;

	ptrace(PTRACE_POKETEXT, child, at, (word & ~0xffl) | 0xcc);
	setitimer(ITIMER_REAL, &limit, NULL);
	ptrace(PTRACE_CONT, child, 0, 0);
	while (waitpid(child, &status, __WALL) < 0)
		if (errno != EINTR)
			die("waitpid");
	setitimer(ITIMER_REAL, &none, NULL);
	ptrace(PTRACE_POKETEXT, child, at, word);
	if (ptrace(PTRACE_GETREGS, child, 0, &regs))
		die("kills: the child's registers");
	there = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && regs.rip == at + 1;
	if (there) {
		regs.rip = at;
		ptrace(PTRACE_SETREGS, child, 0, &regs);
	}
	return there;
}

/* The child is at the first instruction of a procedure. Steps through it. */
static void
step_through(long most)
{
	struct user_regs_struct regs;
	uint64_t sp, back;
	long n = 0;

	ptrace(PTRACE_GETREGS, child, 0, &regs);
	sp = regs.rsp;
	back = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, sp, 0);
	while ((regs.rip != back || regs.rsp <= sp) && n++ < most) {
		add_place(regs.rip);
		ptrace(PTRACE_SINGLESTEP, child, 0, 0);
		waitpid(child, NULL, __WALL);
		ptrace(PTRACE_GETREGS, child, 0, &regs);
	}
}

static void
kill_child(void)
{
	int status;

	kill(child, SIGKILL);
	while (waitpid(child, &status, __WALL) == child && !WIFSIGNALED(status))
		;
}

int
main(int argc, char **argv)
{
	struct sigaction alarm = {.sa_handler = stop_child};
	bool steps = argc > 4 && !strcmp(argv[1], "steps");
	uint64_t start = argc > 4 ? strtoull(argv[3], NULL, steps ? 16 : 10) : 0;
	int status, round = 0, reached = 0;
	unsigned long pid;
	pid_t program;

	if (argc < 5)
		return 2;
	read_places(argv[2]);
	if (!steps && !nplace)
		return 2;
	stay_here();
	sigaction(SIGALRM, &alarm, NULL);
	program = fork();
	if (!program) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	waitpid(program, &status, 0);
	ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, program, 0, 0);
	while (waitpid(program, &status, 0) == program && WIFSTOPPED(status)) {
		ptrace(PTRACE_GETEVENTMSG, program, 0, &pid);
		ptrace(PTRACE_CONT, program, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
		if (status >> 8 != (SIGTRAP | PTRACE_EVENT_VFORK << 8))
			continue;
		child = (pid_t)pid;
		waitpid(child, NULL, __WALL);
		if (steps && reaches(start) && (round == 0 || round % 3))
			step_through(round ? STEPS_MOST : 1l << 40);
		else if (!steps)
			reached += reaches(place[(start + (uint64_t)round) % nplace]);
		round++;
		kill_child();
	}
	if (steps)
		write_places(argv[2]);
	printf("%d of %d\n", steps ? (int)nplace : reached, round);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
