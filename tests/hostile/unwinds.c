/* SPDX-License-Identifier: MIT */
/* unwinds [-p] PROGRAM [ARGUMENT...]: runs a measured program, its first thread one instruction at a time. When an instruction of
 * the runtime runs for the first time, libdw walks the stack there, because a handler may take a backtrace there, or a thread
 * may be cancelled. With -p these are instructions of the program's own functions. Prints the number of these places, and a
 * line with FAIL for each walk that does not reach the outermost activation. */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILURES_MOST = 5 };

static pid_t pid;
static Dwfl *dwfl;
static const char *program;      /* NULL: the runtime's code is looked at */
static uint64_t begin, end;      /* what is looked at is there in memory */
static bool *is_code, *seen;
static unsigned long places, failures;

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "unwinds: %s\n", what);
	exit(2);
}

static void
start(char **argv)
{
	int status;

	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		fail("the program does not start");
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
}

/* ---- where the code is ---- */

/* _start has no caller. */
static bool
is_looked_at(const char *name, const GElf_Sym *s)
{
	if (!program)
		return !strcmp(name, "chord_rt_text");
	return GELF_ST_TYPE(s->st_info) == STT_FUNC && s->st_size && strcmp(name, "chord_rt_text") != 0 &&
	       strcmp(name, "_start") != 0;
}

static int
find_code(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base, void *arg)
{
	Dwarf_Addr from, to;
	int n = dwfl_module_getsymtab(mod);

	(void)user, (void)base, (void)arg;
	dwfl_module_info(mod, NULL, &from, &to, NULL, NULL, NULL, NULL);
	if (program && strcmp(name, program) != 0)
		return DWARF_CB_OK;
	for (int i = 0; i < n; i++) {
		GElf_Sym s;
		GElf_Addr at;
		const char *is = dwfl_module_getsym_info(mod, i, &s, &at, NULL, NULL, NULL);

		if (!is || !is_looked_at(is, &s) || at < from || at + s.st_size > to)
			continue;
		if (!is_code) {
			is_code = calloc(to - from, sizeof *is_code);
			seen = calloc(to - from, sizeof *seen);
		}
		begin = from;
		end = to;
		for (uint64_t k = 0; k < s.st_size; k++)
			is_code[at - from + k] = true;
	}
	return DWARF_CB_OK;
}

static void
look(void)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
	                                         .find_debuginfo = dwfl_standard_find_debuginfo};

	if (dwfl)
		dwfl_end(dwfl);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL))
		fail("the program cannot be looked into");
	dwfl_getmodules(dwfl, find_code, NULL, 0);
	if (dwfl_linux_proc_attach(dwfl, pid, true))
		fail("its threads cannot be");
}

/* ---- walks ---- */

static int
frame(Dwfl_Frame *f, void *arg)
{
	Dwarf_Addr pc;

	(void)f;
	if (!dwfl_frame_pc(f, &pc, NULL))
		return DWARF_CB_ABORT;
	return ++*(unsigned *)arg < 100 ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static bool
walks(void)
{
	unsigned n = 0;

	return dwfl_getthread_frames(dwfl, pid, frame, &n) == 0 && n > 2;
}

static void
step(void)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, 0, &r))
		fail("its registers cannot be read");
	if (r.rip < begin || r.rip >= end || !is_code[r.rip - begin] || seen[r.rip - begin])
		return;
	seen[r.rip - begin] = true;
	places++;
	if (walks())
		return;
	look(); /* it may have loaded an object */
	if (!walks() && failures++ < FAILURES_MOST)
		printf("FAIL at %#" PRIx64 ": %s\n", r.rip - begin, dwfl_errmsg(-1));
}

int
main(int argc, char **argv)
{
	int status, sig = 0;

	if (argc > 2 && !strcmp(argv[1], "-p"))
		program = realpath((++argv)[1], NULL);
	else if (argc < 2)
		fail("unwinds [-p] PROGRAM [ARGUMENT...]");
	start(argv + 1);
	look();
	if (!begin)
		fail("its code is not found");
	while (ptrace(PTRACE_SINGLESTEP, pid, 0, sig) == 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!sig)
			step();
	}
	printf("%lu places, %lu fail\n", places, failures);
	return failures || places < (program ? 100 : 1000) || !WIFEXITED(status) || WEXITSTATUS(status);
}
