/* SPDX-License-Identifier: MIT */
/* truth RANGES MARKS OUT PROGRAM [ARGUMENT...]: runs an unmeasured program one instruction at a time, and counts the
 * instructions in the ranges (lines of address and size in hex, as nm -S has them). Whenever control comes to an address of
 * MARKS (64-bit numbers), it writes the count so far to OUT. It knows nothing of Chord.
 *
 * Exit status: the program's; 99 if it takes more than STEPS steps (environment). */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEASURED = 1, MARK = 2 };

static unsigned char *flag; /* by address less low */
static uint64_t low = UINT64_MAX, high, bias;

struct range {
	uint64_t addr, size;
};

static void
die(const char *what)
{
	perror(what);
	exit(98);
}

static void *
read_file(const char *name, size_t *n)
{
	FILE *f = fopen(name, "re");
	char *at = malloc(1 << 26);

	if (!f || !at)
		die(name);
	*n = fread(at, 1, (1 << 26) - 1, f);
	at[*n] = 0;
	fclose(f);
	return at;
}

static void
read_ranges(const char *name)
{
	size_t n;
	char *text = read_file(name, &n), *at;
	struct range r;

	for (int pass = 0; pass < 2; pass++) {
		for (at = text; sscanf(at, "%lx %lx", &r.addr, &r.size) == 2; at += strcspn(at, "\n") + 1) {
			low = r.addr < low ? r.addr : low;
			high = r.addr + r.size > high ? r.addr + r.size : high;
			if (pass)
				memset(flag + (r.addr - low), MEASURED, r.size);
		}
		if (!pass && !(flag = calloc(high - low + 1, 1)))
			die("memory");
	}
}

static void
read_marks(const char *name)
{
	size_t n;
	uint64_t *mark = read_file(name, &n);

	for (size_t i = 0; i < n / 8; i++)
		if (mark[i] - low < high - low)
			flag[mark[i] - low] |= MARK;
}

static unsigned
flags_at(uint64_t pc)
{
	return pc - bias - low < high - low ? flag[pc - bias - low] : 0;
}

/* Through the loader's work at full speed. */
static void
run_to(pid_t pid, uint64_t pc)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, pc, 0L);

	ptrace(PTRACE_POKETEXT, pid, pc, (word & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, 0L, 0L);
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_POKETEXT, pid, pc, word);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), pc);
}

/* To the entry; its address as the kernel has it less that in the file is the bias. */
static void
begin(pid_t pid, const char *program)
{
	char path[64];
	uint64_t aux[2] = {0}, entry = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fread(aux, sizeof aux, 1, f) == 1 && aux[0] != 9)
		;
	fclose(f);
	f = fopen(program, "re");
	if (!f || fseek(f, 24, SEEK_SET) || fread(&entry, sizeof entry, 1, f) != 1)
		die(program);
	fclose(f);
	bias = aux[1] - entry;
	run_to(pid, aux[1]);
}

static int
run(pid_t pid, FILE *out, uint64_t most)
{
	uint64_t n = 0, pc = 0, to;
	int status, sig = 0;

	while (most-- && !ptrace(PTRACE_SINGLESTEP, pid, 0L, (long)sig)) {
		int sent = sig;

		if (waitpid(pid, &status, 0) != pid)
			die("wait");
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		to = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0L);
		/* With a signal the step led to its handler; one of a string instruction may lead nowhere. */
		if (to != pc && !sent)
			n += flags_at(pc) & MEASURED;
		if (to != pc && flags_at(to) & MARK)
			fwrite(&n, sizeof n, 1, out);
		pc = to;
	}
	kill(pid, SIGKILL);
	return 99;
}

int
main(int argc, char **argv)
{
	const char *steps = getenv("STEPS");
	FILE *out;
	pid_t pid;
	int status;

	if (argc < 5 || !(out = fopen(argv[3], "we")))
		die("truth RANGES MARKS OUT PROGRAM [ARGUMENT...]");
	read_ranges(argv[1]);
	read_marks(argv[2]);
	if (!(pid = fork())) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0L, 0L);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	begin(pid, argv[4]);
	status = run(pid, out, steps ? strtoull(steps, NULL, 10) : UINT64_MAX);
	fclose(out);
	return status;
}
