/* SPDX-License-Identifier: MIT */
/* shadow FUNCTIONS PROGRAM: runs an unmeasured program step by step, and keeps a stack of the calls that are under way. For
 * each call site of the functions it prints what happened between its calls and their returns: CALLER CALLEE CALLS
 * INSTRUCTIONS, and "direct", or for calls through pointers the place of the call; such calls have a line for each callee.
 * FUNCTIONS has lines NAME ADDRESS SIZE (hexadecimal): the functions whose instructions count, and other functions that are
 * called, which have size 0. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct function {
	char name[64];
	uint64_t at, size;
};

/* One call site and callee. */
struct site {
	uint64_t at, calls, sum;
	const struct function *caller, *callee;
	int direct;
};

struct active {
	struct site *site;
	uint64_t back, sp, before;
};

static struct function function[256];
static struct site site[4096];
static struct active active[100000];
static size_t nfunction, nsite, nactive;

static const struct function *
find(uint64_t pc)
{
	for (size_t i = 0; i < nfunction; i++)
		if (pc >= function[i].at && pc < function[i].at + function[i].size)
			return &function[i];
	return NULL;
}

static const struct function *
starts_at(uint64_t pc)
{
	for (size_t i = 0; i < nfunction; i++)
		if (pc == function[i].at)
			return &function[i];
	return NULL;
}

static struct site *
site_at(uint64_t pc, const struct function *caller, const struct function *callee, int direct)
{
	for (size_t i = 0; i < nsite; i++)
		if (site[i].at == pc && site[i].callee == callee)
			return &site[i];
	if (nsite == sizeof site / sizeof *site)
		exit(2);
	site[nsite] = (struct site){.at = pc, .caller = caller, .callee = callee, .direct = direct};
	return &site[nsite++];
}

/* Bytes of a call instruction, 0 if it is none: enough for what gcc makes. */
static unsigned
call_length(pid_t pid, uint64_t pc)
{
	unsigned long w = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)pc, NULL);
	unsigned char b[8];
	unsigned at = 0, mod, rm, n;

	memcpy(b, &w, 8);
	if (b[0] == 0xe8)
		return 5;
	if ((b[0] & 0xf0) == 0x40)
		at = 1;
	if (b[at] != 0xff || (b[at + 1] >> 3 & 7) != 2)
		return 0;
	mod = b[at + 1] >> 6;
	rm = b[at + 1] & 7;
	n = at + 2 + (mod != 3 && rm == 4);
	return n + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

/* Calls whose frames are gone have returned, or been abandoned. */
static void
unwind(uint64_t sp, uint64_t count)
{
	while (nactive && sp > active[nactive - 1].sp) {
		struct active *a = &active[--nactive];

		a->site->sum += count - a->before;
	}
}

static void
trace(pid_t pid)
{
	const struct function *caller = NULL, *f;
	uint64_t count = 0, pc = 0, sp = 0;
	unsigned n = 0;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		struct user_regs_struct r;

		ptrace(PTRACE_GETREGS, pid, NULL, &r);
		if (n) {
			struct site *s = site_at(pc, caller, starts_at(r.rip), n == 5);

			s->calls++;
			/* The return address is just below; the frame is gone when sp is above it. */
			active[nactive++] = (struct active){s, pc + n, sp - 8, count};
		}
		n = 0;
		unwind(r.rsp, count);
		if ((f = find(r.rip))) {
			count++;
			n = call_length(pid, r.rip);
			caller = f;
			pc = r.rip;
			sp = r.rsp;
		}
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status)))
			break;
	}
	unwind(UINT64_MAX, count);
}

int
main(int argc, char **argv)
{
	FILE *f = argc == 3 ? fopen(argv[1], "r") : NULL;
	pid_t pid;

	if (!f)
		return 2;
	while (nfunction < 256 && fscanf(f, "%63s %lx %lx", function[nfunction].name, &function[nfunction].at,
	                                 &function[nfunction].size) == 3)
		nfunction++;
	fclose(f);
	pid = fork();
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		freopen("/dev/null", "w", stdout);
		execl(argv[2], argv[2], (char *)NULL);
		_exit(127);
	}
	trace(pid);
	for (size_t i = 0; i < nsite; i++) {
		printf("%s %s %lu %lu ", site[i].caller->name, site[i].callee ? site[i].callee->name : "-", site[i].calls,
		       site[i].sum);
		printf(site[i].direct ? "direct\n" : "%lx\n", site[i].at);
	}
	return 0;
}
