/* SPDX-License-Identifier: MIT */
/* names [--no-count] [--no-sp] COUNTER MAIN RANGES PROGRAM [ARGUMENT...]: runs a program that has a clock, one instruction at a
 * time in each of its threads, while main() runs. It checks that no thread is twice at the same instruction with the same stack
 * pointer and the same count. COUNTER and MAIN are the addresses of the numbers of the count and of main, in hex. RANGES has lines
 * of address and size of measured code, all as nm has them. The program knows nothing else of Chord.
 *
 * A string instruction with a repeat prefix is one instruction, but each of its rounds is a step, so rcx is part of the name
 * there. If only a measured handler of a signal ran in between, the state is the same one, but has another name.
 *
 * Prints how many states there were, of how many threads, in how many steps. Exit status: 0; 1 if a name came twice, with the
 * state; 99 if it takes more than STEPS steps (environment), after the output so far; 98 trouble.
 */
#include "../stepping.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAYS = 64 /* CHORD_WAYS_CLOCK */, RANGES = 4096, THREADS = 64 };

struct name {
	uint64_t count, pc, sp, more;
	uint32_t thread;
	bool used;
};

static struct name *names;   /* a hash table */
static size_t nname, room;
static struct { uint64_t addr, size; } range[RANGES];
static size_t nrange;
static uint64_t counter, begin, bias;
static bool no_count, no_sp;
static pid_t thread[THREADS];
static uint32_t nthread;
static uint64_t steps;

static void
die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(98);
}

static void
read_ranges(const char *file)
{
	FILE *f = fopen(file, "re");

	if (!f)
		die(file);
	while (nrange < RANGES && fscanf(f, "%lx %lx", &range[nrange].addr, &range[nrange].size) == 2)
		nrange++;
	fclose(f);
}

static bool
is_measured(uint64_t pc)
{
	for (size_t i = 0; i < nrange; i++)
		if (pc - bias - range[i].addr < range[i].size)
			return true;
	return false;
}

/* ---- names ---- */

static size_t
place(const struct name *n)
{
	uint64_t h = (n->count * 0x9e3779b97f4a7c15 ^ n->pc) * 0xff51afd7ed558ccd;

	h ^= n->sp * 0xc4ceb9fe1a85ec53 ^ n->more ^ n->thread;
	return (size_t)(h ^ h >> 29) % room;
}

/* False: it is there already. */
static bool
put(const struct name *n)
{
	size_t i = place(n);

	for (; names[i].used; i = (i + 1) % room)
		if (names[i].count == n->count && names[i].pc == n->pc && names[i].sp == n->sp && names[i].more == n->more &&
		    names[i].thread == n->thread)
			return false;
	names[i] = *n;
	names[i].used = true;
	nname++;
	return true;
}

static void
grow(void)
{
	struct name *old = names;
	size_t n = room;

	if (nname * 2 < room)
		return;
	room = room ? room * 4 : 1 << 16;
	nname = 0;
	names = calloc(room, sizeof *names);
	if (!names)
		die("memory");
	for (size_t i = 0; i < n; i++)
		if (old[i].used)
			put(&old[i]);
	free(old);
}

/* ---- the program ---- */

static void
get(pid_t pid, uint64_t addr, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)addr, n};

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)n)
		die("process_vm_readv");
}

static bool
repeats(pid_t pid, uint64_t pc)
{
	unsigned char b[4];
	bool prefix = false;

	get(pid, pc, b, sizeof b);
	for (int i = 0; i < 4; i++) {
		if (b[i] == 0xf2 || b[i] == 0xf3)
			prefix = true;
		else if (b[i] != 0x66 && (b[i] & 0xf0) != 0x40)
			return prefix && ((b[i] >= 0xa4 && b[i] <= 0xa7) || (b[i] >= 0xaa && b[i] <= 0xaf));
	}
	return false;
}

static uint32_t
number_of(pid_t tid)
{
	for (uint32_t i = 0; i < nthread; i++)
		if (thread[i] == tid)
			return i;
	if (nthread == THREADS)
		die("threads");
	thread[nthread] = tid;
	return nthread++;
}

/* False: that has been seen. */
static bool
look(pid_t pid, pid_t tid, const struct user_regs_struct *r)
{
	struct name n;
	uint64_t way[WAYS];

	if (!is_measured(r->rip))
		return true;
	get(pid, counter + bias + r->gs_base, way, sizeof way);
	n = (struct name){.pc = r->rip, .sp = no_sp ? 0 : r->rsp, .thread = number_of(tid)};
	for (int i = 0; i < WAYS && !no_count; i++)
		n.count += way[i];
	if (repeats(pid, r->rip))
		n.more = r->rcx;
	grow();
	if (put(&n))
		return true;
	printf("a second time at 0x%lx with stack pointer 0x%lx and count %lu, after %zu states\n", n.pc - bias, n.sp, n.count,
	       nname);
	return false;
}

/* Where a program for random places is loaded if addresses are not random. */
static void
find_bias(const char *program)
{
	unsigned char head[18] = {0};
	FILE *f = fopen(program, "re");

	if (!f || fread(head, 1, sizeof head, f) != sizeof head)
		die(program);
	bias = head[16] == 3 ? 0x555555554000 : 0;
	fclose(f);
}

static pid_t
start(char **argv)
{
	int status;
	pid_t pid;

	stay_here();
	pid = fork();
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		die(argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die(argv[0]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	return pid;
}

/* Lets it run to the beginning of main. Returns where main returns to. */
static uint64_t
skip_start(pid_t pid)
{
	struct user_regs_struct r;
	uint64_t at = begin + bias, back;
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
	int status;

	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, 0);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, &r) || r.rip != at + 1)
		die("main");
	ptrace(PTRACE_POKETEXT, pid, at, word);
	r.rip = at;
	ptrace(PTRACE_SETREGS, pid, NULL, &r);
	get(pid, r.rsp, &back, sizeof back);
	return back;
}

static int
run(pid_t pid, uint64_t most)
{
	uint64_t back = skip_start(pid);
	struct user_regs_struct r;
	int status = 0;
	pid_t tid = pid;
	long signal = 0;

	ptrace(PTRACE_SINGLESTEP, pid, NULL, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (tid == pid)
				return WIFSIGNALED(status) ? 98 : 0;
			continue;
		}
		if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
			die("registers");
		signal = WSTOPSIG(status);
		if (signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
		if (!signal && !look(pid, tid, &r))
			return 1;
		if (++steps > most)
			return 99;
		if (tid == pid && r.rip == back)
			return 0;
		ptrace(PTRACE_SINGLESTEP, tid, NULL, signal);
	}
	return 98;
}

int
main(int argc, char **argv)
{
	const char *most = getenv("STEPS");
	int status;

	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
		no_count |= !strcmp(*argv, "--no-count");
		no_sp |= !strcmp(*argv, "--no-sp");
	}
	if (argc < 5)
		die("arguments");
	counter = strtoull(argv[0], NULL, 16);
	begin = strtoull(argv[1], NULL, 16);
	read_ranges(argv[2]);
	find_bias(argv[3]);
	status = run(start(argv + 3), most ? strtoull(most, NULL, 10) : UINT64_MAX);
	printf("%zu states of %u %s in %lu steps\n", nname, nthread, nthread == 1 ? "thread" : "threads", steps);
	return nname ? status : 98;
}
