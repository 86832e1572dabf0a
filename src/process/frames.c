/* SPDX-License-Identifier: MIT */
/* At calls counters are exact. So only those activations on a stack matter that were interrupted elsewhere: by a signal, or in
 * woven-in code that calls the runtime.
 *
 * The stack is first searched for what such an activation leaves there: the address to which a handler returns, or a return address
 * in woven-in code. Mostly there is none, and nothing more has to be done. If one is found, it may be a leftover, so the stack is
 * walked. */
#include "process/query.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCAN_MOST = 1 << 26, SCAN_STEP = 1 << 16 }; /* bytes */

const struct loaded *
loaded_at(const struct loaded *at, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (parts_find(&at[i].counted->binary.parts, pc - at[i].bias))
			return &at[i];
	return NULL;
}

/* ---- searching the stack ---- */

/* Is it the address to which the kernel lets a handler return? */
static bool
is_restorer(const struct frames *f, uint64_t word)
{
	const struct machine_thread *m = f->process->machine->thread;
	uint8_t there[SIGNAL_RETURN_MOST];

	return process_read(f->process, word, there, m->signal_return_size) && m->is_signal_return(there);
}

/* Is it a return address in measured code, after a call that is not the program's own? */
static bool
is_woven_return(const struct frames *f, uint64_t word)
{
	const struct machine *m = f->process->machine;
	const struct loaded *l = loaded_at(f->loaded, f->nloaded, word);
	uint8_t call[CALL_SIZE_MOST];

	return l && !counted_returns(l->counted, word - l->bias) &&
	       process_read(f->process, word - m->call_size, call, m->call_size) && m->is_call(call);
}

static bool
is_suspect(struct frames *f, uint64_t word)
{
	uint64_t *seen = &f->seen[word * 0x9e3779b97f4a7c15ull >> 52];
	const struct mapping *m;

	if (*seen == word)
		return false;
	m = process_mapping(f->process, word);
	if (m && m->how[2] == 'x' && (is_restorer(f, word) || is_woven_return(f, word)))
		return true;
	*seen = word;
	return false;
}
_Static_assert(sizeof ((struct frames *)0)->seen == 8 << (64 - 52), "");

/* Searches from the stack pointer up to the end of the mapping, and one word below: if a handler has just returned, its return
 * address is there. */
static bool
may_be_interrupted(struct frames *f, uint64_t sp)
{
	const struct mapping *m = process_mapping(f->process, sp);
	static uint64_t word[SCAN_STEP / 8];

	sp = (sp & -8ull) - 8;
	m = m && sp < m->start ? NULL : m;
	if (!m || m->end - sp > SCAN_MOST)
		return true;
	while (sp < m->end) {
		size_t n = m->end - sp < sizeof word ? m->end - sp : sizeof word;

		if (!process_read(f->process, sp, word, n))
			return true;
		for (size_t i = 0; i < n / 8; i++)
			if (is_suspect(f, word[i]))
				return true;
		sp += n;
	}
	return false;
}

/* ---- walking the stack ---- */

static bool
source_read(void *ctx, uint64_t addr, uint64_t *word)
{
	const struct frames *f = ctx;

	return process_read(f->process, addr, word, sizeof *word);
}

static int
source_open(void *ctx, uint64_t addr)
{
	struct frames *f = ctx;
	const struct mapping *m = process_mapping(f->process, addr);
	const char *path = m && m->ino ? process_file(f->process, m, NULL) : NULL;

	return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

struct walking {
	const struct frames *f;
	interrupted_fn *found;
	void *arg;
	bool outer;              /* the innermost frame has been passed */
	bool ok;
};

static bool
on_frame(void *arg, uint64_t pc, uint64_t sp, bool exact)
{
	struct walking *w = arg;
	const struct loaded *l = w->outer ? loaded_at(w->f->loaded, w->f->nloaded, pc) : NULL;

	w->outer = true;
	if (l && (exact || !counted_returns(l->counted, pc - l->bias)))
		w->ok = w->found(w->arg, pc, sp, exact);
	return w->ok;
}

static bool
open_stack(struct frames *f)
{
	if (!f->stack && !f->no_stack) {
		f->source = (struct stack_source){f, source_read, source_open};
		f->stack = stack_open(f->process->alive, &f->source);
		f->no_stack = !f->stack;
	}
	return f->stack;
}

static bool
walk(const struct frames *f, const struct thread *t, stack_frame *found, void *arg)
{
	return stack_walk(f->stack, f->process->machine->thread, t->stopped ? t->regs.reg : NULL, t->pc, t->sp, found, arg);
}

bool
frames_all(struct frames *f, const struct thread *t, stack_frame *found, void *arg)
{
	return open_stack(f) && walk(f, t, found, arg);
}

bool
frames_interrupted(struct frames *f, const struct thread *t, interrupted_fn *found, void *arg)
{
	struct walking w = {.f = f, .found = found, .arg = arg, .ok = true};

	if (!may_be_interrupted(f, t->sp))
		return true;
	return open_stack(f) && walk(f, t, on_frame, &w) && w.ok;
}

void
frames_close(struct frames *f)
{
	stack_close(f->stack);
	f->stack = NULL;
}
