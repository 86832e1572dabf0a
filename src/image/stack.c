/* SPDX-License-Identifier: MIT */
/* Stacks of stopped or dead threads, which libdwfl walks. */
#include "image/stack.h"

#include "base/base.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

struct stack {
	Dwfl *dwfl;
	pid_t pid;
	const struct stack_source *source;
	/* the current walk: */
	const struct machine_thread *machine;
	const uint64_t *reg;
	uint64_t pc, sp;
	stack_frame *frame;
	void *arg;
	bool stuck;
};

/* ---- callbacks of libdwfl ---- */

static int
find_elf(Dwfl_Module *mod, void **ctx, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	const struct stack *s = *ctx;

	/* The vdso is read from memory. */
	if (!strncmp(name, "[vdso", 5))
		return dwfl_linux_proc_find_elf(mod, ctx, name, base, file, elf);
	return *name == '/' ? s->source->open(s->source->ctx, base) : -1;
}

/* Tables that are not in memory are not searched. */
static int
find_debuginfo(Dwfl_Module *mod, void **ctx, const char *name, Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
	char **found)
{
	(void)mod, (void)ctx, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static pid_t
next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct stack *s = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = s;
	return s->pid;
}

static bool
get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl, (void)tid;
	*thread_arg = arg;
	return true;
}

static bool
memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	const struct stack *s = arg;

	(void)dwfl;
	return s->source->read(s->source->ctx, addr, word);
}

static bool
set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct stack *s = arg;

	for (int i = 0; i < s->machine->ndwarf; i++) {
		bool pc = i == s->machine->pc, sp = i == s->machine->sp;
		Dwarf_Word v = pc ? s->pc : sp ? s->sp : s->reg ? s->reg[i] : 0;

		if ((pc || sp || s->reg) && !dwfl_thread_state_registers(thread, i, 1, &v))
			return false;
	}
	if (s->machine->pc >= s->machine->ndwarf)
		dwfl_thread_state_register_pc(thread, s->pc);
	return true;
}

static const Dwfl_Callbacks files = {.find_elf = find_elf, .find_debuginfo = find_debuginfo};
static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = memory_read, .set_initial_registers = set_registers,
};

/* ---- opening ---- */

static int
tell_module(Dwfl_Module *mod, void **ctx, const char *name, Dwarf_Addr base, void *arg)
{
	(void)mod, (void)name, (void)base;
	*ctx = arg;
	return DWARF_CB_OK;
}

struct stack *
stack_open(pid_t pid, const struct stack_source *source)
{
	struct stack *s = xcalloc(1, sizeof *s);

	s->pid = pid;
	s->source = source;
	s->dwfl = dwfl_begin(&files);
	if (s->dwfl && !dwfl_linux_proc_report(s->dwfl, pid) && !dwfl_report_end(s->dwfl, NULL, NULL) &&
	    dwfl_getmodules(s->dwfl, tell_module, s, 0) == 0 && dwfl_attach_state(s->dwfl, NULL, pid, &threads, s))
		return s;
	stack_close(s);
	return NULL;
}

void
stack_close(struct stack *s)
{
	if (!s)
		return;
	dwfl_end(s->dwfl);
	free(s);
}

/* ---- walking ---- */

/* Without a table libdwfl would follow the frame pointer register, which may hold something else. */
static bool
has_table(struct stack *s, Dwarf_Addr pc)
{
	Dwfl_Module *mod = dwfl_addrmodule(s->dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	bool has = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame);

	free(frame);
	return has;
}

static int
on_frame(Dwfl_Frame *state, void *arg)
{
	struct stack *s = arg;
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool exact;

	if (!dwfl_frame_pc(state, &pc, &exact) || dwfl_frame_reg(state, s->machine->sp, &sp)) {
		s->stuck = true;
		return DWARF_CB_ABORT;
	}
	if (!s->frame(s->arg, pc, sp, exact))
		return DWARF_CB_ABORT;
	s->stuck = !has_table(s, exact ? pc : pc - 1);
	return s->stuck ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool
stack_walk(struct stack *s, const struct machine_thread *machine, const uint64_t *reg, uint64_t pc, uint64_t sp, stack_frame *f,
           void *arg)
{
	int e;

	s->machine = machine;
	s->reg = reg;
	s->pc = pc;
	s->sp = sp;
	s->frame = f;
	s->arg = arg;
	s->stuck = false;
	e = dwfl_getthread_frames(s->dwfl, s->pid, on_frame, s);
	return !s->stuck && (e == 0 || e == DWARF_CB_ABORT);
}
